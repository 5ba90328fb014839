package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"stet/arms/armhttp"
	"stet/audit/postgres/pgtest"
	"stet/cmd/internal/app"
	"stet/gateway/client"
	"stet/gateway/wire"
)

// replica starts a program on a database that others use too.
func replica(t *testing.T, data, database string) *app.App {
	t.Helper()
	s := quick(data)
	s.DatabaseURL = armhttp.Secret(database)
	a, err := app.New(t.Context(), app.Options{Settings: s})
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		must(t, a.Stop(ctx))
	})
	must(t, a.Start())
	return a
}

func at(t *testing.T, a *app.App, key string) *client.Client {
	t.Helper()
	c, err := client.New(a.Addr(), client.WithKey(key))
	must(t, err)
	return c
}

// Two gateways on one PostgreSQL are one deployment: keys, turns, the ledger,
// idempotency and the trail of the one are those of the other. The room is
// shared here by sharing its file.
func TestTwoGatewaysOnOnePostgresAreOneDeployment(t *testing.T) {
	ctx, database := t.Context(), pgtest.Schema(t)
	one, two := t.TempDir(), t.TempDir()
	a := replica(t, one, database)
	must(t, os.Symlink(filepath.Join(one, "room.db"), filepath.Join(two, "room.db")))
	b := replica(t, two, database)

	host := at(t, b, a.HostKey())
	opened, err := host.OpenTurn(ctx, wire.OpenTurnRequest{
		Session: "s", Org: "acme", Workspace: "w", Surface: "x", Principal: "bot",
		Wake: wire.Wake{ID: "w1", Origin: &wire.Locus{Platform: "room", Channel: "shared"}},
	})
	must(t, err)
	left, right := at(t, a, opened.Token), at(t, b, opened.Token)

	first, err := left.Reply(ctx, wire.ReplyRequest{Text: "said at one"}, client.IdempotencyKey("k"))
	must(t, err)
	again, err := right.Reply(ctx, wire.ReplyRequest{Text: "said at one"}, client.IdempotencyKey("k"))
	must(t, err)
	if !reflect.DeepEqual(first, again) {
		t.Errorf("the replay at the other gateway: %+v, then %+v", first, again)
	}
	edited, err := right.Edit(ctx, first.ID, wire.EditRequest{Text: "corrected at the other"})
	must(t, err)
	same, err := left.Edit(ctx, first.ID, wire.EditRequest{Text: "corrected at the other"})
	must(t, err)
	if edited.Unchanged || !same.Unchanged {
		t.Errorf("unchanged: %v, then %v", edited.Unchanged, same.Unchanged)
	}
	_, err = host.CloseTurn(ctx, opened.Turn)
	must(t, err)
	var refused *client.Error
	if _, err = left.Retract(ctx, first.ID); !errors.As(err, &refused) || refused.Status != 401 {
		t.Errorf("a turn that was closed at the other gateway: %v", err)
	}

	for _, at := range []*client.Client{at(t, a, b.OpsKey()), at(t, b, a.OpsKey())} {
		n := 0
		for _, err := range at.EachRow(ctx, client.Filter{Equal: map[string][]string{"turn": {opened.Turn}}}) {
			must(t, err)
			n++
		}
		if n != 3 {
			t.Errorf("%d rows, want 3", n)
		}
	}
	for _, dir := range []string{one, two} {
		if _, err := os.Stat(filepath.Join(dir, "stet.db")); !os.IsNotExist(err) {
			t.Errorf("an SQLite trail was opened: %v", err)
		}
	}
}
