package armtest

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"

	"stet/arms/armhttp"
)

// wire is the RoundTripper between the arm and the platform. It wraps the
// shared transport, so that what that one can prove stays proven.
type wire struct {
	isMessage func(*http.Request) bool
	real      *http.Transport

	mu    sync.Mutex
	seen  []*http.Request
	route route
}

// route sends a request somewhere else than to the platform.
type route func(*http.Request) (*http.Response, error)

func (h Harness) wire(t testing.TB) *wire {
	w := &wire{isMessage: h.IsMessage, real: armhttp.NewTransport(armhttp.TransportOptions{})}
	if w.isMessage == nil {
		w.isMessage = func(*http.Request) bool { return true }
	}
	t.Cleanup(w.real.CloseIdleConnections)
	return w
}

// RoundTrip notes the request and sends it on.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if !w.isMessage(r) {
		return w.real.RoundTrip(r)
	}
	w.mu.Lock()
	w.seen = append(w.seen, r)
	to := w.route
	w.mu.Unlock()
	if to != nil {
		return to(r)
	}
	return w.real.RoundTrip(r)
}

// CloseIdleConnections lets an arm close what it holds.
func (w *wire) CloseIdleConnections() { w.real.CloseIdleConnections() }

// count is how many messages passed since the last reset.
func (w *wire) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.seen)
}

func (w *wire) reset(to route) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen, w.route = nil, to
}

func (w *wire) requests() []*http.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

// through makes a route over the shared transport with connections of its own
// making. A platform behind TLS is spoken to in the clear.
func through(t testing.TB, dial armhttp.DialFunc) route {
	tr := armhttp.NewTransport(armhttp.TransportOptions{Dial: dial})
	t.Cleanup(tr.CloseIdleConnections)
	return func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.URL.Scheme = "http"
		return tr.RoundTrip(r)
	}
}

func dialTo(address string) armhttp.DialFunc {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}
}
