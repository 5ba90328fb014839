package postgres_test

import (
	"context"
	"testing"
	"time"

	"stet/audit"
	"stet/audit/postgres"
	"stet/gateway/bind"
	"stet/gateway/outcome"
	"stet/gateway/turn"
	"stet/ledger"
)

// house is a store with a clock, and one of everything that can grow old.
type house struct {
	*testing.T
	*postgres.Store
	at time.Time
	t  turn.Turn
}

func newHouse(t *testing.T) *house {
	h := &house{T: t, at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	h.Store = openStore(t, postgres.Options{Now: func() time.Time { return h.at }, TranscriptKeep: 30 * 24 * time.Hour})
	h.t = h.turn()
	return h
}

func (h *house) no(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *house) turn() turn.Turn {
	h.Helper()
	t := turn.Turn{ID: audit.NewID(), Org: "acme", Session: "s1", ExpiresAt: h.at.Add(time.Hour)}
	t.Locus.Platform, t.Locus.Channel = "room", "general"
	h.no(h.OpenTurn(context.Background(), t, bind.Token{ID: t.ID, Hash: []byte("hash")}))
	return t
}

func (h *house) try(v outcome.Verb, key string) audit.Attempt {
	h.Helper()
	a := audit.Attempt{ID: audit.NewID(), Verb: v, Turn: h.t, Target: "m1", Place: h.t.Locus}
	r := audit.OpenRequest{Attempt: a, Budget: time.Second}
	if key != "" {
		r.Claim = &audit.Claim{Key: key, Hash: []byte("h"), Keep: 24 * time.Hour}
	}
	o, err := h.Open(context.Background(), r)
	if err != nil || o.State != audit.Opened {
		h.Fatalf("opening %q, %v", o.State, err)
	}
	return a
}

func (h *house) end(a audit.Attempt, o outcome.Outcome, posts ...ledger.Entry) {
	h.Helper()
	_, err := h.Settle(context.Background(), audit.Settlement{
		Attempt: a, Row: benchRow(h.t, o), Posts: posts, Window: 4 * time.Hour,
	})
	h.no(err)
}

func (h *house) post() {
	h.Helper()
	key := ledger.Key{Org: "acme", Platform: "room", Channel: "general", ID: "m1"}
	h.end(h.try(outcome.Reply, "k"), outcome.Applied, ledger.Entry{Key: key})
}

// prune expects how many rows go.
func (h *house) prune(want int) {
	h.Helper()
	n, err := h.Prune(context.Background())
	if err != nil || n != want {
		h.Fatalf("removed %d rows, want %d, %v", n, want, err)
	}
}

func (h *house) count(table string, want int) {
	h.Helper()
	n, err := h.CountForTest(context.Background(), table)
	if err != nil || n != want {
		h.Fatalf("%s has %d rows, want %d, %v", table, n, want, err)
	}
}

func TestTheJanitorRemovesWhatIsOverAndNothingElse(t *testing.T) {
	h := newHouse(t)
	h.post()
	h.no(h.AddCall(t.Context(), h.t, turn.Call{ID: "c"}))
	h.no(h.SawMessage(t.Context(), h.t, "m0"))
	h.no(h.AddEvidence(t.Context(), h.t, turn.Evidence{Kind: "memory.write"}))
	h.no(h.AddEvidence(t.Context(), h.t, turn.Evidence{Session: true, ExpiresAt: h.at.Add(48 * time.Hour)}))
	h.prune(0)
	h.at = h.at.Add(24 * time.Hour)
	h.prune(1)
	h.count("idempotency", 0)
	h.at = h.at.Add(24 * time.Hour)
	h.prune(1)
	h.count("evidence", 1)
	h.at = h.at.Add(7 * 24 * time.Hour)
	h.turn()
	h.prune(2) // the old turn and the post; with the turn go its event and activity
	for table, want := range map[string]int{"turn": 1, "own_post": 0, "evidence": 0, "activity": 0, "transcript": 1} {
		h.count(table, want)
	}
	h.at = h.at.Add(30 * 24 * time.Hour)
	h.prune(2) // the transcript, and the other turn
	h.count("transcript", 0)
	h.count("audit_row", 1)
	h.count("attempt", 1)
}

func TestTheJanitorLeavesWhatALookStillNeeds(t *testing.T) {
	h := newHouse(t)
	h.post()
	h.end(h.try(outcome.Edit, ""), outcome.Ambiguous)
	h.at = h.at.Add(60 * 24 * time.Hour)
	h.prune(1) // the claim
	h.count("turn", 1)
	h.count("own_post", 1)
	due, err := h.Due(t.Context(), 10)
	if err != nil || len(due) != 1 || due[0].Entry.ID != "m1" {
		t.Fatalf("due %+v, %v", due, err)
	}
	row := benchRow(h.t, "")
	ok, err := h.Resolve(t.Context(), audit.Resolution{Pending: due[0], Verdict: audit.GaveUp, Row: row})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	h.prune(2)
	h.count("turn", 0)
	h.count("own_post", 0)
}

func TestTheJanitorWorksInSmallCommits(t *testing.T) {
	h := newHouse(t)
	for range 450 {
		h.no(h.AddCall(t.Context(), h.t, turn.Call{ID: "c"}))
	}
	h.at = h.at.Add(31 * 24 * time.Hour)
	h.prune(451) // with the turn
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Prune(ctx); err == nil {
		t.Error("a cancelled janitor says that all is well")
	}
}

func TestWithoutALimitTranscriptsStay(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := openStore(t, postgres.Options{Now: func() time.Time { return at }})
	if err := s.AddCall(t.Context(), turn.Turn{Org: "acme", Session: "s1"}, turn.Call{ID: "c"}); err != nil {
		t.Fatal(err)
	}
	at = at.Add(10 * 365 * 24 * time.Hour)
	if n, err := s.Prune(t.Context()); err != nil || n != 0 {
		t.Errorf("removed %d, %v", n, err)
	}
}
