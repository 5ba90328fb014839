package audittest

import (
	"time"

	"stet/audit"
	"stet/gateway/outcome"
	"stet/gateway/turn"
	"stet/ledger"
)

var openChecks = []check{
	{"an opened attempt is open and has no row", opensWithoutRow},
	{"opening twice with one attempt id is one attempt", opensOnce},
	{"a repeated opening answers how the attempt ended", reopensEnded},
	{"a refusal leaves attempt and outcome", refuses},
	{"refusing twice with one attempt id leaves one row", refusesOnce},
	{"an attempt that was refused can't be settled anew", refusedIsFinal},
	{"refusing an open attempt changes nothing", refuseAfterOpen},
	{"an opened edit carries the ledger's entry", opensWithEntry},
	{"another conversation's post is refused with its code", otherPlace},
	{"a post that nobody made is refused with its code", unknownPost},
	{"a post past its window is refused with its code", windowClosed},
	{"the window counts by the store's clock at the commit", windowEdge},
}

func opensWithoutRow(f *fixture) {
	o := f.opened(request(reply(f.turn())))
	if o.Seq != 0 || o.Row.ID != "" {
		f.Errorf("a reply opened with number %d and row %q", o.Seq, o.Row.ID)
	}
	f.openAttempts(1)
	f.rowCount(0)
}

func opensOnce(f *fixture) {
	r := request(reply(f.turn()))
	f.opened(r)
	f.opened(r)
	f.openAttempts(1)
}

func reopensEnded(f *fixture) {
	a := reply(f.turn())
	f.opened(request(a))
	s := settlement(a, outcome.Rejected)
	f.settle(s)
	if end := f.expect(request(a), audit.Ended); end.Row.ID != s.Row.ID {
		f.Errorf("answered row %s, want %s", end.Row.ID, s.Row.ID)
	}
	f.rowCount(1)
}

func refuses(f *fixture) {
	a := reply(f.turn())
	r := row(a, outcome.Refused, outcome.InvalidText)
	f.no(f.Refuse(f.ctx, audit.Refused{Attempt: a, Row: r}))
	got := f.oneOutcome(a.ID)
	if got.ID != r.ID || got.Reason != outcome.InvalidText || got.Kind != audit.Outcome {
		f.Errorf("row %+v", got)
	}
	if !got.At.Equal(f.clock.Now()) {
		f.Errorf("row of %v, the store's clock stands at %v", got.At, f.clock.Now())
	}
	f.openAttempts(0)
}

func refusesOnce(f *fixture) {
	a := reply(f.turn())
	for range 2 {
		// Even with another row id: the attempt is the arbiter.
		f.no(f.Refuse(f.ctx, audit.Refused{Attempt: a, Row: row(a, outcome.Refused, outcome.InvalidText)}))
	}
	f.oneOutcome(a.ID)
}

func refusedIsFinal(f *fixture) {
	a := reply(f.turn())
	f.no(f.Refuse(f.ctx, audit.Refused{Attempt: a, Row: row(a, outcome.Refused, outcome.Denied)}))
	if end := f.settleAs(a, outcome.Ambiguous); !end.Late || end.Row.Reason != outcome.Denied {
		f.Errorf("settled %+v over a refusal", end)
	}
	f.oneOutcome(a.ID)
}

func refuseAfterOpen(f *fixture) {
	a := reply(f.turn())
	f.opened(request(a))
	f.no(f.Refuse(f.ctx, audit.Refused{Attempt: a, Row: row(a, outcome.Refused, outcome.Denied)}))
	f.openAttempts(1)
	f.rowCount(0)
}

func opensWithEntry(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	o := f.opened(request(edit(t, "m1", "second")))
	if o.Entry.ID != "m1" || o.Entry.Thread != "th" || o.Seq != 1 {
		f.Errorf("opened number %d with entry %+v", o.Seq, o.Entry)
	}
}

func otherPlace(f *fixture) {
	f.post(f.turn(), "m1")
	elsewhere := f.turn(func(t *turn.Turn) { t.Locus.Channel = "private" })
	f.notOwn(edit(elsewhere, "m1", "x"), ledger.OtherPlace)
}

func unknownPost(f *fixture) {
	f.post(f.turn(), "m1")
	f.notOwn(retract(f.turn(), "m2"), ledger.Unknown)
	f.notOwn(edit(f.turn(func(t *turn.Turn) { t.Org = "other" }), "m1", "x"), ledger.Unknown)
}

func windowClosed(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	f.clock.Advance(window)
	f.notOwn(edit(t, "m1", "x"), ledger.WindowClosed)
}

func windowEdge(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	f.clock.Advance(window - time.Microsecond)
	f.opened(request(edit(t, "m1", "x")))
}

// notOwn expects the refusal, and that the agent's id is nowhere in its row.
func (f *fixture) notOwn(a audit.Attempt, code ledger.Code) {
	f.Helper()
	r := f.refused(request(a), outcome.Refused, outcome.NotOwnPost)
	if r.Code != string(code) {
		f.Errorf("code %q, want %q", r.Code, code)
	}
	if d := detail(f, f.oneOutcome(a.ID)); d.ID != "" {
		f.Errorf("the row holds the id %q that the agent named", d.ID)
	}
	f.openAttempts(0)
}
