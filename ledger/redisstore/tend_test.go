package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"stet/ledger"
	"stet/ledger/redisstore"
	"stet/ledger/redisstore/redistest"
)

func TestAFreshRedisIsFilledInTheBackground(t *testing.T) {
	d := deploy(t, nil)
	d.post("m1", "m2")
	d.run()
	d.expect("m1", true, ledger.EarlyOwn)
	d.expect("m2", true, ledger.EarlyOwn)
	if n := d.counter("stet_redis_rebuilds_total", `"done"`); n != 1 {
		t.Errorf("rebuilds: %v", n)
	}
	if ok, text := d.store.Status(); !ok || !strings.Contains(text, "answers from Redis") {
		t.Errorf("status %v %q", ok, text)
	}
}

func TestAWholeRedisIsTakenAsItIs(t *testing.T) {
	d := deploy(t, nil)
	d.run()
	second := deploy(t, d.redis)
	second.run()
	if n := second.counter("stet_redis_rebuilds_total", ""); n != 0 {
		t.Errorf("the second replica rebuilt %v times", n)
	}
}

func TestI4AFlushChangesNoAnswerAndIsNoticedAndMended(t *testing.T) {
	d := deploy(t, nil)
	d.post("m1", "m2")
	d.run()
	for range 2 {
		d.redis.Do("FLUSHALL")
		d.expect("m1", true, ledger.EarlyMiss) // which notices
		d.wait("rebuilt")
		d.wait("whole")
		d.expect("m2", true, ledger.EarlyOwn)
	}
}

func TestALostEpochOfOneBucketIsNoticed(t *testing.T) {
	d := deploy(t, nil)
	d.post("m1")
	d.run()
	_, bucket := redisstore.Place(entry("m1").Key)
	d.redis.Do("DEL", redisstore.EpochKey(bucket))
	d.expect("m1", true, ledger.EarlyOwn)
	d.wait("rebuilt")
}

func TestARestartWithDataLossIsMended(t *testing.T) {
	d := deploy(t, nil)
	d.post("m1")
	d.run()
	d.redis.Down()
	for range 10 {
		d.expect("m1", true, ledger.EarlyError)
	}
	d.wait("opened")
	d.redis.Up()
	d.wait("closed")
	d.wait("rebuilt")
	d.wait("whole")
	d.expect("m1", true, ledger.EarlyOwn)
}

func TestARestartThatKeptItsDataIsNotTrusted(t *testing.T) {
	d := deploy(t, redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always"))
	d.post("m1")
	d.run()
	d.redis.Down()
	d.redis.Up()
	if whole, err := d.store.WholeForTest(d.ctx); err != nil || whole {
		t.Errorf("another run of the server counts as whole: %v, %v", whole, err)
	}
	d.wait("rebuilt")
	d.wait("whole")
}

func TestReplicasTellEachOthersRebuildsFromLosses(t *testing.T) {
	d := deploy(t, nil)
	d.post("m1")
	d.run()
	by := deploy(t, d.redis)
	if err := by.store.Rebuild(d.ctx, d.sql, nil); err != nil { // as by hand
		t.Fatal(err)
	}
	d.expect("m1", true, ledger.EarlyOwn)
	d.wait("whole")
	if n := d.counter("stet_redis_rebuilds_total", ""); n != 1 {
		t.Errorf("rebuilt %v times", n)
	}
}

func TestAFlushInTheMiddleOfARebuildFailsIt(t *testing.T) {
	d := deploy(t, nil)
	d.post("m1")
	err := d.store.Rebuild(d.ctx, d.sql, func(done, _ int) {
		if done == 1 {
			d.redis.Do("FLUSHALL")
		}
	})
	if !errors.Is(err, redisstore.ErrLost) {
		t.Errorf("%v", err)
	}
	if whole, err := d.store.WholeForTest(d.ctx); err != nil || whole {
		t.Errorf("whole %v, %v", whole, err)
	}
}

func TestARebuildLeavesClosedOnesOutAndDoesNotBringThemBack(t *testing.T) {
	d := deploy(t, nil)
	d.post("m1", "m2")
	if err := d.store.Rebuild(d.ctx, staleSource{d.sql, func() {
		poster{t, d.sql}.close(entry("m1"))
		d.ledger.Closed(d.ctx, entry("m1").Key)
	}}, nil); err != nil {
		t.Fatal(err)
	}
	d.expect("m1", false, ledger.EarlyNotOwn)
	d.expect("m2", true, ledger.EarlyOwn)
}

// staleSource runs something between the reading of a page and its writing.
type staleSource struct {
	ledger.WindowSource
	between func()
}

func (s staleSource) Window(ctx context.Context, after ledger.Entry, limit int) ([]ledger.Entry, error) {
	page, err := s.WindowSource.Window(ctx, after, limit)
	s.between()
	return page, err
}

var errSource = errors.New("can't be read")

type brokenSource struct{ ledger.WindowSource }

func (brokenSource) Window(context.Context, ledger.Entry, int) ([]ledger.Entry, error) {
	return nil, errSource
}

func TestARebuildThatFailsIsToldAndLetsOthersBegin(t *testing.T) {
	d := deploy(t, nil)
	if err := d.store.Rebuild(d.ctx, brokenSource{d.sql}, nil); !errors.Is(err, errSource) {
		t.Errorf("%v", err)
	}
	if n := d.counter("stet_redis_rebuilds_total", `"failed"`); n != 1 {
		t.Errorf("failed rebuilds: %v", n)
	}
	d.run()
	down := deploy(t, d.redis, toURL("redis://127.0.0.1:1"))
	if err := down.store.Rebuild(d.ctx, d.sql, nil); err == nil {
		t.Error("a rebuild of a Redis that is down succeeded")
	}
}

func TestRunEndsWithItsContextWhateverRedisDoes(t *testing.T) {
	for name, url := range map[string]string{"up": "", "down": "redis://127.0.0.1:1", "a cluster that is down": "redis+cluster://127.0.0.1:1"} {
		t.Run(name, func(t *testing.T) {
			d := deploy(t, nil, func(o *redisstore.Options) {
				if url != "" {
					o.URL = url
				}
			})
			ctx, cancel := context.WithCancel(d.ctx)
			ended := make(chan struct{})
			go func() { d.store.Run(ctx); close(ended) }()
			cancel()
			select {
			case <-ended:
			case <-time.After(patience):
				t.Fatal("it runs on")
			}
		})
	}
}

func TestProgressCountsUpToTheWhole(t *testing.T) {
	d := deploy(t, nil)
	const n = 2500
	var told [][2]int
	if err := d.store.Rebuild(d.ctx, synthetic(n), func(done, total int) { told = append(told, [2]int{done, total}) }); err != nil {
		t.Fatal(err)
	}
	if want := "[[0 2500] [1000 2500] [2000 2500] [2500 2500]]"; fmt.Sprint(told) != want {
		t.Errorf("told %v", told)
	}
	if keys := d.redis.Do("DBSIZE"); keys != int64(n+redisstore.Buckets) {
		t.Errorf("%v keys", keys)
	}
}

// synthetic is an authority with that many entries.
type synthetic int

func (n synthetic) WindowCount(context.Context) (int, error) { return int(n), nil }

func (n synthetic) Window(_ context.Context, after ledger.Entry, limit int) ([]ledger.Entry, error) {
	next := 0
	if after.ID != "" {
		_, _ = fmt.Sscanf(string(after.ID), "m%d", &next)
		next++
	}
	page := make([]ledger.Entry, 0, limit)
	for i := next; i < min(int(n), next+limit); i++ {
		page = append(page, entry(fmt.Sprint("m", i)))
	}
	return page, nil
}

func TestEverythingWorksInAClusterToo(t *testing.T) {
	d := deploy(t, redistest.StartCluster(t))
	d.post("m1", "m2")
	d.run()
	d.expect("m1", true, ledger.EarlyOwn)
	d.ledger.Landed(d.ctx, entry("m3"), entry("m4"), entry("m5"), entry("m6"))
	d.expect("m6", true, ledger.EarlyOwn)
	d.ledger.Closed(d.ctx, entry("m1").Key)
	d.expect("m1", true, ledger.EarlyNotOwn)
	d.expect("m1", true, ledger.EarlyOwn)
	d.redis.Do("FLUSHALL")
	d.expect("m2", true, ledger.EarlyMiss)
	d.wait("rebuilt")
	d.wait("whole")
	d.expect("m1", true, ledger.EarlyOwn)
	for _, f := range d.store.Check(d.ctx) {
		if f.State == redisstore.Mend {
			t.Errorf("%s", f.Text)
		}
	}
}

func TestAFailoverIsNoticedAndTheNewPrimaryFilled(t *testing.T) {
	s := redistest.StartSentinels(t)
	d := deploy(t, s.Primary, toURL(s.URL))
	d.post("m1")
	d.run()
	d.expect("m1", true, ledger.EarlyOwn)
	s.Sentinel.Do("SENTINEL", "FAILOVER", "mymaster")
	s.Replica.Await("role:master", "INFO", "replication")
	d.wait("rebuilt")
	d.wait("whole")
	d.expect("m1", true, ledger.EarlyOwn)
}
