package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"stet/arms"
	"stet/audit"
	"stet/audit/postgres"
	"stet/gateway/bind"
	"stet/gateway/outcome"
	"stet/gateway/turn"
	"stet/ledger"
)

// hostile are ids as a path or a header may bring them.
var hostile = []string{
	"m\xff", "\xff", "m\x00", "\x00", "a\xc3", "\xed\xa0\x80", "m\ufffd", "\x01", "\x01ff", "\x01\x01", "", "m1",
	strings.Repeat("\xfe", 512), "'; drop table turn; --", `\x6d31`,
}

func FuzzStoredTextComesBack(f *testing.F) {
	for _, id := range hostile {
		f.Add(id, "m1")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		form := postgres.StoredForTest(a)
		if !utf8.ValidString(form) || strings.IndexByte(form, 0) >= 0 {
			t.Errorf("Postgres refuses %q", form)
		}
		if back := postgres.RestoredForTest(form); back != a {
			t.Errorf("%q came back as %q", a, back)
		}
		if a != b && form == postgres.StoredForTest(b) {
			t.Errorf("%q and %q have one form", a, b)
		}
	})
}

// TestAnIDThatPostgresRefusesIsOnlyNotFound: whatever its bytes, an id that
// nobody has gets the same answer as any other that nobody has.
func TestAnIDThatPostgresRefusesIsOnlyNotFound(t *testing.T) {
	s := openStore(t, postgres.Options{})
	tn := benchTurn(t, s)
	post(t, s, tn, "real")
	ctx := t.Context()
	for _, id := range hostile {
		o, err := s.Open(ctx, request(tn, arms.MessageID(id), "text"))
		if err != nil || o.State != audit.Ended || o.Row.Reason != outcome.NotOwnPost || o.Row.Code != string(ledger.Unknown) {
			t.Errorf("%q: opening %q %s %s, %v", id, o.State, o.Row.Reason, o.Row.Code, err)
		}
		if all, _, err := s.Entries(ctx, "acme", arms.MessageID(id)); err != nil || len(all) != 0 {
			t.Errorf("%q: entries %v, %v", id, all, err)
		}
		if _, err := s.Turn(ctx, id); !errors.Is(err, bind.ErrNotFound) {
			t.Errorf("%q: turn: %v", id, err)
		}
		if _, _, err := s.TurnByToken(ctx, id); !errors.Is(err, bind.ErrNotFound) {
			t.Errorf("%q: token: %v", id, err)
		}
		if _, err := s.KeyByID(ctx, id); !errors.Is(err, bind.ErrNotFound) {
			t.Errorf("%q: key: %v", id, err)
		}
		if err := s.CloseTurn(ctx, id); !errors.Is(err, bind.ErrNotFound) {
			t.Errorf("%q: close: %v", id, err)
		}
		if found, err := s.Sessions(ctx, "", id); err != nil || len(found) != 0 {
			t.Errorf("%q: sessions: %v, %v", id, found, err)
		}
		if _, err := s.Row(ctx, id); !errors.Is(err, audit.ErrNotFound) {
			t.Errorf("%q: row: %v", id, err)
		}
		filter := audit.Filter{Equal: map[audit.Column][]string{"wake": {id}}}
		if rows, err := s.Query(ctx, filter, audit.Page{}); err != nil || len(rows) != 0 {
			t.Errorf("%q: query: %d rows, %v", id, len(rows), err)
		}
		claim := audit.Claim{Key: id, Hash: []byte("body"), Keep: 1 << 40}
		if o, err := s.Claimed(ctx, tn, outcome.Reply, claim); err != nil || o.State != "" {
			t.Errorf("%q: claim: %q, %v", id, o.State, err)
		}
	}
}

// TestWhatAPlatformReturnedIsFoundByItsBytes: an id that Postgres would refuse
// enters and is found again, and no other is taken for it.
func TestWhatAPlatformReturnedIsFoundByItsBytes(t *testing.T) {
	s := openStore(t, postgres.Options{})
	tn := benchTurn(t, s)
	for _, id := range hostile {
		if id == "" {
			continue
		}
		post(t, s, tn, arms.MessageID(id))
	}
	for i, id := range hostile {
		if id == "" {
			continue
		}
		all, _, err := s.Entries(t.Context(), "acme", arms.MessageID(id))
		if err != nil || len(all) != 1 || string(all[0].ID) != id || string(all[0].Reply) != id {
			t.Errorf("%d: %q: entries %+v, %v", i, id, all, err)
		}
		edit(t, s, tn, arms.MessageID(id), "second")
	}
	odd := turn.Turn{ID: "odd", Org: "a\xffcme", Session: "s\x00", Locus: tn.Locus, ExpiresAt: tn.ExpiresAt, WakeID: "\x01"}
	odd.Refs = map[string]string{"k\x00": "v"}
	if err := s.OpenTurn(t.Context(), odd, bind.Token{ID: "odd", Hash: []byte("h")}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Turn(t.Context(), "odd")
	if err != nil || got.Org != odd.Org || got.Session != odd.Session || got.WakeID != odd.WakeID || got.Refs["k\x00"] != "v" {
		t.Errorf("turn %+v, %v", got, err)
	}
}
