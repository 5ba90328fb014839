package e2e

import (
	"context"
	"flag"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"stet/audit/postgres/pgtest"
)

var (
	crashKills = flag.Int("crash.kills", 20, "how often the crash test kills the program")
	crashSeed  = flag.Uint64("crash.seed", 0, "the seed of the crash test's plan; 0: a new one, which is printed")
	soakFor    = flag.Duration("soak.for", 0, "how long the soak test runs; 0: three seconds")
)

// cleaned removes the binary that the tests built, and stops the database that
// they started, after the last of them.
type cleaned struct{ *testing.M }

func (c cleaned) Run() int {
	code := c.M.Run()
	pgtest.Stop()
	if binaryDir != "" {
		_ = os.RemoveAll(binaryDir)
	}
	return code
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(cleaned{m}) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually asks until the answer is yes.
func eventually(t testing.TB, within time.Duration, what string, yes func() bool) {
	t.Helper()
	if !poll(t.Context(), within, yes) {
		t.Fatalf("not within %s: %s", within, what)
	}
}

func poll(ctx context.Context, within time.Duration, yes func() bool) bool {
	end := time.NewTimer(within)
	defer end.Stop()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for !yes() {
		select {
		case <-again.C:
		case <-end.C:
			return yes()
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// pause waits, unless the context ends first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
