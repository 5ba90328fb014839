package redisstore_test

import (
	"strings"
	"testing"

	"stet/ledger/redisstore"
	"stet/ledger/redisstore/redistest"
)

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		do   [][]any
		url  string
		want []string // state and a part of the text, in order
	}{
		{
			name: "a server that fits", args: []string{"--appendonly", "yes"},
			want: []string{"ok serves, version "},
		},
		{
			name: "snapshots count as persistence", args: []string{"--save", "3600 1"},
			want: []string{"ok serves, version "},
		},
		{
			name: "persistence off", want: []string{"ok serves, version ", "note persistence off"},
		},
		{
			name: "an eviction policy that loses entries", args: []string{"--appendonly", "yes", "--maxmemory-policy", "allkeys-lru"},
			want: []string{"ok serves, version ", "mend maxmemory-policy allkeys-lru: set it to noeviction"},
		},
		{
			name: "a volatile policy", args: []string{"--appendonly", "yes", "--maxmemory-policy", "volatile-ttl"},
			want: []string{"ok serves, version ", "mend volatile-ttl"},
		},
		{
			name: "settings that may not be read", args: []string{"--rename-command", "CONFIG", ""},
			want: []string{"ok serves, version ", "note doesn't tell whether it saves snapshots"},
		},
		{
			name: "a replica", do: [][]any{{"REPLICAOF", "127.0.0.1", "1"}}, want: []string{"mend read-only replica"},
		},
		{
			name: "full memory", do: [][]any{{"CONFIG", "SET", "maxmemory", "1"}}, want: []string{"mend raise maxmemory"},
		},
		{
			name: "nobody there", url: "redis://127.0.0.1:1", want: []string{"mend no connection could be made"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := redistest.Start(t, tc.args...)
			for _, c := range tc.do {
				s.Do(c...)
			}
			url := s.URL
			if tc.url != "" {
				url = tc.url
			}
			got := open(t, redisstore.Options{URL: url}).Check(t.Context())
			if len(got) != len(tc.want) {
				t.Fatalf("found %v", got)
			}
			for i, w := range tc.want {
				state, text, _ := strings.Cut(w, " ")
				if string(got[i].State) != state || !strings.Contains(got[i].Text, text) {
					t.Errorf("found %s: %s, want %s", got[i].State, got[i].Text, w)
				}
			}
		})
	}
}

func TestADiscoveredEvictionIsTold(t *testing.T) {
	s := redistest.Start(t, "--appendonly", "yes", "--maxmemory", "3mb", "--maxmemory-policy", "allkeys-random")
	value := strings.Repeat("x", 10_000)
	for i := range 400 {
		s.Do("SET", i, value)
	}
	s.Do("CONFIG", "SET", "maxmemory", "0")
	s.Do("CONFIG", "SET", "maxmemory-policy", "noeviction")
	got := open(t, redisstore.Options{URL: s.URL}).Check(t.Context())
	if len(got) != 2 || got[1].State != redisstore.Note || !strings.Contains(got[1].Text, "evicted") {
		t.Errorf("found %v", got)
	}
}
