package audittest

import (
	"stet/arms"
	"stet/audit"
	"stet/gateway/outcome"
)

var unchangedChecks = []check{
	{"the text that the message shows needs no wire", unchangedEnds},
	{"an edit that was applied is what the message shows", unchangedAfterEdit},
	{"an open edit is in the way", unchangedWhileOpen},
	{"an overdue edit is in the way", unchangedAfterOverdue},
	{"an ambiguous edit is in the way until nobody looks for it any more", unchangedAfterAmbiguous},
	{"an ambiguous edit that nobody resolved leaves the text unknown", unchangedAfterGaveUp},
	{"a retract that opened late and wasn't resolved leaves the text unknown", unchangedAfterLateRetract},
	{"a partial edit leaves the text unknown", unchangedAfterPartial},
	{"a failed edit changes nothing of what is shown", unchangedAfterFailed},
	{"who has no row for it goes to the wire", unchangedUnwanted},
	{"an unchanged edit supersedes those that wait", unchangedSupersedes},
}

// shows expects whether the store takes text for what the message shows.
func (f *fixture) shows(id arms.MessageID, text string, want bool) {
	f.Helper()
	a := edit(f.turn(), id, text)
	o := f.open(request(a))
	if got := o.State == audit.Ended && o.Row.Code == audit.CodeUnchanged; got != want {
		f.Fatalf("%q taken for what is shown: %v, want %v (opening %q)", text, got, want, o.State)
	}
	if o.State == audit.Opened {
		f.settleAs(a, outcome.NotSent)
	}
}

func unchangedEnds(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	other := f.turn()
	a := edit(other, "m1", "first")
	o := f.expect(request(a), audit.Ended)
	if o.Row.Outcome != outcome.Applied || o.Row.Action != "reply.edit" {
		f.Errorf("row %s %s", o.Row.Action, o.Row.Outcome)
	}
	if !f.marks(other).MayEnd {
		f.Error("an unchanged edit doesn't let the turn end")
	}
	f.oneOutcome(a.ID)
	f.openAttempts(0)
}

func unchangedAfterEdit(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	f.applied(edit(t, "m1", "second"))
	f.shows("m1", "first", false)
	f.shows("m1", "second", true)
}

func unchangedWhileOpen(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	f.opened(request(edit(t, "m1", "second")))
	f.expect(request(edit(t, "m1", "first")), audit.Wait)
}

func unchangedAfterOverdue(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	f.opened(request(edit(t, "m1", "second")))
	f.pastDeadline()
	f.shows("m1", "first", false)
}

func unchangedAfterAmbiguous(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	a := f.ambiguous(edit(t, "m1", "second"))
	f.shows("m1", "first", false)
	f.applied(edit(t, "m1", "third"))
	f.shows("m1", "third", false) // the second may still surface over it
	f.look(a, audit.GaveUp, "")
	f.shows("m1", "third", true)
}

func unchangedAfterGaveUp(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	a := f.ambiguous(edit(t, "m1", "second"))
	f.look(a, audit.GaveUp, "")
	f.shows("m1", "first", false)
	f.shows("m1", "second", false)
}

// A retract is not superseded by edits: one with a lower number may open after
// the edit that the message shows.
func unchangedAfterLateRetract(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	first, w := f.queue(request(retract(t, "m1")))
	f.clock.Advance(maxWait) // the retract stopped asking, so an edit overtakes it
	f.settleAs(first, outcome.Applied)
	f.applied(edit(t, "m1", "second"))
	f.opened(w[0])
	f.pastDeadline()
	f.shows("m1", "second", false)
	f.sweep("")
	f.shows("m1", "second", false)
	f.look(w[0].Attempt, audit.GaveUp, "")
	f.shows("m1", "second", false)
}

func unchangedAfterPartial(f *fixture) {
	t := f.turn()
	f.split(t, "m1", "m1b")
	a := edit(t, "m1", "second")
	f.opened(request(a))
	f.settleAs(a, outcome.Partial)
	f.shows("m1", "first", false)
}

func unchangedAfterFailed(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	for _, o := range []outcome.Outcome{outcome.NotSent, outcome.Rejected} {
		a := edit(t, "m1", "second")
		f.opened(request(a))
		f.settleAs(a, o)
		f.shows("m1", "first", true)
	}
}

func unchangedUnwanted(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	r := request(edit(t, "m1", "first"))
	r.Unchanged = nil
	f.opened(r)
}

func unchangedSupersedes(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	first, w := f.queue(request(edit(t, "m1", "two")))
	f.settleAs(first, outcome.Rejected)
	f.expect(request(edit(t, "m1", "first")), audit.Ended)
	f.superseded(w[0])
}
