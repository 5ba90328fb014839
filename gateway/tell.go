package gateway

import (
	"context"

	"stet/audit"
	"stet/gateway/outcome"
	"stet/ledger"
)

// tellSettled lets the ledger's cache know what a settlement changed: after its
// commit, before its answer. Windows count from the commit, as in the store; a
// settlement that came late doesn't know when that was, and leaves its posts
// for a look to find.
func (g *Gateway) tellSettled(ctx context.Context, a *attempt, s audit.Settlement, done audit.Settled) {
	if s.Close {
		g.o.Posts.Closed(ctx, a.entry.Key)
	}
	if done.Late || len(s.Posts) == 0 {
		return
	}
	posts := make([]ledger.Entry, len(s.Posts))
	for i, e := range s.Posts {
		e.PostedAt, e.EditableUntil = done.Row.At, done.Row.At.Add(s.Window)
		posts[i] = e
	}
	g.o.Posts.Landed(ctx, posts...)
}

// tellEnded lets the cache know that it said yes to what the opening commit
// denied, so that it doesn't do so again.
func (g *Gateway) tellEnded(ctx context.Context, a *attempt, o audit.Opening) {
	if a.vouched && o.Row.Reason == outcome.NotOwnPost {
		g.o.Posts.Closed(ctx, a.entry.Key)
	}
}

// tellResolved lets the cache know what a look changed.
func (r *Resolver) tellResolved(ctx context.Context, q audit.Resolution) {
	if q.Close && q.Pending.Entry.ID != "" {
		r.o.Posts.Closed(ctx, q.Pending.Entry.Key)
	}
	posts := make([]ledger.Entry, len(q.Posts))
	for i, e := range q.Posts {
		e.EditableUntil = e.PostedAt.Add(q.Window)
		posts[i] = e
	}
	if len(posts) > 0 {
		r.o.Posts.Landed(ctx, posts...)
	}
}
