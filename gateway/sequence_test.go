package gateway_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"stet/arms"
	"stet/gateway"
	"stet/gateway/outcome"
)

// held makes the next write stand still inside the platform until release.
func (h *house) held() (entered <-chan struct{}, release func()) {
	in, out := make(chan struct{}), make(chan struct{})
	var once sync.Once
	h.arm.script(func(string, arms.Marker) (error, bool) {
		once.Do(func() { close(in); <-out })
		return nil, true
	})
	return in, func() { close(out) }
}

func (h *house) wait(ch <-chan struct{}) {
	h.t.Helper()
	select {
	case <-ch:
	case <-time.After(10 * time.Second):
		h.t.Fatal("it never came")
	}
}

// waiters waits until so many writes are numbered and waiting.
func (h *house) waiters(n int) {
	h.t.Helper()
	h.until(func() bool { return h.waiting.Load() >= int64(n) })
}

func (h *house) until(ok func() bool) {
	h.t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			h.t.Fatal("it never happened")
		}
	}
}

func TestOfEditsThatWaitTheNewestOpensAndTheOthersEndSuperseded(t *testing.T) {
	h := build(t, countWaits)
	tn := h.turn()
	id := h.post(tn, "first").ID
	entered, release := h.held()
	results := make([]error, 5)
	answers := make([]gateway.Answer, 5)
	var all sync.WaitGroup
	start := func(i int) {
		all.Go(func() { answers[i], results[i] = h.gw.Edit(t.Context(), tn, change1(id, fmt.Sprint(i))) })
	}
	start(0)
	h.wait(entered)
	for i := 1; i < 5; i++ {
		start(i)
		h.waiters(i)
	}
	release()
	all.Wait()
	for i, err := range results {
		if i == 0 || i == 4 {
			must(t, err)
			continue
		}
		p := problem(t, err)
		row := h.outcomeOf(p.Attempt)
		if p.Reason != outcome.Superseded || p.Outcome != outcome.NotSent || p.Status() != 409 || row.Outcome != outcome.NotSent || row.Reason != outcome.Superseded {
			t.Errorf("edit %d: %+v, row %+v", i, p, row)
		}
	}
	if text, _ := h.arm.text(arms.MessageID(id)); text != "4" {
		t.Errorf("the room shows %q", text)
	}
	if n := len(h.arm.wire()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

func TestAnAppliedRetractSupersedesAllThatWait(t *testing.T) {
	h := build(t, countWaits)
	tn := h.turn()
	id := h.post(tn, "first").ID
	entered, release := h.held()
	var all sync.WaitGroup
	var edit, retract, late error
	all.Go(func() { _, _ = h.gw.Edit(t.Context(), tn, change1(id, "1")) })
	h.wait(entered)
	all.Go(func() { _, edit = h.gw.Edit(t.Context(), tn, change1(id, "2")) })
	h.waiters(1)
	all.Go(func() { _, retract = h.gw.Retract(t.Context(), tn, gateway.RetractRequest{ID: arms.MessageID(id)}) })
	h.waiters(2)
	all.Go(func() { _, late = h.gw.Edit(t.Context(), tn, change1(id, "3")) })
	h.waiters(3)
	release()
	all.Wait()
	must(t, retract)
	for _, err := range []error{edit, late} {
		if p := problem(t, err); p.Reason != outcome.Superseded || p.Outcome != outcome.NotSent {
			t.Errorf("%+v", p)
		}
	}
	if _, there := h.arm.text(arms.MessageID(id)); there {
		t.Error("the message is still there")
	}
}

func TestNobodyWaitsLongerThanTheLongestWait(t *testing.T) {
	h := build(t, func(o *gateway.Options) { o.MaxWait = 50 * time.Millisecond })
	tn := h.turn()
	id := h.post(tn, "first").ID
	entered, release := h.held()
	var first sync.WaitGroup
	first.Go(func() { _, _ = h.gw.Edit(t.Context(), tn, change1(id, "1")) })
	h.wait(entered)
	_, err := h.gw.Edit(t.Context(), tn, change1(id, "2"))
	p := problem(t, err)
	if p.Reason != outcome.MessageBusy || p.Outcome != outcome.Refused || h.outcomeOf(p.Attempt).Reason != outcome.MessageBusy {
		t.Errorf("%+v", p)
	}
	release()
	first.Wait()
	if _, err := h.gw.Edit(t.Context(), tn, change1(id, "3")); err != nil {
		t.Errorf("who gave up still holds the message: %v", err)
	}
}

// However writers race, what the room shows is what the applied edit with the
// highest number said, and every call has its one row.
func TestManyWritersOfOneMessageLeaveTheTextOfTheNewestApplied(t *testing.T) {
	h := build(t)
	tn := h.turn()
	id := h.post(tn, "first").ID
	var mu sync.Mutex
	ends := map[string]error{}
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := range 10 {
				a, err := h.gw.Edit(t.Context(), tn, change1(id, fmt.Sprintf("%d-%d", w, i)))
				attempt := a.Attempt
				var p *gateway.Problem
				if errors.As(err, &p) {
					attempt = p.Attempt
				}
				mu.Lock()
				ends[attempt] = err
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(ends) != 80 {
		t.Fatalf("%d attempts, want 80", len(ends))
	}
	applied := 0
	for attempt, err := range ends {
		row := h.outcomeOf(attempt)
		if (err == nil) != (row.Outcome == outcome.Applied) {
			t.Errorf("answer %v, row %+v", err, row)
		}
		if row.Outcome == outcome.Applied {
			applied++
		} else if row.Reason != outcome.Superseded {
			t.Errorf("row %+v", row)
		}
	}
	calls := h.arm.wire()
	if len(calls) != applied+1 {
		t.Errorf("%d requests for %d applied edits and a post", len(calls), applied)
	}
	if text, _ := h.arm.text(arms.MessageID(id)); text != string(calls[len(calls)-1].text) {
		t.Errorf("the room shows %q, the last request said %q", text, calls[len(calls)-1].text)
	}
}
