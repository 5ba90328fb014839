package e2e

import (
	"sync/atomic"
	"time"

	"stet/cmd/internal/app"
)

// clock is the real one, which a test can put forward.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *clock) forward(d time.Duration) { c.ahead.Add(int64(d)) }

func (c *clock) set(o *app.Options) { o.Now = c.now }
