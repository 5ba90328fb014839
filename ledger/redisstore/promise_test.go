package redisstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stet/arms"
	"stet/ledger"
	"stet/ledger/ledgertest"
	"stet/ledger/redisstore"
	"stet/ledger/redisstore/redistest"
)

// The ledger's contract holds with Redis in front as it does without, whatever
// Redis loses.
func TestLedgerContractWithRedisInFront(t *testing.T) {
	for name, lose := range map[string]func(*redistest.Server){
		"kept":   func(*redistest.Server) {},
		"lost":   func(s *redistest.Server) { s.Do("FLUSHALL") },
		"broken": func(s *redistest.Server) { s.Do("CONFIG", "SET", "maxmemory", "1") },
	} {
		t.Run(name, func(t *testing.T) {
			server := redistest.Start(t)
			ledgertest.Run(t, func(t testing.TB, now func() time.Time) ledgertest.Backend {
				server.Do("CONFIG", "SET", "maxmemory", "0")
				server.Do("FLUSHALL")
				p := suitePoster{openSQL(t, now), now, t}
				return ledgertest.Backend{
					Store: p.s, Post: p.post, Close: p.close, Lose: func() { lose(server) },
					Cache: open(t, redisstore.Options{URL: server.URL, Now: now}),
				}
			})
		})
	}
}

// script is what happens to messages, as a random source says.
type script struct {
	*rapid.T
	*deployment
	prefix string
	made   []ledger.Entry
	seen   []string
	loses  bool
}

func (s *script) step(do string, which, what int) {
	switch do {
	case "post":
		e := entry(fmt.Sprint(s.prefix, len(s.made)))
		if which%4 == 0 {
			e.Channel = "private"
		}
		poster{s.TB, s.sql}.post(e)
		s.made = append(s.made, e)
		if what%3 != 0 { // some never reach Redis
			s.ledger.Landed(s.ctx, e)
		}
	case "close":
		if len(s.made) == 0 {
			return
		}
		e := s.made[which%len(s.made)]
		if e.ClosedAt.IsZero() && e.Channel == here.Channel {
			poster{s.TB, s.sql}.close(e)
			s.made[which%len(s.made)].ClosedAt = time.Now()
			s.ledger.Closed(s.ctx, e.Key)
		}
	case "look":
		id := fmt.Sprint(s.prefix, which%(len(s.made)+1))
		d, err := s.ledger.Look(s.ctx, query(id))
		s.seen = append(s.seen, fmt.Sprint(id, " ", d.Own, " ", d.Code, " ", d.Entry.ID, " ", err))
	}
}

// lose deletes, spoils or flushes, or does nothing.
func (s *script) lose(what int) {
	if !s.loses {
		return
	}
	switch what % 5 {
	case 0:
		s.redis.Do("FLUSHALL")
	case 1, 2:
		if key, err := s.redis.Raw().RandomKey(s.ctx).Result(); err == nil {
			s.redis.Do("DEL", key)
		}
	case 3:
		if key, err := s.redis.Raw().RandomKey(s.ctx).Result(); err == nil {
			s.redis.Do("SET", key, "garbage")
		}
	}
}

func TestI4NoDeletedKeyChangesAnAnswer(t *testing.T) {
	with, without := deploy(t, nil), deploy(t, nil)
	runs := 0
	rapid.Check(t, func(r *rapid.T) {
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{"post", "look", "look", "close"}), 5, 25).Draw(r, "steps")
		numbers := rapid.SliceOfN(rapid.IntRange(0, 59), 2*len(steps), 2*len(steps)).Draw(r, "numbers")
		var seen [2][]string
		runs++
		for i, d := range []*deployment{with, without} {
			d.redis.Do("FLUSHALL")
			s := &script{T: r, deployment: d, loses: i == 0, prefix: fmt.Sprint("run", runs, "-m")}
			for n, do := range steps {
				s.lose(numbers[2*n] + numbers[2*n+1])
				s.step(do, numbers[2*n], numbers[2*n+1])
			}
			seen[i] = s.seen
		}
		if fmt.Sprint(seen[0]) != fmt.Sprint(seen[1]) {
			r.Errorf("with losses:    %q\nwithout losses: %q", seen[0], seen[1])
		}
	})
}

// Looks go on under load while Redis is flushed and restarted.
func TestI4FlushesAndRestartsUnderLoadAreNeverShown(t *testing.T) {
	d := deploy(t, nil)
	const messages = 20
	for i := range messages {
		d.post(fmt.Sprint("own", i))
	}
	d.run()
	ctx, cancel := context.WithCancel(d.ctx)
	var callers sync.WaitGroup
	for n := range 8 {
		callers.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(n)))
			for ctx.Err() == nil {
				d.oneLook(r.IntN(messages), r.IntN(3) > 0)
			}
		})
	}
	flushes, restarts := 30, 4
	for i := range flushes {
		d.redis.Do("FLUSHALL")
		d.redis.Do("PING")
		if i%(flushes/restarts) == 0 {
			d.redis.Down()
			d.redis.Up()
		}
	}
	cancel()
	callers.Wait()
}

// oneLook asks for an own message, or for one that nobody posted.
func (d *deployment) oneLook(i int, own bool) {
	id := arms.MessageID(fmt.Sprint("own", i))
	if !own {
		id = arms.MessageID(fmt.Sprint("foreign", i))
	}
	got, err := d.ledger.Look(d.ctx, query(string(id)))
	if err != nil || got.Own != own {
		d.Errorf("%s: %+v, %v", id, got, err)
	}
}
