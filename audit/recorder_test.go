package audit_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"stet/arms"
	"stet/audit"
	"stet/gateway/outcome"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shelf is a store that fails as a test says.
type shelf struct {
	audit.Store // what a test doesn't set up isn't called

	mu      sync.Mutex
	err     error // of every write
	hang    bool  // writes never come back
	there   map[string]bool
	settled []audit.Settlement
	late    bool
	probes  int
}

func (s *shelf) write(ctx context.Context) error {
	s.mu.Lock()
	hang, err := s.hang, s.err
	s.mu.Unlock()
	if hang {
		<-ctx.Done()
		return audit.ErrUnconfirmed
	}
	return err
}

func (s *shelf) set(err error, hang bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err, s.hang = err, hang
}

func (s *shelf) Open(ctx context.Context, q audit.OpenRequest) (audit.Opening, error) {
	if err := s.write(ctx); err != nil {
		return audit.Opening{}, err
	}
	return audit.Opening{State: audit.Opened}, nil
}

func (s *shelf) Refuse(ctx context.Context, _ audit.Refused) error { return s.write(ctx) }

func (s *shelf) Settle(ctx context.Context, q audit.Settlement) (audit.Settled, error) {
	if err := s.write(ctx); err != nil {
		return audit.Settled{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.there[q.Attempt.ID] {
		return audit.Settled{}, audit.ErrNotFound
	}
	s.settled = append(s.settled, q)
	return audit.Settled{Row: q.Row, Late: s.late}, nil
}

func (s *shelf) Probe(ctx context.Context) error {
	s.mu.Lock()
	s.probes++
	s.mu.Unlock()
	return s.write(ctx)
}

func (s *shelf) outcomes() []audit.Settlement {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]audit.Settlement(nil), s.settled...)
}

func open(id string) audit.OpenRequest {
	a := audit.Attempt{ID: id, Verb: outcome.Reply}
	return audit.OpenRequest{Attempt: a, Refused: func(r audit.Refusal) audit.Row {
		return audit.Row{ID: "row-" + id, Attempt: id, Action: "reply.post.refused", Outcome: r.Outcome, Reason: r.Reason, Failure: r.Outcome.Failure()}
	}}
}

func end(id string, o outcome.Outcome) audit.Settlement {
	return audit.Settlement{
		Attempt: audit.Attempt{ID: id, Verb: outcome.Reply},
		Row: audit.Row{ID: "row-" + id, Attempt: id, Platform: "room", Action: outcome.Action(outcome.Reply, o),
			Outcome: o, Failure: o.Failure()},
	}
}

func recorder(t *testing.T, s *shelf) (*audit.Recorder, *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewRegistry()
	m := audit.NewMetrics(reg, []arms.Platform{"room"}, func() float64 { return 0 })
	return audit.NewRecorder(s, m, slog.New(slog.DiscardHandler)), reg
}

func unavailable(t *testing.T, reg *prometheus.Registry) float64 {
	t.Helper()
	return metric(t, reg, "stet_audit_unavailable_total", nil)
}

func metric(t *testing.T, reg *prometheus.Registry, name string, labels map[string]string) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
	next:
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if want, ok := labels[l.GetName()]; ok && want != l.GetValue() {
					continue next
				}
			}
			return m.GetCounter().GetValue()
		}
	}
	t.Fatalf("no metric %s%v", name, labels)
	return 0
}

func TestAFailureClosesTheTrailUntilAProbeSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{there: map[string]bool{"a": true}}
		r, reg := recorder(t, s)
		r.Start()
		s.set(audit.ErrUnavailable, false)
		if _, err := r.Open(t.Context(), open("a")); !errors.Is(err, audit.ErrUnavailable) {
			t.Errorf("open: %v", err)
		}
		s.set(nil, false)
		if _, err := r.Open(t.Context(), open("b")); !errors.Is(err, audit.ErrUnavailable) || r.Available() {
			t.Errorf("open before a probe: %v", err)
		}
		if err := r.Refuse(t.Context(), audit.Refused{}); !errors.Is(err, audit.ErrUnavailable) {
			t.Errorf("refuse before a probe: %v", err)
		}
		time.Sleep(time.Second)
		if !r.Available() {
			t.Error("the probe didn't open the trail")
		}
		if _, err := r.Open(t.Context(), open("c")); err != nil {
			t.Errorf("open after a probe: %v", err)
		}
		if n := unavailable(t, reg); n != 3 {
			t.Errorf("%v requests counted, want 3", n)
		}
		if err := r.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestAHangingStoreIsAFailingOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{hang: true}
		r, _ := recorder(t, s)
		began := time.Now()
		if _, err := r.Open(t.Context(), open("a")); !errors.Is(err, audit.ErrUnconfirmed) {
			t.Errorf("open: %v", err)
		}
		if took := time.Since(began); took != audit.CommitLimit {
			t.Errorf("it took %v", took)
		}
		if r.Available() {
			t.Error("the trail is open still")
		}
		if err := r.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestALowReserveClosesTheTrailToNewAttemptsNotToOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{there: map[string]bool{"a": true}}
		r, _ := recorder(t, s)
		var low atomic.Bool
		r.Reserve(low.Load)
		r.Start()
		low.Store(true)
		time.Sleep(time.Second)
		if _, err := r.Open(t.Context(), open("b")); !errors.Is(err, audit.ErrUnavailable) {
			t.Errorf("open: %v", err)
		}
		if _, err := r.Settle(t.Context(), end("a", outcome.Applied)); err != nil {
			t.Errorf("settle: %v", err)
		}
		low.Store(false)
		time.Sleep(time.Second)
		if _, err := r.Open(t.Context(), open("b")); err != nil {
			t.Errorf("open: %v", err)
		}
		if err := r.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestTooMuchWaitingDoesNotCloseTheTrail(t *testing.T) {
	s := &shelf{err: audit.ErrOverloaded}
	r, reg := recorder(t, s)
	if _, err := r.Open(t.Context(), open("a")); !errors.Is(err, audit.ErrOverloaded) {
		t.Errorf("open: %v", err)
	}
	if err := r.Refuse(t.Context(), audit.Refused{}); !errors.Is(err, audit.ErrOverloaded) {
		t.Errorf("refuse: %v", err)
	}
	if !r.Available() || unavailable(t, reg) != 0 {
		t.Error("shedding counted as a failure")
	}
	if err := r.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestI11AnOutcomeThatCannotBeWrittenInTimeIsWrittenLaterAndCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{there: map[string]bool{"a": true}, err: audit.ErrUnavailable}
		r, reg := recorder(t, s)
		r.Start()
		began := time.Now()
		if _, err := r.Settle(t.Context(), end("a", outcome.Applied)); err == nil {
			t.Error("it was answered as written")
		}
		if took := time.Since(began); took != audit.CommitLimit {
			t.Errorf("the caller waited %v", took)
		}
		s.set(nil, false)
		time.Sleep(5 * time.Second)
		if got := s.outcomes(); len(got) != 1 || got[0].Row.ID != "row-a" {
			t.Errorf("written %+v", got)
		}
		if n := metric(t, reg, "stet_outcomes_total", map[string]string{
			"verb": "reply", "platform": "room", "outcome": "applied", "dry_run": "false",
		}); n != 1 {
			t.Errorf("counted %v, want 1", n)
		}
		if err := r.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestAnOutcomeThatIsWrittenWithinTheLimitIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{there: map[string]bool{"a": true}, err: audit.ErrUnavailable}
		r, _ := recorder(t, s)
		time.AfterFunc(time.Second, func() { s.set(nil, false) })
		if got, err := r.Settle(t.Context(), end("a", outcome.Applied)); err != nil || got.Row.ID != "row-a" {
			t.Errorf("%+v, %v", got, err)
		}
		if err := r.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestALostClientDoesNotCancelItsOwnRecord(t *testing.T) {
	s := &shelf{there: map[string]bool{"a": true}}
	r, _ := recorder(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Settle(ctx, end("a", outcome.Applied)); err != nil {
		t.Error(err)
	}
	if err := r.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAnOpeningThatWasNeverConfirmedIsClosedAsNotSentIfItHappened(t *testing.T) {
	for name, happened := range map[string]bool{"it happened": true, "it didn't": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &shelf{err: audit.ErrUnconfirmed, there: map[string]bool{"a": happened}}
				r, _ := recorder(t, s)
				r.Start()
				if _, err := r.Open(t.Context(), open("a")); err == nil {
					t.Error("it was answered as open")
				}
				time.Sleep(3 * time.Second)
				s.set(nil, false)
				time.Sleep(3 * time.Second)
				got := s.outcomes()
				if happened != (len(got) == 1) {
					t.Fatalf("written %+v", got)
				}
				if happened && (got[0].Row.Outcome != outcome.NotSent || got[0].Row.Reason != outcome.AuditUnavailable || !got[0].Release) {
					t.Errorf("written %+v", got[0].Row)
				}
				if err := r.Stop(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestARefusalThatWasNeverConfirmedIsCountedIfItHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{err: audit.ErrUnconfirmed, there: map[string]bool{"a": true}, late: true}
		r, reg := recorder(t, s)
		r.Start()
		q := end("a", outcome.Refused)
		if err := r.Refuse(t.Context(), audit.Refused{Attempt: q.Attempt, Row: q.Row}); err == nil {
			t.Error("it was answered as written")
		}
		s.set(nil, false)
		time.Sleep(2 * time.Second)
		if got := s.outcomes(); len(got) != 1 || !got[0].IfOpen {
			t.Errorf("asked %+v", got)
		}
		if n := metric(t, reg, "stet_outcomes_total", map[string]string{
			"verb": "reply", "platform": "room", "outcome": "refused", "reason": "", "dry_run": "false",
		}); n != 1 {
			t.Errorf("counted %v, want 1", n)
		}
		if err := r.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestStopSaysWhenOutcomesAreLeftToTheNextStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{there: map[string]bool{"a": true}, err: audit.ErrUnavailable}
		r, _ := recorder(t, s)
		if _, err := r.Settle(t.Context(), end("a", outcome.Applied)); err == nil {
			t.Error("it was answered as written")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Stop(ctx); err == nil {
			t.Error("nothing was said")
		}
	})
}

func TestALateResultIsCountedAsAVerdictNotAsAnOutcome(t *testing.T) {
	s := &shelf{there: map[string]bool{"a": true, "b": true}, late: true}
	r, reg := recorder(t, s)
	for id, o := range map[string]outcome.Outcome{"a": outcome.Applied, "b": outcome.Ambiguous} {
		if got, err := r.Settle(t.Context(), end(id, o)); err != nil || !got.Late {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if n := metric(t, reg, "stet_resolutions_total", map[string]string{"verdict": "late_result"}); n != 1 {
		t.Errorf("%v late results, want 1", n)
	}
	if n := metric(t, reg, "stet_outcomes_total", map[string]string{"verb": "reply", "platform": "room", "outcome": "applied"}); n != 0 {
		t.Errorf("%v outcomes, want 0", n)
	}
	if err := r.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestEveryWayToEndIsASeriesFromTheStart(t *testing.T) {
	_, reg := recorder(t, &shelf{})
	n, err := testutil.GatherAndCount(reg, "stet_outcomes_total")
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, v := range outcome.Verbs() {
		want += len(outcome.Ends(v)) * 3 * 2 // platforms: room, none, other; dry or not
	}
	if n != want {
		t.Errorf("%d series, want %d", n, want)
	}
	if n, err = testutil.GatherAndCount(reg, "stet_resolutions_total"); err != nil || n != len(audit.Verdicts()) {
		t.Errorf("%d verdict series, %v", n, err)
	}
	if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) > 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
}
