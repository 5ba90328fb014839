package cli_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stet/gateway/wire"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const attempt1 = "0195a1b2-0000-7000-8000-00000000abcd"

func TestOpeningATurnSendsWhatTheFlagsSay(t *testing.T) {
	f := newFake(t, map[string]answer{"POST /v1/turns": {201, wire.OpenedTurn{Turn: "t1", Token: "stet_turn_x", ExpiresAt: noon}, ""}})
	got := f.shell().run(t, "turn", "open", "--org", "acme", "--workspace", "main", "--surface", "room",
		"--principal", "helper", "--session", "s1", "--platform", "room", "--channel", "lobby", "--thread", "m1",
		"--wake", "w1", "--ref", "thread_id=m1", "--ttl", "10m", "--dry-run").want(t, 0)
	golden(t, "turn-open.txt", got.out)
	a := f.last(t)
	want := `{"session":"s1","wake":{"id":"w1","origin":{"platform":"room","channel":"lobby","thread":"m1"},` +
		`"refs":{"thread_id":"m1"}},"ttl":"10m0s","dry_run":true,"org":"acme","workspace":"main","surface":"room","principal":"helper"}`
	if a.body != want || a.key != "Bearer key-1" {
		t.Errorf("asked with %s:\n%s\nwant:\n%s", a.key, a.body, want)
	}
}

func TestATurnForABoundSessionNamesNoPlace(t *testing.T) {
	f := newFake(t, map[string]answer{"POST /v1/turns": {201, wire.OpenedTurn{Turn: "t1", Token: "stet_turn_x", ExpiresAt: noon}, ""}})
	f.shell().run(t, "turn", "open", "--session", "s1").want(t, 0)
	if a := f.last(t); strings.Contains(a.body, "origin") || !strings.Contains(a.body, `"wake":{"id":"cli-`) {
		t.Errorf("asked:\n%s", a.body)
	}
}

func TestOpeningATurnCanPrintALineForTheShell(t *testing.T) {
	f := newFake(t, map[string]answer{"POST /v1/turns": {201, wire.OpenedTurn{Turn: "t1", Token: "stet_turn_x", ExpiresAt: noon}, ""}})
	got := f.shell().run(t, "turn", "open", "--session", "s1", "--export").want(t, 0)
	if got.out != "export STET_TURN_TOKEN=stet_turn_x\n" {
		t.Errorf("out: %q", got.out)
	}
}

func TestShowingATurn(t *testing.T) {
	turn := wire.Turn{
		Turn: "t1", Session: "s1", Principal: "helper", Platform: "room", ExpiresAt: noon,
		Marks: wire.Marks{Ambiguous: true, Stale: true}, MayEnd: true,
		Editable: []wire.OwnPost{{ID: "m1", Parts: []string{"m1", "m2"}, PostedAt: noon, EditableUntil: noon.Add(time.Hour)}},
		Can:      wire.Can{Reply: true, Edit: true, TextLimit: 4000, TextUnit: "code points"},
	}
	f := newFake(t, map[string]answer{"GET /v1/turn": {200, turn, ""}})
	golden(t, "turn-show.txt", f.shell().run(t, "turn", "show").want(t, 0).out)
	if a := f.last(t); a.key != "Bearer token-1" {
		t.Errorf("asked with %s", a.key)
	}
	turn.Editable, turn.Platform = nil, ""
	f.answers["GET /v1/turn"] = answer{200, turn, ""}
	golden(t, "turn-show-nowhere.txt", f.shell().run(t, "turn", "show").want(t, 0).out)
}

func TestClosingATurn(t *testing.T) {
	f := newFake(t, map[string]answer{"POST /v1/turns/t1/close": {200, wire.TurnEnd{Turn: "t1", Marks: wire.Marks{Answered: true}, MayEnd: true}, ""}})
	golden(t, "turn-close.txt", f.shell().run(t, "turn", "close", "t1").want(t, 0).out)
}

func TestReplyTakesItsTextFromTheArgumentOrStandardInput(t *testing.T) {
	done := answer{201, wire.Replied{ID: "m1", Parts: []string{"m1"}, Attempt: attempt1}, ""}
	for _, c := range []struct {
		name string
		in   string
		args []string
		want string
	}{
		{"as an argument", "not this", []string{"On it."}, `"text":"On it."`},
		{"from a pipe", "line one\nline two\n", nil, `"text":"line one\nline two"`},
		{"from a pipe by name", "piped\r\n", []string{"-"}, `"text":"piped"`},
		{"only one line end is taken off", "piped\n\n", []string{"-"}, `"text":"piped\n"`},
		{"a text that begins like a flag", "", []string{"--", "--json"}, `"text":"--json"`},
		{"text that isn't UTF-8 stays broken", "\xff\xfe", nil, `"text":"\ud800"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, map[string]answer{"POST /v1/replies": done})
			s := f.shell()
			s.in = c.in
			s.run(t, append([]string{"reply"}, c.args...)...).want(t, 0)
			if a := f.last(t); !strings.Contains(a.body, c.want) {
				t.Errorf("asked %s, want %s in it", a.body, c.want)
			}
		})
	}
}

func TestReplyWithoutATextOnATerminalIsWrongUsage(t *testing.T) {
	f := newFake(t, nil)
	s := f.shell()
	s.terminal = true
	got := s.run(t, "reply").want(t, 2)
	if !strings.Contains(got.err, "no text") || len(f.asked) != 0 {
		t.Errorf("err: %s", got.err)
	}
}

func TestTheVerbsSendTheirFlags(t *testing.T) {
	f := newFake(t, map[string]answer{
		"POST /v1/replies":      {201, wire.Replied{ID: "m1", Parts: []string{"m1", "m2"}, Attempt: attempt1, Withheld: []wire.Withheld{{Guard: "memory", Cause: "no-evidence"}}}, ""},
		"PATCH /v1/replies/m1":  {200, wire.Edited{ID: "m1", Parts: []string{"m1"}, Attempt: attempt1, Unchanged: true}, ""},
		"DELETE /v1/replies/m1": {200, wire.Retracted{ID: "m1", Parts: []string{"m1"}, Attempt: attempt1}, ""},
	})
	got := f.shell().run(t, "reply", "hi", "--format", "plain", "--overflow", "split", "--done", "--idempotency-key", "k1").want(t, 0)
	golden(t, "reply.txt", got.out)
	if a := f.last(t); a.body != `{"text":"hi","format":"plain","overflow":"split","done":true}` || a.idem != "k1" || a.key != "Bearer token-1" {
		t.Errorf("asked: %+v", a)
	}
	golden(t, "edit.txt", f.shell().run(t, "edit", "m1", "ho", "--idempotency-key=k2").want(t, 0).out)
	if a := f.last(t); a.body != `{"text":"ho","format":"markdown","overflow":"refuse"}` || a.idem != "k2" {
		t.Errorf("asked: %+v", a)
	}
	golden(t, "retract.txt", f.shell().run(t, "retract", "m1").want(t, 0).out)
	if a := f.last(t); a.idem != "" || a.method != http.MethodDelete {
		t.Errorf("asked: %+v", a)
	}
}

func TestJSONIsTheGatewaysAnswer(t *testing.T) {
	f := newFake(t, map[string]answer{"PATCH /v1/replies/m1": {200, wire.Edited{ID: "m1", Parts: []string{"m1"}, Attempt: attempt1}, ""}})
	golden(t, "edit.json", f.shell().run(t, "edit", "m1", "ho", "--json").want(t, 0).out)
}

func TestKeysAreMadeListedAndRevoked(t *testing.T) {
	k := wire.Key{ID: "k1", Name: "ci bot", Scopes: []string{"host"}, Org: "acme", CreatedAt: noon}
	all := wire.Key{ID: "k2", Name: "a name\x1b[31m that is much too long for a table", Scopes: []string{"ops", "reviewer"}, AllOrgs: true, CreatedAt: noon, RevokedAt: noon}
	f := newFake(t, map[string]answer{
		"POST /v1/keys":      {201, wire.NewKey{Key: k, Secret: "stet_host_secret"}, ""},
		"GET /v1/keys":       {200, wire.KeyList{Keys: []wire.Key{k, all}}, ""},
		"DELETE /v1/keys/k1": {204, "", ""},
	})
	golden(t, "keys-create.txt", f.shell().run(t, "keys", "create", "--name", "ci bot", "--scope", "host", "--org", "acme").want(t, 0).out)
	if a := f.last(t); a.body != `{"name":"ci bot","scopes":["host"],"org":"acme"}` {
		t.Errorf("asked %s", a.body)
	}
	golden(t, "keys-list.txt", f.shell().run(t, "keys", "list").want(t, 0).out)
	golden(t, "keys-revoke.txt", f.shell().run(t, "keys", "revoke", "k1").want(t, 0).out)
}

func TestWhereTheGatewayAndItsKeysAreFound(t *testing.T) {
	f := newFake(t, map[string]answer{
		"POST /v1/turns": {201, wire.OpenedTurn{Turn: "t1", ExpiresAt: noon}, ""},
		"GET /v1/keys":   {200, wire.KeyList{}, ""},
	})
	data := t.TempDir()
	put(t, data, "keys.env", "# first keys\nSTET_HOST_KEY=host-file\nSTET_OPS_KEY=ops-file\n")
	put(t, data, "address", strings.TrimPrefix(f.URL, "http://")+"\n")
	open := []string{"turn", "open", "--session", "s1"}
	for _, c := range []struct {
		name string
		env  []string
		args []string
		want string
	}{
		{"all from the data folder", []string{"STET_DATA=" + data}, open, "Bearer host-file"},
		{"the data folder by flag", nil, append(open, "--data", data), "Bearer host-file"},
		{"the ops key for ops", []string{"STET_DATA=" + data}, []string{"keys", "list"}, "Bearer ops-file"},
		{"the first keys of the environment", []string{"STET_DATA=" + data, "STET_OPS_KEY=ops-env"}, []string{"keys", "list"}, "Bearer ops-env"},
		{"STET_KEY before all", []string{"STET_DATA=" + data, "STET_OPS_KEY=ops-env", "STET_KEY=mine"}, []string{"keys", "list"}, "Bearer mine"},
		{"an address by flag", []string{"STET_URL=http://127.0.0.1:1", "STET_KEY=mine"}, append(open, "--url", f.URL), "Bearer mine"},
	} {
		t.Run(c.name, func(t *testing.T) {
			shell{env: c.env}.run(t, c.args...).want(t, 0)
			if a := f.last(t); a.key != c.want {
				t.Errorf("asked with %s, want %s", a.key, c.want)
			}
		})
	}
}

func TestWithoutACredentialNothingIsAsked(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"reply", "hi"}, "set STET_TURN_TOKEN"},
		{[]string{"turn", "open", "--session", "s1"}, "set STET_KEY to a host key"},
		{[]string{"audit", "query"}, "set STET_KEY to an ops key"},
	} {
		got := shell{env: []string{"STET_DATA=" + empty}}.run(t, c.args...).want(t, 2)
		if !strings.Contains(got.err, c.want) {
			t.Errorf("%v: %s", c.args, got.err)
		}
	}
}
