package gateway_test

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"stet/arms"
	"stet/gateway"
	"stet/gateway/outcome"
	"stet/gateway/turn"
)

func keyed(text, key string) gateway.ReplyRequest {
	r := say(text)
	r.Key = key
	return r
}

func TestAReplayAnswersTheSameAndLeavesNothing(t *testing.T) {
	h := build(t)
	first, err := h.gw.Reply(t.Context(), h.turn(), keyed("hello", "k"))
	must(t, err)
	again, err := h.gw.Reply(t.Context(), h.turn(), keyed("hello", "k"))
	must(t, err)
	if !reflect.DeepEqual(again, first) {
		t.Errorf("%+v, then %+v", first, again)
	}
	rows := h.countRows()
	for name, c := range map[string]struct {
		turn turn.Turn
		req  gateway.ReplyRequest
	}{
		"another text":         {h.turn(), keyed("other", "k")},
		"another conversation": {h.turn(func(tn *turn.Turn) { tn.Locus.Channel = "c2" }), keyed("hello", "k")},
		"a dry run of it":      {h.turn(func(tn *turn.Turn) { tn.DryRun = true }), keyed("hello", "k")},
	} {
		_, err := h.gw.Reply(t.Context(), c.turn, c.req)
		if p := problem(t, err); p.Reason != outcome.IdempotencyMismatch || p.Status() != 422 || p.Attempt != "" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if len(h.arm.wire()) != 1 || h.countRows() != rows {
		t.Errorf("%d requests, %d rows, want 1 and %d", len(h.arm.wire()), h.countRows(), rows)
	}
}

func TestAKeyIsOfOneOrganizationPrincipalAndVerb(t *testing.T) {
	h := build(t)
	a, err := h.gw.Reply(t.Context(), h.turn(), keyed("hello", "k"))
	must(t, err)
	for _, other := range []func(*turn.Turn){
		func(tn *turn.Turn) { tn.Org = "rival" }, func(tn *turn.Turn) { tn.Principal = "bot-2" },
	} {
		_, err := h.gw.Reply(t.Context(), h.turn(other), keyed("hello", "k"))
		must(t, err)
	}
	e := change1(a.ID, "changed")
	e.Key = "k"
	_, err = h.gw.Edit(t.Context(), h.turn(), e)
	must(t, err)
	if n := len(h.arm.wire()); n != 4 {
		t.Errorf("%d requests, want 4", n)
	}
}

func TestWhatLeftNothingReleasesTheKey(t *testing.T) {
	for name, c := range map[string]struct {
		fault    error
		released bool
	}{
		"not sent":    {&arms.Fault{Certainty: arms.NotSent, Code: arms.CodeDial}, true},
		"429":         {&arms.Fault{Certainty: arms.Rejected, Code: arms.CodeRateLimited, Status: 429}, true},
		"rejected":    {&arms.Fault{Certainty: arms.Rejected, Code: arms.CodeForbidden, Status: 403}, false},
		"ambiguous":   {&arms.Fault{Certainty: arms.Ambiguous, Code: arms.CodeCut}, false},
		"not a fault": {errors.New("x"), false},
	} {
		t.Run(name, func(t *testing.T) {
			h := build(t)
			h.arm.script(func(string, arms.Marker) (error, bool) { return c.fault, false })
			_, err := h.gw.Reply(t.Context(), h.turn(), keyed("hello", "k"))
			first := problem(t, err)
			h.arm.script(nil)
			_, err = h.gw.Reply(t.Context(), h.turn(), keyed("hello", "k"))
			if c.released {
				must(t, err)
				return
			}
			if p := problem(t, err); *p != *first {
				t.Errorf("first %+v, then %+v", first, p)
			}
			if n := len(h.arm.wire()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
	h := build(t)
	_, err := h.gw.Reply(t.Context(), h.turn(), keyed(" ", "k"))
	_ = problem(t, err)
	_, err = h.gw.Reply(t.Context(), h.turn(), keyed("a refusal gave the key back", "k"))
	must(t, err)
}

func TestAReplayOfWhatWasSeenSinceSaysWhatIsThere(t *testing.T) {
	h := build(t)
	h.arm.script(func(string, arms.Marker) (error, bool) { return ambiguous(), true })
	_, err := h.gw.Reply(t.Context(), h.turn(), keyed("hello", "k"))
	first := problem(t, err)
	h.arm.script(nil)
	h.look()
	a, err := h.gw.Reply(t.Context(), h.turn(), keyed("hello", "k"))
	if err != nil || a.ID != "m1" || a.Attempt != first.Attempt {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestAHundredCallersOfOneKeyMakeOneRequest(t *testing.T) {
	h := build(t)
	const keys, callers = 10, 20
	answers := make([][]gateway.Answer, keys)
	var mu sync.Mutex
	var all sync.WaitGroup
	turns := []turn.Turn{h.turn(), h.turn(), h.turn()}
	for k := range keys {
		for c := range callers {
			all.Go(func() {
				for {
					a, err := h.gw.Reply(t.Context(), turns[c%len(turns)], keyed("hello", fmt.Sprint(k)))
					var p *gateway.Problem
					if errors.As(err, &p) && p.Reason == outcome.InProgress {
						continue
					}
					if err != nil {
						t.Errorf("key %d: %v", k, err)
						return
					}
					mu.Lock()
					answers[k] = append(answers[k], a)
					mu.Unlock()
					return
				}
			})
		}
	}
	all.Wait()
	for k, list := range answers {
		for _, a := range list {
			if !reflect.DeepEqual(a, list[0]) {
				t.Errorf("key %d: %+v and %+v", k, list[0], a)
			}
		}
	}
	if n := len(h.arm.wire()); n != keys {
		t.Errorf("%d requests, want %d", n, keys)
	}
}
