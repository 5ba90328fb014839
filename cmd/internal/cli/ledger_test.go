package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stet/gateway/wire"
	"stet/ledger/redisstore/redistest"
)

// post opens a turn at the gateway and posts a message.
func (g *gateway) post(t *testing.T) (agent shell, id string) {
	t.Helper()
	line := g.shell().run(t, "turn", "open", "--session", "s1", "--org", "acme", "--workspace", "main", "--surface", "desk",
		"--principal", "helper", "--platform", "room", "--channel", "lobby", "--export").want(t, 0).out
	agent = g.shell(strings.TrimSpace(strings.TrimPrefix(line, "export ")))
	return agent, decode[wire.Replied](t, agent.run(t, "reply", "Looking into it.", "--json").want(t, 0)).ID
}

func TestLedgerRebuildFillsRedisBesideARunningGateway(t *testing.T) {
	redis := redistest.Start(t)
	g := serve(t, filepath.Join(t.TempDir(), "data")) // without Redis itself
	g.post(t)
	fill := g.shell("STET_REDIS_URL=" + redis.URL)
	type filled struct {
		Entries int     `json:"entries"`
		Seconds float64 `json:"seconds"`
	}
	if got := decode[filled](t, fill.run(t, "ledger", "rebuild", "--json").want(t, 0)); got.Entries != 1 || got.Seconds <= 0 {
		t.Errorf("%+v", got)
	}
	if got := fill.run(t, "ledger", "rebuild").want(t, 0); !strings.Contains(got.out, "Redis holds all 1 posts") {
		t.Errorf("out: %s", got.out)
	}
	if keys, _ := redis.Do("KEYS", "stet:l1:*").([]any); len(keys) < 2 {
		t.Errorf("keys %v", keys)
	}
}

func TestLedgerRebuildSaysWhatItLacks(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := shell{env: []string{"STET_DATA=" + data}}
	if got := s.run(t, "ledger", "rebuild").want(t, 2); !strings.Contains(got.err, "no Redis is set") {
		t.Errorf("err: %s", got.err)
	}
	if got := s.run(t, "ledger", "rebuild", "--redis-url", "redis://127.0.0.1:1").want(t, 1); !strings.Contains(got.err, "there is no ledger in") {
		t.Errorf("err: %s", got.err)
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("it made a data folder")
	}
	g := serve(t, data)
	got := g.shell("STET_REDIS_URL=redis://user:secret-canary@127.0.0.1:1").run(t, "ledger", "rebuild").want(t, 1)
	if !strings.Contains(got.err, "no connection could be made") || strings.Contains(got.err, "secret-canary") {
		t.Errorf("err: %s", got.err)
	}
}

func TestAGatewayWithRedisSaysHowItIs(t *testing.T) {
	redis := redistest.Start(t, "--maxmemory-policy", "allkeys-lru")
	g := serve(t, filepath.Join(t.TempDir(), "data"), "--redis-url", redis.URL)
	agent, id := g.post(t)
	agent.run(t, "edit", id, "Solved.").want(t, 0)
	env := []string{"STET_DATA=" + g.data, "STET_REDIS_URL=" + redis.URL}
	found := findings(t, 1, env)
	expect(t, found, "redis", "mend", "maxmemory-policy allkeys-lru")
	redis.Down()
	// How many looks it takes to give Redis up depends on how fast they are.
	given := func() bool { return strings.Contains(found["ledger"][1], "Redis can't be used") }
	for tries := 0; !given() && tries < 40; tries++ {
		for range 6 {
			agent.run(t, "edit", id, "Solved, again.").want(t, 0)
		}
		found = findings(t, 1, env)
	}
	expect(t, found, "gateway", "ok", "is ready")
	expect(t, found, "redis", "mend", "can't be used")
	expect(t, found, "ledger", "ok", "answers from SQL alone, Redis can't be used")
	for _, canary := range []string{redis.URL} {
		if strings.Contains(g.err.String(), canary) {
			t.Errorf("the log shows %s", canary)
		}
	}
}
