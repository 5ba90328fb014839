package bind_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"stet/gateway/bind"
)

func TestACredentialThatDoesNotWorkGetsOneAnswer(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	live, opened := w.openTurn(w.acme, unboundTurn(""))
	short := unboundTurn("")
	short.TTL = time.Minute
	expired, _ := w.openTurn(w.acme, short)
	closed, toClose := w.openTurn(w.acme, unboundTurn(""))
	if _, err := w.CloseTurn(ctx, w.acme, toClose.ID); err != nil {
		t.Fatal(err)
	}
	key, made, err := w.MintKey(ctx, "test", bind.NewKey{Name: "k", AllOrgs: true, Scopes: []bind.Scope{bind.ScopeHost}})
	if err != nil {
		t.Fatal(err)
	}
	revoked, gone, err := w.MintKey(ctx, "test", bind.NewKey{Name: "k", AllOrgs: true, Scopes: []bind.Scope{bind.ScopeOps}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.RevokeKey(ctx, bind.Key{ID: "me"}, gone.ID); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(time.Minute)
	stranger, _ := bind.Mint(bind.TurnToken)
	strangerKey, _ := bind.Mint(bind.HostKey)
	for name, clear := range map[string]string{
		"unknown turn": stranger, "unknown key": strangerKey, "expired": expired, "closed": closed, "revoked": revoked,
		"nothing": "", "a word": "secret", "a long stranger": strings.Repeat("k", 40), "endless": strings.Repeat("k", 1<<20),
		"mistyped": flip(key, len(key)-1), "mistyped inside": flip(live, 20), "a piece": live[:30],
		"the public id with another secret": withSecretOf(live, stranger), "another kind": "stet_ops" + strings.TrimPrefix(key, "stet_host"),
		"not UTF-8": strings.Repeat("\xff", 40), "trailing": key + "\n",
	} {
		if c, err := w.Authenticate(ctx, clear); !errors.Is(err, bind.ErrUnauthorized) || c.Kind != "" {
			t.Errorf("%s: got %+v, %v", name, c, err)
		}
	}
	if c, err := w.Authenticate(ctx, live); err != nil || c.Kind != bind.TurnToken || c.Turn.ID != opened.ID {
		t.Errorf("the live turn: %+v, %v", c, err)
	}
	if c, err := w.Authenticate(ctx, key); err != nil || c.Kind != bind.HostKey || c.Key.ID != made.ID {
		t.Errorf("the live key: %+v, %v", c, err)
	}
}

func flip(s string, i int) string {
	c := byte('A')
	if s[i] == 'A' {
		c = 'B'
	}
	return s[:i] + string(c) + s[i+1:]
}

// withSecretOf puts the secret of one token behind the public id of another,
// which its checksum then gives away; a right checksum is tried below.
func withSecretOf(a, b string) string { return a[:26] + b[26:] }

func TestARightChecksumIsNoRightSecret(t *testing.T) {
	w := newWorld(t)
	clear, token := bind.Mint(bind.TurnToken)
	other, _ := bind.Mint(bind.TurnToken)
	_, wrong, _ := bind.Parse(other)
	_, opened := w.openTurn(w.acme, unboundTurn(""))
	opened.ID = "t-2"
	if err := w.store.OpenTurn(t.Context(), opened, bind.Token{ID: token.ID, Hash: wrong.Hash}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Authenticate(t.Context(), clear); !errors.Is(err, bind.ErrUnauthorized) {
		t.Errorf("a token with another secret works: %v", err)
	}
}

func TestStoreFailureIsNoVerdictOnACredential(t *testing.T) {
	w := newWorld(t)
	clear, _ := w.openTurn(w.acme, unboundTurn(""))
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Authenticate(t.Context(), clear); err == nil || errors.Is(err, bind.ErrUnauthorized) {
		t.Errorf("got %v, want the store's error", err)
	}
	if _, err := w.Authenticate(t.Context(), "garbage"); !errors.Is(err, bind.ErrUnauthorized) {
		t.Errorf("got %v: garbage needs no store to be refused", err)
	}
}

func TestFirstKeysOfASecretStore(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	minted, _ := bind.Mint(bind.HostKey)
	ops, _ := bind.Mint(bind.OpsKey)
	turnToken, _ := bind.Mint(bind.TurnToken)
	foreign := "0123456789abcdef0123456789abcdef"
	for i := range 2 {
		for _, clear := range []string{minted, foreign} {
			if err := w.EnsureKey(ctx, clear, "first", bind.ScopeHost); err != nil {
				t.Fatalf("time %d: %v", i+1, err)
			}
		}
	}
	for _, clear := range []string{minted, foreign} {
		c, err := w.Authenticate(ctx, clear)
		if err != nil || c.Kind != bind.HostKey || c.Key.Org != "" || !c.Key.Has(bind.ScopeHost) {
			t.Errorf("got %+v, %v", c, err)
		}
		if strings.Contains(clear, c.Key.ID) != (clear == minted) {
			t.Errorf("the public id %q is part of a foreign key, or not of ours", c.Key.ID)
		}
	}
	tests := []struct {
		name, clear, want string
	}{
		{"too short", foreign[1:], "too short"},
		{"too long", strings.Repeat("x", 1025), "too long"},
		{"an ops key", ops, "an ops key, not a host key"},
		{"a turn token", turnToken, "turn token"},
		{"mistyped", flip(minted, 20), "checksum"},
	}
	for _, tt := range tests {
		err := w.EnsureKey(ctx, tt.clear, "first", bind.ScopeHost)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), tt.clear) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if err := w.EnsureKey(ctx, foreign, "first", bind.ScopeOps); err == nil {
		t.Error("one string became two kinds of key")
	}
	c, err := w.Authenticate(ctx, minted)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.RevokeKey(ctx, bind.Key{}, c.Key.ID); err != nil {
		t.Fatal(err)
	}
	if err := w.EnsureKey(ctx, minted, "first", bind.ScopeHost); err == nil || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("a revoked key came back to life: %v", err)
	}
}

func TestKeysOfAnOrganization(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	root := bind.Key{ID: "root"}
	mine := bind.Key{ID: "mine", Org: "acme"}
	host := []bind.Scope{bind.ScopeHost}
	_, ours, err := w.CreateKey(ctx, mine, bind.NewKey{Name: "ours", Scopes: host})
	if err != nil || ours.Org != "acme" {
		t.Fatalf("got %+v, %v", ours, err)
	}
	_, theirs, err := w.CreateKey(ctx, root, bind.NewKey{Name: "theirs", Org: "umbrella", Scopes: host})
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]bind.NewKey{
		"another organization": {Name: "x", Org: "umbrella", Scopes: host}, "all of them": {Name: "x", AllOrgs: true, Scopes: host},
	} {
		if _, _, err := w.CreateKey(ctx, mine, n); !errors.Is(err, bind.ErrForbidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, n := range map[string]bind.NewKey{
		"org":    {Name: "x", Scopes: host},
		"name":   {Org: "acme", Scopes: host},
		"scopes": {Name: "x", Org: "acme", Scopes: []bind.Scope{bind.ScopeHost, bind.ScopeOps}},
	} {
		var invalid *bind.InvalidError
		if _, _, err := w.CreateKey(ctx, root, n); !errors.As(err, &invalid) || invalid.Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := w.RevokeKey(ctx, mine, theirs.ID); !errors.Is(err, bind.ErrNotFound) {
		t.Errorf("revoked another organization's key: %v", err)
	}
	list, err := w.ListKeys(ctx, mine)
	if err != nil || len(list) != 1 || list[0].ID != ours.ID || list[0].Hash != nil {
		t.Errorf("the list is %+v, %v", list, err)
	}
	if all, err := w.ListKeys(ctx, root); err != nil || len(all) != 2 {
		t.Errorf("the whole list is %+v, %v", all, err)
	}
}

func TestKindOfScopes(t *testing.T) {
	for _, tt := range []struct {
		scopes []bind.Scope
		want   bind.Kind
	}{
		{[]bind.Scope{"host"}, bind.HostKey}, {[]bind.Scope{"ops"}, bind.OpsKey}, {[]bind.Scope{"reviewer", "ops"}, bind.OpsKey},
		{[]bind.Scope{"host", "reviewer"}, ""}, {[]bind.Scope{"root"}, ""}, {nil, ""},
	} {
		got, err := bind.KindOf(tt.scopes)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%v: got %q, %v", tt.scopes, got, err)
		}
	}
}
