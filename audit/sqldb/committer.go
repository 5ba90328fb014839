package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// ErrOverloaded: the queue is full; nothing was written.
var ErrOverloaded = errors.New("sqldb: too many writes are waiting")

// ErrClosed: the committer was stopped; nothing was written.
var ErrClosed = errors.New("sqldb: stopped")

// ErrNotCommitted: the caller's context ended before the write's turn came;
// nothing was written, now or later.
var ErrNotCommitted = errors.New("sqldb: gave up waiting, nothing was written")

// ErrUnknown: the caller's context ended, or the database failed, while the
// write was being committed; it may be there.
var ErrUnknown = errors.New("sqldb: the commit was not confirmed, it may be there")

// ErrPanicked: the write's own function panicked; nothing of it was written.
var ErrPanicked = errors.New("sqldb: a write panicked")

// maxBatch bounds how many writes share a commit.
const maxBatch = 256

// Observer is told of each commit: how many writes it carried, how long it took.
type Observer func(writes int, took time.Duration)

// Committer commits what waits in one transaction after another: whatever came
// in while the previous commit was under way shares the next one, so that the
// cost of a flush to disk is shared under load and no timer delays a lone write.
type Committer struct {
	db      *DB
	observe Observer
	first   chan *write
	second  chan *write
	stop    chan struct{}
	done    chan struct{}
	once    sync.Once
}

const (
	waiting int32 = iota
	running
	abandoned
)

type write struct {
	fn    func(context.Context, *sql.Tx) error
	state atomic.Int32
	err   error
	done  chan struct{}
}

// NewCommitter starts a committer on db; depth bounds each of its two queues.
func NewCommitter(db *DB, depth int, observe Observer) *Committer {
	if observe == nil {
		observe = func(int, time.Duration) {}
	}
	c := &Committer{
		db: db, observe: observe,
		first: make(chan *write, depth), second: make(chan *write, depth),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	go c.run()
	return c
}

// Do runs fn in a write transaction that others may share and returns when it
// is committed, or fn's own error when fn alone failed. fn may run more than
// once, so it must only depend on what it reads from the transaction. urgent
// writes go before all others.
func (c *Committer) Do(ctx context.Context, urgent bool, fn func(context.Context, *sql.Tx) error) error {
	w := &write{fn: fn, done: make(chan struct{})}
	queue := c.second
	if urgent {
		queue = c.first
	}
	select {
	case <-c.stop:
		return ErrClosed
	default:
	}
	select {
	case queue <- w:
	default:
		return ErrOverloaded
	}
	select {
	case <-w.done:
		return w.err
	case <-c.done:
		return c.afterStop(w)
	case <-ctx.Done():
		if w.state.CompareAndSwap(waiting, abandoned) {
			return ErrNotCommitted
		}
		select {
		case <-w.done:
			return w.err
		default:
			return ErrUnknown
		}
	}
}

func (c *Committer) afterStop(w *write) error {
	select {
	case <-w.done:
		return w.err
	default:
		return ErrClosed
	}
}

// Waiting is how many writes wait for their turn.
func (c *Committer) Waiting() int { return len(c.first) + len(c.second) }

// Close commits what already waits and stops.
func (c *Committer) Close() {
	c.once.Do(func() { close(c.stop) })
	<-c.done
}

func (c *Committer) run() {
	defer close(c.done)
	for {
		batch := c.next()
		if batch == nil {
			return
		}
		c.commit(batch)
	}
}

// next waits for a write and takes what else is there, urgent ones first.
// nil: stopped, and nothing waits.
func (c *Committer) next() []*write {
	var w *write
	select {
	case w = <-c.first:
	default:
		select {
		case w = <-c.first:
		case w = <-c.second:
		case <-c.stop:
			return c.fill(nil)
		}
	}
	return c.fill([]*write{w})
}

func (c *Committer) fill(batch []*write) []*write {
	for len(batch) < maxBatch {
		select {
		case w := <-c.first:
			batch = append(batch, w)
			continue
		default:
		}
		select {
		case w := <-c.first:
			batch = append(batch, w)
		case w := <-c.second:
			batch = append(batch, w)
		default:
			return batch
		}
	}
	return batch
}

func (c *Committer) commit(batch []*write) {
	live := batch[:0]
	for _, w := range batch {
		if w.state.CompareAndSwap(waiting, running) {
			live = append(live, w)
		}
	}
	if len(live) == 0 {
		return
	}
	began := time.Now()
	if culprit, _ := c.inTx(live); culprit && len(live) > 1 {
		c.eachAlone(live)
	}
	c.observe(len(live), time.Since(began))
	for _, w := range live {
		close(w.done)
	}
}

// eachAlone commits the writes of a batch that one of them took down, so that
// the one fails alone. A database that fails as a whole ends it for all the
// rest, who would otherwise wait for that failure one after the other.
func (c *Committer) eachAlone(live []*write) {
	for i := range live {
		if _, failed := c.inTx(live[i : i+1]); failed {
			for _, w := range live[i+1:] {
				w.err = ErrNotCommitted
			}
			return
		}
	}
}

// inTx commits writes together and leaves each one's result in it. culprit: a
// write's own function failed, so nothing of the batch is there and the others
// may be tried again. failed: the database failed as a whole.
func (c *Committer) inTx(live []*write) (culprit, failed bool) {
	all := func(err error) {
		for _, w := range live {
			w.err = err
		}
	}
	ctx := context.Background()
	conn, err := c.db.Write.Conn(ctx)
	if err != nil {
		all(err)
		return false, true
	}
	defer func() { _ = conn.Close() }()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		all(err)
		return false, true
	}
	all(nil)
	for _, w := range live {
		if w.err = runWrite(ctx, w, tx); w.err != nil {
			failed := ofDatabase(w.err)
			if failed {
				all(w.err)
			}
			if err := tx.Rollback(); err != nil || failed {
				discard(conn)
			}
			return !failed, failed
		}
	}
	if err := tx.Commit(); err != nil {
		discard(conn)
		all(errors.Join(ErrUnknown, err))
		return false, true
	}
	return false, false
}

// discard closes a connection instead of giving it back. After a failed flush
// SQLite's view of its own file can't be trusted, and after a failed rollback
// a transaction may still be open: only a fresh connection reads what is there.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
}

// runWrite turns a panic of one write into that write's error: it must not
// take the committer, and with it every other caller, down.
func runWrite(ctx context.Context, w *write, tx *sql.Tx) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = ErrPanicked
		}
	}()
	return w.fn(ctx, tx)
}
