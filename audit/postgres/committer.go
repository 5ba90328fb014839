package postgres

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"stet/audit"
)

const (
	// maxBatch bounds how many writes share a commit.
	maxBatch = 256
	// maxTries bounds how often a batch that lost to another replica's goes again.
	maxTries = 10
)

// committer commits what waits in one batch after another: whatever came in
// while the previous commit was under way shares the next one, so that a flush
// and the way to the server are shared under load and no timer delays a lone
// write.
type committer struct {
	pool    *pgxpool.Pool
	clock   func() *int64
	reset   func() // makes the store's other connections anew
	observe func(int, time.Duration)
	session session
	first   chan *write
	second  chan *write
	// held are writes that could not go with the batch before.
	held []*write
	stop chan struct{}
	done chan struct{}
	once sync.Once
}

const (
	waiting int32 = iota
	running
	abandoned
)

// write is one item of a batch: exactly one of the first four is set, and holds
// the answer afterwards.
type write struct {
	settle *settling
	refuse *refusing
	open   *opening
	probe  bool
	// clash names what no other write of a batch may share with this one.
	clash [3]clash

	again bool
	state atomic.Int32
	err   error
	done  chan struct{}
}

// clash is something that two writes of one batch must not both be about; of no
// kind it is none.
type clash struct {
	kind                  byte
	org, who, verb, thing string
}

func newCommitter(s *Store, depth int) *committer {
	c := &committer{
		pool: s.batches, clock: s.clock, reset: s.pool.Reset, observe: s.observe,
		first: make(chan *write, depth), second: make(chan *write, depth),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	go c.run()
	return c
}

// do commits w with others and returns when it is committed, or w's own error
// when w alone failed. urgent writes go before all others.
func (c *committer) do(ctx context.Context, urgent bool, w *write) error {
	w.done = make(chan struct{})
	queue := c.second
	if urgent {
		queue = c.first
	}
	select {
	case <-c.stop:
		return errStopped
	default:
	}
	select {
	case queue <- w:
	default:
		return audit.ErrOverloaded
	}
	select {
	case <-w.done:
		return w.err
	case <-c.done:
		return ifDone(w, errStopped)
	case <-ctx.Done():
		if w.state.CompareAndSwap(waiting, abandoned) {
			return errGaveUp
		}
		return ifDone(w, errUnknown)
	}
}

func ifDone(w *write, otherwise error) error {
	select {
	case <-w.done:
		return w.err
	default:
		return otherwise
	}
}

// close commits what already waits and stops.
func (c *committer) close() {
	c.once.Do(func() { close(c.stop) })
	<-c.done
}

func (c *committer) run() {
	defer close(c.done)
	for {
		w, ok := c.next()
		if !ok {
			return
		}
		if batch := c.fill(w); len(batch) > 0 {
			c.commit(batch)
		}
	}
}

// next waits for a write, urgent ones first; nil when some are held. False:
// stopped, and nothing waits.
func (c *committer) next() (*write, bool) {
	if len(c.held) > 0 {
		return nil, true
	}
	select {
	case w := <-c.first:
		return w, true
	default:
	}
	select {
	case w := <-c.first:
		return w, true
	case w := <-c.second:
		return w, true
	case <-c.stop:
		w := c.waiting()
		return w, w != nil
	}
}

// waiting answers a write that waits already, urgent ones first; nil: none.
func (c *committer) waiting() *write {
	select {
	case w := <-c.first:
		return w
	default:
	}
	select {
	case w := <-c.first:
		return w
	case w := <-c.second:
		return w
	default:
		return nil
	}
}

// fill makes a batch of the writes that are held, of w, and of what waits.
func (c *committer) fill(w *write) []*write {
	f := filling{taken: make(map[clash]bool)}
	for _, h := range c.held {
		f.take(h)
	}
	for w = c.orWaiting(w, &f); w != nil; w = c.orWaiting(nil, &f) {
		f.take(w)
	}
	c.held = f.left
	return f.batch
}

func (c *committer) orWaiting(w *write, f *filling) *write {
	if w != nil {
		return w
	}
	if !f.room() {
		return nil
	}
	return c.waiting()
}

// filling is a batch in the making.
type filling struct {
	batch []*write
	// left clash with the batch and go with the next.
	left  []*write
	taken map[clash]bool
}

// room also bounds what is left over, so that a flood of clashing writes stays
// in its queue, where it is shed.
func (f *filling) room() bool { return len(f.batch) < maxBatch && len(f.left) < maxBatch }

func (f *filling) take(w *write) {
	if !w.state.CompareAndSwap(waiting, running) {
		return // its caller has left
	}
	for _, k := range w.clash {
		if k.kind != 0 && f.taken[k] {
			w.state.Store(waiting)
			f.left = append(f.left, w)
			return
		}
	}
	for _, k := range w.clash {
		if k.kind != 0 {
			f.taken[k] = true
		}
	}
	f.batch = append(f.batch, w)
}

func (c *committer) commit(batch []*write) {
	began := time.Now()
	err := c.together(batch)
	switch {
	case err == nil:
	case len(batch) > 1 && ofWrite(err):
		c.eachAlone(batch)
	default:
		for _, w := range batch {
			w.err = err
		}
	}
	c.observe(len(batch), time.Since(began))
	for _, w := range batch {
		if w.again && w.err == nil {
			w.state.Store(waiting)
			c.held = append(c.held, w)
			continue
		}
		close(w.done)
	}
}

// together commits writes as one, and again while it loses to other replicas:
// a batch that the database gave up has had no effect.
func (c *committer) together(batch []*write) error {
	var err error
	for range maxTries {
		if err = c.send(batch); !answered(err) || Class(err) != classConflict {
			return err
		}
	}
	return err
}

// eachAlone commits the writes of a batch that one of them took down, so that
// the one fails alone. A database that fails as a whole, or that has two of
// them wait for a lock in vain, ends it for all the rest, who would otherwise
// wait for that failure one after the other.
func (c *committer) eachAlone(batch []*write) {
	locked := 0
	for i, w := range batch {
		w.err = c.together(batch[i : i+1])
		if Class(w.err) == classLocked {
			locked++
		}
		if w.err != nil && (!ofWrite(w.err) || locked > 1) {
			for _, left := range batch[i+1:] {
				left.err = errGaveUp
			}
			return
		}
	}
}
