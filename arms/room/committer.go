package room

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"stet/audit/sqldb"
)

// job is one unit of a commit: a write request to note, a write to apply, or
// both.
type job struct {
	verb    string
	req     request
	kind    string
	receive bool
	apply   bool
	done    chan<- result
}

// result is what became of a job. A refusal is the platform's no, in the
// words of its error schema; err means that the commit failed.
type result struct {
	message message
	refusal string
	err     error
}

const (
	maxBatch      = 256
	commitTimeout = 5 * time.Second
)

var errStopped = errors.New("room: the server is stopped")

// committer puts the jobs that wait while a commit runs into the next one, so
// that many callers share the cost of reaching the disk.
type committer struct {
	db   *sqldb.DB
	now  func() time.Time
	jobs chan job
	tell func()
}

// run works until jobs is closed.
func (c *committer) run() {
	for first := range c.jobs {
		c.commit(c.gather(first))
	}
}

func (c *committer) gather(first job) []job {
	batch := []job{first}
	for len(batch) < maxBatch {
		select {
		case j, ok := <-c.jobs:
			if !ok {
				return batch
			}
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}

func (c *committer) commit(batch []job) {
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()
	results := make([]result, len(batch))
	err := c.db.InTx(ctx, func(tx *sql.Tx) error {
		for i, j := range batch {
			var err error
			if results[i], err = (writer{ctx, tx, c.now().UTC()}).do(j); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		c.tell()
	}
	for i, j := range batch {
		if err != nil {
			results[i] = result{err: err}
		}
		j.done <- results[i]
	}
}

// do hands a job to the committer and waits for it. It doesn't stop waiting
// when a client goes away: the write may be on its way to the disk.
func (c *committer) do(j job) result {
	done := make(chan result, 1)
	j.done = done
	c.jobs <- j
	return <-done
}
