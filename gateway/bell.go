package gateway

import (
	"sync"

	"stet/ledger"
)

// bell wakes writes that wait for a message in this process. Writes of other
// processes are not heard: who waits also looks from time to time.
type bell struct {
	mu    sync.Mutex
	rings map[ledger.Key]chan struct{}
}

// hear returns a channel that closes at the next ring.
func (b *bell) hear(k ledger.Key) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	ch, ok := b.rings[k]
	if !ok {
		ch = make(chan struct{})
		if b.rings == nil {
			b.rings = make(map[ledger.Key]chan struct{})
		}
		b.rings[k] = ch
	}
	return ch
}

// ring wakes everybody who hears.
func (b *bell) ring(k ledger.Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ch, ok := b.rings[k]; ok {
		close(ch)
		delete(b.rings, k)
	}
}
