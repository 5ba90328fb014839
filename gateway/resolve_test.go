package gateway_test

import (
	"context"
	"testing"
	"time"

	"stet/arms"
	"stet/audit"
	"stet/gateway"
	"stet/gateway/outcome"
	"stet/gateway/turn"
)

// look lets the resolver take what is due, until nothing is.
func (h *house) look() {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); h.resolver.Run(ctx) }()
	h.resolver.Kick()
	h.until(func() bool {
		due, err := h.store.Due(ctx, 10)
		return err == nil && len(due) == 0
	})
	cancel()
	<-done
}

// lose makes the next write of the verb ambiguous, applied or not.
func (h *house) lose(tn turn.Turn, v outcome.Verb, id string, applies bool) *gateway.Problem {
	h.t.Helper()
	h.arm.script(func(string, arms.Marker) (error, bool) { return ambiguous(), applies })
	_, err := h.act(v, tn, id)
	h.arm.script(nil)
	p := problem(h.t, err)
	if p.Outcome != outcome.Ambiguous {
		h.t.Fatalf("%+v", p)
	}
	return p
}

func (h *house) verdicts(attempt string) (all []audit.Verdict, last audit.Detail) {
	h.t.Helper()
	for _, r := range h.trailOf(attempt) {
		if r.Action == audit.ActionResolved {
			last = detail(h.t, r)
			all = append(all, last.Verdict)
		}
	}
	return all, last
}

func is(t *testing.T, got []audit.Verdict, want ...audit.Verdict) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("verdicts %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("verdicts %v, want %v", got, want)
		}
	}
}

func TestWhatLandedIsSeen(t *testing.T) {
	for _, v := range outcome.Verbs() {
		t.Run(string(v), func(t *testing.T) {
			h := build(t)
			tn := h.turn()
			id := h.post(tn, "hello").ID
			p := h.lose(tn, v, id, true)
			h.look()
			got, d := h.verdicts(p.Attempt)
			is(t, got, audit.Seen)
			if row := h.outcomeOf(p.Attempt); row.Outcome != outcome.Ambiguous {
				t.Errorf("the outcome was changed: %+v", row)
			}
			if h.fresh(tn).Marks.Ambiguous {
				t.Error("the mark still stands")
			}
			if v == outcome.Reply {
				if d.ID != "m2" {
					t.Errorf("detail %+v", d)
				}
				if _, err := h.gw.Edit(t.Context(), tn, change1("m2", "a found post can be edited")); err != nil {
					t.Error(err)
				}
			}
			if v == outcome.Retract {
				_, err := h.gw.Edit(t.Context(), tn, change1(id, "x"))
				if p := problem(t, err); p.Reason != outcome.NotOwnPost {
					t.Errorf("%+v", p)
				}
			}
		})
	}
}

func TestAFoundPostKeepsItsOriginalWindow(t *testing.T) {
	h := build(t)
	tn := h.turn()
	h.lose(tn, outcome.Reply, "", true)
	h.look()
	h.advance(4*time.Hour + time.Second)
	_, err := h.gw.Edit(t.Context(), h.turn(), change1("m1", "x"))
	if p := problem(t, err); p.Reason != outcome.NotOwnPost {
		t.Errorf("%+v", p)
	}
}

func TestWhatDidNotLandIsProvenByTwoLooksALongWayApart(t *testing.T) {
	for _, v := range outcome.Verbs() {
		t.Run(string(v), func(t *testing.T) {
			h := build(t)
			tn := h.turn()
			id := h.post(tn, "hello").ID
			p := h.lose(tn, v, id, false)
			h.look()
			got, _ := h.verdicts(p.Attempt)
			is(t, got, audit.NotSeen)
			if !h.fresh(tn).Marks.Ambiguous {
				t.Error("a weak look lifted the mark")
			}
			h.advance(3 * time.Second) // before the attempt's deadline and the settle time
			h.look()
			got, _ = h.verdicts(p.Attempt)
			is(t, got, audit.NotSeen)
			h.advance(time.Minute)
			h.look()
			got, _ = h.verdicts(p.Attempt)
			is(t, got, audit.NotSeen, audit.NotApplied)
			if h.fresh(tn).Marks.Ambiguous {
				t.Error("the mark still stands")
			}
		})
	}
}

func TestAPostThatSurfacesAfterAWeakLookIsSeen(t *testing.T) {
	h := build(t)
	p := h.lose(h.turn(), outcome.Reply, "", false)
	h.look()
	_, err := h.arm.Post(t.Context(), arms.PostRequest{Place: arms.Place{Channel: "c1"}, Text: "next", Marker: arms.Marker(p.Attempt)})
	must(t, err)
	h.advance(time.Minute)
	h.look()
	got, _ := h.verdicts(p.Attempt)
	is(t, got, audit.NotSeen, audit.Seen)
}

func TestALookThatFailsProvesNothing(t *testing.T) {
	h := build(t)
	p := h.lose(h.turn(), outcome.Reply, "", false)
	h.arm.onLook = func() error { return &arms.Fault{Certainty: arms.Rejected, Code: arms.CodeForbidden, Status: 403} }
	for range 3 {
		h.look()
		h.advance(time.Hour)
	}
	got, _ := h.verdicts(p.Attempt)
	is(t, got)
	h.advance(24 * time.Hour)
	h.look()
	got, d := h.verdicts(p.Attempt)
	is(t, got, audit.GaveUp)
	if d.Evidence != "too-old" {
		t.Errorf("%+v", d)
	}
}

func TestWhatLandedIsSeenSoonAfterThePlatformCanBeReadAgain(t *testing.T) {
	h := build(t)
	p := h.lose(h.turn(), outcome.Reply, "", true)
	h.arm.onLook = func() error { return ambiguous() }
	for range 10 {
		h.look()
		h.advance(31 * time.Second)
	}
	h.arm.onLook = nil
	h.look()
	got, _ := h.verdicts(p.Attempt)
	is(t, got, audit.Seen)
}

func TestAnEditThatALaterOneOverwroteCannotBeTold(t *testing.T) {
	h := build(t)
	tn := h.turn()
	id := h.post(tn, "hello").ID
	p := h.lose(tn, outcome.Edit, id, false)
	_, err := h.gw.Edit(t.Context(), tn, change1(id, "newer"))
	must(t, err)
	h.look()
	got, _ := h.verdicts(p.Attempt)
	is(t, got) // it may still surface over the newer one
	h.advance(time.Minute)
	h.look()
	got, d := h.verdicts(p.Attempt)
	is(t, got, audit.GaveUp)
	if d.Evidence != "overwritten" {
		t.Errorf("%+v", d)
	}
}

func TestAnEditOfAMessageThatIsGoneIsGivenUpAndTheEntryCloses(t *testing.T) {
	h := build(t)
	tn := h.turn()
	id := h.post(tn, "hello").ID
	p := h.lose(tn, outcome.Edit, id, true)
	delete(h.arm.messages, arms.MessageID(id))
	h.look()
	got, d := h.verdicts(p.Attempt)
	is(t, got, audit.GaveUp)
	if d.Evidence != "gone" {
		t.Errorf("%+v", d)
	}
	_, err := h.gw.Edit(t.Context(), tn, change1(id, "x"))
	if q := problem(t, err); q.Reason != outcome.NotOwnPost {
		t.Errorf("%+v", q)
	}
}

func TestAPostThatAPersonChangedIsSeenChanged(t *testing.T) {
	h := build(t)
	p := h.lose(h.turn(), outcome.Reply, "", true)
	h.arm.messages["m1"].Text = "by somebody else"
	h.look()
	got, _ := h.verdicts(p.Attempt)
	is(t, got, audit.SeenChanged)
}

func TestASurfaceThatCannotBeReadStaysAmbiguousUntilItIsGivenUp(t *testing.T) {
	h := build(t)
	tn := h.turn(func(tn *turn.Turn) { tn.Locus.Platform = "mute" })
	p := h.lose(tn, outcome.Reply, "", true)
	h.look()
	h.advance(23 * time.Hour)
	h.look()
	got, _ := h.verdicts(p.Attempt)
	is(t, got)
	h.advance(2 * time.Hour)
	h.look()
	got, _ = h.verdicts(p.Attempt)
	is(t, got, audit.GaveUp)
}

func TestAResolutionIsPublishedToItsTurn(t *testing.T) {
	var e gateway.Events
	rows, cancel := e.Subscribe("t1")
	other, leave := e.Subscribe("t2")
	defer leave()
	e.Publish(audit.Row{ID: "1", Turn: "t1"})
	if r := <-rows; r.ID != "1" {
		t.Errorf("%+v", r)
	}
	select {
	case r := <-other:
		t.Errorf("another turn heard %+v", r)
	default:
	}
	for range 100 {
		e.Publish(audit.Row{Turn: "t1"}) // nobody reads: it must not block
	}
	cancel()
	e.Publish(audit.Row{Turn: "t1"})
}

// Two edits in doubt of one message that shows neither: each may have covered
// the other, so neither is ever said to be absent, and nobody looks for ever.
func TestEditsThatMayHaveCoveredOneAnotherAreGivenUp(t *testing.T) {
	h := build(t)
	tn := h.turn()
	id := h.post(tn, "hello").ID
	first := h.lose(tn, outcome.Edit, id, false)
	h.arm.script(func(string, arms.Marker) (error, bool) { return ambiguous(), false })
	_, err := h.gw.Edit(t.Context(), tn, change1(id, "second"))
	second := problem(t, err)
	h.arm.script(nil)
	h.arm.messages[arms.MessageID(id)].Text = "by somebody else"
	for range 3 {
		h.look()
		h.advance(time.Minute)
	}
	for _, p := range []*gateway.Problem{first, second} {
		got, _ := h.verdicts(p.Attempt)
		is(t, got, audit.NotSeen, audit.GaveUp)
	}
	if h.fresh(tn).Marks.Ambiguous {
		t.Error("the mark still stands")
	}
}
