package armhttp

import (
	"net"
	"testing"
)

// stuck is a connection whose write takes nothing and returns when it is told to.
type stuck struct {
	net.Conn
	entered, release chan struct{}
}

func (s *stuck) Write([]byte) (int, error) {
	close(s.entered)
	<-s.release
	return 0, net.ErrClosed
}

func TestAWriteUnderWayIsNotProvenUnsent(t *testing.T) {
	s := &stuck{entered: make(chan struct{}), release: make(chan struct{})}
	c := &countedConn{Conn: s}
	if c.wroteSince(0) {
		t.Error("nothing was written yet")
	}
	done := make(chan struct{})
	go func() {
		_, _ = c.Write([]byte("x"))
		close(done)
	}()
	<-s.entered
	if !c.wroteSince(0) {
		t.Error("a write is under way, and it is said to be proven unsent")
	}
	close(s.release)
	<-done
	if c.wroteSince(0) {
		t.Error("the system took no byte, and it is said that some may have left")
	}
}

func TestEarlierRequestsOnAConnectionDontCount(t *testing.T) {
	here, there := net.Pipe()
	defer func() { _, _ = here.Close(), there.Close() }()
	c := &countedConn{Conn: here}
	go func() { _, _ = there.Read(make([]byte, 8)) }()
	if n, err := c.Write([]byte("earlier")); n != 7 || err != nil {
		t.Fatal(n, err)
	}
	if !c.wroteSince(0) || c.wroteSince(7) {
		t.Errorf("wrote %d bytes", c.written.Load())
	}
}
