package gateway

import (
	"sync"

	"stet/audit"
)

// Events passes resolved outcomes on to whoever listens to their turn, in this
// process. A listener that doesn't keep up misses events; the trail has them.
type Events struct {
	mu    sync.Mutex
	turns map[string]map[chan audit.Row]struct{}
}

const eventBuffer = 16

// Subscribe hears what becomes of a turn until cancel is called.
func (e *Events) Subscribe(turn string) (rows <-chan audit.Row, cancel func()) {
	ch := make(chan audit.Row, eventBuffer)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.turns == nil {
		e.turns = make(map[string]map[chan audit.Row]struct{})
	}
	if e.turns[turn] == nil {
		e.turns[turn] = make(map[chan audit.Row]struct{})
	}
	e.turns[turn][ch] = struct{}{}
	return ch, func() { e.leave(turn, ch) }
}

func (e *Events) leave(turn string, ch chan audit.Row) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.turns[turn], ch)
	if len(e.turns[turn]) == 0 {
		delete(e.turns, turn)
	}
}

// Publish tells the listeners of the row's turn; it never blocks.
func (e *Events) Publish(row audit.Row) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for ch := range e.turns[row.Turn] {
		select {
		case ch <- row:
		default:
		}
	}
}
