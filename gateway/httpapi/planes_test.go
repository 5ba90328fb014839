package httpapi

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"stet/gateway/wire"
)

// TestEveryPlaneTakesItsOwnCredentialsAlone tries every route with every kind
// of credential.
func TestEveryPlaneTakesItsOwnCredentialsAlone(t *testing.T) {
	remote := func(o *Options) { o.Loopback = false }
	d := open(t, remote)
	opened := d.turn("acme")
	kinds := []struct{ name, key string }{
		{"none", ""}, {"garbage", "garbage"}, {"host", d.host}, {"acme host", d.acmeHost},
		{"ops", d.ops}, {"acme ops", d.acmeOps}, {"reviewer", d.reviewer}, {"turn", opened.Token},
	}
	admitted := map[string]string{
		"hostKey": "host,acme host", "turnToken": "turn", "opsKey": "ops,acme ops", "machine": "ops",
	}
	for _, rt := range serverOf(t, remote).routes {
		plane := rt.plane.scheme
		if rt.plane.spanning {
			plane = "machine"
		}
		for _, k := range kinds {
			t.Run(rt.id+" with "+k.name, func(t *testing.T) {
				in := *d
				in.T = t
				// An id that is there for nobody, so that a call that is let in
				// changes nothing the next one needs.
				path := regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(rt.path, "x")
				resp := in.ask(rt.method, path, k.key, "")
				switch ok := contains(admitted[plane], k.name); {
				case plane == "" || ok:
					if resp.status == 401 || resp.status == 403 {
						t.Errorf("was refused: %d %s", resp.status, resp.body)
					}
				case k.name == "none" || k.name == "garbage":
					resp.problem(401, "unauthorized")
					if resp.header.Get("WWW-Authenticate") == "" {
						t.Error("does not say how to authenticate")
					}
				default:
					resp.problem(403, "forbidden")
				}
			})
		}
	}
}

func contains(list, name string) bool {
	for _, l := range strings.Split(list, ",") {
		if l == name {
			return true
		}
	}
	return false
}

// TestI10ATokenWorksForItsOwnTurnOnly: what a verb gets is the token's turn,
// and the credentials that don't work get the very same answer.
func TestI10ATokenWorksForItsOwnTurnOnly(t *testing.T) {
	d := open(t)
	acme, umbrella := d.turn("acme"), d.turn("umbrella")
	for _, o := range []wire.OpenedTurn{acme, umbrella} {
		d.ask("POST", "/v1/replies", o.Token, `{"text":"x"}`).want(201)
	}
	if d.verbs.turns[0].ID != acme.Turn || d.verbs.turns[0].Org != "acme" || d.verbs.turns[1].Org != "umbrella" {
		t.Errorf("the verbs got %v", d.verbs.turns)
	}
	d.ask("POST", "/v1/turns/"+acme.Turn+"/close", d.host, "").want(200)
	closed := d.ask("POST", "/v1/replies", acme.Token, `{"text":"x"}`)
	unknown := d.ask("POST", "/v1/replies", "stet_turn_"+strings.Repeat("a", 54), `{"text":"x"}`)
	malformed := d.ask("POST", "/v1/replies", "x", `{"text":"x"}`)
	expired := d.ask("POST", "/v1/replies", d.expired(), `{"text":"x"}`)
	for _, r := range []reply{unknown, malformed, expired} {
		if r.body != closed.body || r.status != closed.status {
			t.Errorf("two answers: %s and %s", closed.body, r.body)
		}
	}
	if d.verbs.calls() != 2 {
		t.Errorf("%d verbs ran", d.verbs.calls())
	}
}

func TestARevokedKeyIsDeadAtOnce(t *testing.T) {
	d := open(t)
	var made wire.NewKey
	d.ask("POST", "/v1/keys", d.ops, `{"name":"n","scopes":["ops"],"all_orgs":true}`).want(201).into(&made)
	d.ask("GET", "/v1/keys", made.Secret, "").want(200)
	d.ask("DELETE", "/v1/keys/"+made.Key.ID, d.ops, "").want(204)
	d.ask("GET", "/v1/keys", made.Secret, "").problem(401, "unauthorized")
	d.ask("DELETE", "/v1/keys/"+made.Key.ID, d.ops, "").problem(404, "not-found")
}

func TestAKeyOfOneOrganizationSeesItsOwnAlone(t *testing.T) {
	d := open(t)
	for _, org := range []string{"acme", "umbrella"} {
		d.ask("POST", "/v1/turn/decline", d.turn(org).Token, "").want(200)
	}
	var all, mine, theirs wire.RowPage
	d.ask("GET", "/v1/audit?action=turn.declined", d.ops, "").want(200).into(&all)
	d.ask("GET", "/v1/audit?action=turn.declined", d.acmeOps, "").want(200).into(&mine)
	d.ask("GET", "/v1/audit?org=umbrella", d.acmeOps, "").want(200).into(&theirs)
	if len(all.Rows) != 2 || len(mine.Rows) != 1 || mine.Rows[0].Org != "acme" || len(theirs.Rows) != 0 {
		t.Fatalf("all %d, mine %v, theirs %v", len(all.Rows), mine.Rows, theirs.Rows)
	}
	for _, r := range all.Rows {
		resp := d.ask("GET", "/v1/audit/"+r.ID, d.acmeOps, "")
		if r.Org == "acme" {
			resp.want(200)
		} else if unknown := d.ask("GET", "/v1/audit/none", d.acmeOps, ""); resp.problem(404, "not-found").Detail == "" || resp.body != unknown.body {
			t.Errorf("another organization's row is told from none: %s", resp.body)
		}
	}
	var count wire.Count
	d.ask("GET", "/v1/audit/count?by=org&action=turn.declined", d.acmeOps, "").want(200).into(&count)
	if count.Total != 1 || len(count.Groups) != 1 || count.Groups[0].By["org"] != "acme" {
		t.Errorf("counted %+v", count)
	}
	d.ask("GET", "/v1/audit/count?org=umbrella", d.acmeOps, "").want(200).into(&count)
	if count.Total != 0 {
		t.Errorf("counted %+v of another organization", count)
	}
	for _, style := range []string{"ndjson", "csv"} {
		if body := d.ask("GET", "/v1/audit?format="+style, d.acmeOps, "").want(200).body; strings.Contains(body, "umbrella") || !strings.Contains(body, "acme") {
			t.Errorf("%s: %s", style, body)
		}
		if body := d.ask("GET", "/v1/audit?org=umbrella&format="+style, d.acmeOps, "").want(200).body; strings.Contains(body, "acme") || strings.Contains(body, "umbrella") {
			t.Errorf("%s of another organization: %s", style, body)
		}
	}
	var keys wire.KeyList
	d.ask("GET", "/v1/keys", d.acmeOps, "").want(200).into(&keys)
	for _, k := range keys.Keys {
		if k.Org != "acme" {
			t.Errorf("sees the key %+v", k)
		}
	}
	d.ask("POST", "/v1/keys", d.acmeOps, `{"name":"n","scopes":["ops"],"all_orgs":true}`).problem(403, "forbidden")
}

func TestMachineRoutesNeedAKeyOffLoopback(t *testing.T) {
	d := open(t, func(o *Options) { o.Loopback = false })
	d.ask("GET", "/healthz", "", "").want(200)
	for _, path := range []string{"/readyz", "/metrics"} {
		d.ask("GET", path, "", "").problem(401, "unauthorized")
		d.ask("GET", path, d.acmeOps, "").problem(403, "forbidden")
		d.ask("GET", path, d.ops, "").want(200)
	}
	local := open(t)
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/docs", "/openapi.json", "/room/lobby"} {
		local.ask(http.MethodGet, path, "", "").want(200)
		local.ask(http.MethodHead, path, "", "").want(200)
	}
}
