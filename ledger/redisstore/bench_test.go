package redisstore_test

import (
	"context"
	"database/sql"
	"flag"
	"path/filepath"
	"testing"
	"time"

	"stet/audit/sqlite"
	"stet/ledger"
	"stet/ledger/redisstore"
	"stet/ledger/redisstore/redistest"
)

var entries = flag.Int("redis.entries", 50_000, "how many entries BenchmarkRebuild copies")

// fill puts n entries into a fresh authority, past the way that they come there.
func fill(t testing.TB, n int) *sqlite.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stet.db")
	s, err := sqlite.Open(context.Background(), sqlite.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	now := time.Now().UnixMicro()
	_, err = db.Exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
		insert into own_post (org, platform, workspace, channel, message_id, reply, part, thread, service_url,
		organization, session, dry_run, posted_at, editable_until, closed_at)
		select 'org' || (i % 7), 'room', 'w1', 'channel' || (i % 1000), 'message' || i, 'message' || i, 0, 'thread' || i, '',
		'', 'session' || (i % 100), 0, ?2 + i, ?2 + 14400000000 + i, null from n`, n, now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// BenchmarkRebuild copies -redis.entries entries from SQLite to Redis, and fails
// when a million would take a minute.
func BenchmarkRebuild(b *testing.B) {
	source := fill(b, *entries)
	server := redistest.Start(b)
	store := open(b, redisstore.Options{URL: server.URL})
	for b.Loop() {
		server.Do("FLUSHALL")
		if err := store.Rebuild(context.Background(), source, nil); err != nil {
			b.Fatal(err)
		}
	}
	perSecond := float64(*entries) * float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(perSecond, "entries/s")
	if perSecond < 1e6/60 {
		b.Errorf("a million entries would take %.0f s", 1e6/perSecond)
	}
}

// BenchmarkFind is a hit: one round trip.
func BenchmarkFind(b *testing.B) {
	store := open(b, redisstore.Options{URL: redistest.Start(b).URL})
	e := entry("m1")
	if err := store.Keep(b.Context(), e); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := store.Find(b.Context(), e.Key); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAWholeAuthorityIsCopied(t *testing.T) {
	const n = 5_000
	d := deploy(t, nil)
	source := fill(t, n)
	if err := d.store.Rebuild(d.ctx, source, nil); err != nil {
		t.Fatal(err)
	}
	if keys := d.redis.Do("DBSIZE"); keys != int64(n+redisstore.Buckets) {
		t.Errorf("%v keys", keys)
	}
	page, err := source.Window(d.ctx, ledger.Entry{}, 10)
	if err != nil || len(page) != 10 {
		t.Fatalf("%d entries, %v", len(page), err)
	}
	for _, want := range page {
		if got, err := d.store.Find(d.ctx, want.Key); err != nil || got != want {
			t.Errorf("found %+v, %v, want %+v", got, err, want)
		}
	}
}
