package armtest

import (
	"context"
	"net/http"
	"testing"
	"time"

	"stet/arms"
)

// patience bounds every call of the suite; nothing takes nearly as long.
const patience = 20 * time.Second

// bench is one arm under test with a message to work on.
type bench struct {
	h    Harness
	wire *wire
	arm  arms.Arm
	ref  arms.Ref
}

// verb is one call of the contract in a common shape.
type verb struct {
	name string
	do   func(context.Context, *bench, arms.Marker) error
}

func (h Harness) bench(t testing.TB) *bench {
	t.Helper()
	w := h.wire(t)
	b := &bench{h: h, wire: w, arm: h.New(t, w)}
	b.ref = b.post(t, "armtest: before")
	w.reset(nil)
	return b
}

// post posts on the working platform.
func (b *bench) post(t testing.TB, text string) arms.Ref {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	posted, err := b.arm.(arms.Poster).Post(ctx, arms.PostRequest{
		Place: b.h.Place, Text: b.rendered(t, text), Marker: b.h.marker(),
	})
	if err != nil {
		t.Fatalf("post on a working platform: %v", err)
	}
	if posted.ID == "" || posted.Channel == "" {
		t.Fatalf("a post was confirmed without an id or a channel: %+v", posted)
	}
	place := b.h.Place
	place.Channel = posted.Channel
	return arms.Ref{Place: place, ID: posted.ID}
}

func (b *bench) rendered(t testing.TB, text string) arms.Rendered {
	t.Helper()
	r, err := b.arm.Render(arms.Text{Body: text, Format: arms.Plain})
	if err != nil {
		t.Fatalf("render: %v", err)
	}
	return r
}

// writes are the verbs of this arm that change something.
func (b *bench) writes() []verb {
	all := []verb{{"post", func(ctx context.Context, b *bench, m arms.Marker) error {
		posted, err := b.arm.(arms.Poster).Post(ctx, arms.PostRequest{Place: b.h.Place, Text: "armtest: posted", Marker: m})
		if err == nil && posted.ID == "" {
			return errUnnamed
		}
		return err
	}}}
	if e, ok := b.arm.(arms.Editor); ok {
		all = append(all, verb{"edit", func(ctx context.Context, b *bench, m arms.Marker) error {
			return e.Edit(ctx, arms.EditRequest{Ref: b.ref, Text: "armtest: edited", Marker: m})
		}})
	}
	if r, ok := b.arm.(arms.Retractor); ok {
		all = append(all, verb{"retract", func(ctx context.Context, b *bench, m arms.Marker) error {
			return r.Retract(ctx, arms.RetractRequest{Ref: b.ref, Marker: m})
		}})
	}
	return all
}

// reads are the verbs of this arm that change nothing.
func (b *bench) reads() []verb {
	var all []verb
	add := func(name string, ok bool, do func(context.Context, *bench) error) {
		if ok {
			all = append(all, verb{name, func(ctx context.Context, b *bench, _ arms.Marker) error { return do(ctx, b) }})
		}
	}
	fetcher, ok := b.arm.(arms.Fetcher)
	add("fetch", ok, func(ctx context.Context, b *bench) error { _, err := fetcher.Fetch(ctx, b.ref); return err })
	finder, ok := b.arm.(arms.Finder)
	add("find", ok, func(ctx context.Context, b *bench) error {
		_, err := finder.Find(ctx, arms.FindRequest{Place: b.h.Place, Marker: b.h.marker()})
		return err
	})
	channel, ok := b.arm.(arms.ChannelReader)
	add("read channel", ok, func(ctx context.Context, b *bench) error {
		_, err := channel.ReadChannel(ctx, arms.ReadRequest{Place: b.h.Place, Limit: 2})
		return err
	})
	thread, ok := b.arm.(arms.ThreadReader)
	add("read thread", ok, func(ctx context.Context, b *bench) error {
		place := b.h.Place
		place.Thread = arms.ThreadID(b.ref.ID)
		_, err := thread.ReadThread(ctx, arms.ReadRequest{Place: place, Limit: 2})
		return err
	})
	prober, ok := b.arm.(arms.Prober)
	add("probe", ok, func(ctx context.Context, b *bench) error { return prober.Probe(ctx) })
	return all
}

// eachWrite runs f for every writing verb on a bench of its own.
func (h Harness) eachWrite(t *testing.T, f func(*testing.T, *bench, verb)) {
	for _, v := range h.bench(t).writes() {
		t.Run(v.name, func(t *testing.T) {
			b := h.bench(t)
			for _, own := range b.writes() {
				if own.name == v.name {
					f(t, b, own)
				}
			}
		})
	}
}

// call makes one call, against the platform or along a route.
func (b *bench) call(v verb, to route, m arms.Marker) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	b.wire.reset(to)
	return v.do(ctx, b, m)
}

var _ http.RoundTripper = (*wire)(nil)
