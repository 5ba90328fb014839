package audittest

import (
	"time"

	"stet/audit"
	"stet/gateway/outcome"
	"stet/ledger"
)

var sequenceChecks = []check{
	{"writes to a message are numbered as they come", numbered},
	{"a second edit waits until the first one ends", waits},
	{"of the edits that wait the newest opens, the others are superseded", newestWins},
	{"an older edit is superseded after a newer one opened", olderAfterNewer},
	{"a retract goes before the edits that wait", retractFirst},
	{"a retract that fails has superseded nothing", failedRetract},
	{"an applied retract supersedes all that wait", appliedRetract},
	{"a refused wait gives up its number", givesUp},
	{"who stopped asking is not waited for", deadWaiter},
	{"an overdue attempt blocks nobody", overdueFrees},
	{"the wait counts from the first call", waitFromFirst},
	{"another message isn't busy", otherMessage},
	{"a turn that closed meanwhile ends the wait", closedWhileWaiting},
	{"any part finds its message", anyPart},
}

// again calls once more for a write that waits.
func again(r audit.OpenRequest, o audit.Opening) audit.OpenRequest {
	r.Seq = o.Seq
	return r
}

// queue posts m1, opens a first edit on it and lets the given writes wait.
func (f *fixture) queue(writes ...audit.OpenRequest) (first audit.Attempt, waiting []audit.OpenRequest) {
	f.Helper()
	t := writes[0].Attempt.Turn
	first = edit(t, "m1", "holds the message")
	f.opened(request(first))
	for _, w := range writes {
		waiting = append(waiting, again(w, f.expect(w, audit.Wait)))
	}
	return first, waiting
}

func numbered(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	for want := int64(1); want <= 3; want++ {
		a := edit(t, "m1", string(rune('a'+want)))
		if o := f.opened(request(a)); o.Seq != want {
			f.Fatalf("number %d, want %d", o.Seq, want)
		}
		f.settleAs(a, outcome.Applied)
	}
}

func waits(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	first, waiting := f.queue(request(edit(t, "m1", "two")))
	if o := f.expect(waiting[0], audit.Wait); o.Seq != 2 {
		f.Errorf("the number became %d", o.Seq)
	}
	f.openAttempts(1)
	f.settleAs(first, outcome.Applied)
	f.opened(waiting[0])
}

func newestWins(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	first, w := f.queue(request(edit(t, "m1", "two")), request(edit(t, "m1", "three")), request(edit(t, "m1", "four")))
	f.superseded(w[1]) // a newer one waits: no need to wait on
	f.settleAs(first, outcome.Applied)
	f.superseded(w[0])
	f.opened(w[2])
	f.settleAs(w[2].Attempt, outcome.Applied)
}

func (f *fixture) superseded(r audit.OpenRequest) {
	f.Helper()
	row := f.refused(r, outcome.NotSent, outcome.Superseded)
	if d := detail(f, row); d.ID != string(r.Attempt.Target) {
		f.Errorf("the row names %q", d.ID)
	}
	f.oneOutcome(r.Attempt.ID)
}

func olderAfterNewer(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	first, w := f.queue(request(edit(t, "m1", "two")))
	f.settleAs(first, outcome.Applied)
	newer := edit(t, "m1", "three") // comes when the message is free, before the other asks again
	f.opened(request(newer))
	f.superseded(w[0])
}

func retractFirst(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	first, w := f.queue(request(retract(t, "m1")), request(edit(t, "m1", "two")))
	f.settleAs(first, outcome.Applied)
	f.expect(w[1], audit.Wait)
	f.expect(request(edit(t, "m1", "three")), audit.Wait)
	f.opened(w[0])
}

func failedRetract(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	first, w := f.queue(request(edit(t, "m1", "two")), request(retract(t, "m1")))
	f.settleAs(first, outcome.Applied)
	f.opened(w[1])
	f.settleAs(w[1].Attempt, outcome.Rejected)
	f.opened(w[0])
}

func appliedRetract(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	first, w := f.queue(request(edit(t, "m1", "two")), request(retract(t, "m1")), request(retract(t, "m1")))
	f.settleAs(first, outcome.Applied)
	f.opened(w[1])
	f.settleAs(w[1].Attempt, outcome.Applied)
	f.refused(w[0], outcome.NotSent, outcome.Superseded)
	f.refused(w[2], outcome.NotSent, outcome.Superseded)
	f.notOwn(edit(t, "m1", "x"), ledger.Unknown) // who comes later learns nothing
}

func givesUp(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	first, w := f.queue(request(edit(t, "m1", "two")), request(edit(t, "m1", "three")))
	a := w[1].Attempt
	f.no(f.Refuse(f.ctx, audit.Refused{Attempt: a, Row: row(a, outcome.Refused, outcome.MessageBusy), Seq: w[1].Seq}))
	f.settleAs(first, outcome.Applied)
	f.opened(w[0])
}

func deadWaiter(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	first, _ := f.queue(request(retract(t, "m1")))
	f.settleAs(first, outcome.Applied)
	late := request(edit(t, "m1", "two"))
	late = again(late, f.expect(late, audit.Wait))
	f.clock.Advance(maxWait)
	f.opened(late)
}

func overdueFrees(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	_, w := f.queue(request(edit(t, "m1", "two")))
	f.clock.Advance(budget + grace - time.Microsecond)
	f.expect(w[0], audit.Wait)
	f.clock.Advance(time.Microsecond)
	f.opened(w[0])
}

func waitFromFirst(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	first, w := f.queue(request(retract(t, "m1")), request(edit(t, "m1", "two")))
	f.clock.Advance(maxWait - time.Microsecond)
	f.expect(w[0], audit.Wait) // asking again doesn't prolong it
	f.clock.Advance(time.Microsecond)
	f.settleAs(first, outcome.Applied)
	f.opened(w[1])
}

func otherMessage(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	f.post(t, "m2")
	f.opened(request(edit(t, "m1", "x")))
	f.opened(request(edit(t, "m2", "x")))
}

func closedWhileWaiting(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	_, w := f.queue(request(edit(t, "m1", "two")))
	f.no(f.CloseTurn(f.ctx, t.ID))
	f.refused(w[0], outcome.Refused, outcome.Unauthorized)
}

func anyPart(f *fixture) {
	t := f.turn()
	f.split(t, "m1", "m1b")
	first := edit(t, "m1b", "two")
	if o := f.opened(request(first)); o.Entry.Reply != "m1" || o.Entry.Part != 1 {
		f.Errorf("entry %+v", o.Entry)
	}
	f.expect(request(edit(t, "m1", "three")), audit.Wait)
	f.settleAs(first, outcome.Applied)
	f.applied(retract(t, "m1b"))
	if f.entry("m1").ClosedAt.IsZero() || f.entry("m1b").ClosedAt.IsZero() {
		f.Error("a part is still open after the retract")
	}
}
