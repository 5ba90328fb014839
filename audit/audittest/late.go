package audittest

import (
	"stet/audit"
	"stet/gateway/outcome"
	"stet/ledger"
)

var lateChecks = []check{
	{"a definite result after the sweep becomes a note", lateResult},
	{"a late result settled twice leaves one note", lateOnce},
	{"an ambiguous result after the sweep adds nothing", lateAmbiguous},
	{"a late post enters the ledger", latePost},
	{"a late result gives the key back or stores its answer", lateClaim},
	{"a late retract closes the message", lateRetract},
	{"a settlement of a doubt leaves an outcome that is there alone", doubtSettled},
}

// swept opens an attempt and lets a sweeper end it.
func (f *fixture) swept(r audit.OpenRequest) audit.Row {
	f.Helper()
	f.opened(r)
	f.pastDeadline()
	rows := f.sweep("")
	if len(rows) != 1 {
		f.Fatalf("swept %d attempts, want 1", len(rows))
	}
	return rows[0]
}

func lateResult(f *fixture) {
	for _, o := range []outcome.Outcome{outcome.Applied, outcome.Rejected, outcome.NotSent} {
		t := f.turn()
		a := reply(t)
		there := f.swept(request(a))
		end := f.settleAs(a, o)
		if !end.Late || end.Row.ID != there.ID || end.Row.Outcome != outcome.Ambiguous {
			f.Errorf("%s: settled %+v", o, end)
		}
		f.oneOutcome(a.ID)
		_, notes := f.rowsOf(a.ID)
		if len(notes) != 1 || notes[0].Action != audit.ActionResolved {
			f.Fatalf("%s: notes %+v", o, notes)
		}
		if d := detail(f, notes[0]); d.Verdict != audit.LateResult || d.Evidence != string(o) {
			f.Errorf("%s: detail %+v", o, d)
		}
		if f.marks(t).Ambiguous {
			f.Errorf("%s: the turn is still marked", o)
		}
	}
}

func lateOnce(f *fixture) {
	a := reply(f.turn())
	f.swept(request(a))
	s := settlement(a, outcome.Applied)
	for range 2 {
		if end := f.settle(s); !end.Late {
			f.Error("not late")
		}
	}
	if _, notes := f.rowsOf(a.ID); len(notes) != 1 {
		f.Errorf("%d notes, want 1", len(notes))
	}
}

func lateAmbiguous(f *fixture) {
	t := f.turn()
	a := reply(t)
	f.swept(request(a))
	if end := f.settleAs(a, outcome.Ambiguous); !end.Late {
		f.Error("not late")
	}
	f.rowCount(1)
	if !f.marks(t).Ambiguous {
		f.Error("the turn lost its mark")
	}
}

func latePost(f *fixture) {
	t := f.turn()
	a := reply(t)
	f.swept(request(a))
	s := settlement(a, outcome.Applied)
	s.Posts = []ledger.Entry{posted(a, "m1")}
	s.Notes = []audit.Row{note(a, audit.ActionProvenance, audit.Detail{})}
	f.settle(s)
	f.opened(request(edit(t, "m1", "second")))
	if _, notes := f.rowsOf(a.ID); len(notes) != 2 {
		f.Errorf("%d notes, want the verdict and the text's own", len(notes))
	}
}

func lateClaim(f *fixture) {
	t := f.turn()
	a := reply(t)
	f.swept(keyed(a, "k", "body"))
	s := settlement(a, outcome.Applied)
	f.settle(s)
	o := f.expect(keyed(reply(t), "k", "body"), audit.Replayed)
	if o.Resolution != audit.LateResult || string(o.Answer) != string(s.Answer) {
		f.Errorf("replayed %q with answer %q", o.Resolution, o.Answer)
	}
	b := reply(t)
	f.swept(keyed(b, "k2", "body"))
	s = settlement(b, outcome.NotSent)
	s.Release = true
	f.settle(s)
	f.claimed(keyed(reply(t), "k2", "body"), "")
}

func lateRetract(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	a := retract(t, "m1")
	f.swept(request(a))
	f.settleAs(a, outcome.Applied)
	f.notOwn(edit(t, "m1", "x"), ledger.Unknown)
}

func doubtSettled(f *fixture) {
	t := f.turn()
	a := reply(t)
	f.opened(keyed(a, "k", "body"))
	first := settlement(a, outcome.Applied)
	f.settle(first)
	s := settlement(a, outcome.NotSent)
	s.IfOpen, s.Release = true, true
	if got := f.settle(s); !got.Late || got.Row.ID != first.Row.ID {
		f.Errorf("settled %+v", got)
	}
	if outcomes, notes := f.rowsOf(a.ID); len(outcomes) != 1 || len(notes) != 0 {
		f.Errorf("%d outcomes, notes %+v", len(outcomes), notes)
	}
	f.claimed(keyed(reply(t), "k", "body"), audit.Replayed)
}
