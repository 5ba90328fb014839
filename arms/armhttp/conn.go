package armhttp

import (
	"context"
	"net"
	"sync/atomic"
)

// countedConn counts the bytes that the operating system took. It hides the
// inner connection's ReadFrom, so that every byte passes through Write.
type countedConn struct {
	net.Conn
	writing atomic.Int64
	written atomic.Int64
}

func counting(dial DialFunc) DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: c}, nil
	}
}

func (c *countedConn) Write(p []byte) (int, error) {
	c.writing.Add(1)
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n))
	c.writing.Add(-1)
	return n, err
}

// wroteSince says whether more than before bytes may have left. The transport
// closes a failed connection before it returns its error, so a Write that
// starts after this look cannot send. The order matters: a Write adds to
// written before it stops being under way.
func (c *countedConn) wroteSince(before int64) bool {
	return c.writing.Load() > 0 || c.written.Load() > before
}

// counterOf finds the counting connection under c, nil when there is none.
func counterOf(c net.Conn) *countedConn {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = t.NetConn()
	}
	counted, _ := c.(*countedConn)
	return counted
}
