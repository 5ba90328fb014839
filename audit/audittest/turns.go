package audittest

import (
	"time"

	"stet/audit"
	"stet/gateway/outcome"
	"stet/gateway/turn"
)

var turnChecks = []check{
	{"an expired turn opens nothing", expiredTurn},
	{"a closed turn opens nothing", closedTurn},
	{"another organization's turn opens nothing", foreignTurn},
	{"after the last reply no reply follows, edits do", answered},
	{"after a decline no reply follows, edits do", declined},
	{"after an ambiguous reply no reply follows", ambiguousReply},
	{"after an ambiguous edit no reply follows, edits do", ambiguousEdit},
	{"an open attempt past its deadline counts as ambiguous", overdue},
	{"a definite failure leaves the turn open", definite},
	{"after a partial reply no other reply follows, edits do", partial},
	{"an applied repeat of the edit lifts the mark", repeatLifts},
	{"a resolution lifts the mark", resolutionLifts},
	{"one turn's marks are not another's", marksAreOwn},
	{"an ambiguous outcome lets the turn end", mayEnd},
}

func (f *fixture) unauthorized(a audit.Attempt) {
	f.Helper()
	f.refused(request(a), outcome.Refused, outcome.Unauthorized)
	f.openAttempts(0)
}

func expiredTurn(f *fixture) {
	t := f.turn(func(t *turn.Turn) { t.ExpiresAt = f.clock.Now().Add(time.Minute) })
	f.clock.Advance(time.Minute - time.Microsecond)
	f.post(t, "m1")
	f.clock.Advance(time.Microsecond)
	f.unauthorized(reply(t))
	f.unauthorized(edit(t, "m1", "x"))
}

func closedTurn(f *fixture) {
	t := f.turn()
	f.no(f.CloseTurn(f.ctx, t.ID))
	f.unauthorized(reply(t))
}

func foreignTurn(f *fixture) {
	t := f.turn()
	t.Org = "other"
	f.unauthorized(reply(t))
}

func answered(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	a := reply(t)
	f.opened(request(a))
	s := settlement(a, outcome.Applied)
	s.Answered = true
	f.settle(s)
	if m := f.marks(t); !m.Answered || !m.MayEnd {
		f.Errorf("marks %+v", m)
	}
	f.refused(request(reply(t)), outcome.Refused, outcome.TurnAnswered)
	f.opened(request(edit(t, "m1", "x")))
}

func declined(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	f.no(f.Decline(f.ctx, t))
	f.refused(request(reply(t)), outcome.Refused, outcome.TurnDeclined)
	f.opened(request(edit(t, "m1", "x")))
}

func ambiguousReply(f *fixture) {
	t := f.turn()
	f.ambiguous(reply(t))
	if !f.marks(t).Ambiguous {
		f.Error("the turn isn't marked")
	}
	f.refused(request(reply(t)), outcome.Refused, outcome.TurnAmbiguous)
}

func ambiguousEdit(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	f.post(t, "m2")
	f.ambiguous(edit(t, "m1", "x"))
	f.refused(request(reply(t)), outcome.Refused, outcome.TurnAmbiguous)
	f.opened(request(edit(t, "m2", "y")))
	f.opened(request(retract(t, "m1")))
}

func overdue(f *fixture) {
	t := f.turn()
	f.opened(request(reply(t)))
	if f.marks(t).Ambiguous {
		f.Error("marked before the deadline")
	}
	f.opened(request(reply(t)))
	f.clock.Advance(budget + grace)
	if !f.marks(t).Ambiguous {
		f.Error("not marked at the deadline")
	}
	f.refused(request(reply(t)), outcome.Refused, outcome.TurnAmbiguous)
}

func definite(f *fixture) {
	t := f.turn()
	for _, o := range []outcome.Outcome{outcome.NotSent, outcome.Rejected} {
		a := reply(t)
		f.opened(request(a))
		f.settleAs(a, o)
	}
	if m := f.marks(t); m != (turn.Marks{}) {
		f.Errorf("marks %+v", m)
	}
	f.opened(request(reply(t)))
}

func partial(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	a := reply(t)
	f.opened(request(a))
	f.settleAs(a, outcome.Partial)
	if !f.marks(t).Partial {
		f.Error("the turn isn't marked")
	}
	f.refused(request(reply(t)), outcome.Refused, outcome.TurnPartial)
	f.opened(request(edit(t, "m1", "x")))
}

func repeatLifts(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	f.ambiguous(edit(t, "m1", "x"))
	f.applied(edit(t, "m1", "x"))
	if f.marks(t).Ambiguous {
		f.Error("still marked after the edit was applied")
	}
	f.opened(request(reply(t)))
}

func resolutionLifts(f *fixture) {
	t := f.turn()
	a := f.ambiguous(reply(t))
	f.look(a, audit.NotSeen, "")
	if !f.marks(t).Ambiguous {
		f.Error("a weak verdict lifted the mark")
	}
	f.look(a, audit.NotApplied, "")
	if f.marks(t).Ambiguous {
		f.Error("still marked after a final verdict")
	}
}

func marksAreOwn(f *fixture) {
	f.ambiguous(reply(f.turn()))
	t := f.turn()
	if f.marks(t).Ambiguous {
		f.Error("marked by another turn's outcome")
	}
	f.opened(request(reply(t)))
}

func mayEnd(f *fixture) {
	t := f.turn()
	if f.marks(t).MayEnd {
		f.Error("a fresh turn may end")
	}
	f.ambiguous(reply(t))
	if !f.marks(t).MayEnd {
		f.Error("an ambiguous outcome doesn't let the turn end")
	}
}
