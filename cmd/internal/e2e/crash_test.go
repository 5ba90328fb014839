package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"stet/arms/room"
)

const (
	crashCallers = 64
	// crashSettle is how late an effect may surface in the crash test's room.
	crashSettle = time.Second
)

// crashConfig is a gateway that gives up, looks and sweeps soon, over a room
// that misbehaves in every way it knows.
func crashConfig(seed uint64) string {
	return fmt.Sprintf(`
sweep: {interval: 200ms, margin: 6s}
resolve: {first_look: 50ms}
room:
  settle_time: %s
  faults: {seed: %d, rate: 0.3, wait: 150ms}
`, crashSettle, seed)
}

// crashed is one crash test under way.
type crashed struct {
	*testing.T
	*program
	*driver
	plan *rand.Rand
}

func (c *crashed) room() string  { return filepath.Join(c.data, "room.db") }
func (c *crashed) trail() string { return filepath.Join(c.data, "stet.db") }

// history reads everything that is known now. Nothing may be under way, or the
// process must be dead.
func (c *crashed) history(alive bool) history {
	c.Helper()
	var h history
	var err error
	h.asked, h.told = c.answers()
	h.trail, err = readTrail(c.Context(), c.trail())
	must(c, err)
	h.truth, err = room.ReadTruth(c.Context(), c.room())
	must(c, err)
	if alive {
		return h
	}
	// Whatever the dead process had open is what the newest attempts name.
	for _, a := range h.trail.attempts {
		if h.trail.open[a.id] {
			h.live = a.boot
		}
	}
	return h
}

func (c *crashed) check(h history, when string) {
	c.Helper()
	found := h.violations()
	for i, v := range found {
		if i == 10 {
			c.Errorf("%s: and %d more", when, len(found)-i)
			break
		}
		c.Errorf("%s: %s\n%s", when, v, h.about(v))
	}
	if len(found) > 0 {
		c.FailNow()
	}
}

// TestCrashAtRandomMomentsBreaksNoPromise kills the program again and again
// with 64 requests in flight, against a room with all its faults on, and holds
// what the callers were told, the rows and the room's own truth against each
// other (I1, I2, I11, I12).
func TestCrashAtRandomMomentsBreaksNoPromise(t *testing.T) {
	t.Parallel()
	seed := *crashSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("replay the plan with -crash.seed=%d", seed)
	c := &crashed{
		T: t, plan: rand.New(rand.NewPCG(seed, 0)),
		program: newProgram(t, crashConfig(seed), "--platform-timeout", "500ms", "--max-wait", "500ms"),
	}
	c.driver = newDriver(seed, c.host)
	ctx, stop := context.WithCancel(t.Context())
	defer func() { stop(); c.driver.finish() }()
	c.driver.run(ctx, crashCallers)
	every := max(1, *crashKills/20)
	for n := range *crashKills {
		c.round(n, n%every == 0)
	}
	c.end(stop)
}

// round starts the program, kills it at a random moment, sometimes before it
// serves, and checks what it left.
func (c *crashed) round(n int, check bool) {
	c.Helper()
	if early := n > 0 && c.plan.IntN(8) == 0; early {
		must(c.T, c.launch())
		pause(c.Context(), time.Duration(c.plan.IntN(300))*time.Millisecond)
	} else {
		c.start(c.T)
		c.atWork()
		pause(c.Context(), time.Duration(100+c.plan.IntN(700))*time.Millisecond)
	}
	c.kill()
	c.point("")
	if check {
		c.check(c.history(false), fmt.Sprintf("after kill %d", n+1))
	}
}

// atWork points the agents at the program and waits until they are at it.
func (c *crashed) atWork() {
	c.Helper()
	_, before := c.answers()
	c.point(c.program.base)
	eventually(c.T, time.Minute, "the callers get answers", func() bool {
		_, now := c.answers()
		return len(now) >= len(before)+crashCallers/2
	})
}

// end lets a last process settle everything that is in doubt, then checks it
// all, the metrics of that process included.
func (c *crashed) end(stop func()) {
	c.Helper()
	before, err := readTrail(c.Context(), c.trail())
	must(c.T, err)
	c.start(c.T)
	c.atWork()
	stop()
	c.driver.finish()
	c.settled()
	h := c.history(true)
	c.check(h, "at the end")
	for _, odd := range c.odd {
		c.Errorf("an answer that no caller should get: %s", odd)
	}
	c.Log(h.summary())
	for _, d := range differences(scrape(c.T, c.program.base), h.trail.rows, rowIDs(before.rows)) {
		c.Error(d)
	}
}

// settled waits until nothing is open or in doubt, and no late effect can come.
func (c *crashed) settled() {
	c.Helper()
	n := 0
	done := poll(c.Context(), 2*time.Minute, func() (none bool) {
		var err error
		n, err = pendings(c.Context(), c.trail())
		must(c.T, err)
		return n == 0
	})
	if !done {
		c.Fatalf("%d outcomes are still in doubt after two minutes", n)
	}
	pause(c.Context(), crashSettle)
}
