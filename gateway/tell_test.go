package gateway_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"stet/arms"
	"stet/audit"
	"stet/gateway"
	"stet/gateway/locus"
	"stet/gateway/outcome"
	"stet/gateway/turn"
	"stet/ledger"
)

// shelf is a cache that keeps everything it is told.
type shelf struct {
	mu      sync.Mutex
	entries map[ledger.Key]ledger.Entry
}

func (s *shelf) Find(_ context.Context, k ledger.Key) (ledger.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.entries[k]
	if !ok {
		return e, ledger.ErrMiss
	}
	return e, nil
}

func (s *shelf) Keep(_ context.Context, all ...ledger.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range all {
		if _, ok := s.entries[e.Key]; !ok {
			s.entries[e.Key] = e
		}
	}
	return nil
}

func (s *shelf) Replace(_ context.Context, e ledger.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries[e.Key] = e
	return nil
}

func (s *shelf) Drop(_ context.Context, k ledger.Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.entries, k)
	return nil
}

// shelved is a house with a shelf in front of its ledger.
type shelved struct {
	*house
	shelf *shelf
	late  *late
}

// late is the house's store, which is there only after the house was built.
type late struct{ ledger.Store }

func buildShelved(t *testing.T) shelved {
	t.Helper()
	var h *house
	store := &late{}
	s := shelved{shelf: &shelf{entries: map[ledger.Key]ledger.Entry{}}, late: store}
	posts := ledger.New(store, ledger.WithCache(s.shelf, func() time.Time { return h.now() }))
	h = build(t, func(o *gateway.Options) { o.Posts = posts })
	s.house, store.Store = h, h.store
	registry, err := arms.NewRegistry(h.arm)
	must(t, err)
	h.resolver = gateway.NewResolver(gateway.ResolverOptions{
		Arms: registry, Trail: h.trail, Posts: posts, Logger: slog.New(slog.DiscardHandler),
		Metrics:         gateway.NewMetrics(prometheus.NewRegistry(), registry.Platforms()),
		Window:          func(locus.Locus) time.Duration { return 4 * time.Hour },
		PlatformTimeout: time.Second, Now: h.now,
	})
	return s
}

func keyOf(tn turn.Turn, id string) ledger.Key {
	return ledger.Key{Org: tn.Org, Platform: place, Workspace: "w1", Channel: "c1", ID: arms.MessageID(id)}
}

// same expects the cache to hold just what the authority does, or nothing.
func (s shelved) same(tn turn.Turn, id string, there bool) {
	s.t.Helper()
	got, err := s.shelf.Find(s.t.Context(), keyOf(tn, id))
	if (err == nil) != there {
		s.t.Fatalf("%s in the cache: %+v, %v, want it there: %v", id, got, err, there)
	}
	if !there {
		return
	}
	entries, _, err := s.store.Entries(s.t.Context(), tn.Org, arms.MessageID(id))
	must(s.t, err)
	if len(entries) != 1 || entries[0] != got {
		s.t.Errorf("the cache has %+v, the authority %+v", got, entries)
	}
}

func (s shelved) lookups(store, result string) (n float64) {
	s.t.Helper()
	families, err := s.reg.Gather()
	must(s.t, err)
	for _, f := range families {
		if f.GetName() != "stet_ledger_lookups_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			if l := m.GetLabel(); l[0].GetValue() == result && l[1].GetValue() == store {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return n
}

func TestTheCacheIsToldWhatLandedAndWhatClosed(t *testing.T) {
	s := buildShelved(t)
	tn := s.turn()
	id := s.post(tn, "hello").ID
	s.same(tn, id, true)
	_, err := s.gw.Edit(t.Context(), tn, change1(id, "better"))
	must(t, err)
	if s.lookups("redis", "own") != 1 || s.lookups("sql", "own") != 0 {
		t.Error("the edit of a cached post wasn't counted as the cache's")
	}
	s.same(tn, id, true)
	_, err = s.gw.Retract(t.Context(), tn, gateway.RetractRequest{ID: arms.MessageID(id)})
	must(t, err)
	s.same(tn, id, false)
	_, err = s.gw.Edit(t.Context(), tn, change1(id, "too late"))
	if p := problem(t, err); p.Reason != outcome.NotOwnPost {
		t.Errorf("%+v", p)
	}
	if s.lookups("redis", "miss") != 1 || s.lookups("sql", "not-own") != 1 {
		t.Error("the look that missed wasn't counted at both")
	}
}

func TestADryReplyIsTheCachesTooAndForItsSessionAlone(t *testing.T) {
	s := buildShelved(t)
	dry := s.turn(func(t *turn.Turn) { t.DryRun = true })
	id := s.post(dry, "hello").ID
	s.same(dry, id, true)
	_, err := s.gw.Edit(t.Context(), s.turn(), change1(id, "x"))
	if p := problem(t, err); p.Reason != outcome.NotOwnPost {
		t.Errorf("%+v", p)
	}
}

func TestI4AYesOfTheCacheThatTheCommitDeniesIsRefusedAndForgotten(t *testing.T) {
	s := buildShelved(t)
	tn := s.turn()
	id := s.post(tn, "hello").ID
	stale, err := s.shelf.Find(t.Context(), keyOf(tn, id))
	must(t, err)
	_, err = s.gw.Retract(t.Context(), tn, gateway.RetractRequest{ID: arms.MessageID(id)})
	must(t, err)
	invented := stale
	invented.ID, invented.Reply = "never-posted", "never-posted"
	must(t, s.shelf.Keep(t.Context(), stale, invented))
	wrote := len(s.arm.calls)
	for _, id := range []string{id, "never-posted"} {
		_, err = s.gw.Edit(t.Context(), tn, change1(id, "x"))
		p := problem(t, err)
		if p.Reason != outcome.NotOwnPost || p.Outcome != outcome.Refused {
			t.Errorf("%+v", p)
		}
		if row := s.outcomeOf(p.Attempt); row.Code != string(ledger.Unknown) || detail(t, row).ID != "" {
			t.Errorf("row %+v", row)
		}
		s.same(tn, id, false)
	}
	if len(s.arm.calls) != wrote {
		t.Error("something was sent")
	}
}

func TestTheCacheIsToldWhatALookFound(t *testing.T) {
	s := buildShelved(t)
	tn := s.turn()
	s.lose(tn, outcome.Reply, "", true)
	s.same(tn, "m1", false)
	s.look()
	s.same(tn, "m1", true)
	p := s.lose(s.turn(), outcome.Retract, "m1", true)
	s.look()
	got, _ := s.verdicts(p.Attempt)
	is(t, got, audit.Seen)
	s.same(tn, "m1", false)
}

func TestI4ARefusalAfterAYesOfTheCacheIsTheOneThatTheAuthorityGives(t *testing.T) {
	s := buildShelved(t)
	tn := s.turn()
	id := s.post(tn, "hello").ID
	long := change1(id, "a text that is longer than the forty code points of this platform")
	_, err := s.gw.Edit(t.Context(), tn, long)
	if p := problem(t, err); p.Reason != outcome.TextTooLong {
		t.Errorf("%+v", p)
	}
	stale, err := s.shelf.Find(t.Context(), keyOf(tn, id))
	must(t, err)
	_, err = s.gw.Retract(t.Context(), tn, gateway.RetractRequest{ID: arms.MessageID(id)})
	must(t, err)
	for _, cached := range []bool{true, false} {
		if cached {
			must(t, s.shelf.Keep(t.Context(), stale))
		}
		_, err = s.gw.Edit(t.Context(), tn, long)
		p := problem(t, err)
		if p.Reason != outcome.NotOwnPost || p.Outcome != outcome.Refused {
			t.Errorf("with the stale entry %v: %+v", cached, p)
		}
		if row := s.outcomeOf(p.Attempt); row.Code != string(ledger.Unknown) || detail(t, row).ID != "" {
			t.Errorf("row %+v", row)
		}
		s.same(tn, id, false)
	}
}

type unreadable struct{ ledger.Store }

func (unreadable) Entries(context.Context, string, arms.MessageID) ([]ledger.Entry, time.Time, error) {
	return nil, time.Time{}, errUnreadable
}

var errUnreadable = errors.New("can't be read")

func TestARefusalThatNobodyCanConfirmIsNotGiven(t *testing.T) {
	s := buildShelved(t)
	tn := s.turn()
	id := s.post(tn, "hello").ID
	s.late.Store = unreadable{s.store}
	_, err := s.gw.Edit(t.Context(), tn, change1(id, "a text that is longer than the forty code points of this platform"))
	if p := problem(t, err); p.Reason != outcome.LedgerUnavailable {
		t.Errorf("%+v", p)
	}
	_, err = s.gw.Edit(t.Context(), tn, change1(id, "better")) // the commit asks for itself
	must(t, err)
}
