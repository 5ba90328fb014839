package armhttp

import (
	"crypto/tls"
	"net/http/httptrace"
	"sync"
)

// evidence collects what the transport did with one request. Its hooks may run
// on other goroutines, even after the request has been given up.
type evidence struct {
	mu       sync.Mutex
	asked    bool
	used     []usedConn
	opaque   bool
	inTLS    bool
	answered bool
}

type usedConn struct {
	conn   *countedConn
	before int64
}

func (e *evidence) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn:              func(string) { e.note(func() { e.asked = true }) },
		GotConn:              e.gotConn,
		TLSHandshakeStart:    func() { e.note(func() { e.inTLS = true }) },
		TLSHandshakeDone:     e.tlsDone,
		WroteHeaders:         func() { e.note(func() { e.opaque = e.opaque || len(e.used) == 0 }) },
		GotFirstResponseByte: func() { e.note(func() { e.answered = true }) },
	}
}

func (e *evidence) note(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
}

func (e *evidence) gotConn(info httptrace.GotConnInfo) {
	e.note(func() {
		c := counterOf(info.Conn)
		if c == nil {
			e.opaque = true
			return
		}
		e.used = append(e.used, usedConn{conn: c, before: c.written.Load()})
	})
}

func (e *evidence) tlsDone(_ tls.ConnectionState, err error) {
	if err == nil {
		e.note(func() { e.inTLS = false })
	}
}

// mayHaveLeft is true unless it is proven that no byte of the request left.
func (e *evidence) mayHaveLeft() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.asked || e.opaque {
		return true
	}
	for _, u := range e.used {
		if u.conn.wroteSince(u.before) {
			return true
		}
	}
	return false
}

// seen is a copy of the marks that choose a fault's code.
func (e *evidence) seen() (connected, inTLS, answered bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.used) > 0 || e.opaque, e.inTLS, e.answered
}
