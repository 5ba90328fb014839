package armtest

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"stet/arms"
)

// testContexts: a context that is over ends a call, and the fault says whether
// anything may have left.
func (h Harness) testContexts(t *testing.T) {
	b := h.bench(t)
	for _, v := range append(b.writes(), b.reads()...) {
		t.Run(v.name, func(t *testing.T) {
			t.Run("canceled before", func(t *testing.T) { b.overBefore(t, v, context.Canceled, arms.CodeCanceled) })
			t.Run("spent before", func(t *testing.T) { b.overBefore(t, v, context.DeadlineExceeded, arms.CodeBudgetSpent) })
			t.Run("canceled while the platform is silent", func(t *testing.T) { b.canceledMidway(t, v) })
			t.Run("the platform is silent", func(t *testing.T) { b.silent(t, v, "") })
			t.Run("the platform stops in the middle", func(t *testing.T) {
				b.silent(t, v, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
			})
			t.Run("canceled while dialing", func(t *testing.T) { b.canceledDialing(t, v) })
		})
	}
}

func (b *bench) overBefore(t *testing.T, v verb, cause error, code arms.Code) {
	ctx, cancel := context.WithCancel(context.Background())
	if errors.Is(cause, context.DeadlineExceeded) {
		ctx, cancel = context.WithDeadline(context.Background(), time.Unix(1, 0))
	}
	cancel()
	b.wire.reset(nil)
	b.check(t, v.do(ctx, b, b.h.marker()), want{certainty: arms.NotSent, codes: []arms.Code{code}})
	if n := b.wire.count(); n != 0 {
		t.Errorf("%d requests after the context was over", n)
	}
}

func (b *bench) canceledMidway(t *testing.T, v verb) {
	p := newPeer(t, func(net.Conn) {})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-p.got
		cancel()
	}()
	b.wire.reset(p.route(t))
	b.bounded(t, func() error { return v.do(ctx, b, b.h.marker()) },
		want{certainty: arms.Ambiguous, codes: []arms.Code{arms.CodeTimeout}})
}

func (b *bench) silent(t *testing.T, v verb, start string) {
	p := newPeer(t, func(c net.Conn) { _, _ = c.Write([]byte(start)) })
	ctx := spending{Context: context.Background(), over: make(chan struct{})}
	go func() {
		<-p.got
		close(ctx.over)
	}()
	b.wire.reset(p.route(t))
	b.bounded(t, func() error { return v.do(ctx, b, b.h.marker()) },
		want{certainty: arms.Ambiguous, codes: []arms.Code{arms.CodeTimeout}})
}

// spending is a context whose time is spent when over closes: a deadline by the
// clock could pass before a slow machine has even dialed.
type spending struct {
	context.Context
	over chan struct{}
}

func (s spending) Done() <-chan struct{} { return s.over }

func (s spending) Err() error {
	select {
	case <-s.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func (b *bench) canceledDialing(t *testing.T, v verb) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.wire.reset(through(t, func(dialing context.Context, _, _ string) (net.Conn, error) {
		cancel()
		<-ctx.Done()
		return nil, errors.New("given up")
	}))
	b.bounded(t, func() error { return v.do(ctx, b, b.h.marker()) }, want{certainty: arms.NotSent})
}

// bounded fails when a call takes long after its context is over.
func (b *bench) bounded(t *testing.T, call func() error, w want) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		b.check(t, err, w)
	case <-time.After(patience):
		t.Fatal("the call went on after its context was over")
	}
}
