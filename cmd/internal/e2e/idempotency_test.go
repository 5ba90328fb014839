package e2e

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"stet/arms/room"
	"stet/gateway/client"
	"stet/gateway/outcome"
	"stet/gateway/wire"
)

// TestI11AHundredCallersOfAHundredKeysReadOneStoryEach: 100 keys, each asked
// for by 100 callers in turns of their own, make 100 attempts and 100 wire
// requests, and every caller of a key reads the same.
func TestI11AHundredCallersOfAHundredKeysReadOneStoryEach(t *testing.T) {
	const keys, callers = 100, 100
	p := newProgram(t, "")
	p.start(t)
	host := dial(t, p.base, p.host)
	answers := make([][keys]wire.Replied, callers)
	var all sync.WaitGroup
	for i := range callers {
		opened, err := host.OpenTurn(t.Context(), wire.OpenTurnRequest{
			Session: fmt.Sprintf("session-%d", i), Org: "acme", Workspace: "main", Surface: "test", Principal: "helper",
			Wake: wire.Wake{ID: "wake", Origin: &wire.Locus{Platform: string(room.Platform), Channel: "lobby"}},
		})
		must(t, err)
		all.Go(func() {
			for k := range keys {
				got, err := persist(t, host.With(opened.Token), k)
				if err != nil {
					t.Errorf("caller %d, key %d: %v", i, k, err)
					return
				}
				answers[i][k] = got
			}
		})
	}
	all.Wait()
	for k := range keys {
		first := answers[0][k]
		for i := range callers {
			if got := answers[i][k]; got.ID == "" || got.ID != first.ID || got.Attempt != first.Attempt {
				t.Fatalf("key %d: caller %d reads %+v, caller 0 %+v", k, i, got, first)
			}
		}
	}
	h := p.history(t)
	if a, r, e := len(h.trail.attempts), len(h.truth.Received), len(h.truth.Applied); a != keys || r != keys || e != keys {
		t.Errorf("%d attempts, %d wire requests, %d messages; want %d each", a, r, e, keys)
	}
	for _, v := range h.unasked() {
		t.Error(v)
	}
}

// persist asks until the key's first use has ended.
func persist(t *testing.T, agent *client.Client, k int) (wire.Replied, error) {
	for {
		got, err := agent.Reply(t.Context(), wire.ReplyRequest{Text: wire.Text(fmt.Sprint("text ", k))}, client.IdempotencyKey(fmt.Sprint("key-", k)))
		if client.Reason(err) != string(outcome.InProgress) {
			return got, err
		}
		pause(t.Context(), 10*time.Millisecond)
	}
}
