package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stet/arms/room"
	"stet/audit"
	"stet/cmd/internal/app"
	"stet/gateway/client"
	"stet/gateway/outcome"
	"stet/gateway/wire"
)

// scene makes one reason happen over HTTP and answers the problem that the
// caller read. What it shows beside that is checked for every reason alike.
type scene struct {
	reason  outcome.Reason
	outcome outcome.Outcome
	// code is of the row.
	code string
	play func(*stage) wire.Problem
}

// stage is what most scenes need: a turn of their own, and a message in it.
type stage struct {
	*booted
	*gate
	clock *clock
	agent agentOf
	id    string
}

func (s *stage) edit(id, text string, opts ...client.CallOption) error {
	_, err := s.agent.Edit(s.Context(), id, wire.EditRequest{Text: wire.Text(text)}, opts...)
	return err
}

func (s *stage) reply(text string, opts ...client.CallOption) error {
	_, err := s.agent.Reply(s.Context(), wire.ReplyRequest{Text: wire.Text(text)}, opts...)
	return err
}

func (s *stage) refused(err error) wire.Problem {
	s.Helper()
	return refusal(s, err)
}

// behind runs a call that stops at the gate, and waits until it is there.
func (s *stage) behind(call func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- call() }()
	<-s.reached
	return done
}

// scenes has every reason that this build can give.
func scenes() []scene {
	return []scene{
		{reason: outcome.BadRequest, play: func(s *stage) wire.Problem {
			return s.call("POST", "/v1/replies", s.agent.token, `{"text":7}`).problem()
		}},
		{reason: outcome.Unauthorized, play: func(s *stage) wire.Problem {
			return s.call("POST", "/v1/replies", s.agent.token+"x", `{"text":"x"}`).problem()
		}},
		{reason: outcome.Forbidden, play: func(s *stage) wire.Problem {
			return s.call("POST", "/v1/replies", s.app.HostKey(), `{"text":"x"}`).problem()
		}},
		{reason: outcome.NotFound, play: func(s *stage) wire.Problem {
			return s.call("POST", "/v1/turns/none/close", s.app.HostKey(), "").problem()
		}},
		{reason: outcome.TooLarge, play: func(s *stage) wire.Problem {
			return s.call("POST", "/v1/replies", s.agent.token, `{"text":"`+strings.Repeat("a", 1<<20)+`"}`).problem()
		}},
		{reason: outcome.InProgress, play: playInProgress},
		{reason: outcome.IdempotencyMismatch, play: func(s *stage) wire.Problem {
			must(s, s.edit(s.id, "one", client.IdempotencyKey("mismatch")))
			return s.refused(s.edit(s.id, "two", client.IdempotencyKey("mismatch")))
		}},
		{reason: outcome.Internal, outcome: outcome.Refused, play: func(s *stage) wire.Problem {
			s.at("panic at edit/locate")
			return s.refused(s.edit(s.id, "x"))
		}},
		{reason: outcome.NotOwnPost, outcome: outcome.Refused, code: "unknown", play: func(s *stage) wire.Problem {
			return s.refused(s.edit("m000000000none", "x"))
		}},
		{reason: outcome.NotOwnPost, outcome: outcome.Refused, code: "other-place", play: func(s *stage) wire.Problem {
			s.agent = s.turn(in{channel: "elsewhere"})
			return s.refused(s.edit(s.id, "x"))
		}},
		{reason: outcome.NotOwnPost, outcome: outcome.Refused, code: "window-closed", play: func(s *stage) wire.Problem {
			s.clock.forward(5 * time.Hour)
			s.agent = s.turn()
			return s.refused(s.edit(s.id, "x"))
		}},
		{reason: outcome.NoArm, outcome: outcome.Refused, play: func(s *stage) wire.Problem {
			s.agent = s.turn(in{platform: "carrier-pigeon"})
			return s.refused(s.reply("x"))
		}},
		{reason: outcome.NoLocus, outcome: outcome.Refused, play: func(s *stage) wire.Problem {
			s.agent = s.turn(in{session: "nowhere", nowhere: true})
			return s.refused(s.reply("x"))
		}},
		{reason: outcome.TurnAmbiguous, outcome: outcome.Refused, play: func(s *stage) wire.Problem {
			s.script(room.Fault{Kind: room.FaultCutBefore, Verb: room.VerbPost, Times: 1})
			want(s, s.refused(s.reply("x")), outcome.PlatformError, outcome.Ambiguous)
			return s.refused(s.reply("y"))
		}},
		{reason: outcome.TurnAnswered, outcome: outcome.Refused, play: func(s *stage) wire.Problem {
			_, err := s.agent.Reply(s.Context(), wire.ReplyRequest{Text: "x", Done: true})
			must(s, err)
			return s.refused(s.reply("y"))
		}},
		{reason: outcome.TurnDeclined, outcome: outcome.Refused, play: func(s *stage) wire.Problem {
			_, err := s.agent.Decline(s.Context())
			must(s, err)
			return s.refused(s.reply("y"))
		}},
		{reason: outcome.InvalidText, outcome: outcome.Refused, play: func(s *stage) wire.Problem {
			return s.refused(s.edit(s.id, " \n"))
		}},
		{reason: outcome.InvalidText, outcome: outcome.Refused, play: func(s *stage) wire.Problem {
			return s.call("POST", "/v1/replies", s.agent.token, "{\"text\":\"a\xffb\"}").problem()
		}},
		{reason: outcome.TextTooLong, outcome: outcome.Refused, play: func(s *stage) wire.Problem {
			return s.refused(s.edit(s.id, strings.Repeat("é", room.DefaultTextLimit+1)))
		}},
		{reason: outcome.MessageBusy, outcome: outcome.Refused, play: playBusy},
		{reason: outcome.Superseded, outcome: outcome.NotSent, play: playSuperseded},
		{reason: outcome.RateLimited, outcome: outcome.Rejected, code: "rate-limited", play: func(s *stage) wire.Problem {
			s.script(room.Fault{Kind: room.FaultRateLimited, Times: 1, Wait: 7 * time.Second})
			p := s.refused(s.edit(s.id, "x"))
			if p.RetryAfter != 7 {
				s.Errorf("retry after %d, want what the platform asked for", p.RetryAfter)
			}
			return p
		}},
		{reason: outcome.PlatformError, outcome: outcome.Rejected, code: "forbidden", play: func(s *stage) wire.Problem {
			s.script(room.Fault{Kind: room.FaultRefused, Times: 1})
			return s.refused(s.edit(s.id, "x"))
		}},
		{reason: outcome.PlatformError, outcome: outcome.Ambiguous, code: "connection-cut", play: func(s *stage) wire.Problem {
			s.script(room.Fault{Kind: room.FaultCutAfter, Times: 1})
			return s.refused(s.edit(s.id, "x"))
		}},
		{reason: outcome.LedgerUnavailable, outcome: outcome.Refused, play: func(s *stage) wire.Problem {
			defer s.without("own_post")()
			return s.refused(s.edit(s.id, "x"))
		}},
		{reason: outcome.AuditUnavailable, play: func(s *stage) wire.Problem {
			defer s.without("pending")()
			return s.refused(s.edit(s.id, "x"))
		}},
		{reason: outcome.Interrupted, outcome: outcome.Ambiguous, play: playInterrupted},
		// The last ones: one leaves a thousand rows, one a room that doesn't come back.
		{reason: outcome.Overloaded, play: playOverloaded},
		{reason: outcome.PlatformError, outcome: outcome.NotSent, code: "dial-failed", play: func(s *stage) wire.Problem {
			must(s, s.app.Room().Stop(context.Background()))
			return s.refused(s.edit(s.id, "x"))
		}},
	}
}

// elsewhere are the reasons that no call to this program can get, and why.
var elsewhere = map[outcome.Reason]string{
	outcome.Draining:            "the door closes in the same moment: see the drain tests and the door's own",
	outcome.NoEditArm:           "the only platform can edit: see the gateway's tests",
	outcome.NoRetractArm:        "the only platform can retract: see the gateway's tests",
	outcome.UntrustedServiceURL: "the only platform has no service URL: see the door's and the gateway's tests",
	outcome.NoReadArm:           "there is no reading yet",
	outcome.TurnStale:           "there is no reading yet",
	outcome.TurnPartial:         "no reply is split yet",
	outcome.NothingLeft:         "there are no guards yet",
	outcome.ClaimRefused:        "there are no guards yet",
	outcome.Denied:              "there is no approval yet: see the gateway's tests",
}

func TestEveryReasonThatCanBeGivenIsGivenAndRecorded(t *testing.T) {
	var now atomic.Pointer[gate]
	now.Store(newGate(""))
	c := &clock{}
	b := boot(t, c.set, func(o *app.Options) {
		o.Settings.MaxWait = 300 * time.Millisecond
		o.Probe = func(point string) { now.Load().probe(point) }
	})
	shown := map[outcome.Reason]bool{}
	for _, sc := range scenes() {
		shown[sc.reason] = true
		t.Run(strings.TrimSpace(fmt.Sprint(sc.reason, " ", sc.outcome, " ", sc.code)), func(t *testing.T) {
			here := *b
			here.TB = t
			s := &stage{booted: &here, gate: newGate(""), clock: c}
			now.Store(s.gate)
			sc.run(t, s)
		})
	}
	for _, r := range outcome.Reasons() {
		if shown[r] == (elsewhere[r] != "") {
			t.Errorf("%s: shown %t, excused %q", r, shown[r], elsewhere[r])
		}
	}
}

func (sc scene) run(t *testing.T, s *stage) {
	eventually(t, backWithin, "the program is well after the scene before", func() bool {
		ready, err := s.host.Ready(t.Context())
		return err == nil && ready.Ready
	})
	s.agent = s.turn()
	s.id = s.post(s.agent, "hello")
	before := s.size()
	p := sc.play(s)
	reason := sc.reason
	if reason == outcome.Interrupted {
		reason = outcome.PlatformError // the row alone says more
	}
	want(t, p, reason, sc.outcome)
	if p.Detail == "" || p.Title == "" || p.Type != "/docs#"+string(reason) {
		t.Errorf("the problem says too little: %+v", p)
	}
	if sc.outcome == "" {
		if p.Attempt != "" || len(s.trail().rows) > before.rows+1 {
			t.Errorf("attempt %q, and %d rows more", p.Attempt, len(s.trail().rows)-before.rows)
		}
		return
	}
	row := s.row(p.Attempt)
	if row.Outcome != sc.outcome || row.Reason != sc.reason || row.Failure != sc.outcome.Failure() || row.Kind != audit.Outcome {
		t.Errorf("the row says %s, %s, %q", row.Outcome, row.Reason, row.Failure)
	}
	if sc.code != "" && row.Code != sc.code {
		t.Errorf("code %q, want %q", row.Code, sc.code)
	}
	if reason == outcome.NotOwnPost && (detail(row).ID != "" || strings.Contains(p.Detail, row.Code)) {
		t.Errorf("the refusal of a stranger's id says too much: %s, %s", row.Detail, p.Detail)
	}
}

func playInProgress(s *stage) wire.Problem {
	s.at("edit/open")
	key := client.IdempotencyKey("k")
	first := s.behind(func() error { return s.edit(s.id, "x", key) })
	p := s.refused(s.edit(s.id, "x", key))
	close(s.open)
	must(s, <-first)
	return p
}

// playOverloaded fills every place that the gateway has for attempts.
func playOverloaded(s *stage) wire.Problem {
	const places = 1024
	s.at("retract/admit")
	var all sync.WaitGroup
	for range places {
		all.Go(func() { _, _ = s.agent.Retract(s.Context(), "m000000000none") })
	}
	for range places {
		<-s.reached
	}
	_, err := s.agent.Retract(s.Context(), "m000000000none")
	p := s.refused(err)
	s.Cleanup(all.Wait)
	s.Cleanup(func() { close(s.open) })
	return p
}

func playBusy(s *stage) wire.Problem {
	s.at("edit/open")
	first := s.behind(func() error { return s.edit(s.id, "x") })
	s.at("")
	p := s.refused(s.edit(s.id, "y"))
	close(s.open)
	must(s, <-first)
	return p
}

func playSuperseded(s *stage) wire.Problem {
	s.at("edit/open")
	first := s.behind(func() error { return s.edit(s.id, "x") })
	s.at("")
	waits := make(chan error, 1)
	go func() { waits <- s.edit(s.id, "y") }()
	eventually(s, 5*time.Second, "an edit waits", func() bool { return s.count("edit_waiter") == 1 })
	last := make(chan error, 1)
	go func() { last <- s.edit(s.id, "z") }()
	eventually(s, 5*time.Second, "both edits were seen", func() bool { return s.count("edit_waiter") > 1 || len(waits) > 0 })
	close(s.open)
	must(s, <-first)
	must(s, <-last)
	return s.refused(<-waits)
}

// playInterrupted lets a process be overtaken by its own sweeper, as one that
// was frozen for long is.
func playInterrupted(s *stage) wire.Problem {
	s.at("edit/dispatch")
	first := s.behind(func() error { return s.edit(s.id, "x") })
	s.clock.forward(time.Minute)
	eventually(s, 10*time.Second, "the attempt is swept", func() bool { return len(s.trail().open) == 0 })
	close(s.open)
	return s.refused(<-first)
}

// exec runs statements on the program's database past the program.
func (b *booted) exec(statements ...string) {
	b.Helper()
	db, err := openFile(filepath.Join(b.data, "stet.db"), "_txlock=immediate")
	must(b, err)
	defer db.Close()
	for _, q := range statements {
		_, err := db.ExecContext(context.Background(), q)
		must(b, err)
	}
}

// without takes a table away until it is undone.
func (b *booted) without(table string) (undo func()) {
	b.exec("alter table " + table + " rename to hidden_" + table)
	return func() { b.exec("alter table hidden_" + table + " rename to " + table) }
}

func (b *booted) count(table string) (n int) {
	b.Helper()
	must(b, b.file.QueryRowContext(context.Background(), "select count(*) from "+table).Scan(&n))
	return n
}
