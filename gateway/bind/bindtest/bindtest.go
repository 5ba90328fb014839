// Package bindtest is what every store of sessions, turns and keys is held to.
// A store's own test opens it on a fresh database and calls [Run].
package bindtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"stet/audit"
	"stet/gateway/bind"
	"stet/gateway/locus"
	"stet/gateway/turn"
)

// Store is all of a store that the suite needs.
type Store interface {
	bind.SessionStore
	bind.TurnStore
	bind.KeyStore
	// Evidence answers what counts for a turn now, oldest first.
	Evidence(ctx context.Context, t turn.Turn) ([]turn.Evidence, error)
	// Calls answers a session's tool calls in the order of their reports.
	Calls(ctx context.Context, org, session string) ([]turn.Call, error)
	// Each is here for the rows that declines and keys leave.
	Each(ctx context.Context, f audit.Filter, fn func(audit.Row) error) error
}

// Backend is one fresh store.
type Backend struct {
	Store Store
	// Exec runs a statement on the database itself, past the store.
	Exec func(ctx context.Context, statement string) error
}

// Opener opens a fresh store whose clock is now, and closes it with the test.
type Opener func(t testing.TB, now func() time.Time) Backend

// check is one promise of the contract.
type check struct {
	name string
	run  func(*fixture)
}

// Run holds a store to the contracts of package bind.
func Run(t *testing.T, open Opener) {
	for theme, checks := range map[string][]check{
		"sessions": sessionChecks, "turns": turnChecks, "reports": reportChecks, "keys": keyChecks,
	} {
		t.Run(theme, func(t *testing.T) {
			for _, c := range checks {
				t.Run(c.name, func(t *testing.T) {
					f := &fixture{TB: t, ctx: t.Context(), at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
					b := open(t, func() time.Time { return f.at })
					f.Store, f.exec = b.Store, b.Exec
					c.run(f)
				})
			}
		})
	}
}

// fixture is one fresh store with a clock that only the test moves.
type fixture struct {
	testing.TB
	Store
	exec func(ctx context.Context, statement string) error
	ctx  context.Context
	at   time.Time
}

func (f *fixture) no(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) notFound(err error) {
	f.Helper()
	if !errors.Is(err, bind.ErrNotFound) {
		f.Errorf("error %v, want not found", err)
	}
}

var (
	here  = locus.Locus{Platform: "room", Workspace: "w1", Channel: "general", Thread: "th"}
	there = locus.Locus{
		Platform: "teams", Workspace: "w2", Channel: "19:x", Thread: "1",
		ServiceURL: "https://service.example/", Organization: "lin",
	}
)

// turn opens a turn whose token's public id is the turn's id.
func (f *fixture) turn(change ...func(*turn.Turn)) turn.Turn {
	f.Helper()
	t := turn.Turn{
		ID: audit.NewID(), Org: "acme", Session: "s1", Workspace: "w1", Surface: "chat", Principal: "bot",
		Creator: "ann", WakeID: "wake-1", Refs: map[string]string{"thread_id": "th", "message_id": "m0"},
		Locus: here, Route: locus.Wake, Bound: "room", OpenedAt: f.at, ExpiresAt: f.at.Add(time.Hour),
	}
	for _, c := range change {
		c(&t)
	}
	f.no(f.OpenTurn(f.ctx, t, bind.Token{ID: t.ID, Hash: []byte("hash of " + t.ID)}))
	return t
}

func (f *fixture) rows(action string) []audit.Row {
	f.Helper()
	var rows []audit.Row
	filter := audit.Filter{Equal: map[audit.Column][]string{"action": {action}}}
	f.no(f.Each(f.ctx, filter, func(r audit.Row) error { rows = append(rows, r); return nil }))
	return rows
}
