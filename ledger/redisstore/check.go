package redisstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// State is how a finding is meant; a closed set.
type State string

// Mend: something has to be done. Note: it works, and somebody should know.
const (
	Well State = "ok"
	Note State = "note"
	Mend State = "mend"
)

// Finding is one thing that [Store.Check] looked at, in words for people.
type Finding struct {
	State State
	Text  string
}

const checkLimit = 5 * time.Second

// Check looks at Redis as an operator would: whether it answers and takes
// writes, its version, and settings that don't fit. It says what to mend. It
// doesn't heed the breaker, and shows neither address nor password.
func (s *Store) Check(ctx context.Context) []Finding {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	if err := s.client.Set(ctx, tags[0]+"check", 1, time.Second).Err(); err != nil {
		return []Finding{{Mend, "Redis can't be used: " + reasonOf(err).Sentence()}}
	}
	servers, err := s.servers(ctx)
	if err != nil {
		return []Finding{{Mend, "Redis can't be used: " + reasonOf(err).Sentence()}}
	}
	var all []Finding
	for i, server := range servers {
		name := "Redis"
		if len(servers) > 1 {
			name = fmt.Sprintf("Redis node %d of %d", i+1, len(servers))
		}
		all = append(all, checkServer(ctx, name, server)...)
	}
	return all
}

// servers are the servers that hold keys.
func (s *Store) servers(ctx context.Context) ([]redis.Cmdable, error) {
	var all []redis.Cmdable
	seen := map[redis.Cmdable]bool{}
	for _, key := range epochKeys {
		server, err := s.serverOf(ctx, key)
		if err != nil {
			return nil, err
		}
		if !seen[server] {
			seen[server] = true
			all = append(all, server)
		}
	}
	return all, nil
}

func checkServer(ctx context.Context, name string, server redis.Cmdable) []Finding {
	info, err := server.Info(ctx).Result()
	if err != nil {
		return []Finding{{Note, name + " serves; it doesn't tell its settings: " + reasonOf(err).Sentence()}}
	}
	all := []Finding{{Well, fmt.Sprintf("%s serves, version %s", name, orUnknown(field(info, "redis_version")))}}
	if f, ok := checkEviction(name, info); ok {
		all = append(all, f)
	}
	if f, ok := checkPersistence(ctx, name, server, info); ok {
		all = append(all, f)
	}
	return all
}

func checkEviction(name, info string) (Finding, bool) {
	policy := field(info, "maxmemory_policy")
	switch {
	case policy == "":
		return Finding{Note, name + " doesn't tell its eviction policy: it should be noeviction"}, true
	case policy != "noeviction":
		return Finding{Mend, fmt.Sprintf("%s has maxmemory-policy %s: set it to noeviction, or entries vanish while they are needed and every look at them asks SQL", name, policy)}, true
	}
	if n, err := strconv.ParseUint(field(info, "evicted_keys"), 10, 64); err == nil && n > 0 {
		return Finding{Note, fmt.Sprintf("%s has evicted %d keys since its start, under an earlier policy", name, n)}, true
	}
	return Finding{}, false
}

// checkPersistence tells of a Redis that starts empty. That is no fault: it is
// filled from SQL. Meanwhile every look asks SQL.
func checkPersistence(ctx context.Context, name string, server redis.Cmdable, info string) (Finding, bool) {
	if field(info, "aof_enabled") == "1" {
		return Finding{}, false
	}
	const advice = "after a restart it is empty and every look asks SQL until it is filled again; set appendonly yes to keep it"
	saves, err := server.ConfigGet(ctx, "save").Result()
	switch {
	case err != nil:
		return Finding{Note, name + " has no append-only file and doesn't tell whether it saves snapshots: without, " + advice}, true
	case strings.TrimSpace(saves["save"]) == "":
		return Finding{Note, name + " has persistence off: " + advice}, true
	}
	return Finding{}, false
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// Status says in a few words how things are, from memory. ok is false while
// SQL answers alone.
func (s *Store) Status() (ok bool, text string) {
	if s.breaker.open() {
		return false, "answers from SQL alone, Redis can't be used: " + s.breaker.why().Sentence()
	}
	if p := s.filled.Load(); p != nil {
		return true, fmt.Sprintf("answers from SQL where Redis misses; Redis is being filled, %d of %d entries", p.done, p.total)
	}
	if s.epochs.Load() == nil {
		return true, "answers from SQL where Redis misses"
	}
	return true, "answers from Redis, from SQL where that misses"
}
