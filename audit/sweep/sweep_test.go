package sweep_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"stet/audit"
	"stet/audit/sweep"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// trail has a number of attempts that were left open.
type trail struct {
	mu    sync.Mutex
	left  int
	boots []string
	err   error
}

func (t *trail) Sweep(_ context.Context, _ time.Duration, boot string, limit int) ([]audit.Row, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.boots = append(t.boots, boot)
	n := min(limit, t.left)
	t.left -= n
	return make([]audit.Row, n), t.err
}

func sweeper(t *testing.T, tr *trail, told *int) *sweep.Sweeper {
	t.Helper()
	s, err := sweep.New(sweep.Options{
		Trail: tr, Logger: slog.New(slog.DiscardHandler), Every: time.Minute, Margin: time.Second,
		OnSwept: func() { *told++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheStartRecordsEverythingThatOthersLeftInBatches(t *testing.T) {
	tr, told := &trail{left: 450}, 0
	n, err := sweeper(t, tr, &told).Dead(t.Context(), "me")
	if n != 450 || err != nil || told != 3 || len(tr.boots) != 3 || tr.boots[0] != "me" {
		t.Errorf("%d, %v, told %d times, boots %v", n, err, told, tr.boots)
	}
}

func TestAStartThatCannotSweepSaysSo(t *testing.T) {
	tr, told := &trail{err: audit.ErrUnavailable}, 0
	if _, err := sweeper(t, tr, &told).Dead(t.Context(), "me"); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestItSweepsAtEveryPauseAndGoesOnAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, told := &trail{err: audit.ErrUnavailable}, 0
		s := sweeper(t, tr, &told)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); s.Run(ctx) }()
		time.Sleep(90 * time.Second)
		synctest.Wait()
		if len(tr.boots) != 1 || tr.boots[0] != "" {
			t.Errorf("sweeps %v", tr.boots)
		}
		tr.mu.Lock()
		tr.err, tr.left = nil, 5
		tr.mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		if tr.left != 0 || told != 1 {
			t.Errorf("%d left, told %d times", tr.left, told)
		}
		cancel()
		<-done
	})
}

func TestAMarginThatCouldHitLiveOwnersIsAnError(t *testing.T) {
	for _, o := range []sweep.Options{{Every: time.Second}, {Margin: time.Second}} {
		if _, err := sweep.New(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}
