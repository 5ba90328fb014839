package armtest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"stet/arms"
)

// testConcurrent: one arm serves many callers, and each gets the answer to its
// own question.
func (h Harness) testConcurrent(t *testing.T) {
	const callers = 32
	b := h.bench(t)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			if err := b.roundTrip(t.Context(), fmt.Sprintf("armtest: caller %d", i)); err != nil {
				t.Errorf("caller %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	per := 1
	if _, ok := b.arm.(arms.Editor); ok {
		per++
	}
	if _, ok := b.arm.(arms.Fetcher); ok {
		per++
	}
	if n := b.wire.count(); n != callers*per {
		t.Errorf("%d requests for %d calls", n, callers*per)
	}
}

func (b *bench) roundTrip(ctx context.Context, text string) error {
	posted, err := b.arm.(arms.Poster).Post(ctx, arms.PostRequest{Place: b.h.Place, Text: arms.Rendered(text), Marker: b.h.marker()})
	if err != nil {
		return fmt.Errorf("post: %w", err)
	}
	ref := arms.Ref{Place: b.h.Place, ID: posted.ID}
	ref.Place.Channel = posted.Channel
	if e, ok := b.arm.(arms.Editor); ok {
		text += ", edited"
		if err := e.Edit(ctx, arms.EditRequest{Ref: ref, Text: arms.Rendered(text), Marker: b.h.marker()}); err != nil {
			return fmt.Errorf("edit: %w", err)
		}
	}
	if f, ok := b.arm.(arms.Fetcher); ok {
		got, err := f.Fetch(ctx, ref)
		if err != nil {
			return fmt.Errorf("fetch: %w", err)
		}
		if got.Text != text {
			return fmt.Errorf("wrote %q, reads %q", text, got.Text)
		}
	}
	return nil
}
