package e2e

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

const soakCallers = 64

// sample is what the program says of itself at one moment.
type sample struct{ heap, goroutines, files float64 }

func take(t *testing.T, base string) sample {
	m := scrape(t, base)
	return sample{m["go_memstats_heap_alloc_bytes"], m["go_goroutines"], m["process_open_fds"]}
}

// lowest is the least of one reading. Of the heap it is what is left after a
// collection; of the others it is the level that never went away.
func lowest(all []sample, of func(sample) float64) float64 {
	low := of(all[0])
	for _, s := range all {
		low = min(low, of(s))
	}
	return low
}

// TestSoakStaysFlat lets 64 callers work against a room with its faults on:
// memory, goroutines and files stay as they are, rows equal metrics, and
// nothing is open at the end.
func TestSoakStaysFlat(t *testing.T) {
	t.Parallel()
	length := *soakFor
	if length == 0 {
		length = 3 * time.Second
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	p := newProgram(t, crashConfig(seed), "--platform-timeout", "500ms", "--max-wait", "500ms")
	p.start(t)
	idle := take(t, p.base)
	d := newDriver(seed, p.host)
	d.forgetful = true
	ctx, stop := context.WithTimeout(t.Context(), length)
	defer stop()
	d.point(p.base)
	d.run(ctx, soakCallers)
	samples := watch(ctx, t, p.base, max(length/90, 50*time.Millisecond))
	d.finish()
	flat(t, samples)
	if !poll(t.Context(), 2*time.Minute+length/2, func() bool {
		n, err := pendings(t.Context(), filepath.Join(p.data, "stet.db"))
		must(t, err)
		return n == 0
	}) {
		t.Fatalf("still in doubt long after the load: %s", doubts(t, filepath.Join(p.data, "stet.db")))
	}
	// The connections to the platform are kept for a while: one for each caller.
	if now := take(t, p.base); now.goroutines > idle.goroutines+5*soakCallers || now.files > idle.files+4*soakCallers {
		t.Errorf("goroutines went from %.0f to %.0f, files from %.0f to %.0f", idle.goroutines, now.goroutines, idle.files, now.files)
	}
	h := p.history(t)
	for _, v := range h.unasked() {
		t.Errorf("%s\n%s", v, h.about(v))
	}
	metrics := scrape(t, p.base)
	for _, diff := range differences(metrics, h.trail.rows, nil) {
		t.Error(diff)
	}
	if open := metrics["stet_attempts_open"]; open != 0 || len(h.trail.open) > 0 {
		t.Errorf("%v attempts are open", open)
	}
	t.Log(h.summary())
	first, last := samples[0], samples[len(samples)-1]
	t.Logf("heap %.1f to %.1f MiB, goroutines %.0f to %.0f, files %.0f to %.0f",
		first.heap/(1<<20), last.heap/(1<<20), first.goroutines, last.goroutines, first.files, last.files)
}

func watch(ctx context.Context, t *testing.T, base string, every time.Duration) (all []sample) {
	for pause(ctx, every) {
		all = append(all, take(t, base))
	}
	return all
}

// flat compares the last third with the one before it.
func flat(t *testing.T, all []sample) {
	t.Helper()
	third := len(all) / 3
	if third == 0 {
		t.Fatalf("only %d samples", len(all))
	}
	before, after := all[third:2*third], all[2*third:]
	for _, reading := range []struct {
		name  string
		of    func(sample) float64
		slack float64
	}{
		{"the heap in bytes", func(s sample) float64 { return s.heap }, 12 << 20},
		{"goroutines", func(s sample) float64 { return s.goroutines }, 100},
		{"open files", func(s sample) float64 { return s.files }, 50},
	} {
		was, is := lowest(before, reading.of), lowest(after, reading.of)
		if is > was*1.2+reading.slack {
			t.Errorf("%s grew from %.0f to %.0f", reading.name, was, is)
		}
	}
	if slices.ContainsFunc(all, func(s sample) bool { return s.heap == 0 || s.goroutines == 0 || s.files == 0 }) {
		t.Error("the program doesn't say how it is")
	}
}
