package bindtest

import (
	"encoding/json"
	"reflect"
	"time"

	"stet/audit"
	"stet/gateway/bind"
)

var keyChecks = []check{
	{"a key is found as it was created", createdKey},
	{"creating leaves a row that names who and which", createdRow},
	{"creating twice is one key and one row", createdTwice},
	{"another key can't take a key's id", takenID},
	{"keys are listed by organization, oldest first", listedKeys},
	{"revoking counts at once and leaves one row", revokedKey},
	{"what isn't a live key can't be revoked", revokeNothing},
}

func (f *fixture) key(id string, change ...func(*bind.Key)) bind.Key {
	f.Helper()
	k := bind.Key{
		ID: id, Org: "acme", Scopes: []bind.Scope{bind.ScopeOps, bind.ScopeReviewer}, Name: "night shift",
		Hash: []byte("hash of " + id), CreatedAt: f.at,
	}
	for _, c := range change {
		c(&k)
	}
	f.no(f.CreateKey(f.ctx, k, "boss"))
	return k
}

func (f *fixture) keyIs(want bind.Key) {
	f.Helper()
	got, err := f.KeyByID(f.ctx, want.ID)
	f.no(err)
	if !reflect.DeepEqual(got, want) {
		f.Errorf("key %+v\nwant %+v", got, want)
	}
}

func createdKey(f *fixture) {
	f.keyIs(f.key("k1"))
	f.keyIs(f.key("k2", func(k *bind.Key) { k.Org, k.Scopes = "", []bind.Scope{bind.ScopeHost} }))
	_, err := f.KeyByID(f.ctx, "k3")
	f.notFound(err)
}

// keyRow expects one row of an action and what it says.
func (f *fixture) keyRow(action string, k bind.Key, who string) {
	f.Helper()
	rows := f.rows(action)
	if len(rows) != 1 {
		f.Fatalf("%d rows of %s, want 1", len(rows), action)
	}
	var d audit.Detail
	f.no(json.Unmarshal(rows[0].Detail, &d))
	if rows[0].Org != k.Org || d.Key != k.ID || d.Who != who || rows[0].Kind != audit.Outcome {
		f.Errorf("row %+v", rows[0])
	}
}

func createdRow(f *fixture) {
	f.keyRow(audit.ActionKeyCreated, f.key("k1"), "boss")
}

func createdTwice(f *fixture) {
	k := f.key("k1")
	f.no(f.CreateKey(f.ctx, k, "boss"))
	f.keyRow(audit.ActionKeyCreated, k, "boss")
}

func takenID(f *fixture) {
	k := f.key("k1")
	other := k
	other.Hash, other.Org = []byte("another secret"), "other"
	if f.CreateKey(f.ctx, other, "thief") == nil {
		f.Error("a key was replaced")
	}
	f.keyIs(k)
	f.keyRow(audit.ActionKeyCreated, k, "boss")
}

func listedKeys(f *fixture) {
	a := f.key("k2")
	f.at = f.at.Add(time.Second)
	b := f.key("k1", func(k *bind.Key) { k.Org = "other" })
	f.at = f.at.Add(time.Second)
	c := f.key("k0", func(k *bind.Key) { k.Org = "" })
	for org, want := range map[string][]bind.Key{
		"acme": {a}, "other": {b}, "": {a, b, c}, "third": nil,
	} {
		got, err := f.Keys(f.ctx, org)
		f.no(err)
		if !reflect.DeepEqual(got, want) {
			f.Errorf("keys of %q: %+v\nwant %+v", org, got, want)
		}
	}
}

func revokedKey(f *fixture) {
	k := f.key("k1")
	f.at = f.at.Add(time.Hour)
	f.no(f.RevokeKey(f.ctx, "k1", "boss"))
	k.RevokedAt = f.at
	f.keyIs(k)
	f.at = f.at.Add(time.Hour)
	f.notFound(f.RevokeKey(f.ctx, "k1", "boss"))
	f.keyIs(k)
	f.keyRow(audit.ActionKeyRevoked, k, "boss")
}

func revokeNothing(f *fixture) {
	f.notFound(f.RevokeKey(f.ctx, "k1", "boss"))
	if n := len(f.rows(audit.ActionKeyRevoked)); n != 0 {
		f.Errorf("%d rows", n)
	}
}
