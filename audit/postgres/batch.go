package postgres

import (
	"context"
	_ "embed" // the statements are files
	"errors"

	"github.com/jackc/pgx/v5"

	"stet/audit"
)

// The statements of a batch, in the order in which it sends them.
var (
	//go:embed statements/lock_turns.sql
	sqlLockTurns string
	//go:embed statements/lock_messages.sql
	sqlLockMessages string
	//go:embed statements/lock_pending.sql
	sqlLockPending string
	//go:embed statements/settle.sql
	sqlSettle string
	//go:embed statements/refuse.sql
	sqlRefuse string
	//go:embed statements/open.sql
	sqlOpen string
)

const sqlSession = `select pg_advisory_xact_lock_shared($1)`

// parts are the writes of a batch by what they do.
type parts struct {
	settle, refuse, open []*write
	// probe: one or more of them only prove that the trail can be written.
	probe bool
}

// send commits writes in one implicit transaction and leaves each one's answer
// in it. It sends all of it at once and needs nothing more to be said: a
// process that stops here leaves no transaction open.
func (c *committer) send(writes []*write) error {
	ctx, cancel := context.WithTimeout(context.Background(), audit.CommitLimit)
	defer cancel()
	var p parts
	for _, w := range writes {
		w.again = false
		switch {
		case w.settle != nil:
			p.settle = append(p.settle, w)
		case w.refuse != nil:
			p.refuse = append(p.refuse, w)
		case w.probe:
			p.probe = true
		default:
			p.open = append(p.open, w)
		}
	}
	conn, err := c.pool.Acquire(ctx)
	if err != nil {
		c.reset()
		return errors.Join(errGaveUp, err)
	}
	defer conn.Release()
	var q pgx.Batch
	silent := p.locks(&q, c.session.current())
	if p.probe {
		q.Queue(sqlProbe, c.clock())
		silent++
	}
	p.queue(&q, c.clock())
	results := conn.SendBatch(ctx, &q)
	err = p.read(results, silent)
	// The commit is confirmed when the batch's end is, and not before.
	if end := results.Close(); err == nil {
		err = end
	}
	err = confirmed(err)
	if errors.Is(err, errUnknown) {
		c.session.lost()
	}
	if err != nil && !answered(err) {
		c.reset() // what ended this connection has likely ended the others
	}
	return err
}

func (p *parts) queue(q *pgx.Batch, clock *int64) {
	if len(p.settle) > 0 {
		q.Queue(sqlSettle, settleArgs(p.settle, clock)...)
	}
	if len(p.refuse) > 0 {
		q.Queue(sqlRefuse, refuseArgs(p.refuse, clock)...)
	}
	if len(p.open) > 0 {
		q.Queue(sqlOpen, openArgs(p.open, clock)...)
	}
}

// read takes the answers in, after those of the first statements, which say
// nothing.
func (p *parts) read(results pgx.BatchResults, silent int) error {
	for range silent {
		if _, err := results.Exec(); err != nil {
			return err
		}
	}
	for _, part := range []struct {
		writes []*write
		read   func([]*write, pgx.Rows) error
	}{{p.settle, readSettled}, {p.refuse, readRefused}, {p.open, readOpened}} {
		if len(part.writes) == 0 {
			continue
		}
		rows, err := results.Query()
		if err != nil {
			return err
		}
		err = part.read(part.writes, rows)
		rows.Close()
		if err = errors.Join(err, rows.Err()); err != nil {
			return err
		}
	}
	return nil
}

// inOrder reads one row for each write; a state of again sends it along with
// the next batch.
func inOrder(writes []*write, rows pgx.Rows, read func(*write, func(...any) error) (string, error)) error {
	for _, w := range writes {
		if !rows.Next() {
			return rows.Err()
		}
		state, err := read(w, rows.Scan)
		if err != nil {
			return err
		}
		w.again = state == stateAgain
	}
	return nil
}
