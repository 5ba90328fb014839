package redisstore

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"stet/ledger"
)

const (
	// pageSize is how many entries are read and written together.
	pageSize = 1000
	// pageLimit bounds a page's writing. Together with its reading it has to
	// stay under the life of a tombstone.
	pageLimit = 5 * time.Second
	// lockLife is how long a rebuild that died keeps others from beginning one.
	lockLife = 15 * time.Second
)

// ErrLost: Redis lost data, or was exchanged, while it was being filled.
var ErrLost = errors.New("redisstore: Redis was flushed, restarted or failed over while it was being filled; try again")

var lockKey = tags[0] + "rebuilding"

// Rebuild copies to Redis every entry that may be changed now, and tells
// progress after each page; progress may be nil. total is counted at the start,
// so done may end a little beside it. It adds and never overwrites, may run
// beside anything else, and repeating it is harmless. It doesn't heed the
// breaker.
func (s *Store) Rebuild(ctx context.Context, source ledger.WindowSource, progress func(done, total int)) error {
	if progress == nil {
		progress = func(int, int) {}
	}
	err := s.rebuild(ctx, source, progress)
	s.metrics.rebuilt(err)
	return err
}

func (s *Store) rebuild(ctx context.Context, source ledger.WindowSource, progress func(done, total int)) error {
	total, err := source.WindowCount(ctx)
	if err != nil {
		return err
	}
	id := newEpoch()
	defer s.unlock(ctx)
	marks, err := s.mark(ctx, id)
	if err != nil {
		return s.lost(err)
	}
	done := 0
	progress(done, total)
	for after := (ledger.Entry{}); ; {
		page, err := source.Window(ctx, after, pageSize)
		if err != nil {
			return err
		}
		if err := s.copy(ctx, page, id); err != nil {
			return s.lost(err)
		}
		done += len(page)
		progress(done, max(total, done))
		if len(page) < pageSize {
			break
		}
		after = page[len(page)-1]
	}
	return s.finish(ctx, id, marks)
}

// lost counts a failure of Redis and answers it without the client's words.
func (s *Store) lost(err error) error {
	s.metrics.failed(opRebuild, reasonOf(err))
	return bare(err)
}

// mark writes into every bucket that it is being filled, so that a loss in the
// middle shows at the end.
func (s *Store) mark(ctx context.Context, id string) (marks survey, err error) {
	ctx, cancel := context.WithTimeout(ctx, pageLimit)
	defer cancel()
	if err = s.client.Set(ctx, lockKey, id, lockLife).Err(); err != nil {
		return marks, err
	}
	if marks.runs, err = s.runs(ctx); err != nil {
		return marks, err
	}
	for b := range marks.epochs {
		marks.epochs[b] = "filling " + id
	}
	return marks, s.writeEpochs(ctx, marks.epochs)
}

// copy writes a page, and shows to others that the rebuild is alive.
func (s *Store) copy(ctx context.Context, page []ledger.Entry, id string) error {
	var all []writing
	for _, e := range page {
		if w, ok := s.written(e); ok {
			all = append(all, w)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, pageLimit)
	defer cancel()
	if err := s.client.Set(ctx, lockKey, id, lockLife).Err(); err != nil {
		return err
	}
	if len(all) == 0 {
		return nil
	}
	err := s.pipe(ctx, all, func(ctx context.Context, c redis.Cmdable, w writing) {
		c.SetNX(ctx, w.key, w.raw, w.ttl)
	})
	if err == nil {
		s.metrics.entries.Add(float64(len(all)))
	}
	return err
}

// finish writes the epochs of a whole Redis, if it still is the one that was
// filled.
func (s *Store) finish(ctx context.Context, id string, marks survey) error {
	ctx, cancel := context.WithTimeout(ctx, pageLimit)
	defer cancel()
	now, err := s.survey(ctx)
	if err != nil {
		return s.lost(err)
	}
	if now != marks {
		return ErrLost
	}
	for b := range marks.epochs {
		marks.epochs[b] = epochOf(id, marks.runs[b])
	}
	if err := s.writeEpochs(ctx, marks.epochs); err != nil {
		return s.lost(err)
	}
	return nil
}

// refill rebuilds in the background, unless somebody else does, and reports that
// it did.
func (s *Store) refill(ctx context.Context) bool {
	s.plan()
	mine, err := s.lock(ctx)
	if err != nil || !mine {
		return false // the next look finds what became of it
	}
	s.log.Info("Redis lost entries of the ledger and is filled again")
	s.o.Probe("rebuilding")
	began := time.Now()
	err = s.Rebuild(ctx, s.o.Source, func(done, total int) { s.filled.Store(&progress{done, total}) })
	last := s.filled.Swap(nil)
	if err != nil {
		if ctx.Err() == nil {
			s.log.Warn("Redis could not be filled again; the ledger answers from SQL where Redis misses", "error", err)
		}
		return false
	}
	s.log.Info("Redis was filled again", "entries", last.done, "took", time.Since(began))
	s.o.Probe("rebuilt")
	return true
}

// plan says when the next rebuild may begin: later each time, as long as they
// come one upon the other.
func (s *Store) plan() {
	now := time.Now()
	switch calm := now.Sub(s.tend.earliest); {
	case s.tend.pause == 0 || calm > 10*s.tend.pause:
		s.tend.pause = firstPause
	default:
		s.tend.pause = min(2*s.tend.pause, lastPause)
	}
	s.tend.earliest = now.Add(s.tend.pause)
}

// lock keeps replicas from all rebuilding at once. It is a courtesy: two
// rebuilds do no harm.
func (s *Store) lock(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, surveyLimit)
	defer cancel()
	mine, err := s.client.SetNX(ctx, lockKey, "begun", lockLife).Result()
	if err != nil {
		return false, s.failed(opRebuild, err)
	}
	return mine, nil
}

// unlock lets others begin; a lock that stays behind expires by itself.
func (s *Store) unlock(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), surveyLimit)
	defer cancel()
	_ = s.client.Del(ctx, lockKey).Err()
}
