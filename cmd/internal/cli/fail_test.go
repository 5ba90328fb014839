package cli_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"stet/gateway/wire"
)

func ambiguous() wire.Problem {
	no := false
	return wire.Problem{
		Type: "/docs#platform-error", Title: "Platform error", Status: 504, Reason: "platform-error",
		Outcome: "ambiguous", Failure: "ambiguous", Attempt: attempt1, RetryAfter: 3, Recorded: &no,
		Detail: "Sent but not confirmed: it may or may not have changed. Do NOT post a new reply about it; " +
			"call edit again with the same id and a new idempotency key if it matters, repeating is safe.",
	}
}

func TestARefusalSaysReasonDetailAndAttempt(t *testing.T) {
	f := newFake(t, map[string]answer{"PATCH /v1/replies/m1": problem(ambiguous())})
	got := f.shell().run(t, "edit", "m1", "ho").want(t, 1)
	golden(t, "refusal.txt", got.err)
	if got.out != "" {
		t.Errorf("out: %s", got.out)
	}
}

func TestARefusalWithJSONIsTheProblemOnStandardOutput(t *testing.T) {
	f := newFake(t, map[string]answer{"PATCH /v1/replies/m1": problem(ambiguous())})
	got := f.shell().run(t, "edit", "m1", "ho", "--json").want(t, 1)
	golden(t, "refusal.json", got.out)
	if got.err != "" {
		t.Errorf("err: %s", got.err)
	}
}

func TestAnAnswerOfSomethingInBetweenIsAFailure(t *testing.T) {
	f := newFake(t, map[string]answer{"PATCH /v1/replies/m1": {502, "<html>secret-canary</html>", "text/html"}})
	got := f.shell().run(t, "edit", "m1", "ho").want(t, 1)
	if !strings.Contains(got.err, "status 502") || strings.Contains(got.err, "canary") {
		t.Errorf("err: %s", got.err)
	}
}

func TestAnAddressWhereNobodyListensIsUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s := shell{env: []string{"STET_URL=" + url, "STET_KEY=k", "STET_TURN_TOKEN=t"}}
	for _, args := range [][]string{{"reply", "hi"}, {"edit", "m1", "hi"}, {"retract", "m1"}, {"audit", "query"}, {"keys", "list"}, {"turn", "show"}, {"audit", "tail"}, {"audit", "export"}} {
		if got := s.run(t, args...).want(t, 3); !strings.Contains(got.err, "stet serve") {
			t.Errorf("%v: %s", args, got.err)
		}
	}
	if got := s.run(t, "reply", "hi", "--json").want(t, 3); !strings.Contains(got.out, `"error": "unreachable"`) {
		t.Errorf("out: %s", got.out)
	}
}

func TestWrongUsageIsTwo(t *testing.T) {
	s := shell{env: []string{"STET_URL=http://127.0.0.1:1", "STET_KEY=k", "STET_TURN_TOKEN=t"}}
	for _, args := range [][]string{
		{"no-such-verb"}, {"turn"}, {"turn", "open"}, {"edit"}, {"retract"}, {"reply", "a", "b"}, {"reply", "a", "--format", "html"},
		{"turn", "open", "--session", "s", "--ttl", "soon"}, {"audit", "query", "--since", "yesterday"},
		{"audit", "query", "--dry-run", "maybe"}, {"audit", "query", "--kind", "rumour"}, {"audit", "tail", "--interval", "0s"},
		{"audit", "export", "--format", "xml"}, {"keys", "create", "--name", "x", "--scope", "host"},
		{"keys", "create", "--name", "x", "--scope", "god", "--org", "o"}, {"keys", "create", "--name", "x", "--scope", "host", "--org", "o", "--all-orgs"},
		{"completion", "tcsh"}, {"reply", "hi", "--url", "ftp://x"}, {"serve", "--edit-window", "-1h"}, {"serve", "--listen", "nowhere"},
		{"serve", "--redis-url", "redis://user:secret-canary@x/y"}, {"serve", "--database-url", "mysql://user:secret-canary@x"},
	} {
		got := s.run(t, args...).want(t, 2)
		if got.err == "" || strings.Contains(got.err, "secret-canary") {
			t.Errorf("%v: %q", args, got.err)
		}
	}
}

func TestFlagsComeFromTheEnvironmentThatWasHandedIn(t *testing.T) {
	got := shell{env: []string{"STET_EDIT_WINDOW=soon"}}.run(t, "serve").want(t, 2)
	if !strings.Contains(got.err, "edit-window") {
		t.Errorf("err: %s", got.err)
	}
	got = shell{env: []string{"STET_EDIT_WINDOW=soon", "STET_LISTEN=x"}}.run(t, "serve", "--edit-window", "1h").want(t, 2)
	if strings.Contains(got.err, "edit-window") || !strings.Contains(got.err, `listen: "x" is not host:port`) {
		t.Errorf("the command line doesn't win over the environment: %s", got.err)
	}
}

func TestHelpIsDone(t *testing.T) {
	for _, args := range [][]string{nil, {"--help"}, {"serve", "--help"}, {"turn", "open", "--help"}} {
		if got := (shell{}).run(t, args...).want(t, 0); !strings.Contains(got.out, "Usage: stet") {
			t.Errorf("%v: %s", args, got.out)
		}
	}
	if got := (shell{}).run(t, "serve", "--help"); !strings.Contains(got.out, "STET_PLATFORM_TIMEOUT") {
		t.Errorf("the variables are not in the help:\n%s", got.out)
	}
}

func TestAnInterruptedCallIsNoSuccess(t *testing.T) {
	f := newFake(t, nil)
	s := f.shell()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.ctx = ctx
	if got := s.run(t, "reply", "hi"); got.code == 0 || got.err == "" {
		t.Errorf("code %d, err %q", got.code, got.err)
	}
}

func TestVersion(t *testing.T) {
	if got := (shell{}).run(t, "version").want(t, 0); got.out != "stet v-test\n" {
		t.Errorf("out: %q", got.out)
	}
	if got := (shell{}).run(t, "version", "--json").want(t, 0); got.out != "{\n  \"version\": \"v-test\"\n}\n" {
		t.Errorf("out: %q", got.out)
	}
}

func TestColourIsForTerminalsAlone(t *testing.T) {
	f := newFake(t, map[string]answer{"DELETE /v1/replies/m1": {200, wire.Retracted{ID: "m1", Attempt: attempt1}, ""}})
	for _, c := range []struct {
		name     string
		terminal bool
		env      string
		want     bool
	}{
		{"a pipe", false, "X=1", false},
		{"a terminal", true, "X=1", true},
		{"a terminal with NO_COLOR", true, "NO_COLOR=1", false},
		{"a dumb terminal", true, "TERM=dumb", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := f.shell()
			s.terminal = c.terminal
			s.env = append(s.env, c.env)
			if got := s.run(t, "retract", "m1").want(t, 0); strings.Contains(got.out, "\x1b[") != c.want {
				t.Errorf("out: %q", got.out)
			}
		})
	}
}
