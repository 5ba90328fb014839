package postgres_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/audit"
	"stet/audit/postgres"
	"stet/audit/postgres/pgtest"
	"stet/gateway/outcome"
)

func TestMigrationsOfManyThatStartAtOnceAreDoneOnce(t *testing.T) {
	url := pgtest.Schema(t)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			s, err := postgres.Open(context.Background(), postgres.Options{URL: url})
			if err != nil {
				t.Error(err)
				return
			}
			if s.SchemaVersion() < 1 {
				t.Errorf("version %d", s.SchemaVersion())
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := openStore(t, postgres.Options{URL: url})
	n, err := s.CountForTest(t.Context(), "(select version_id from goose_db_version group by 1 having count(*) > 1) twice")
	if err != nil || n != 0 {
		t.Errorf("%d migrations were done twice, %v", n, err)
	}
	openSettle(t, s, benchTurn(t, s))
}

func TestANewerSchemaIsNotOpened(t *testing.T) {
	url := pgtest.Schema(t)
	s := openStore(t, postgres.Options{URL: url})
	if err := s.ExecForTest(t.Context(), "insert into goose_db_version (version_id, is_applied) values (9999, true)"); err != nil {
		t.Fatal(err)
	}
	other, err := postgres.Open(t.Context(), postgres.Options{URL: url})
	if err == nil {
		_ = other.Close()
		t.Fatal("an older program was let onto a newer schema")
	}
	if !strings.Contains(err.Error(), "9999") {
		t.Errorf("error %v", err)
	}
}

func TestTheTimeIsTheDatabases(t *testing.T) {
	s := openStore(t, postgres.Options{})
	now := func() int64 {
		_, at, err := s.Entries(t.Context(), "acme", "m")
		if err != nil {
			t.Fatal(err)
		}
		return at.UnixMicro()
	}
	before := now()
	tn := benchTurn(t, s)
	openSettle(t, s, tn)
	after := now()
	rows, err := s.Query(t.Context(), audit.Filter{}, audit.Page{})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if at := rows[0].At.UnixMicro(); at < before || at > after {
		t.Errorf("a row of %d, the database's time was between %d and %d", at, before, after)
	}
}

// TestTheRoleOfEveryDayCanNotChangeTheTrail: a login with the role opens the
// store and works, and the database refuses it any change of what is written.
func TestTheRoleOfEveryDayCanNotChangeTheTrail(t *testing.T) {
	server := pgtest.Shared(t)
	schema := server.Fresh(t)
	owner := openStore(t, postgres.Options{URL: server.URL(schema)})
	if has, err := owner.HasAppRole(t.Context()); err != nil || !has {
		t.Fatalf("the role is there: %v, %v", has, err)
	}
	const login = "stet_test_login"
	server.Exec(t, "create role "+login+" login in role "+postgres.AppRole)
	t.Cleanup(func() { server.Exec(t, "drop role "+login) })
	s := openStore(t, postgres.Options{URL: strings.Replace(server.URL(schema), "postgres@", login+"@", 1)})
	tn := benchTurn(t, s)
	openSettle(t, s, tn)
	post(t, s, tn, "m1")
	edit(t, s, tn, "m1", "second")
	if _, err := s.Prune(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := s.Sweep(t.Context(), 0, "", 10); err != nil {
		t.Error(err)
	}
	for _, q := range []string{
		"update audit_row set outcome = 'applied'", "delete from audit_row", "truncate audit_row",
		"update attempt set verb = 'edit'", "delete from attempt", "truncate attempt",
		"alter table audit_row disable trigger all", "drop table audit_row",
	} {
		if err := s.ExecForTest(t.Context(), q); err == nil || !strings.Contains(err.Error(), "42501") {
			t.Errorf("%s: %v", q, err)
		}
		if strings.HasPrefix(q, "alter") || strings.HasPrefix(q, "drop") {
			continue // its owner may
		}
		if err := owner.ExecForTest(t.Context(), q); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("the owner: %s: %v", q, err)
		}
	}
	if n, err := owner.CountForTest(t.Context(), "audit_row"); err != nil || n != 3 {
		t.Errorf("%d rows, want 3, %v", n, err)
	}
}

// TestALoginThatMayNotMakeRolesStillMigrates: the store works, and says that
// there is no role.
func TestALoginThatMayNotMakeRolesStillMigrates(t *testing.T) {
	server := pgtest.Start(t)
	schema := server.Fresh(t)
	server.Exec(t, "create role plain login; grant create, usage on schema "+schema+" to plain")
	s := openStore(t, postgres.Options{URL: strings.Replace(server.URL(schema), "postgres@", "plain@", 1)})
	if has, err := s.HasAppRole(t.Context()); err != nil || has {
		t.Errorf("the role is there: %v, %v", has, err)
	}
	openSettle(t, s, benchTurn(t, s))
	if err := s.ExecForTest(t.Context(), "delete from audit_row"); err == nil {
		t.Error("the database let a change through")
	}
}

// TestAPlanMadeOnAnEmptyTableServesAFullOne: the functions' plans live as long
// as their session, so they must not depend on how many rows there were.
func TestAPlanMadeOnAnEmptyTableServesAFullOne(t *testing.T) {
	s := openStore(t, postgres.Options{})
	tn := benchTurn(t, s)
	post(t, s, tn, "m1")
	edit(t, s, tn, "m1", "second")
	fill := `insert into audit_row (id, at, org, platform, workspace, surface, principal, session, turn, wake, attempt,
			kind, action, outcome, reason, failure, status, code, dry_run, detail)
		select 'r' || n, n as at, 'o', 'p', 'w', 's', 'pr', 'se', 't' || n, 'wk', 'a' || n, 'outcome', 'reply.post', 'applied',
			'', '', 0, '', false, '{}' from generate_series(1, 100000) n;
		insert into own_post (org, platform, workspace, channel, message_id, reply, part, thread, service_url,
			organization, session, dry_run, posted_at, editable_until)
		select 'acme', 'room', 'w1', 'general', 'x' || n, 'x' || n, 0, '', '', '', 's1', false, 0, 0
			from generate_series(1, 100000) n`
	for _, q := range strings.Split(fill, ";") {
		if err := s.ExecForTest(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	scanned := func() int {
		n, err := s.CountForTest(t.Context(), `(select 1 from pg_stat_user_tables st, generate_series(1, st.seq_tup_read)
			where st.schemaname = current_schema() and st.relname in ('audit_row', 'own_post', 'attempt', 'idempotency')) r`)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := scanned()
	began := time.Now()
	for range 20 {
		edit(t, s, tn, "m1", audit.NewID())
	}
	if err := s.Refuse(t.Context(), audit.Refused{
		Attempt: audit.Attempt{ID: audit.NewID(), Verb: outcome.Reply, Turn: tn}, Row: benchRow(tn, outcome.Refused),
	}); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	if after := scanned(); after-before > 1000 {
		t.Errorf("%d rows were read by scans", after-before)
	}
	if took > 10*time.Second {
		t.Errorf("20 edits took %v", took)
	}
}
