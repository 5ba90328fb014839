// Package ledgertest is what every store of the own-post ledger is held to. A
// store's own test opens it on a fresh database and calls [Run].
package ledgertest

import (
	"context"
	"testing"
	"time"

	"stet/arms"
	"stet/gateway/locus"
	"stet/ledger"
)

// Backend is one fresh store.
type Backend struct {
	Store ledger.Store
	// Post brings a message into the ledger as an applied reply does, now by
	// the store's clock, with the window that its EditableUntil leaves.
	Post func(e ledger.Entry)
	// Close closes a message as an applied retract does.
	Close func(e ledger.Entry)
	// Cache, if there is one, is in front of the store, and told of what Post
	// and Close did as the gateway tells it. Every answer has to be the same.
	Cache ledger.Cache
	// Lose, if there is one, is called before each look and may take anything
	// out of the cache.
	Lose func()
}

// Opener opens a fresh store whose clock is now, and closes it with the test.
type Opener func(t testing.TB, now func() time.Time) Backend

const window = 4 * time.Hour

// Run holds a store to the contract of package ledger.
func Run(t *testing.T, open Opener) {
	for _, c := range []struct {
		name string
		run  func(*fixture)
	}{
		{"an own post is found with all that was stored", whole},
		{"the window closes at its end and not a microsecond before", edges},
		{"entries of other places and organizations are told apart", places},
		{"a closed message stays found and can't be changed", closed},
		{"a dry post is there for dry turns of its session alone", dry},
		{"an id that nobody posted has no entry", unknown},
		{"hostile ids are only ids", hostile},
		{"editable posts come newest first and at most as many as asked for", editable},
		{"what can't be edited is not listed as editable", notEditable},
		{"the store's time comes with the entries", storeTime},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fixture{TB: t, ctx: t.Context(), at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
			f.Backend = open(t, func() time.Time { return f.at })
			f.look = ledger.New(f.Store)
			if f.Cache != nil {
				f.look = ledger.New(f.Store, ledger.WithCache(f.Cache, func() time.Time { return f.at }))
			}
			if f.Lose == nil {
				f.Lose = func() {}
			}
			c.run(f)
		})
	}
}

type fixture struct {
	testing.TB
	Backend
	look *ledger.Ledger
	ctx  context.Context
	at   time.Time
}

var here = locus.Locus{Platform: "room", Workspace: "w1", Channel: "general", Thread: "th"}

// entry is a message here that may be edited for the window from now on.
func (f *fixture) entry(id arms.MessageID, change ...func(*ledger.Entry)) ledger.Entry {
	e := ledger.Entry{
		Key:   ledger.Key{Org: "acme", Platform: here.Platform, Workspace: here.Workspace, Channel: here.Channel, ID: id},
		Reply: id, Thread: "th", ServiceURL: "https://service.example/", Organization: "linear-org", Session: "s1",
		PostedAt: f.at, EditableUntil: f.at.Add(window),
	}
	for _, c := range change {
		c(&e)
	}
	return e
}

func (f *fixture) post(id arms.MessageID, change ...func(*ledger.Entry)) ledger.Entry {
	e := f.entry(id, change...)
	f.Post(e)
	f.look.Landed(f.ctx, e)
	return e
}

func (f *fixture) close(e ledger.Entry) {
	f.Close(e)
	f.look.Closed(f.ctx, e.Key)
}

func query(id arms.MessageID, change ...func(*ledger.Query)) ledger.Query {
	q := ledger.Query{Org: "acme", Session: "s1", At: here, ID: id}
	for _, c := range change {
		c(&q)
	}
	return q
}

// decide expects a decision: own, or the code of a no.
func (f *fixture) decide(q ledger.Query, own bool, code ledger.Code) ledger.Decision {
	f.Helper()
	f.Lose()
	d, err := f.look.Look(f.ctx, q)
	if err != nil {
		f.Fatal(err)
	}
	if d.Own != own || d.Code != code {
		f.Errorf("decided own %v code %q, want %v %q", d.Own, d.Code, own, code)
	}
	return d
}

func (f *fixture) list(q ledger.Query, limit int, want ...arms.MessageID) {
	f.Helper()
	entries, err := f.look.Editable(f.ctx, q, limit)
	if err != nil {
		f.Fatal(err)
	}
	var got []arms.MessageID
	for _, e := range entries {
		got = append(got, e.ID)
	}
	if len(got) != len(want) {
		f.Fatalf("listed %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			f.Fatalf("listed %v, want %v", got, want)
		}
	}
}
