package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stet/arms"
	"stet/audit"
	"stet/audit/postgres"
	"stet/gateway/bind"
	"stet/gateway/locus"
	"stet/gateway/outcome"
	"stet/gateway/turn"
	"stet/ledger"
)

// BenchmarkOpenSettle opens and settles replies: two commits an attempt, which
// concurrent callers share.
func BenchmarkOpenSettle(b *testing.B) {
	benchmark(b, func(b *testing.B, s *postgres.Store, _ int) func() {
		t := benchTurn(b, s)
		return func() { openSettle(b, s, t) }
	})
}

// BenchmarkEdit opens and settles edits, each caller those of its own message.
func BenchmarkEdit(b *testing.B) {
	benchmark(b, func(b *testing.B, s *postgres.Store, caller int) func() {
		t := benchTurn(b, s)
		id := arms.MessageID(fmt.Sprint("m", caller))
		post(b, s, t, id)
		n := 0
		return func() {
			n++
			edit(b, s, t, id, fmt.Sprint("text ", n))
		}
	})
}

// benchmark runs what begin answers for so many callers at once.
func benchmark(b *testing.B, begin func(b *testing.B, s *postgres.Store, caller int) func()) {
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) {
			var writes, commits atomic.Int64
			s := openStore(b, postgres.Options{Observe: func(n int, _ time.Duration) {
				writes.Add(int64(n))
				commits.Add(1)
			}})
			work := make([]func(), callers)
			for i := range work {
				work[i] = begin(b, s, i)
			}
			writes.Store(0)
			commits.Store(0)
			next := make(chan struct{})
			var wg sync.WaitGroup
			for _, once := range work {
				wg.Go(func() {
					for range next {
						once()
					}
				})
			}
			for b.Loop() {
				next <- struct{}{}
			}
			close(next)
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "attempts/s")
			b.ReportMetric(float64(writes.Load())/float64(commits.Load()), "writes/commit")
		})
	}
}

func benchTurn(tb testing.TB, s *postgres.Store) turn.Turn {
	tb.Helper()
	t := turn.Turn{
		ID: audit.NewID(), Org: "acme", Session: "s1", Workspace: "w1", Surface: "chat", Principal: "bot", WakeID: "w",
		Locus:     locus.Locus{Platform: "room", Workspace: "w1", Channel: "general"},
		ExpiresAt: time.Now().Add(24 * time.Hour),
	}
	if err := s.OpenTurn(context.Background(), t, bind.Token{ID: t.ID, Hash: []byte("hash")}); err != nil {
		tb.Fatal(err)
	}
	return t
}

func benchRow(t turn.Turn, o outcome.Outcome) audit.Row {
	return audit.Row{
		ID: audit.NewID(), Org: t.Org, Platform: "room", Workspace: t.Workspace, Surface: t.Surface,
		Principal: t.Principal, Session: t.Session, Turn: t.ID, Wake: t.WakeID,
		Action: outcome.Action(outcome.Reply, o), Outcome: o, Failure: o.Failure(),
		Detail: audit.Detail{ID: "m", Channel: "general", Route: "wake", Creator: "ann"}.JSON(),
	}
}

func openSettle(tb testing.TB, s *postgres.Store, t turn.Turn) {
	a := audit.Attempt{
		ID: audit.NewID(), Verb: outcome.Reply, Turn: t, Place: t.Locus, Route: locus.Wake,
		Marker: "marker", Digest: make([]byte, 32), Boot: "boot",
	}
	o, err := s.Open(context.Background(), audit.OpenRequest{
		Attempt: a, Budget: 15 * time.Second, Claim: &audit.Claim{Key: a.ID, Hash: make([]byte, 32), Keep: time.Hour},
	})
	if err != nil || o.State != audit.Opened {
		tb.Errorf("opening %q, %v", o.State, err)
		return
	}
	key := ledger.Key{Org: t.Org, Platform: "room", Workspace: "w1", Channel: "general", ID: arms.MessageID(a.ID)}
	if _, err := s.Settle(context.Background(), audit.Settlement{
		Attempt: a, Row: benchRow(t, outcome.Applied), Posts: []ledger.Entry{{Key: key, Session: "s1"}},
		Window: time.Hour, Digest: a.Digest, MayEnd: true, Answer: []byte(`{"id":"m"}`),
	}); err != nil {
		tb.Error(err)
	}
}

// post brings a message into the ledger.
func post(tb testing.TB, s *postgres.Store, t turn.Turn, id arms.MessageID) {
	tb.Helper()
	a := audit.Attempt{ID: audit.NewID(), Verb: outcome.Reply, Turn: t, Place: t.Locus, Digest: []byte("first")}
	if o, err := s.Open(context.Background(), audit.OpenRequest{Attempt: a, Budget: time.Minute}); err != nil || o.State != audit.Opened {
		tb.Fatalf("opening %q, %v", o.State, err)
	}
	key := ledger.Key{Org: t.Org, Platform: "room", Workspace: "w1", Channel: "general", ID: id}
	if _, err := s.Settle(context.Background(), audit.Settlement{
		Attempt: a, Row: benchRow(t, outcome.Applied), Posts: []ledger.Entry{{Key: key, Session: t.Session}},
		Window: 4 * time.Hour, Digest: a.Digest,
	}); err != nil {
		tb.Fatal(err)
	}
}

// edit opens and settles one edit, as the pipeline would.
func edit(tb testing.TB, s *postgres.Store, t turn.Turn, id arms.MessageID, text string) {
	tb.Helper()
	a := audit.Attempt{
		ID: audit.NewID(), Verb: outcome.Edit, Turn: t, Target: id, Place: t.Locus, Route: locus.Wake,
		Digest: []byte(text), Boot: "boot",
	}
	unchanged := benchRow(t, outcome.Applied)
	o, err := s.Open(context.Background(), audit.OpenRequest{
		Attempt: a, Budget: 15 * time.Second, Unchanged: &unchanged,
		Claim: &audit.Claim{Key: a.ID, Hash: make([]byte, 32), Keep: time.Hour},
	})
	if err != nil || o.State != audit.Opened {
		tb.Errorf("opening %q, %v", o.State, err)
		return
	}
	if _, err := s.Settle(context.Background(), audit.Settlement{
		Attempt: a, Row: benchRow(t, outcome.Applied), Digest: a.Digest, MayEnd: true, Answer: []byte(`{"id":"m"}`),
	}); err != nil {
		tb.Error(err)
	}
}
