package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/arms"
	"stet/audit"
	"stet/gateway"
	"stet/gateway/outcome"
	"stet/gateway/turn"
	"stet/guards"
)

func ambiguous() error { return &arms.Fault{Certainty: arms.Ambiguous, Code: arms.CodeCut} }

func TestI1APanicAnywhereLeavesOneRow(t *testing.T) {
	for point, want := range map[string]outcome.Outcome{
		"edit/admit": outcome.Refused, "edit/own": outcome.Refused, "edit/approve": outcome.Refused,
		"edit/open": outcome.NotSent, "edit/dispatch": outcome.Ambiguous,
	} {
		t.Run(point, func(t *testing.T) {
			armed := false
			h := build(t, func(o *gateway.Options) {
				o.Probe = func(p string) {
					if armed && p == point {
						panic("boom: secret words")
					}
				}
			})
			tn := h.turn()
			id := h.post(tn, "hello").ID
			armed = true
			_, err := h.gw.Edit(t.Context(), tn, change1(id, "x"))
			p := problem(t, err)
			row := h.outcomeOf(p.Attempt)
			if p.Reason != outcome.Internal || p.Outcome != want || row.Outcome != want || row.Reason != outcome.Internal {
				t.Errorf("problem %+v, row %+v", p, row)
			}
		})
	}
}

func TestI1AnArmThatPanicsIsAmbiguous(t *testing.T) {
	h := build(t)
	h.arm.script(func(string, arms.Marker) (error, bool) { panic("boom") })
	_, err := h.gw.Reply(t.Context(), h.turn(), say("hello"))
	p := problem(t, err)
	if row := h.outcomeOf(p.Attempt); row.Outcome != outcome.Ambiguous {
		t.Errorf("row %+v", row)
	}
}

func TestI1ALostClientChangesNothing(t *testing.T) {
	for _, point := range []string{"reply/admit", "reply/open", "reply/dispatch"} {
		ctx, cancel := context.WithCancel(t.Context())
		h := build(t, func(o *gateway.Options) {
			o.Probe = func(p string) {
				if p == point {
					cancel()
				}
			}
		})
		ans, err := h.gw.Reply(ctx, h.turn(), say("hello"))
		cancel()
		if err != nil {
			t.Fatalf("%s: %v", point, err)
		}
		if row := h.outcomeOf(ans.Attempt); row.Outcome != outcome.Applied {
			t.Errorf("%s: row %+v", point, row)
		}
	}
}

func TestI2NothingLeavesBeforeTheAttemptIsDurable(t *testing.T) {
	h := build(t)
	var inside error
	h.arm.script(func(_ string, m arms.Marker) (error, bool) {
		n, err := h.store.OpenAttempts(t.Context())
		if err != nil || n != 1 {
			inside = fmt.Errorf("%d attempts open at the request, %v", n, err)
		}
		return nil, true
	})
	h.post(h.turn(), "hello")
	if inside != nil {
		t.Error(inside)
	}
}

// brokenTrail fails where a test says so.
type brokenTrail struct {
	*audit.Recorder
	open, refuse error
}

func (b brokenTrail) Open(ctx context.Context, q audit.OpenRequest) (audit.Opening, error) {
	if b.open != nil {
		return audit.Opening{}, b.open
	}
	return b.Recorder.Open(ctx, q)
}

func (b brokenTrail) Refuse(ctx context.Context, q audit.Refused) error {
	if b.refuse != nil {
		return b.refuse
	}
	return b.Recorder.Refuse(ctx, q)
}

func TestI2WithoutATrailNothingLeavesAndThereIsNoAttempt(t *testing.T) {
	for err, want := range map[error]outcome.Reason{
		audit.ErrUnavailable: outcome.AuditUnavailable, audit.ErrUnconfirmed: outcome.AuditUnavailable,
		audit.ErrOverloaded: outcome.Overloaded,
	} {
		h := build(t, func(o *gateway.Options) {
			o.Recorder = brokenTrail{Recorder: o.Recorder.(*audit.Recorder), open: err, refuse: err}
		})
		_, got := h.gw.Reply(t.Context(), h.turn(), say("hello"))
		if p := problem(t, got); p.Reason != want || p.Outcome != "" || p.Attempt != "" || p.Status() != 503 {
			t.Errorf("%v: %+v", err, p)
		}
		_, got = h.gw.Reply(t.Context(), h.turn(), say(""))
		if p := problem(t, got); p.Reason != want {
			t.Errorf("refusal with %v: %+v", err, p)
		}
		if n := len(h.arm.wire()) + int(h.countRows()); n != 0 {
			t.Errorf("%d requests and rows, want none", n)
		}
	}
}

func TestI3TheRequestGoesWhereTheHostAndTheLedgerSay(t *testing.T) {
	h := build(t)
	threaded := h.turn(func(tn *turn.Turn) { tn.Locus.Thread = "t1" })
	id := h.post(threaded, "in the thread").ID
	if _, err := h.gw.Edit(t.Context(), h.turn(), change1(id, "from outside it")); err != nil {
		t.Fatal(err)
	}
	for i, c := range h.arm.wire() {
		if c.place.Channel != "c1" || c.place.Thread != "t1" || c.place.Org != "acme" {
			t.Errorf("request %d went to %+v", i, c.place)
		}
	}
}

func TestI7MarksAfterAnAmbiguousOutcome(t *testing.T) {
	h := build(t)
	tn := h.turn()
	id := h.post(tn, "hello").ID
	h.arm.script(func(string, arms.Marker) (error, bool) { return ambiguous(), false })
	_, err := h.gw.Edit(t.Context(), tn, change1(id, "x"))
	if p := problem(t, err); p.Outcome != outcome.Ambiguous {
		t.Fatalf("%+v", p)
	}
	h.arm.script(nil)
	_, err = h.gw.Reply(t.Context(), h.fresh(tn), say("again"))
	if p := problem(t, err); p.Reason != outcome.TurnAmbiguous || p.Outcome != outcome.Refused {
		t.Errorf("a reply after an ambiguous edit: %+v", p)
	}
	// The early look may be stale; the opening commit says no all the same.
	_, err = h.gw.Reply(t.Context(), tn, say("again"))
	if p := problem(t, err); p.Reason != outcome.TurnAmbiguous {
		t.Errorf("a reply with stale marks: %+v", p)
	}
	other := h.turn()
	h.post(other, "another turn is free")
	if _, err := h.gw.Edit(t.Context(), tn, change1(id, "x")); err != nil {
		t.Fatalf("repeating the edit: %v", err)
	}
	h.post(h.fresh(tn), "the applied repeat lifted the mark")
}

func TestI7AfterAnAmbiguousReplyNoReplyGoesOutUntilAResolution(t *testing.T) {
	h := build(t)
	tn := h.turn()
	kept := h.post(tn, "hello").ID
	h.arm.script(func(string, arms.Marker) (error, bool) { return ambiguous(), true })
	_, err := h.gw.Reply(t.Context(), tn, say("landed"))
	_ = problem(t, err)
	h.arm.script(nil)
	for range 2 {
		_, err = h.gw.Reply(t.Context(), h.fresh(tn), say("landed"))
		if p := problem(t, err); p.Reason != outcome.TurnAmbiguous {
			t.Fatalf("%+v", p)
		}
	}
	if _, err := h.gw.Edit(t.Context(), tn, change1(kept, "edits stay possible")); err != nil {
		t.Fatal(err)
	}
	h.look()
	h.post(h.fresh(tn), "the resolution lifted the mark")
}

func TestI7ADefinitiveFailureLeavesTheTurnOpen(t *testing.T) {
	h := build(t)
	tn := h.turn()
	h.arm.script(func(string, arms.Marker) (error, bool) {
		return &arms.Fault{Certainty: arms.Rejected, Code: arms.CodeForbidden, Status: 403}, false
	})
	_, err := h.gw.Reply(t.Context(), tn, say("x"))
	_ = problem(t, err)
	if m := h.fresh(tn).Marks; m.MayEnd || m.Ambiguous {
		t.Errorf("marks %+v", m)
	}
	h.arm.script(nil)
	h.post(h.fresh(tn), "fresh")
}

func TestTheTurnsMarksRuleOutReplies(t *testing.T) {
	h := build(t)
	tn := h.turn()
	last := say("that's all")
	last.Done = true
	ans, err := h.gw.Reply(t.Context(), tn, last)
	if err != nil {
		t.Fatal(err)
	}
	for _, stale := range []turn.Turn{h.fresh(tn), tn} {
		_, err = h.gw.Reply(t.Context(), stale, say("one more"))
		if p := problem(t, err); p.Reason != outcome.TurnAnswered {
			t.Errorf("%+v", p)
		}
	}
	if _, err := h.gw.Edit(t.Context(), h.fresh(tn), change1(ans.ID, "edits are exempt")); err != nil {
		t.Error(err)
	}
	declined := h.turn()
	if err := h.store.Decline(t.Context(), declined); err != nil {
		t.Fatal(err)
	}
	for _, stale := range []turn.Turn{h.fresh(declined), declined} {
		_, err = h.gw.Reply(t.Context(), stale, say("after all"))
		if p := problem(t, err); p.Reason != outcome.TurnDeclined {
			t.Errorf("%+v", p)
		}
	}
}

func TestI4TheOpeningCommitAsksAgain(t *testing.T) {
	var h *house
	var meanwhile func()
	h = build(t, func(o *gateway.Options) {
		o.Probe = func(p string) {
			if p == "edit/approve" && meanwhile != nil {
				meanwhile()
			}
		}
	})
	for name, c := range map[string]struct {
		happens func(tn turn.Turn, id string)
		reason  outcome.Reason
	}{
		"the turn was closed": {func(tn turn.Turn, _ string) { must(t, h.store.CloseTurn(t.Context(), tn.ID)) }, outcome.Unauthorized},
		"the token expired":   {func(turn.Turn, string) { h.advance(61 * time.Minute) }, outcome.Unauthorized},
		"it was retracted": {func(tn turn.Turn, id string) {
			meanwhile = nil
			_, err := h.gw.Retract(t.Context(), tn, gateway.RetractRequest{ID: arms.MessageID(id)})
			must(t, err)
		}, outcome.NotOwnPost},
	} {
		t.Run(name, func(t *testing.T) {
			meanwhile = nil
			tn := h.turn()
			id := h.post(tn, "hello").ID
			meanwhile = func() { c.happens(tn, id) }
			before := len(h.arm.wire())
			_, err := h.gw.Edit(t.Context(), tn, change1(id, "x"))
			p := problem(t, err)
			if p.Reason != c.reason || p.Outcome != outcome.Refused || h.outcomeOf(p.Attempt).Reason != c.reason {
				t.Errorf("%+v", p)
			}
			for _, call := range h.arm.wire()[before:] {
				if call.verb == "edit" {
					t.Error("the edit went out")
				}
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestI8ADryRunTakesTheRealPathAndReachesNoTransport(t *testing.T) {
	h := build(t)
	dry := func(tn *turn.Turn) { tn.DryRun = true }
	real := h.turn()
	kept := h.post(real, "real").ID
	tn := h.turn(dry)
	a := h.post(tn, "rehearsal")
	if a.ID != "dry-"+a.Attempt {
		t.Errorf("id %q", a.ID)
	}
	e, err := h.gw.Edit(t.Context(), tn, change1(a.ID, "better"))
	must(t, err)
	_, err = h.gw.Edit(t.Context(), tn, change1(kept, "would change the real one"))
	must(t, err)
	same, err := h.gw.Edit(t.Context(), tn, change1(a.ID, "better"))
	must(t, err)
	if !same.Unchanged {
		t.Error("the dry entry doesn't remember its text")
	}
	for _, attempt := range []string{a.Attempt, e.Attempt} {
		if row := h.outcomeOf(attempt); !row.DryRun || row.Outcome != outcome.Applied || row.Platform != string(place) {
			t.Errorf("row %+v", row)
		}
	}
	_, err = h.gw.Edit(t.Context(), tn, change1("nope", "x"))
	if p := problem(t, err); p.Reason != outcome.NotOwnPost || !h.outcomeOf(p.Attempt).DryRun {
		t.Errorf("%+v", p)
	}
	for name, stranger := range map[string]turn.Turn{
		"a real turn": real, "another session": h.turn(dry, func(tn *turn.Turn) { tn.Session = "s2" }),
	} {
		_, err = h.gw.Edit(t.Context(), stranger, change1(a.ID, "x"))
		if p := problem(t, err); p.Reason != outcome.NotOwnPost {
			t.Errorf("%s sees the dry entry: %+v", name, p)
		}
	}
	_, err = h.gw.Retract(t.Context(), tn, gateway.RetractRequest{ID: arms.MessageID(kept)})
	must(t, err)
	if _, err := h.gw.Edit(t.Context(), real, change1(kept, "still mine")); err != nil {
		t.Errorf("a dry retract closed a real entry: %v", err)
	}
	if n := len(h.arm.wire()); n != 2 {
		t.Errorf("%d requests, want the real post and the real edit", n)
	}
}

// strike is a guard that takes a word out, or refuses.
type strike struct{ word string }

func (s strike) Check(_ context.Context, d guards.Draft) (guards.Verdict, error) {
	switch {
	case strings.Contains(d.Text.Body, "fail"):
		return guards.Verdict{}, errors.New("secret")
	case strings.Contains(d.Text.Body, "never"):
		return guards.Verdict{Text: d.Text, Refuse: outcome.ClaimRefused, Detail: "policy refuses it"}, nil
	}
	at := strings.Index(d.Text.Body, s.word)
	if at < 0 {
		return guards.Verdict{Text: d.Text}, nil
	}
	v := guards.Verdict{Withheld: []guards.Withheld{{Guard: "memory", Cause: "no-evidence", Start: at, End: at + len(s.word)}}}
	v.Text = arms.Text{Body: strings.Replace(d.Text.Body, s.word, "", 1), Format: d.Text.Format}
	return v, nil
}

func TestI9GuardsStandBetweenTheFencesAndMeasuringForEveryText(t *testing.T) {
	h := build(t, func(o *gateway.Options) { o.Guards = guards.Chain{strike{"saved "}} })
	tn := h.turn()
	long := strings.Repeat("x", 40)
	a, err := h.gw.Reply(t.Context(), tn, say("saved "+long))
	must(t, err)
	if len(a.Withheld) != 1 || a.Withheld[0] != (gateway.Withheld{Guard: "memory", Cause: "no-evidence", Start: 0, End: 6}) {
		t.Errorf("withheld %+v", a.Withheld)
	}
	_, err = h.gw.Edit(t.Context(), tn, change1(a.ID, "saved it"))
	must(t, err)
	rows := h.trailOf(a.Attempt)
	if len(rows) != 2 || rows[1].Kind != audit.Note || rows[1].Action != audit.ActionClaimWithheld || rows[1].Outcome != "" {
		t.Fatalf("rows %+v", rows)
	}
	if d := detail(t, rows[1]); d.Guard != "memory" || d.Cause != "no-evidence" || d.Count != 1 {
		t.Errorf("note %+v", d)
	}
	for i, want := range []string{long, "it"} {
		if got := string(h.arm.wire()[i].text); got != want {
			t.Errorf("request %d carries %q, want %q", i, got, want)
		}
	}
	_, err = h.gw.Edit(t.Context(), tn, change1("nope", "never"))
	if p := problem(t, err); p.Reason != outcome.NotOwnPost {
		t.Errorf("the guards came before the fences: %+v", p)
	}
	_, err = h.gw.Edit(t.Context(), tn, change1(a.ID, "never"))
	if p := problem(t, err); p.Reason != outcome.ClaimRefused || p.Detail != "policy refuses it" {
		t.Errorf("%+v", p)
	}
	_, err = h.gw.Reply(t.Context(), tn, say("fail"))
	if p := problem(t, err); p.Outcome != outcome.Refused {
		t.Errorf("a guard that fails let the text pass: %+v", p)
	}
}

// no is a ladder that says no, or fails.
type no struct{ err error }

func (n no) Decide(context.Context, guards.Action) (guards.Decision, error) {
	return guards.Decision{By: "rule", Reason: "not on a Sunday"}, n.err
}

func TestADenialAndAFailingLadderSendNothing(t *testing.T) {
	for _, l := range []no{{}, {errors.New("broken")}} {
		h := build(t, func(o *gateway.Options) { o.Ladder = l })
		_, err := h.gw.Reply(t.Context(), h.turn(), say("x"))
		p := problem(t, err)
		if p.Reason != outcome.Denied || p.Status() != 403 || len(h.arm.wire()) != 0 {
			t.Errorf("%+v", p)
		}
		if d := detail(t, h.outcomeOf(p.Attempt)); d.Approval != "rule" {
			t.Errorf("detail %+v", d)
		}
	}
}

func TestTooMuchAtOnceIsRefusedWithoutARow(t *testing.T) {
	h := build(t, func(o *gateway.Options) { o.MaxInFlight = 1 })
	hold, held := make(chan struct{}), make(chan struct{})
	h.arm.script(func(string, arms.Marker) (error, bool) { close(held); <-hold; return nil, true })
	var first sync.WaitGroup
	tn := h.turn()
	first.Go(func() { _, _ = h.gw.Reply(t.Context(), tn, say("slow")) })
	<-held
	_, err := h.gw.Reply(t.Context(), h.turn(), say("x"))
	if p := problem(t, err); p.Reason != outcome.Overloaded || p.RetryAfter == 0 || p.Attempt != "" {
		t.Errorf("%+v", p)
	}
	close(hold)
	first.Wait()
}
