// Package ledger answers one question: is this message one of our own posts in
// this conversation, and may it still be changed?
//
// SQL is the authority. A [Cache] in front of it may answer yes early and must
// never decide a no: [Decide] is what both the early look and the opening
// commit apply to the entries that they read, so that no store has a window
// arithmetic of its own. Even an early yes is only that: the opening commit of
// the attempt asks the authority again.
package ledger

import (
	"context"
	"time"

	"stet/arms"
	"stet/gateway/locus"
)

// Key names an own post: the channel is the one that the platform returned.
type Key struct {
	Org       string
	Platform  arms.Platform
	Workspace string
	Channel   arms.ChannelID
	ID        arms.MessageID
}

// Entry is one own post.
type Entry struct {
	Key
	// Reply is the public id of the reply that this message is a part of: the
	// first part's. Part counts from 0.
	Reply arms.MessageID
	Part  int
	// Thread, ServiceURL and Organization are where requests about it go.
	Thread       arms.ThreadID
	ServiceURL   string
	Organization string
	Session      string
	// DryRun entries exist for dry turns of their session alone.
	DryRun        bool
	PostedAt      time.Time
	EditableUntil time.Time
	// ClosedAt is when it was retracted, or found gone; zero while it is there.
	ClosedAt time.Time
}

// Ref is the message as its arm addresses it.
func (e Entry) Ref() arms.Ref {
	return arms.Ref{
		Place: arms.Place{
			Org: e.Org, Workspace: e.Workspace, Channel: e.Channel, Thread: e.Thread,
			ServiceURL: e.ServiceURL, Organization: e.Organization,
		},
		ID: e.ID,
	}
}

// Query asks about one message id as an agent named it.
type Query struct {
	Org     string
	Session string
	DryRun  bool
	// At is where the turn holds a conversation.
	At locus.Locus
	ID arms.MessageID
}

// Code is why a message may not be changed. It goes to the trail alone; a
// caller is told the same for all of them.
type Code string

// The codes of a no.
const (
	Unknown      Code = "unknown"
	WindowClosed Code = "window-closed"
	OtherPlace   Code = "other-place"
)

// Decision is the answer to a query.
type Decision struct {
	Own bool
	// Code is empty for a yes.
	Code Code
	// Entry is the entry that decided; zero for Unknown and OtherPlace.
	Entry Entry
	// Early is what the cache in front of the authority said; set by
	// [Ledger.Look], also beside an error. EarlyOwn: the authority wasn't asked.
	Early Early
}

// Decide applies the rules to every entry that carries the queried id, at now.
// A message is editable strictly before its EditableUntil.
func Decide(entries []Entry, q Query, now time.Time) Decision {
	elsewhere := false
	for _, e := range entries {
		switch {
		case e.ID != q.ID || e.Org != q.Org || (e.DryRun && !(q.DryRun && e.Session == q.Session)):
			continue
		case e.Platform != q.At.Platform || e.Workspace != q.At.Workspace || e.Channel != q.At.Channel:
			elsewhere = true
		case !e.ClosedAt.IsZero():
			return Decision{Code: Unknown}
		case !now.Before(e.EditableUntil):
			return Decision{Code: WindowClosed, Entry: e}
		default:
			return Decision{Own: true, Entry: e}
		}
	}
	if elsewhere {
		return Decision{Code: OtherPlace}
	}
	return Decision{Code: Unknown}
}

// Store reads entries. Implementations: audit/sqlite (the authority).
type Store interface {
	// Entries returns all entries of the organization that carry the id, in
	// one query by id whatever they are, and the store's own time.
	Entries(ctx context.Context, org string, id arms.MessageID) ([]Entry, time.Time, error)
	// Editable returns, newest first and at most limit, the own posts of a
	// conversation whose window is open; dry entries only for a dry query of
	// their session. The query's ID is ignored.
	Editable(ctx context.Context, q Query, limit int) ([]Entry, error)
}

// Ledger is the early look at the own posts.
type Ledger struct {
	store Store
	cache Cache // nil: none
	now   func() time.Time
}

// Option changes how a ledger is made.
type Option func(*Ledger)

// WithCache puts a cache in front of the authority. now is the clock by which
// the cache's entries are judged; nil: [time.Now].
func WithCache(c Cache, now func() time.Time) Option {
	return func(l *Ledger) {
		l.cache = c
		if now != nil {
			l.now = now
		}
	}
}

// New makes a ledger over the authority.
func New(store Store, options ...Option) *Ledger {
	l := &Ledger{store: store, now: time.Now}
	for _, o := range options {
		o(l)
	}
	return l
}

// Look decides a query: a yes by the cache's entry and this process's clock, if
// the cache has one; everything else by the authority and its clock. An error
// means that nobody knows.
func (l *Ledger) Look(ctx context.Context, q Query) (Decision, error) {
	early, found := l.lookEarly(ctx, q)
	if early.Own {
		return early, nil
	}
	d, err := l.Ask(ctx, q)
	d.Early = early.Early
	if err == nil {
		l.teach(ctx, q, d, found)
	}
	return d, err
}

// Ask decides a query by the authority alone.
func (l *Ledger) Ask(ctx context.Context, q Query) (Decision, error) {
	entries, now, err := l.store.Entries(ctx, q.Org, q.ID)
	if err != nil {
		return Decision{}, err
	}
	return Decide(entries, q, now), nil
}

// Editable lists own posts of the conversation that may still be changed.
func (l *Ledger) Editable(ctx context.Context, q Query, limit int) ([]Entry, error) {
	return l.store.Editable(ctx, q, limit)
}

// Window is how long after it was posted a message may be changed: ours or
// the platform's own, whichever is shorter.
func Window(ours, platform time.Duration) time.Duration {
	if platform > 0 && platform < ours {
		return platform
	}
	return ours
}
