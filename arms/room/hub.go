package room

import "sync"

// hub wakes everybody who waits for a commit. It carries no data: whoever
// wakes reads the rows, so nothing can be missed or fall behind.
type hub struct {
	mu   sync.Mutex
	next chan struct{}
}

func newHub() *hub { return &hub{next: make(chan struct{})} }

// wait gives a channel that closes after the next commit. Take it before
// reading, or a commit in between goes unnoticed.
func (h *hub) wait() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.next
}

func (h *hub) tell() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.next)
	h.next = make(chan struct{})
}
