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
}

// result is what became of a job. A refusal is the platform's no, in the
// words of its error schema; err means that the commit failed.
type result struct {
	message message
	refusal string
	err     error
}

const (
	commitDepth   = 4096
	commitTimeout = 5 * time.Second
)

var errStopped = errors.New("room: the server is stopped")

// committer applies jobs, those that wait together in one commit.
type committer struct {
	writes *sqldb.Committer
	now    func() time.Time
	tell   func()
}

// do waits for the job's commit. It doesn't stop waiting when a client goes
// away: the write may be on its way to the disk.
func (c *committer) do(j job) result {
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()
	var done result
	err := c.writes.Do(ctx, false, func(ctx context.Context, tx *sql.Tx) (err error) {
		done, err = writer{ctx, tx, c.now().UTC()}.do(j)
		return err
	})
	if err != nil {
		return result{err: err}
	}
	c.tell()
	return done
}
