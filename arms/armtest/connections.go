package armtest

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"

	"stet/arms"
	"stet/arms/armhttp"
)

// broken is one way for a connection to fail.
type broken struct {
	name string
	make func(*testing.T) route
	want want
}

var connectionFaults = []broken{
	{"nobody listens", refused, want{certainty: arms.NotSent, codes: []arms.Code{arms.CodeDial}}},
	{"the name can't be resolved", unresolved, want{certainty: arms.NotSent, codes: []arms.Code{arms.CodeDial}}},
	{"the certificate is not to be trusted", untrusted, want{certainty: arms.NotSent, codes: []arms.Code{arms.CodeTLS}}},
	{"the connection takes no byte", writes(0), want{certainty: arms.NotSent}},
	{"the connection takes one byte", writes(1), want{certainty: arms.Ambiguous, codes: []arms.Code{arms.CodeCut}}},
	{"the connection is reset after the request", acts(reset), want{certainty: arms.Ambiguous, codes: []arms.Code{arms.CodeCut}}},
	{"the connection is closed after the request", acts(raw("")), want{certainty: arms.Ambiguous, codes: []arms.Code{arms.CodeCut}}},
	{"the answer ends in its header", acts(raw("HTTP/1.1 200 OK\r\nContent-")), want{certainty: arms.Ambiguous, codes: []arms.Code{arms.CodeCut, arms.CodeGarbage}}},
	{"the answer ends in its body", acts(raw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"ok\":true")), want{certainty: arms.Ambiguous, codes: []arms.Code{arms.CodeCut}, status: 200}},
	{"the answer is not HTTP", acts(raw("SSH-2.0-OpenSSH_9.2\r\n\r\n")), want{certainty: arms.Ambiguous, codes: []arms.Code{arms.CodeGarbage, arms.CodeCut}}},
}

// testConnections: a request whose bytes provably stayed here is not sent;
// every other broken one is ambiguous.
func (h Harness) testConnections(t *testing.T) {
	h.eachWrite(t, func(t *testing.T, b *bench, v verb) {
		for _, c := range connectionFaults {
			t.Run(c.name, func(t *testing.T) {
				b.check(t, b.call(v, c.make(t), b.h.marker()), c.want)
			})
		}
	})
}

func acts(act func(net.Conn)) func(*testing.T) route {
	return func(t *testing.T) route { return newPeer(t, act).route(t) }
}

func refused(t *testing.T) route {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	return through(t, dialTo(l.Addr().String()))
}

func unresolved(t *testing.T) route {
	return through(t, func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", IsNotFound: true}}
	})
}

func untrusted(t *testing.T) route {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	tr := armhttp.NewTransport(armhttp.TransportOptions{Dial: dialTo(s.Listener.Addr().String())})
	t.Cleanup(tr.CloseIdleConnections)
	return func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.URL.Scheme = "https"
		return tr.RoundTrip(r)
	}
}

// writes makes connections that take n bytes and then break.
func writes(n int) func(*testing.T) route {
	return func(t *testing.T) route {
		p := newPeer(t, raw(""))
		dial := dialTo(p.address())
		return through(t, func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &frail{Conn: c, left: n}, nil
		})
	}
}

type frail struct {
	net.Conn
	left int
}

func (f *frail) Write(p []byte) (int, error) {
	n := min(f.left, len(p))
	f.left -= n
	if n > 0 {
		if _, err := f.Conn.Write(p[:n]); err != nil {
			return 0, err
		}
	}
	return n, syscall.ECONNRESET
}
