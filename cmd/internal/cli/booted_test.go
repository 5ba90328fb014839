package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stet/cmd/internal/cli"
	"stet/gateway/wire"
)

// gateway is `stet serve`, run in process with fresh data.
type gateway struct {
	data, url string
	out, err  *watcher
	// end stops it and answers its exit code.
	end func() int
}

func serve(t *testing.T, data string, args ...string) *gateway {
	t.Helper()
	g := &gateway{data: data, out: newWatcher(), err: newWatcher()}
	ctx, cancel := context.WithCancel(context.Background())
	code := make(chan int, 1)
	go func() {
		code <- cli.Run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data}, args...), cli.IO{
			In: strings.NewReader(""), Out: g.out, Err: g.err, Version: "v-test",
		})
	}()
	ended := false
	g.end = func() int {
		if ended {
			return 0
		}
		ended = true
		cancel()
		return <-code
	}
	t.Cleanup(func() { g.end() })
	g.url = "http://" + g.err.await(t, `"address":"([^"]+)"`)
	return g
}

// shell uses the gateway's data folder, as a person on the same machine does.
func (g *gateway) shell(more ...string) shell {
	return shell{env: append([]string{"STET_DATA=" + g.data, "STET_URL=" + g.url}, more...)}
}

func decode[T any](t *testing.T, r result) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.out), &v); err != nil {
		t.Fatalf("%v: %s", err, r.out)
	}
	return v
}

func TestTheVerbsWorkAgainstAGateway(t *testing.T) {
	g := serve(t, filepath.Join(t.TempDir(), "data"))
	line := g.shell().run(t, "turn", "open", "--session", "s1", "--org", "acme", "--workspace", "main", "--surface", "desk",
		"--principal", "helper", "--platform", "room", "--channel", "lobby", "--export").want(t, 0).out
	agent := g.shell(strings.TrimSpace(strings.TrimPrefix(line, "export ")))

	posted := decode[wire.Replied](t, agent.run(t, "reply", "Looking into it.", "--json", "--idempotency-key", "k1").want(t, 0))
	again := decode[wire.Replied](t, agent.run(t, "reply", "Looking into it.", "--json", "--idempotency-key", "k1").want(t, 0))
	if again.ID != posted.ID || again.Attempt != posted.Attempt {
		t.Errorf("the replay answered %+v, not %+v", again, posted)
	}
	agent.run(t, "edit", posted.ID, "Solved.").want(t, 0)
	if got := agent.run(t, "edit", posted.ID, "Solved.").want(t, 0); !strings.HasPrefix(got.out, "unchanged") {
		t.Errorf("out: %s", got.out)
	}
	refused := agent.run(t, "edit", "m000000001abcd", "Not mine.").want(t, 1)
	if !strings.HasPrefix(refused.err, "stet: not-own-post, outcome refused\n  this id isn't one of your own") {
		t.Errorf("err: %s", refused.err)
	}
	if got := agent.run(t, "turn", "show").want(t, 0); !strings.Contains(got.out, posted.ID) {
		t.Errorf("the own post isn't shown:\n%s", got.out)
	}
	agent.run(t, "retract", posted.ID).want(t, 0)

	page := decode[wire.RowPage](t, g.shell().run(t, "audit", "query", "--org", "acme", "--json").want(t, 0))
	var got []string
	for _, row := range page.Rows {
		got = append(got, row.Action+" "+row.Outcome)
	}
	want := []string{"reply.retract applied", "reply.edit.refused refused", "reply.edit applied", "reply.edit applied", "reply.post applied"}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("rows %v, want %v", got, want)
	}
	if n := decode[wire.Count](t, g.shell().run(t, "audit", "count", "--org", "acme", "--json").want(t, 0)); n.Total != 5 {
		t.Errorf("count %+v", n)
	}
	if got := g.shell().run(t, "audit", "show", page.Rows[1].ID[28:]).want(t, 0); !strings.Contains(got.out, "not-own-post") {
		t.Errorf("out: %s", got.out)
	}
	for format, lines := range map[string]int{"csv": 6, "jsonl": 5} {
		got := g.shell().run(t, "audit", "export", "--org", "acme", "--format", format).want(t, 0)
		if n := strings.Count(got.out, "\n"); n != lines {
			t.Errorf("%s has %d lines:\n%s", format, n, got.out)
		}
	}

	id := strings.Fields(agent.run(t, "turn", "show").want(t, 0).out)[1]
	g.shell().run(t, "turn", "close", id).want(t, 0)
	if got := agent.run(t, "reply", "Too late.").want(t, 1); !strings.Contains(got.err, "unauthorized") {
		t.Errorf("err: %s", got.err)
	}
}

func TestKeysAreMadeAndRevokedAtAGateway(t *testing.T) {
	g := serve(t, filepath.Join(t.TempDir(), "data"))
	made := decode[wire.NewKey](t, g.shell().run(t, "keys", "create", "--name", "reports", "--scope", "ops", "--org", "acme", "--json").want(t, 0))
	mine := g.shell("STET_KEY=" + made.Secret)
	mine.run(t, "audit", "query").want(t, 0)
	g.shell().run(t, "keys", "revoke", made.Key.ID).want(t, 0)
	if got := mine.run(t, "audit", "query").want(t, 1); !strings.Contains(got.err, "unauthorized") {
		t.Errorf("err: %s", got.err)
	}
	if got := g.shell().run(t, "keys", "list").want(t, 0); !strings.Contains(got.out, made.Key.ID) || strings.Contains(got.out, made.Secret) {
		t.Errorf("out:\n%s", got.out)
	}
}

func TestServeShowsItsFirstKeysOnceAndLogsNoSecret(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	g := serve(t, data)
	raw, err := os.ReadFile(filepath.Join(data, "keys.env"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Fields(string(raw)) {
		name, secret, _ := strings.Cut(line, "=")
		if !strings.Contains(g.out.String(), line+"\n") {
			t.Errorf("%s isn't shown", name)
		}
		if strings.Contains(g.err.String(), secret) {
			t.Errorf("%s is logged", name)
		}
	}
	if code := g.end(); code != 0 {
		t.Errorf("exit code %d: %s", code, g.err)
	}
	if _, err := os.Stat(filepath.Join(data, "address")); !os.IsNotExist(err) {
		t.Errorf("the address is left: %v", err)
	}
	second := serve(t, data)
	if second.out.String() != "" {
		t.Errorf("a second start prints\n%s", second.out)
	}
}

func TestTwoGatewaysCannotShareAFolder(t *testing.T) {
	g := serve(t, filepath.Join(t.TempDir(), "data"))
	got := shell{}.run(t, "serve", "--listen", "127.0.0.1:0", "--data", g.data).want(t, 1)
	if !strings.Contains(got.err, "another stet uses the data folder") {
		t.Errorf("err: %s", got.err)
	}
}

func TestTheDoctorIsContentWithARunningGateway(t *testing.T) {
	g := serve(t, filepath.Join(t.TempDir(), "data"))
	found := findings(t, 0, []string{"STET_DATA=" + g.data, "STET_URL=" + g.url})
	expect(t, found, "gateway", "ok", "is ready")
	expect(t, found, "data folder", "ok", "owner alone")
	expect(t, found, "keys", "ok", "owner's alone")
	expect(t, found, "audit store", "ok", "schema version")
	expect(t, found, "room", "ok", "schema version")
	expect(t, found, "platform room", "ok", "well")
}

func TestADryGatewayReachesNoPlatform(t *testing.T) {
	g := serve(t, filepath.Join(t.TempDir(), "data"), "--dry-run")
	line := g.shell().run(t, "turn", "open", "--session", "s1", "--org", "acme", "--workspace", "main", "--surface", "desk",
		"--principal", "helper", "--platform", "room", "--channel", "lobby", "--export").want(t, 0).out
	agent := g.shell(strings.TrimSpace(strings.TrimPrefix(line, "export ")))
	posted := decode[wire.Replied](t, agent.run(t, "reply", "Nobody reads this.", "--json").want(t, 0))
	if !strings.HasPrefix(posted.ID, "dry-") {
		t.Errorf("id %s", posted.ID)
	}
	if got := g.shell().run(t, "audit", "query", "--dry-run", "true").want(t, 0); !strings.Contains(got.out, "  dry  ") {
		t.Errorf("out:\n%s", got.out)
	}
}

func TestPromiseI5TheCommandLineTellsNoTwoMissesApart(t *testing.T) {
	g := serve(t, filepath.Join(t.TempDir(), "data"), "--edit-window", "1ms")
	open := func(session, channel string) shell {
		line := g.shell().run(t, "turn", "open", "--session", session, "--org", "acme", "--workspace", "main", "--surface", "desk",
			"--principal", "helper", "--platform", "room", "--channel", channel, "--export").want(t, 0).out
		return g.shell(strings.TrimSpace(strings.TrimPrefix(line, "export ")))
	}
	here, there := open("s1", "lobby"), open("s2", "attic")
	late := decode[wire.Replied](t, here.run(t, "reply", "one", "--json").want(t, 0)).ID
	other := decode[wire.Replied](t, there.run(t, "reply", "two", "--json").want(t, 0)).ID
	var first string
	for _, id := range []string{"never", late, other} {
		got := here.run(t, "edit", id, "x", "--json").want(t, 1)
		p := decode[wire.Problem](t, got)
		p.Attempt = ""
		raw, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(raw)
		}
		if string(raw) != first {
			t.Errorf("%s answers\n%s, not\n%s", id, raw, first)
		}
	}
}
