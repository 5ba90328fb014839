package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"syscall"
	"testing"
	"time"

	"stet/arms/room"
	"stet/gateway/client"
	"stet/gateway/outcome"
	"stet/gateway/wire"
)

// TestDrainMakesNothingAmbiguous ends the program by SIGTERM under load, again
// and again: it exits 0 in time, every attempt has a clear outcome, and callers
// see an answer, "draining", or that nobody listens.
func TestDrainMakesNothingAmbiguous(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	p := newProgram(t, "")
	d := newDriver(seed, p.host)
	ctx, stop := context.WithCancel(t.Context())
	defer func() { stop(); d.finish() }()
	d.run(ctx, 64)
	dice := rand.New(rand.NewPCG(seed, 0))
	const drains = 5
	for n := range drains {
		p.start(t)
		_, before := d.answers()
		d.point(p.base)
		eventually(t, time.Minute, "the callers get answers", func() bool {
			_, now := d.answers()
			return len(now) > len(before)+64
		})
		pause(ctx, time.Duration(dice.IntN(150))*time.Millisecond)
		p.signal(syscall.SIGTERM)
		exits(t, p, 20*time.Second, 0)
		d.point("")
		h := p.history(t)
		h.asked, h.told = d.answers()
		for _, v := range h.violations() {
			t.Errorf("drain %d: %s\n%s", n+1, v, h.about(v))
		}
		for _, r := range h.trail.rows {
			if r.Outcome == outcome.Ambiguous {
				t.Errorf("drain %d: an ambiguous %s, %s", n+1, r.Action, r.Reason)
			}
		}
	}
	stop()
	d.finish()
	for _, odd := range d.odd {
		t.Errorf("an answer that no caller should get: %s", odd)
	}
	for _, err := range d.lost {
		if !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("a call was lost: %v", err)
		}
	}
	told := map[string]int{}
	for _, a := range d.told {
		told[a.reason]++
	}
	t.Logf("%d answers, %d calls found nobody: %v", len(d.told), len(d.lost), told)
}

// exits waits for the program's own end.
func exits(t *testing.T, p *program, within time.Duration, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	got, err := p.wait(ctx)
	if err != nil || got != code {
		t.Fatalf("exit code %d, %v; want %d within %s\n%s", got, err, code, within, p.stderr.String())
	}
}

// hanging is a room that never answers a post, and a caller that waits for it.
func hanging(t *testing.T, timeout string) (p *program, agent *client.Client, answer chan error) {
	t.Helper()
	p = newProgram(t, "room: {script: [{kind: hang-before, verb: post}]}", "--platform-timeout", timeout)
	p.start(t)
	agent, _ = openTurn(t, p)
	answer = make(chan error, 1)
	go func() {
		_, err := agent.Reply(t.Context(), wire.ReplyRequest{Text: "hello"})
		answer <- err
	}()
	eventually(t, 10*time.Second, "the room has the request", func() bool { return len(p.history(t).truth.Received) == 1 })
	return p, agent, answer
}

func openTurn(t *testing.T, p *program) (agent *client.Client, turn string) {
	t.Helper()
	host := dial(t, p.base, p.host)
	opened, err := host.OpenTurn(t.Context(), wire.OpenTurnRequest{
		Session: "session", Org: "acme", Workspace: "main", Surface: "test", Principal: "helper",
		Wake: wire.Wake{ID: "wake", Origin: &wire.Locus{Platform: string(room.Platform), Channel: "lobby"}},
	})
	must(t, err)
	return host.With(opened.Token), opened.Turn
}

func TestDrainWaitsForWhatIsUnderWay(t *testing.T) {
	p, _, answer := hanging(t, "1500ms")
	p.signal(syscall.SIGTERM)
	want(t, refusal(t, <-answer), outcome.PlatformError, outcome.Ambiguous)
	exits(t, p, 10*time.Second, 0)
	if open := p.history(t).trail.open; len(open) != 0 {
		t.Errorf("%d attempts are open", len(open))
	}
}

func TestASecondSignalEndsTheProgramAtOnce(t *testing.T) {
	p, _, answer := hanging(t, "30s")
	p.signal(syscall.SIGTERM)
	eventually(t, 10*time.Second, "nobody listens any more", func() bool {
		resp, err := http.Get(p.base + "/healthz")
		if err == nil {
			resp.Body.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	http.DefaultClient.CloseIdleConnections()
	if p.gone() {
		t.Fatal("the first signal ended it with a request under way")
	}
	p.signal(syscall.SIGTERM)
	exits(t, p, 5*time.Second, -1)
	if err := <-answer; !client.IsUnreachable(err) {
		t.Errorf("the caller reads %v", err)
	}
	p.start(t)
	interrupted := 0
	for _, r := range p.history(t).trail.rows {
		if r.Reason == outcome.Interrupted {
			interrupted++
		}
	}
	if interrupted != 1 {
		t.Errorf("the next start recorded %d attempts as interrupted, want the one under way", interrupted)
	}
}

func TestStreamsEndAtDrain(t *testing.T) {
	p := newProgram(t, "")
	p.start(t)
	_, turn := openTurn(t, p)
	ended := make(chan error, 2)
	for _, path := range []string{"/v1/turns/" + turn + "/events", "/room/lobby/events?org=acme"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.base+path, nil)
		must(t, err)
		req.Header.Set("Authorization", "Bearer "+p.host)
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s answers %d", path, resp.StatusCode)
		}
		first := make([]byte, 1)
		_, err = resp.Body.Read(first)
		must(t, err)
		go func() {
			var err error
			for buf := make([]byte, 1024); err == nil; {
				_, err = resp.Body.Read(buf)
			}
			ended <- fmt.Errorf("%s: %w", path, err)
		}()
	}
	p.signal(syscall.SIGTERM)
	for range 2 {
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			t.Fatal("a stream goes on")
		}
	}
	exits(t, p, 10*time.Second, 0)
	http.DefaultClient.CloseIdleConnections()
}
