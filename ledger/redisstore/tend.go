package redisstore

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

const (
	// probeEvery is how often a Redis that failed is tried.
	probeEvery = 500 * time.Millisecond
	// surveyEvery is how often a Redis that serves is looked at without cause,
	// and looksApart the least time between two looks with cause.
	surveyEvery = 5 * time.Second
	looksApart  = 100 * time.Millisecond
	// surveyLimit bounds a probe or a look; nobody waits for it.
	surveyLimit = time.Second
	// Pauses between rebuilds grow while Redis keeps losing what it is given.
	firstPause = time.Second
	lastPause  = time.Minute
)

// tending is what Run remembers between two looks.
type tending struct {
	pause    time.Duration
	earliest time.Time // of the next rebuild
}

// Run keeps Redis useful until the context ends: it tries one that failed until
// it serves again, notices losses, and fills it again from the source. Call it
// once.
func (s *Store) Run(ctx context.Context) {
	next := time.NewTimer(0)
	defer next.Stop()
	var last time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		case <-s.kick:
			if wait := looksApart - time.Since(last); wait > 0 {
				next.Reset(wait)
				continue
			}
		}
		next.Reset(s.look(ctx))
		last = time.Now()
	}
}

// look does what there is to do and answers when to look again.
func (s *Store) look(ctx context.Context) time.Duration {
	if s.breaker.open() && !s.probe(ctx) {
		return probeEvery
	}
	state, err := s.survey(ctx)
	switch {
	case err != nil:
		if ctx.Err() == nil {
			_ = s.failed(opSurvey, err)
		}
		return probeEvery
	case state.whole():
		s.epochs.Store(&state.epochs)
		s.o.Probe("whole")
		return surveyEvery
	case s.o.Source == nil:
		return surveyEvery
	}
	s.epochs.Store(nil)
	if wait := time.Until(s.tend.earliest); wait > 0 {
		return wait
	}
	if s.refill(ctx) {
		return looksApart // to find it whole
	}
	return max(time.Until(s.tend.earliest), looksApart)
}

// probe writes to every bucket; only a Redis that takes all of it serves again.
func (s *Store) probe(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, surveyLimit)
	defer cancel()
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, t := range tags {
			p.Set(ctx, t+"probe", 1, time.Second)
		}
		return nil
	})
	if err != nil {
		if !errors.Is(ctx.Err(), context.Canceled) {
			_ = s.failed(opProbe, err)
		}
		return false
	}
	if s.breaker.served() {
		s.metrics.open.Set(0)
		s.log.Info("Redis serves again")
		s.o.Probe("closed")
	}
	return true
}

// survey is what a look at the buckets found, by bucket.
type survey struct {
	epochs [buckets]string
	// runs are the runs of the servers that hold them.
	runs [buckets]string
}

// whole reports that every bucket holds the epoch of a finished rebuild, on the
// server and in the run in which that was written.
func (v survey) whole() bool {
	id, _, _ := strings.Cut(v.epochs[0], "/")
	for b, epoch := range v.epochs {
		if id == "" || epoch != epochOf(id, v.runs[b]) {
			return false
		}
	}
	return true
}

func epochOf(id, run string) string { return id + "/" + run }

func newEpoch() string { return uuid.NewString() }

func (s *Store) survey(ctx context.Context) (v survey, err error) {
	ctx, cancel := context.WithTimeout(ctx, surveyLimit)
	defer cancel()
	if v.runs, err = s.runs(ctx); err != nil {
		return v, err
	}
	v.epochs, err = s.readEpochs(ctx)
	return v, err
}

func (s *Store) readEpochs(ctx context.Context) (epochs [buckets]string, err error) {
	gets := make([]*redis.StringCmd, buckets)
	_, err = s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for b, key := range epochKeys {
			gets[b] = p.Get(ctx, key)
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return epochs, err
	}
	for b, g := range gets {
		if epochs[b], err = g.Result(); err != nil && !errors.Is(err, redis.Nil) {
			return epochs, err
		}
	}
	return epochs, nil
}

func (s *Store) writeEpochs(ctx context.Context, epochs [buckets]string) error {
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for b, key := range epochKeys {
			p.Set(ctx, key, epochs[b], 0)
		}
		return nil
	})
	return err
}

// runs asks each bucket's server for the id of its run. One that keeps it to
// itself has the empty id, and its restarts show by lost epochs alone.
func (s *Store) runs(ctx context.Context) (runs [buckets]string, err error) {
	seen := map[redis.Cmdable]string{}
	for b, key := range epochKeys {
		server, err := s.serverOf(ctx, key)
		if err != nil {
			return runs, err
		}
		id, known := seen[server]
		if !known {
			info, err := server.Info(ctx, "server").Result()
			if err != nil {
				return runs, err
			}
			id = field(info, "run_id")
			seen[server] = id
		}
		runs[b] = id
	}
	return runs, nil
}

// serverOf is the server that holds a key.
func (s *Store) serverOf(ctx context.Context, key string) (redis.Cmdable, error) {
	if c, ok := s.client.(*redis.ClusterClient); ok {
		return c.MasterForKey(ctx, key)
	}
	return s.client, nil
}

// field finds a field of what INFO answers.
func field(info, name string) string {
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
