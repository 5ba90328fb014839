package gateway

import (
	"context"
	"time"

	"stet/arms"
)

func (g *Gateway) dispatchPost(ctx context.Context, a *attempt) *end {
	return g.dispatch(ctx, a, "post", func(ctx context.Context) error {
		posted, err := a.arm.(arms.Poster).Post(ctx, arms.PostRequest{
			Place: a.place.Place(a.turn.Org), Text: a.rendered, Marker: a.marker(),
		})
		a.effect.posted = posted
		return err
	})
}

func (g *Gateway) dispatchEdit(ctx context.Context, a *attempt) *end {
	return g.dispatch(ctx, a, "edit", func(ctx context.Context) error {
		return a.arm.(arms.Editor).Edit(ctx, arms.EditRequest{
			Ref: a.entry.Ref(), Text: a.rendered, Marker: a.marker(),
		})
	})
}

func (g *Gateway) dispatchRetract(ctx context.Context, a *attempt) *end {
	return g.dispatch(ctx, a, "retract", func(ctx context.Context) error {
		return a.arm.(arms.Retractor).Retract(ctx, arms.RetractRequest{
			Ref: a.entry.Ref(), Marker: a.marker(),
		})
	})
}

// dispatch makes the one request within what is left of the platform's time.
// A process that was frozen since the opening commit finds its time spent, and
// sends nothing.
func (g *Gateway) dispatch(ctx context.Context, a *attempt, method string, call func(context.Context) error) *end {
	if a.turn.DryRun {
		a.effect.posted = arms.Posted{ID: arms.MessageID("dry-" + a.id), Channel: a.place.Channel, Thread: a.place.Thread}
		return nil
	}
	left := g.o.PlatformTimeout - time.Since(a.began)
	if left <= 0 {
		a.effect.fault = &arms.Fault{Certainty: arms.NotSent, Code: arms.CodeBudgetSpent}
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	began := time.Now()
	a.dispatched = true
	err := call(ctx)
	a.effect.fault = arms.AsFault(err)
	g.o.Metrics.requested(a.place.Platform, method, a.effect.fault, time.Since(began))
	return nil
}
