package ledger

import (
	"context"
	"errors"
)

// ErrMiss: the cache holds nothing about the message. It says nothing about
// the message either.
var ErrMiss = errors.New("ledger: not in the cache")

// ErrSpoilt: the cache holds something under the message's key that can't be
// used: not of this version, not well formed, or about another message.
var ErrSpoilt = errors.New("ledger: what the cache holds can't be used")

// Cache holds copies of entries in front of the authority. It may lose any of
// them at any time, and what it holds may be out of date: its callers live with
// both. It bounds its own calls in time and counts its own failures; an error
// beside [ErrMiss] and [ErrSpoilt] only says that it couldn't answer.
// Implementations: ledger/redisstore.
type Cache interface {
	// Find answers what is held about exactly this message.
	Find(ctx context.Context, k Key) (Entry, error)
	// Keep adds entries, each unless something is held about its message: an
	// entry never changes but by being closed, so what is there is as new.
	Keep(ctx context.Context, entries ...Entry) error
	// Replace puts an entry in the place of whatever is held about its message.
	Replace(ctx context.Context, e Entry) error
	// Drop makes the cache forget a message, and not take it up again from
	// somebody who read the authority just before it was closed.
	Drop(ctx context.Context, k Key) error
}

// Early is what a cache said about a query.
type Early string

// The answers of a cache. Only EarlyOwn is an answer to the query.
const (
	NoCache     Early = ""
	EarlyOwn    Early = "own"
	EarlyMiss   Early = "miss"
	EarlyNotOwn Early = "not-own"
	EarlyError  Early = "error"
)

// Earlies lists what a cache can say.
func Earlies() []Early { return []Early{EarlyOwn, EarlyMiss, EarlyNotOwn, EarlyError} }

// lookEarly asks the cache. A yes needs an entry whose every key part is the
// query's, so one key is enough to ask for: an entry elsewhere can't turn a yes
// into a no.
func (l *Ledger) lookEarly(ctx context.Context, q Query) (Decision, error) {
	if l.cache == nil {
		return Decision{}, ErrMiss
	}
	e, err := l.cache.Find(ctx, q.key())
	switch {
	case errors.Is(err, ErrMiss), errors.Is(err, ErrSpoilt):
		return Decision{Early: EarlyMiss}, err
	case err != nil:
		return Decision{Early: EarlyError}, err
	}
	d := Decide([]Entry{e}, q, l.now())
	d.Early = EarlyNotOwn
	if d.Own {
		d.Early = EarlyOwn
	}
	return d, nil
}

func (q Query) key() Key {
	return Key{
		Org: q.Org, Platform: q.At.Platform, Workspace: q.At.Workspace, Channel: q.At.Channel, ID: q.ID,
	}
}

// teach tells the cache what the authority said. A no is never kept, so that
// each no costs the same; found is how the cache's own answer ended.
func (l *Ledger) teach(ctx context.Context, q Query, d Decision, found error) {
	switch {
	case l.cache == nil, found != nil && !errors.Is(found, ErrMiss) && !errors.Is(found, ErrSpoilt):
		return // a cache that couldn't answer isn't asked again in this call
	case d.Own && errors.Is(found, ErrMiss):
		_ = l.cache.Keep(ctx, d.Entry)
	case d.Own:
		_ = l.cache.Replace(ctx, d.Entry)
	case errors.Is(found, ErrSpoilt):
		_ = l.cache.Drop(ctx, q.key())
	}
}

// Landed tells that messages are in the authority now: after the commit that
// brought them there and before the answer. Entries that don't say until when
// they may be changed are left for a look to find. It never fails: the cache
// counts its own failures, and who asks later finds the messages in the
// authority.
func (l *Ledger) Landed(ctx context.Context, entries ...Entry) {
	if l.cache == nil {
		return
	}
	var whole []Entry
	for _, e := range entries {
		if e.EditableUntil.IsZero() || !e.ClosedAt.IsZero() {
			continue
		}
		if e.Reply == "" {
			e.Reply = e.ID
		}
		whole = append(whole, e)
	}
	if len(whole) > 0 {
		_ = l.cache.Keep(ctx, whole...)
	}
}

// Closed tells that messages are closed in the authority, or that the authority
// denied one that the early look had said yes to. It never fails.
func (l *Ledger) Closed(ctx context.Context, keys ...Key) {
	if l.cache == nil {
		return
	}
	for _, k := range keys {
		_ = l.cache.Drop(ctx, k)
	}
}
