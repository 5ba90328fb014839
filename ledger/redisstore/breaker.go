package redisstore

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// few failures within a short time open the breaker.
	few       = 5
	shortTime = time.Second
)

// breaker keeps calls away from a Redis that fails. It is closed at first, and
// closed again only by whoever proved that Redis serves.
type breaker struct {
	now    func() time.Time
	isOpen atomic.Bool

	mu     sync.Mutex
	recent [few]time.Time // of the last failures, a ring
	next   int
	reason Reason
}

func (b *breaker) open() bool { return b.isOpen.Load() }

// failed notes a failure and reports that it opened the breaker.
func (b *breaker) failed(r Reason) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reason = r
	now := b.now()
	b.recent[b.next] = now
	b.next = (b.next + 1) % few
	oldest := b.recent[b.next]
	if !r.stated() && (oldest.IsZero() || now.Sub(oldest) > shortTime) {
		return false
	}
	return b.isOpen.CompareAndSwap(false, true)
}

// served closes the breaker and reports that it was open.
func (b *breaker) served() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.recent, b.reason = [few]time.Time{}, ""
	return b.isOpen.CompareAndSwap(true, false)
}

// why is the reason of the last failure since Redis last proved to serve.
func (b *breaker) why() Reason {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reason
}
