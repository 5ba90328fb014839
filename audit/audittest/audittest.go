// Package audittest is what every store of the trail is held to. A store's own
// test opens it on a fresh database and calls [Run].
package audittest

import (
	"context"
	"sync"
	"testing"
	"time"

	"stet/audit"
	"stet/gateway/bind"
	"stet/ledger"
)

// Store is all of a store that the suite needs: it opens turns to write in,
// and looks at the ledger that outcomes change.
type Store interface {
	audit.Store
	audit.Reader
	ledger.Store
	bind.TurnStore
}

// Backend is one fresh store.
type Backend struct {
	Store Store
	// Exec runs a statement on the database itself, past the store.
	Exec func(ctx context.Context, statement string) error
}

// Opener opens a fresh store whose clock is now, and closes it with the test.
type Opener func(t testing.TB, now func() time.Time) Backend

// Clock is a clock that only a test moves. It is safe for concurrent use.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// NewClock makes a clock that stands at a fixed moment.
func NewClock() *Clock {
	return &Clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
}

// Now is where the clock stands.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// check is one promise of the contract.
type check struct {
	name string
	run  func(*fixture)
}

// Run holds a store to the contract of package audit.
func Run(t *testing.T, open Opener) {
	for theme, checks := range map[string][]check{
		"open": openChecks, "claims": claimChecks, "turns": turnChecks, "sequence": sequenceChecks,
		"unchanged": unchangedChecks, "settle": settleChecks, "late": lateChecks, "sweep": sweepChecks,
		"resolve": resolveChecks, "trail": trailChecks, "query": queryChecks, "race": raceChecks,
		"dry run": dryChecks,
	} {
		t.Run(theme, func(t *testing.T) {
			for _, c := range checks {
				t.Run(c.name, func(t *testing.T) { c.run(newFixture(t, open)) })
			}
		})
	}
}
