package redisstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"stet/ledger"
)

const (
	// budget bounds a call on the way of an attempt, the connection included.
	budget = 50 * time.Millisecond
	// dialLimit bounds the making of a connection, which goes on when the call
	// that asked for it has ended.
	dialLimit = 250 * time.Millisecond
	// slack is how long a key outlives its window, for clocks that differ.
	slack = time.Minute
	// tombstone is how long a closed message keeps others out: longer than
	// anybody takes between reading the authority and writing here.
	tombstone = time.Minute
)

// Options is how a store is made. Only URL is required.
type Options struct {
	// URL says where Redis is; see [Parse]. It may hold a password.
	URL string
	// Source fills Redis again after a loss; nil: [Store.Run] doesn't.
	Source ledger.WindowSource
	// Now is the process's clock; nil: [time.Now].
	Now func() time.Time
	// Logger hears what operators may want to know; nil: nobody does.
	Logger *slog.Logger
	// Registerer takes the metrics; nil: nobody does.
	Registerer prometheus.Registerer
	// Probe sees the named points of the background work. Tests alone set it.
	Probe func(point string)
}

// Store is the cache in Redis. It is safe for concurrent use, and useful from
// the moment that it was made, whether Redis is there or not. While [Store.Run]
// isn't running nothing is rebuilt and an opened breaker stays open.
type Store struct {
	client  redis.UniversalClient
	o       Options
	log     *slog.Logger
	metrics *metrics
	breaker breaker
	// kick asks Run to look at Redis now.
	kick chan struct{}
	// epochs are those of a Redis that is known to be whole, by bucket; nil: it
	// isn't known.
	epochs atomic.Pointer[[buckets]string]
	filled atomic.Pointer[progress] // of a rebuild that is under way
	tend   tending
}

type progress struct{ done, total int }

var _ ledger.Cache = (*Store)(nil)

// New makes a store. It doesn't wait for Redis: one that is down is found later.
func New(o Options) (*Store, error) {
	u, err := Parse(o.URL)
	if err != nil {
		return nil, fmt.Errorf("redis-url: %w", err)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Probe == nil {
		o.Probe = func(string) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{
		o: o, log: o.Logger.With(slog.String("part", "redis")), metrics: newMetrics(o.Registerer),
		kick: make(chan struct{}, 1),
	}
	s.breaker.now = time.Now
	s.tune(u)
	// The client's own log may name addresses and repeat what servers say.
	redis.SetLogger(silent{})
	s.client = redis.NewUniversalClient(u)
	return s, nil
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// tune makes the client do one thing at a time, once, and not for long.
func (s *Store) tune(u *redis.UniversalOptions) {
	u.ContextTimeoutEnabled = true
	u.MaxRetries, u.MaxRedirects, u.DialerRetries = -1, 1, 1
	u.DialTimeout, u.ReadTimeout, u.WriteTimeout, u.PoolTimeout = dialLimit, pageLimit, pageLimit, budget
	u.PoolSize = max(64, 16*runtime.GOMAXPROCS(0))
	u.PipelinePoolSize = -1
	u.ConnMaxIdleTime = 5 * time.Minute
	u.ClientName, u.DisableIdentity = "stet", true
	u.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	// New connections after a while without are what a failover looks like.
	u.OnConnect = func(context.Context, *redis.Conn) error { s.wake(); return nil }
}

// Close ends all connections. Run must have ended.
func (s *Store) Close() error { return bare(s.client.Close()) }

// wake makes Run look at Redis soon; it doesn't block.
func (s *Store) wake() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// Find answers what is held about a message, in one round trip.
func (s *Store) Find(ctx context.Context, k ledger.Key) (ledger.Entry, error) {
	key, bucket := place(k)
	var got []any
	err := s.call(ctx, opFind, func(ctx context.Context) (err error) {
		got, err = s.client.MGet(ctx, key, epochKeys[bucket]).Result()
		return err
	})
	if err != nil {
		return ledger.Entry{}, err
	}
	s.compare(bucket, got[1])
	raw, ok := got[0].(string)
	if !ok {
		return ledger.Entry{}, ledger.ErrMiss
	}
	e, ok := decode([]byte(raw), k)
	if !ok {
		s.metrics.spoilt.Inc()
		s.log.Warn("a value in Redis can't be used and is replaced", "bucket", bucket)
		return ledger.Entry{}, ledger.ErrSpoilt
	}
	return e, nil
}

// compare notices a bucket that lost its epoch or got another one.
func (s *Store) compare(bucket int, epoch any) {
	known := s.epochs.Load()
	if known == nil {
		return
	}
	if e, _ := epoch.(string); e != known[bucket] && s.epochs.CompareAndSwap(known, nil) {
		s.wake()
	}
}

// Keep adds entries, each unless something is held about its message.
func (s *Store) Keep(ctx context.Context, entries ...ledger.Entry) error {
	return s.write(ctx, opKeep, entries, func(ctx context.Context, c redis.Cmdable, w writing) {
		c.SetNX(ctx, w.key, w.raw, w.ttl)
	})
}

// Replace puts an entry in the place of what is held about its message.
func (s *Store) Replace(ctx context.Context, e ledger.Entry) error {
	return s.write(ctx, opKeep, []ledger.Entry{e}, func(ctx context.Context, c redis.Cmdable, w writing) {
		c.Set(ctx, w.key, w.raw, w.ttl)
	})
}

// Drop leaves a closed entry behind for a minute.
func (s *Store) Drop(ctx context.Context, k ledger.Key) error {
	raw, ok := encode(ledger.Entry{Key: k, ClosedAt: s.o.Now()})
	if !ok {
		return nil // no such key was ever written
	}
	key, _ := place(k)
	return s.call(ctx, opDrop, func(ctx context.Context) error {
		return s.client.Set(ctx, key, raw, tombstone).Err()
	})
}

// writing is an entry on its way to Redis.
type writing struct {
	key string
	raw []byte
	ttl time.Duration
}

// written prepares an entry; false: there is nothing to write.
func (s *Store) written(e ledger.Entry) (writing, bool) {
	left := e.EditableUntil.Sub(s.o.Now())
	if left <= 0 || !e.ClosedAt.IsZero() {
		return writing{}, false
	}
	raw, ok := encode(e)
	if !ok {
		return writing{}, false
	}
	key, _ := place(e.Key)
	return writing{key, raw, left + slack}, true
}

func (s *Store) write(ctx context.Context, op operation, entries []ledger.Entry, add func(context.Context, redis.Cmdable, writing)) error {
	var all []writing
	for _, e := range entries {
		if w, ok := s.written(e); ok {
			all = append(all, w)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return s.call(ctx, op, func(ctx context.Context) error { return s.pipe(ctx, all, add) })
}

// pipe sends writings together and answers the first failure.
func (s *Store) pipe(ctx context.Context, all []writing, add func(context.Context, redis.Cmdable, writing)) error {
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, w := range all {
			add(ctx, p, w)
		}
		return nil
	})
	if errors.Is(err, redis.Nil) {
		return nil // SET NX of a key that is there
	}
	return err
}

// call asks Redis within the budget, unless the breaker is open, and tells the
// breaker how it went.
func (s *Store) call(ctx context.Context, op operation, ask func(context.Context) error) error {
	if s.breaker.open() {
		return errOpen
	}
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	began := time.Now()
	err := ask(ctx)
	s.metrics.took(op, time.Since(began))
	if err != nil {
		return s.failed(op, err)
	}
	return nil
}

// failed counts a failure and answers it without the client's words.
func (s *Store) failed(op operation, err error) error {
	r := reasonOf(err)
	s.metrics.failed(op, r)
	if s.breaker.failed(r) {
		s.metrics.open.Set(1)
		s.log.Warn("Redis isn't asked for now, the ledger answers from SQL alone", "reason", r)
		s.o.Probe("opened")
		s.wake()
	}
	return errServer{r}
}
