package redisstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"stet/gateway/outcome"
	"stet/ledger"
	"stet/ledger/redisstore"
	"stet/ledger/redisstore/redistest"
)

func TestALandedMessageIsAnsweredByRedisAlone(t *testing.T) {
	d := deploy(t, nil)
	want := entry("m1", func(e *ledger.Entry) { e.ServiceURL, e.Organization, e.Part = "https://service.example/", "lin", 2 })
	d.ledger.Landed(d.ctx, want)
	d.expect("m1", true, ledger.EarlyOwn)
	got, err := d.store.Find(d.ctx, want.Key)
	if err != nil || got != want {
		t.Errorf("found %+v, %v, want %+v", got, err, want)
	}
}

func TestAMissAsksSQLAndRefills(t *testing.T) {
	d := deploy(t, nil)
	d.post("m1")
	d.expect("m1", true, ledger.EarlyMiss)
	d.expect("m1", true, ledger.EarlyOwn)
}

func TestI5ANoIsNeverKeptAndAsksSQLEachTime(t *testing.T) {
	d := deploy(t, nil)
	elsewhere := entry("elsewhere", func(e *ledger.Entry) { e.Channel = "private" })
	poster{t, d.sql}.post(elsewhere)
	d.post("closed")
	poster{t, d.sql}.close(entry("closed"))
	for range 2 {
		for _, id := range []string{"unknown", "elsewhere", "closed", "", "*", strings.Repeat("x", 512)} {
			d.expect(id, false, ledger.EarlyMiss)
		}
	}
	if n := d.redis.Do("DBSIZE"); n != int64(0) {
		t.Errorf("%v keys were written", n)
	}
}

func TestAnEntryPastItsWindowAsksSQLWhateverItsTimeToLive(t *testing.T) {
	d := deploy(t, nil)
	e := entry("m1", func(e *ledger.Entry) { e.EditableUntil = e.PostedAt })
	raw, _ := redisstore.Encode(e)
	key, _ := redisstore.Place(e.Key)
	d.redis.Do("SET", key, raw)
	d.expect("m1", false, ledger.EarlyNotOwn)
}

func TestKeysExpireSomeTimeAfterTheirWindow(t *testing.T) {
	d := deploy(t, nil)
	e := entry("m1")
	d.ledger.Landed(d.ctx, e)
	key, _ := redisstore.Place(e.Key)
	ms := d.redis.Do("PTTL", key).(int64)
	if left := time.Duration(ms) * time.Millisecond; left <= time.Hour-time.Minute || left > time.Hour+2*time.Minute {
		t.Errorf("lives %s", left)
	}
	d.ledger.Closed(d.ctx, e.Key)
	if ms := d.redis.Do("PTTL", key).(int64); ms <= 0 || ms > 60_000 {
		t.Errorf("a closed one lives %d ms", ms)
	}
}

func TestAClosedMessageStaysOutForWhoReadSQLBeforeIt(t *testing.T) {
	d := deploy(t, nil)
	e := entry("m1")
	d.post("m1")
	d.ledger.Landed(d.ctx, e)
	poster{t, d.sql}.close(e)
	d.ledger.Closed(d.ctx, e.Key)
	if err := d.store.Keep(d.ctx, e); err != nil { // the late reader's refill
		t.Fatal(err)
	}
	d.expect("m1", false, ledger.EarlyNotOwn)
}

func TestI4AStaleYesIsRefusedByTheOpeningCommit(t *testing.T) {
	d := deploy(t, nil)
	e := entry("m1")
	d.post("m1")
	d.ledger.Landed(d.ctx, e)
	p := poster{t, d.sql}
	p.close(e) // and Redis never hears of it
	d.expect("m1", true, ledger.EarlyOwn)
	o := p.open(p.attempt(e, outcome.Edit))
	if o.Row.Reason != outcome.NotOwnPost || o.Row.Outcome != outcome.Refused {
		t.Errorf("the opening commit said %q %q", o.State, o.Row.Reason)
	}
	d.ledger.Closed(d.ctx, e.Key) // as the gateway does on that
	d.expect("m1", false, ledger.EarlyNotOwn)
}

func TestSpoiltValuesAreMissesAndAreReplaced(t *testing.T) {
	good, other := entry("m1"), entry("m1")
	other.Org = "other"
	moved := entry("m1", func(e *ledger.Entry) { e.Channel = "private" })
	renamed := entry("m2")
	text := func(e ledger.Entry) string { raw, _ := redisstore.Encode(e); return string(raw) }
	server := redistest.Start(t)
	for name, value := range map[string]string{
		"garbage":                      "\x00\xff",
		"empty":                        "",
		"another organization's entry": text(other),
		"another channel's entry":      text(moved),
		"another message's entry":      text(renamed),
		"something behind the entry":   text(good) + " ",
		"an unknown field":             strings.Replace(text(good), `{`, `{"x":1,`, 1),
		"a field twice":                strings.Replace(text(good), `{`, `{"org":"other",`, 1),
		"a field in other case":        strings.Replace(text(good), `"org"`, `"Org"`, 1),
		"a version to come":            strings.Replace(text(good), `"v":1`, `"v":2`, 1),
		"a number out of range":        strings.Replace(text(good), `"posted":`, `"posted":99999999999999`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			d := deploy(t, server)
			d.post("m1")
			key, _ := redisstore.Place(good.Key)
			d.redis.Do("SET", key, value)
			d.expect("m1", true, ledger.EarlyMiss)
			if n := d.counter("stet_redis_spoilt_total", ""); n != 1 {
				t.Errorf("counted %v", n)
			}
			d.expect("m1", true, ledger.EarlyOwn)
		})
	}
}

func TestASpoiltValueOfNobodysMessageIsTakenAway(t *testing.T) {
	d := deploy(t, nil)
	key, _ := redisstore.Place(entry("m1").Key)
	d.redis.Do("SET", key, "garbage")
	d.expect("m1", false, ledger.EarlyMiss)
	d.expect("m1", false, ledger.EarlyNotOwn)
}

func TestAWrongTypeIsAMissForMGET(t *testing.T) {
	d := deploy(t, nil)
	d.post("m1")
	key, _ := redisstore.Place(entry("m1").Key)
	d.redis.Do("HSET", key, "a", "b")
	d.expect("m1", true, ledger.EarlyMiss)
}

func TestIdsThatCannotBeReadBackStayWithSQL(t *testing.T) {
	d := deploy(t, nil)
	d.post("m\xff1")
	for range 2 {
		d.expect("m\xff1", true, ledger.EarlyMiss)
	}
}

func TestOneRoundTripOnAHit(t *testing.T) {
	d := deploy(t, nil)
	d.run()
	d.post("m1")
	d.ledger.Landed(d.ctx, entry("m1"))
	d.redis.Do("CONFIG", "RESETSTAT")
	const hits = 50
	for range hits {
		d.expect("m1", true, ledger.EarlyOwn)
	}
	info, _ := d.redis.Do("INFO", "commandstats").(string)
	if !strings.Contains(info, "cmdstat_mget:calls=50,") {
		t.Errorf("%d hits: %s", hits, info)
	}
	for _, line := range strings.Split(info, "\n") {
		name, _, _ := strings.Cut(line, ":")
		switch name {
		case "cmdstat_get", "cmdstat_evalsha", "cmdstat_set":
			t.Errorf("a further command on the way of a hit: %s", line)
		}
	}
}

func TestStartsWithRedisDown(t *testing.T) {
	d := deploy(t, nil, toURL("redis://127.0.0.1:1"))
	d.post("m1")
	for range 10 {
		d.expect("m1", true, ledger.EarlyError)
	}
	if ok, text := d.store.Status(); ok || !strings.Contains(text, "SQL alone") {
		t.Errorf("status %v %q", ok, text)
	}
	if n := d.counter("stet_redis_failures_total", `"connect"`); n == 0 || n > 6 {
		t.Errorf("asked %v times before the breaker opened", n)
	}
	if d.counter("stet_redis_breaker_open", "") != 1 {
		t.Error("the breaker's gauge is 0")
	}
}

func TestASlowRedisCostsAtMostItsBudgetAndThenNothing(t *testing.T) {
	d := deploy(t, nil)
	d.run()
	d.post("m1")
	d.expect("m1", true, ledger.EarlyMiss)
	d.redis.Do("CLIENT", "PAUSE", 2000, "ALL")
	began := time.Now()
	const looks = 100
	for range looks {
		d.expect("m1", true, ledger.EarlyError)
	}
	// Five failures open the breaker; a slow machine may double each.
	if took := time.Since(began); took > 10*redisstore.Budget+time.Second {
		t.Errorf("%d looks took %s", looks, took)
	}
	d.wait("opened")
	d.wait("closed")
	d.expect("m1", true, ledger.EarlyOwn)
}

func TestAServerThatSaysItCannotServeOpensTheBreakerAtOnce(t *testing.T) {
	for _, tc := range []struct {
		name   string
		reason redisstore.Reason
		args   []string
		spoil  func(*redistest.Server)
		mend   func(*redistest.Server)
	}{
		{
			"memory is full", redisstore.ReasonOOM, nil,
			func(s *redistest.Server) { s.Do("CONFIG", "SET", "maxmemory", "1") },
			func(s *redistest.Server) { s.Do("CONFIG", "SET", "maxmemory", "0") },
		},
		{
			"too few replicas", redisstore.ReasonReplicas, nil,
			func(s *redistest.Server) { s.Do("CONFIG", "SET", "min-replicas-to-write", "1") },
			func(s *redistest.Server) { s.Do("CONFIG", "SET", "min-replicas-to-write", "0") },
		},
		{
			"it became a replica", redisstore.ReasonReadOnly, nil,
			func(s *redistest.Server) { s.Do("REPLICAOF", "127.0.0.1", "1") },
			func(s *redistest.Server) { s.Do("REPLICAOF", "NO", "ONE") },
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := deploy(t, redistest.Start(t, tc.args...))
			d.run()
			d.post("m1")
			tc.spoil(d.redis)
			d.ledger.Landed(d.ctx, entry("m1"))
			d.expect("m1", true, ledger.EarlyError)
			if n := d.counter("stet_redis_failures_total", `"`+string(tc.reason)+`"`); n == 0 {
				t.Errorf("no failure with reason %s", tc.reason)
			}
			d.wait("opened")
			tc.mend(d.redis)
			d.wait("closed")
			d.expect("m1", true, ledger.EarlyMiss)
			d.expect("m1", true, ledger.EarlyOwn)
		})
	}
}

func TestAWrongPasswordIsDownWithItsReason(t *testing.T) {
	s := redistest.Start(t)
	s.Do("ACL", "SETUSER", "stet", "on", ">right-password", "~*", "+@all")
	d := deploy(t, s, toURL(strings.Replace(s.URL, "unix://", "unix://stet:wrong-password@", 1)))
	d.post("m1")
	d.expect("m1", true, ledger.EarlyError)
	if n := d.counter("stet_redis_failures_total", `"auth"`); n != 1 {
		t.Errorf("auth failures: %v", n)
	}
	for _, f := range d.store.Check(d.ctx) {
		if strings.Contains(f.Text, "wrong-password") || f.State != redisstore.Mend {
			t.Errorf("%s: %s", f.State, f.Text)
		}
	}
}

func TestANodeOfAClusterIsNotTakenForASingleServer(t *testing.T) {
	s := redistest.StartCluster(t)
	s.Do("CLUSTER", "DELSLOTSRANGE", 0, 16383)
	d := deploy(t, s, toURL(strings.Replace(s.URL, "redis+cluster", "redis", 1)))
	d.post("m1")
	d.expect("m1", true, ledger.EarlyError)
	if n := d.counter("stet_redis_failures_total", `"cluster-down"`); n != 1 {
		t.Errorf("cluster-down failures: %v", n)
	}
}

func TestErrorsHoldNothingOfTheClient(t *testing.T) {
	d := deploy(t, nil, toURL("redis://user:secret-canary@127.0.0.1:1"))
	_, err := d.store.Find(d.ctx, entry("m1").Key)
	if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("%v", err)
	}
}

func TestReasonsOfErrors(t *testing.T) {
	for text, want := range map[string]redisstore.Reason{
		"NOAUTH Authentication required.":       redisstore.ReasonAuth,
		"WRONGPASS invalid":                     redisstore.ReasonAuth,
		"LOADING Redis is loading":              redisstore.ReasonLoading,
		"MOVED 3999 127.0.0.1:6381":             redisstore.ReasonMoved,
		"MASTERDOWN Link with MASTER is down":   redisstore.ReasonMasterDown,
		"MISCONF Redis is configured to save":   redisstore.ReasonDisk,
		"ERR max number of clients reached":     redisstore.ReasonClients,
		"ERR something new":                     redisstore.ReasonOther,
		"CLUSTERDOWN Hash slot not served":      redisstore.ReasonDown,
		"NOREPLICAS Not enough good replicas":   redisstore.ReasonReplicas,
		"OOM command not allowed":               redisstore.ReasonOOM,
		"READONLY You can't write against a ro": redisstore.ReasonReadOnly,
	} {
		if got := redisstore.ReasonOf(serverError(text)); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
	if got := redisstore.ReasonOf(context.DeadlineExceeded); got != redisstore.ReasonTimeout {
		t.Errorf("a deadline is %s", got)
	}
	if got := redisstore.ReasonOf(redis.ErrClosed); got != redisstore.ReasonClosed {
		t.Errorf("a closed client is %s", got)
	}
	for _, r := range redisstore.Reasons() {
		if r.Sentence() == "" {
			t.Errorf("%s has no sentence", r)
		}
	}
}

type serverError string

func (e serverError) Error() string { return string(e) }
func (serverError) RedisError()     {}

func TestBreaker(t *testing.T) {
	now := time.Unix(0, 0)
	b := redisstore.NewBreakerForTest(func() time.Time { return now })
	for i := range 4 {
		if b.Failed(redisstore.ReasonTimeout) {
			t.Fatalf("opened by failure %d", i+1)
		}
	}
	now = now.Add(2 * time.Second)
	if b.Failed(redisstore.ReasonTimeout) || b.Open() {
		t.Error("opened by failures far apart")
	}
	for range 3 {
		b.Failed(redisstore.ReasonClosed)
	}
	if !b.Failed(redisstore.ReasonClosed) || !b.Open() || b.Why() != redisstore.ReasonClosed {
		t.Error("five failures in a moment didn't open it")
	}
	if b.Failed(redisstore.ReasonClosed) {
		t.Error("opened again while open")
	}
	if !b.Served() || b.Open() || b.Served() {
		t.Error("it didn't close, once")
	}
	if !b.Failed(redisstore.ReasonOOM) {
		t.Error("a server that says that it can't serve didn't open it")
	}
}

func TestFindAnswersTheContractsErrors(t *testing.T) {
	d := deploy(t, nil)
	if _, err := d.store.Find(d.ctx, entry("m1").Key); !errors.Is(err, ledger.ErrMiss) {
		t.Errorf("%v", err)
	}
	key, _ := redisstore.Place(entry("m1").Key)
	d.redis.Do("SET", key, "garbage")
	if _, err := d.store.Find(d.ctx, entry("m1").Key); !errors.Is(err, ledger.ErrSpoilt) {
		t.Errorf("%v", err)
	}
}

func TestLandedLeavesOutWhatHasNoWindow(t *testing.T) {
	d := deploy(t, nil)
	e := entry("m1")
	e.EditableUntil = time.Time{}
	d.ledger.Landed(d.ctx, e)
	d.ledger.Landed(d.ctx)
	if n := d.redis.Do("DBSIZE"); n != int64(0) {
		t.Errorf("%v keys were written", n)
	}
}
