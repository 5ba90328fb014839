package audit

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"stet/gateway/outcome"
	"stet/gateway/turn"
)

// CommitLimit is how long a caller waits for the trail before it is told that
// the trail is not available.
const CommitLimit = 2 * time.Second

const (
	probeEvery = 500 * time.Millisecond
	retryPause = 100 * time.Millisecond
)

// Recorder is the gateway's way to the trail. It bounds every write, fails
// closed when the trail can't be written, finishes what was begun on contexts
// that no lost client can cancel, and counts what was recorded.
//
// Start it before use and Stop it after the last attempt.
type Recorder struct {
	store   Store
	metrics *Metrics
	log     *slog.Logger

	closed atomic.Bool // the trail failed; only a probe opens it again
	low    func() bool // the reserve for outcomes is touched
	mu     sync.Mutex
	doubt  []Settlement // written or not? the commit was never confirmed

	stop     context.CancelFunc
	lifetime context.Context
	loops    sync.WaitGroup
	owed     sync.WaitGroup // outcomes that are not written yet
}

// NewRecorder makes a recorder over a store.
func NewRecorder(store Store, m *Metrics, log *slog.Logger) *Recorder {
	ctx, stop := context.WithCancel(context.Background())
	return &Recorder{
		store: store, metrics: m, log: log, lifetime: ctx, stop: stop,
		low: func() bool { return false },
	}
}

// Reserve closes the trail to new attempts while low answers true, so that the
// outcomes of those under way still find room. Call it before Start.
func (r *Recorder) Reserve(low func() bool) { r.low = low }

// Start begins to watch the store.
func (r *Recorder) Start() { r.loops.Go(r.watch) }

// Stop waits until every outcome that is owed is written, at most as long as
// the context allows, then stops watching. What is still owed is left to the
// sweeper of the next process.
func (r *Recorder) Stop(ctx context.Context) error {
	done := make(chan struct{})
	go func() { r.owed.Wait(); close(done) }()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = errors.New("audit: stopped with outcomes unwritten; the next start records them as interrupted")
	}
	r.stop()
	<-done
	r.loops.Wait()
	return err
}

// Available reports whether the trail takes new attempts.
func (r *Recorder) Available() bool { return !r.closed.Load() }

// Open opens an attempt. Any error means that nothing may leave; the attempt
// is then closed as not sent should it turn up after all.
func (r *Recorder) Open(ctx context.Context, q OpenRequest) (Opening, error) {
	if !r.Available() {
		return Opening{}, r.unavailable(ErrUnavailable)
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	o, err := r.store.Open(ctx, q)
	switch {
	case errors.Is(err, ErrOverloaded):
		return Opening{}, err
	case err != nil:
		r.fail("open", q.Attempt.ID, err)
		if errors.Is(err, ErrUnconfirmed) {
			r.doubtful(q.Attempt, q.Refused(Refusal{Outcome: outcome.NotSent, Reason: outcome.AuditUnavailable}))
		}
		return Opening{}, r.unavailable(err)
	}
	if o.State == Ended || o.Swept {
		r.metrics.count(o.Row)
	}
	return o, nil
}

// Refuse writes an attempt that ends before it was opened.
func (r *Recorder) Refuse(ctx context.Context, q Refused) error {
	if !r.Available() {
		return r.unavailable(ErrUnavailable)
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	switch err := r.store.Refuse(ctx, q); {
	case errors.Is(err, ErrOverloaded):
		return err
	case err != nil:
		r.fail("refuse", q.Attempt.ID, err)
		if errors.Is(err, ErrUnconfirmed) {
			r.doubtful(q.Attempt, q.Row)
		}
		return r.unavailable(err)
	}
	r.metrics.count(q.Row)
	return nil
}

// Settle writes an outcome. It does not give up: an error means only that the
// outcome was not written within [CommitLimit]; writing goes on behind it.
func (r *Recorder) Settle(ctx context.Context, s Settlement) (Settled, error) {
	bound, cancel := bounded(ctx)
	defer cancel()
	done, err := r.settleOnce(bound, s)
	if err == nil || errors.Is(err, ErrNotFound) {
		return done, err
	}
	r.fail("settle", s.Attempt.ID, err)
	late := make(chan Settled, 1)
	r.owed.Go(func() {
		if got, ok := r.settleUntilDone(s); ok {
			late <- got
		}
	})
	select {
	case got := <-late:
		return got, nil
	case <-bound.Done():
		return Settled{}, r.unavailable(ErrUnconfirmed)
	}
}

func (r *Recorder) settleOnce(ctx context.Context, s Settlement) (Settled, error) {
	got, err := r.store.Settle(ctx, s)
	if err == nil && !got.Late {
		r.metrics.count(got.Row)
	}
	if err == nil && got.Late && s.Row.Outcome != outcome.Ambiguous {
		r.metrics.resolved(LateResult)
	}
	return got, err
}

func (r *Recorder) settleUntilDone(s Settlement) (Settled, bool) {
	for {
		if !r.pause(retryPause) {
			return Settled{}, false
		}
		ctx, cancel := bounded(r.lifetime)
		got, err := r.settleOnce(ctx, s)
		cancel()
		if err == nil {
			return got, true
		}
		if errors.Is(err, ErrNotFound) {
			return Settled{}, false
		}
	}
}

// Claimed looks an idempotency key up.
func (r *Recorder) Claimed(ctx context.Context, t turn.Turn, v outcome.Verb, c Claim) (Opening, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	o, err := r.store.Claimed(ctx, t, v, c)
	if err == nil && o.Swept {
		r.metrics.count(o.Row)
	}
	return o, err
}

// Sweep records attempts that a dead or stuck process left open and answers
// their rows.
func (r *Recorder) Sweep(ctx context.Context, margin time.Duration, boot string, limit int) ([]Row, error) {
	rows, err := r.store.Sweep(ctx, margin, boot, limit)
	for _, row := range rows {
		r.metrics.count(row)
	}
	return rows, err
}

// Due answers ambiguous attempts whose next look is due.
func (r *Recorder) Due(ctx context.Context, limit int) ([]Pending, error) {
	return r.store.Due(ctx, limit)
}

// Resolve records the verdict of a look.
func (r *Recorder) Resolve(ctx context.Context, q Resolution) (bool, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	wrote, err := r.store.Resolve(ctx, q)
	if err == nil && wrote && q.Write {
		r.metrics.resolved(q.Verdict)
	}
	return wrote, err
}

// bounded detaches a context from its cancellation: a lost client must not
// cancel its own record.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), CommitLimit)
}

func (r *Recorder) unavailable(err error) error {
	r.metrics.unavailable.Inc()
	if errors.Is(err, ErrUnavailable) || errors.Is(err, ErrUnconfirmed) {
		return err
	}
	return errors.Join(ErrUnavailable, err)
}

// fail closes the trail to new attempts until a probe succeeds. The first
// failure is logged, not every one that follows.
func (r *Recorder) fail(doing, attempt string, err error) {
	if r.closed.CompareAndSwap(false, true) {
		r.log.Error("the audit trail can't be written, no attempt is opened until it can",
			"doing", doing, "attempt", attempt, "error", err)
	}
}

// doubtful remembers an attempt whose first commit was not confirmed, with the
// outcome that it gets should it turn out to be open.
func (r *Recorder) doubtful(a Attempt, row Row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.doubt = append(r.doubt, Settlement{Attempt: a, Row: row, Release: true, IfOpen: true})
}

func (r *Recorder) watch() {
	for r.pause(probeEvery) {
		if r.low() {
			r.fail("reserve", "", ErrUnavailable)
			continue
		}
		if r.Available() && !r.hasDoubt() {
			continue
		}
		ctx, cancel := bounded(r.lifetime)
		err := r.store.Probe(ctx)
		cancel()
		if err != nil {
			continue
		}
		r.settleDoubts()
		if r.closed.CompareAndSwap(true, false) {
			r.log.Info("the audit trail can be written again")
		}
	}
}

func (r *Recorder) hasDoubt() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.doubt) > 0
}

// settleDoubts closes attempts whose opening was never confirmed but happened,
// and counts those that ended in that commit: nobody else could. The probe that
// went before was committed after them, so one that isn't there now never will
// be.
func (r *Recorder) settleDoubts() {
	r.mu.Lock()
	doubt := r.doubt
	r.doubt = nil
	r.mu.Unlock()
	for _, s := range doubt {
		ctx, cancel := bounded(r.lifetime)
		got, err := r.store.Settle(ctx, s)
		cancel()
		if err == nil && got.Row.Reason != outcome.Interrupted {
			r.metrics.count(got.Row)
		}
		if err != nil && !errors.Is(err, ErrNotFound) {
			r.mu.Lock()
			r.doubt = append(r.doubt, s)
			r.mu.Unlock()
		}
	}
}

func (r *Recorder) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.lifetime.Done():
		return false
	}
}
