package cli_test

import (
	"bytes"
	"regexp"
	"sync"
	"testing"
	"time"
)

// watcher is an output that others can wait on.
type watcher struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	wrote chan struct{}
}

func newWatcher() *watcher { return &watcher{wrote: make(chan struct{}, 1)} }

func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.buf.Write(p)
	select {
	case w.wrote <- struct{}{}:
	default:
	}
	return n, err
}

func (w *watcher) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// await waits until the output matches, and answers the first group.
func (w *watcher) await(t *testing.T, pattern string) string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	limit := time.After(time.Minute)
	for {
		if m := re.FindStringSubmatch(w.String()); m != nil {
			return m[len(m)-1]
		}
		select {
		case <-w.wrote:
		case <-limit:
			t.Fatalf("no %s in:\n%s", pattern, w.String())
		}
	}
}
