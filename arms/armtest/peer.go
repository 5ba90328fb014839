package armtest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// peer is a socket in the platform's place. It reads one request from each
// connection and hands it to act.
type peer struct {
	listener net.Listener
	act      func(net.Conn)

	mu    sync.Mutex
	conns []net.Conn
	hits  int
	got   chan struct{} // one value per request that was read whole
	wg    sync.WaitGroup
}

func newPeer(t testing.TB, act func(net.Conn)) *peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{listener: l, act: act, got: make(chan struct{}, 64)}
	p.wg.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

func (p *peer) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.conns = append(p.conns, c)
		p.hits++
		p.mu.Unlock()
		p.wg.Go(func() { p.serve(c) })
	}
}

func (p *peer) serve(c net.Conn) {
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	p.got <- struct{}{}
	p.act(c)
}

func (p *peer) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
}

// connections is how many were made to the peer.
func (p *peer) connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hits
}

func (p *peer) address() string { return p.listener.Addr().String() }

// route leads every request to the peer.
func (p *peer) route(t testing.TB) route { return through(t, dialTo(p.address())) }

// reset closes c the hard way, so that the other end sees a reset.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

// raw answers with fixed bytes and hangs up.
func raw(answer string) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = io.WriteString(c, answer)
		_ = c.Close()
	}
}

// bytes is the answer as it goes over the wire.
func (a Canned) bytes() string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", a.Status, http.StatusText(a.Status))
	h := a.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set("Content-Length", fmt.Sprint(len(a.Body)))
	h.Set("Connection", "close")
	_ = h.Write(&b)
	b.WriteString("\r\n" + a.Body)
	return b.String()
}

func (a Canned) route(t testing.TB) route { return newPeer(t, raw(a.bytes())).route(t) }
