package audittest

import (
	"time"

	"stet/arms"
	"stet/audit"
	"stet/gateway/outcome"
	"stet/gateway/turn"
	"stet/ledger"
)

var settleChecks = []check{
	{"a settlement leaves its row and closes the attempt", settles},
	{"settling twice with one row id leaves one row", settlesOnce},
	{"an attempt that was never opened can't be settled", settleUnknown},
	{"notes stand after the outcome in their order", notesInOrder},
	{"a post enters the ledger with its window from the commit", postsEnter},
	{"an edit doesn't extend the window", editKeepsWindow},
	{"a part that an edit adds has the window of its message", addedPart},
	{"a retract closes all parts", retractCloses},
	{"a message found gone is closed", goneCloses},
	{"an older edit's text doesn't replace a newer one's", olderDigest},
	{"rows keep every column", rowKeepsColumns},
}

// split replies with a message of two parts.
func (f *fixture) split(t turn.Turn, first, second arms.MessageID) {
	f.Helper()
	a := reply(t)
	f.opened(request(a))
	s := settlement(a, outcome.Applied)
	s.Posts = []ledger.Entry{posted(a, first), posted(a, second)}
	s.Posts[1].Reply, s.Posts[1].Part = first, 1
	f.settle(s)
}

func settles(f *fixture) {
	for _, o := range []outcome.Outcome{
		outcome.Applied, outcome.NotSent, outcome.Rejected, outcome.Ambiguous, outcome.Partial,
	} {
		a := reply(f.turn())
		f.opened(request(a))
		s := settlement(a, o)
		end := f.settle(s)
		if end.Late || end.Row.ID != s.Row.ID {
			f.Errorf("%s: settled %+v", o, end)
		}
		if got := f.oneOutcome(a.ID); got.Outcome != o || !got.At.Equal(f.clock.Now()) {
			f.Errorf("%s: row %+v", o, got)
		}
	}
	f.openAttempts(0)
}

func settlesOnce(f *fixture) {
	a := reply(f.turn())
	f.opened(request(a))
	s := settlement(a, outcome.Applied)
	s.Notes = []audit.Row{note(a, audit.ActionProvenance, audit.Detail{})}
	f.settle(s)
	f.clock.Advance(time.Second)
	if end := f.settle(s); end.Late || end.Row.ID != s.Row.ID {
		f.Errorf("the second call answers %+v", end)
	}
	f.rowCount(2)
}

func settleUnknown(f *fixture) {
	_, err := f.Settle(f.ctx, settlement(reply(f.turn()), outcome.Applied))
	isErr(f, err, audit.ErrNotFound)
	f.rowCount(0)
}

func notesInOrder(f *fixture) {
	a := reply(f.turn())
	f.opened(request(a))
	s := settlement(a, outcome.Applied)
	want := []string{audit.ActionProvenance, audit.ActionClaimWithheld, audit.ActionClaimWithheld}
	for _, action := range want {
		s.Notes = append(s.Notes, note(a, action, audit.Detail{}))
	}
	f.settle(s)
	rows := f.all(nil)
	if len(rows) != 1+len(want) || rows[0].Kind != audit.Outcome {
		f.Fatalf("%d rows, the first is of kind %s", len(rows), rows[0].Kind)
	}
	for i, action := range want {
		if r := rows[i+1]; r.Action != action || r.ID != s.Notes[i].ID || r.Kind != audit.Note {
			f.Errorf("row %d is %s %s", i+1, r.Kind, r.Action)
		}
	}
}

func postsEnter(f *fixture) {
	t := f.turn()
	a := reply(t)
	f.opened(request(a))
	f.clock.Advance(3 * time.Second)
	s := settlement(a, outcome.Applied)
	s.Posts = []ledger.Entry{posted(a, "m1")}
	f.settle(s)
	e := f.entry("m1")
	if !e.PostedAt.Equal(f.clock.Now()) || !e.EditableUntil.Equal(f.clock.Now().Add(window)) {
		f.Errorf("posted %v, editable until %v at %v", e.PostedAt, e.EditableUntil, f.clock.Now())
	}
	want := posted(a, "m1")
	want.PostedAt, want.EditableUntil = e.PostedAt, e.EditableUntil
	if e != want {
		f.Errorf("entry %+v, want %+v", e, want)
	}
}

func editKeepsWindow(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	before := f.entry("m1")
	f.clock.Advance(time.Hour)
	f.applied(edit(t, "m1", "second"))
	if after := f.entry("m1"); after != before {
		f.Errorf("entry %+v became %+v", before, after)
	}
}

func addedPart(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	f.clock.Advance(time.Hour)
	a := edit(t, "m1", "much longer")
	f.opened(request(a))
	s := settlement(a, outcome.Applied)
	s.Posts = []ledger.Entry{posted(a, "m1b")}
	s.Posts[0].Part = 1
	f.settle(s)
	added := f.entry("m1b")
	if added.Reply != "m1" || !added.EditableUntil.Equal(f.entry("m1").EditableUntil) {
		f.Errorf("added %+v", added)
	}
}

func retractCloses(f *fixture) {
	t := f.turn()
	f.split(t, "m1", "m1b")
	f.applied(retract(t, "m1"))
	f.notOwn(edit(t, "m1", "x"), ledger.Unknown)
	f.notOwn(edit(t, "m1b", "x"), ledger.Unknown)
	if at := f.entry("m1b").ClosedAt; !at.Equal(f.clock.Now()) {
		f.Errorf("closed at %v", at)
	}
}

func goneCloses(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	a := edit(t, "m1", "second")
	f.opened(request(a))
	s := settlement(a, outcome.Rejected)
	s.Close = true
	f.settle(s)
	f.notOwn(edit(t, "m1", "x"), ledger.Unknown)
}

func olderDigest(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	older := edit(t, "m1", "older")
	f.opened(request(older))
	f.pastDeadline()
	f.sweep("")
	f.applied(edit(t, "m1", "newer"))
	f.settleAs(older, outcome.Applied) // its result comes after all
	f.shows("m1", "newer", true)
}

func rowKeepsColumns(f *fixture) {
	a := reply(f.turn(dry))
	f.opened(request(a))
	s := settlement(a, outcome.Rejected)
	s.Row.Status, s.Row.Code = 418, "invalid"
	end := f.settle(s)
	got, err := f.Row(f.ctx, s.Row.ID)
	f.no(err)
	want := s.Row
	want.At = f.clock.Now()
	for name, r := range map[string]audit.Row{"settled": end.Row, "stored": got} {
		if string(r.Detail) != string(want.Detail) {
			f.Errorf("%s detail %s, want %s", name, r.Detail, want.Detail)
		}
		r.Detail = want.Detail
		if !equalRows(r, want) {
			f.Errorf("%s row %+v, want %+v", name, r, want)
		}
	}
	_, err = f.Row(f.ctx, "nothing")
	isErr(f, err, audit.ErrNotFound)
}
