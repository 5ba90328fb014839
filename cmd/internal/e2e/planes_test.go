package e2e

import (
	"strings"
	"testing"
	"time"

	"stet/gateway/client"
	"stet/gateway/outcome"
	"stet/gateway/wire"
)

// TestI10ACredentialWorksForItsOwnOnly asks for the things of one organization
// with the keys of another, and for each plane with the others' credentials.
func TestI10ACredentialWorksForItsOwnOnly(t *testing.T) {
	c := &clock{}
	b := boot(t, c.set)
	a := b.turn()
	id := b.post(a, "hello")
	key := func(org string, scopes ...string) wire.NewKey {
		k, err := b.ops.CreateKey(t.Context(), wire.KeyRequest{Org: org, Scopes: scopes, Name: "test"})
		must(t, err)
		return k
	}
	host, ops, acmeOps := key("umbrella", "host"), key("umbrella", "ops"), key("acme", "ops")
	rows, err := b.ops.Rows(t.Context(), client.Filter{Equal: map[string][]string{"org": {"acme"}}}, 1, "")
	must(t, err)
	row := rows.Rows[0].ID
	before := b.size()

	for _, tt := range []struct {
		what, method, path, key, body string
		status                        int
	}{
		{"another's turn", "POST", "/v1/turns/" + a.turn + "/close", host.Secret, "", 404},
		{"another's turn", "POST", "/v1/turns/" + a.turn + "/evidence", host.Secret, `{"kind":"memory.write"}`, 404},
		{"another's turn", "POST", "/v1/turns/" + a.turn + "/transcript", host.Secret, `{"call":"c","name":"n"}`, 404},
		{"another's turn", "POST", "/v1/turns/" + a.turn + "/activity", host.Secret, `{"message":"m"}`, 404},
		{"another's turn", "GET", "/v1/turns/" + a.turn + "/events", host.Secret, "", 404},
		{"another's organization", "PUT", "/v1/sessions/s", host.Secret, `{"org":"acme","workspace":"w","surface":"s","principal":"p"}`, 403},
		{"another's organization", "POST", "/v1/turns", host.Secret, `{"session":"s","wake":{"id":"w"},"org":"acme","workspace":"w","surface":"s","principal":"p"}`, 403},
		{"another's row", "GET", "/v1/audit/" + row, ops.Secret, "", 404},
		{"a key of another", "DELETE", "/v1/keys/" + acmeOps.Key.ID, ops.Secret, "", 404},
		{"the agent plane by a host", "POST", "/v1/replies", b.app.HostKey(), `{"text":"x"}`, 403},
		{"the agent plane by ops", "PATCH", "/v1/replies/" + id, b.app.OpsKey(), `{"text":"x"}`, 403},
		{"the host plane by an agent", "POST", "/v1/turns/" + a.turn + "/close", a.token, "", 403},
		{"the host plane by ops", "POST", "/v1/turns", b.app.OpsKey(), `{"session":"s","wake":{"id":"w"}}`, 403},
		{"the ops plane by an agent", "GET", "/v1/audit", a.token, "", 403},
		{"the ops plane by a host", "GET", "/v1/keys", b.app.HostKey(), "", 403},
		{"nobody", "GET", "/v1/turn", "", "", 401},
	} {
		if got := b.call(tt.method, tt.path, tt.key, tt.body); got.status != tt.status {
			t.Errorf("%s: %s %s answers %d %s, want %d", tt.what, tt.method, tt.path, got.status, got.body, tt.status)
		}
	}
	for i := range len(a.token) {
		bent := a.token[:i] + string(a.token[i]^1) + a.token[i+1:]
		if strings.ContainsAny(bent, " \x7f") {
			continue
		}
		if got := b.call("GET", "/v1/turn", bent, ""); got.status != 401 {
			t.Fatalf("a token with another character at %d answers %d", i, got.status)
		}
	}
	if after := b.size(); after != before {
		t.Errorf("something changed: %+v, before %+v", after, before)
	}
	got, err := b.host.With(ops.Secret).Rows(t.Context(), client.Filter{}, 100, "")
	must(t, err)
	for _, r := range got.Rows {
		if r.Org != "umbrella" {
			t.Errorf("umbrella reads a row of %q", r.Org)
		}
	}
}

func TestI10ADeadCredentialIsDeadAtOnce(t *testing.T) {
	c := &clock{}
	b := boot(t, c.set)
	closed, expired := b.turn(), b.turn(in{ttl: "1m"})
	id := b.post(closed, "hello")
	_, err := b.host.CloseTurn(t.Context(), closed.turn)
	must(t, err)
	c.forward(time.Minute)
	k, err := b.ops.CreateKey(t.Context(), wire.KeyRequest{Org: "acme", Scopes: []string{"host"}, Name: "test"})
	must(t, err)
	must(t, b.ops.RevokeKey(t.Context(), k.Key.ID))
	before := b.size()
	first := b.call("PATCH", "/v1/replies/"+id, "stet_turn_nonsense", `{"text":"x"}`)
	for what, dead := range map[string]string{"closed": closed.token, "expired": expired.token} {
		for _, method := range []string{"PATCH", "DELETE"} {
			body := map[string]string{"PATCH": `{"text":"x"}`}[method]
			got := b.call(method, "/v1/replies/"+id, dead, body)
			if got.status != 401 || got.body != first.body {
				t.Errorf("%s, %s: %d %s", what, method, got.status, got.body)
			}
		}
	}
	if got := b.call("POST", "/v1/turns", k.Secret, `{"session":"s","wake":{"id":"w"},"workspace":"w","surface":"s","principal":"p"}`); got.status != 401 || got.body != first.body {
		t.Errorf("a revoked key: %d %s", got.status, got.body)
	}
	if after := b.size(); after != before {
		t.Errorf("something changed: %+v, before %+v", after, before)
	}
	if first.problem().Reason != string(outcome.Unauthorized) {
		t.Errorf("got %s", first.body)
	}
}
