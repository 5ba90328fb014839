package gateway

import (
	"context"
	"crypto/sha256"
	"fmt"
	"unicode/utf8"

	"stet/arms"
	"stet/gateway/outcome"
	"stet/guards"
)

// guard holds the text against the guards; after it only rendering touches it.
func (g *Gateway) guard(ctx context.Context, a *attempt) *end {
	v, err := g.o.Guards.Check(ctx, guards.Draft{
		Verb: a.verb, Turn: a.turn, Place: a.place, Target: a.target,
		Text: arms.Text{Body: a.text.Body, Format: a.format},
	})
	if err != nil {
		return refused(outcome.Internal, "", advice[outcome.Internal])
	}
	if v.Refuse != "" {
		return refused(v.Refuse, "", v.Detail)
	}
	a.guarded = v.Text
	a.chars = utf8.RuneCountInString(v.Text.Body)
	for _, w := range v.Withheld {
		a.withheld = append(a.withheld, Withheld(w))
	}
	return nil
}

// measure renders the text for the platform and holds it against its limit.
func (g *Gateway) measure(_ context.Context, a *attempt) *end {
	rendered, err := a.arm.Render(a.guarded)
	if err != nil {
		return refused(outcome.InvalidText, "", "the text can't be shown on "+string(a.place.Platform)+"; write it more simply")
	}
	if size := a.caps.TextUnit.Measure(string(rendered)); size > a.caps.TextLimit {
		return refused(outcome.TextTooLong, "", fmt.Sprintf(
			"the text is too long for %s: %d %s, the limit is %d; nothing was sent; shorten it and try again",
			a.place.Platform, size, a.caps.TextUnit, a.caps.TextLimit))
	}
	sum := sha256.Sum256([]byte(rendered))
	a.rendered, a.digest = rendered, sum[:]
	return nil
}

// approve asks the ladder who must say yes.
func (g *Gateway) approve(ctx context.Context, a *attempt) *end {
	d, err := g.o.Ladder.Decide(ctx, guards.Action{
		Draft: guards.Draft{
			Verb: a.verb, Turn: a.turn, Place: a.place, Target: a.target, Text: a.guarded,
		},
		Rendered: a.rendered, Route: a.turn.Route,
	})
	if err != nil {
		d = guards.Decision{By: "rule", Reason: "the approval could not be decided, and what can't be decided is not sent"}
	}
	a.approval = d.By
	g.o.Metrics.decided(d)
	if !d.Allow {
		return refused(outcome.Denied, "", d.Reason)
	}
	return nil
}
