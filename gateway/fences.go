package gateway

import (
	"context"

	"stet/arms"
	"stet/gateway/outcome"
	"stet/ledger"
)

// placeChecker is an arm whose places need a check of their own, as a service
// URL does; an error is a no.
type placeChecker interface {
	CheckPlace(arms.Place) error
}

// locate takes the place from the turn: its wake's origin, else the session's
// binding, as the host froze it.
func (g *Gateway) locate(_ context.Context, a *attempt) *end {
	if a.turn.Locus.Zero() {
		return refused(outcome.NoLocus, "", advice[outcome.NoLocus])
	}
	a.place = a.turn.Locus
	return nil
}

func (g *Gateway) needPoster(_ context.Context, a *attempt) *end {
	if e := g.findArm(a); e != nil {
		return e
	}
	if _, ok := a.arm.(arms.Poster); !ok {
		return noArm(a)
	}
	return nil
}

func (g *Gateway) needEditor(_ context.Context, a *attempt) *end {
	if e := g.findArm(a); e != nil {
		return e
	}
	if _, ok := a.arm.(arms.Editor); !ok || !a.caps.Edit {
		return refused(outcome.NoEditArm, "", cannot("edit", a.place.Platform))
	}
	return nil
}

func (g *Gateway) needRetractor(_ context.Context, a *attempt) *end {
	if e := g.findArm(a); e != nil {
		return e
	}
	if _, ok := a.arm.(arms.Retractor); !ok || !a.caps.Retract {
		return refused(outcome.NoRetractArm, "", cannot("retract", a.place.Platform))
	}
	return nil
}

func (g *Gateway) findArm(a *attempt) *end {
	arm, ok := g.o.Arms.Arm(a.place.Platform)
	if !ok {
		return noArm(a)
	}
	place := a.place.Place(a.turn.Org)
	if c, ok := arm.(placeChecker); ok && c.CheckPlace(place) != nil {
		return refused(outcome.UntrustedServiceURL, "", advice[outcome.UntrustedServiceURL])
	}
	a.arm, a.caps = arm, arm.Capabilities(place)
	return nil
}

func noArm(a *attempt) *end {
	return refused(outcome.NoArm, "", "nothing can be posted on "+string(a.place.Platform)+
		": this gateway isn't set up for it; tell the person who runs it")
}

// own asks the ledger whether the message is an own post of this conversation
// that may still be changed. From here on the request goes where the ledger
// says that the message is.
func (g *Gateway) own(ctx context.Context, a *attempt) *end {
	d, err := g.o.Posts.Look(ctx, a.query())
	g.o.Metrics.looked(d, err)
	if err != nil {
		return refused(outcome.LedgerUnavailable, "", advice[outcome.LedgerUnavailable])
	}
	if !d.Own {
		return refused(outcome.NotOwnPost, string(d.Code), advice[outcome.NotOwnPost])
	}
	a.found(d.Entry)
	a.early = d.Early == ledger.EarlyOwn
	return nil
}

// query asks about the target in the turn's conversation.
func (a *attempt) query() ledger.Query {
	return ledger.Query{
		Org: a.turn.Org, Session: a.turn.Session, DryRun: a.turn.DryRun, At: a.turn.Locus, ID: a.target,
	}
}

// confirm keeps a cache from deciding a refusal: one that comes after a yes of
// the cache alone stands only if the authority says yes too. Once the store
// has numbered or opened the attempt it has been asked.
func (g *Gateway) confirm(ctx context.Context, a *attempt, e *end) *end {
	if !a.early || a.opened || a.seq != 0 {
		return e
	}
	d, err := g.o.Posts.Ask(ctx, a.query())
	g.o.Metrics.looked(d, err)
	switch {
	case err != nil:
		a.vouched = false
		return refused(outcome.LedgerUnavailable, "", advice[outcome.LedgerUnavailable])
	case d.Own:
		return e
	}
	a.vouched = false
	g.o.Posts.Closed(ctx, a.entry.Key)
	return refused(outcome.NotOwnPost, string(d.Code), advice[outcome.NotOwnPost])
}

func (a *attempt) found(e ledger.Entry) {
	a.entry, a.vouched = e, true
	a.place.Channel, a.place.Thread = e.Channel, e.Thread
	a.place.ServiceURL, a.place.Organization = e.ServiceURL, e.Organization
}
