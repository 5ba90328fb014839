package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"stet/cmd/internal/cli"
	"stet/gateway/wire"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shell runs the program in process.
type shell struct {
	env      []string
	in       string
	terminal bool
	ctx      context.Context
	tick     chan time.Time
}

// result is what a run left.
type result struct {
	code     int
	out, err string
}

func (s shell) run(t *testing.T, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	ctx := s.ctx
	if ctx == nil {
		ctx = t.Context()
	}
	code := cli.Run(ctx, args, cli.IO{
		In: strings.NewReader(s.in), Out: &out, Err: &errs, Environ: s.env, Version: "v-test",
		InTerminal: s.terminal, OutTerminal: s.terminal, ErrTerminal: s.terminal, Tick: s.ticks(),
	})
	return result{code, out.String(), errs.String()}
}

// ticks is nil for real time.
func (s shell) ticks() func(time.Duration) (<-chan time.Time, func()) {
	if s.tick == nil {
		return nil
	}
	return func(time.Duration) (<-chan time.Time, func()) { return s.tick, func() {} }
}

func (r result) want(t *testing.T, code int) result {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit code %d, want %d\n--- out\n%s--- err\n%s", r.code, code, r.out, r.err)
	}
	return r
}

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n%s\nwant:\n%s", path, got, want)
	}
}

// asked is a request that the fake gateway got.
type asked struct {
	method, path, query, key, idem, accept, body string
}

// fake is a gateway that answers what it is told to.
type fake struct {
	*httptest.Server
	mu      sync.Mutex
	asked   []asked
	answers map[string]answer
}

type answer struct {
	status int
	body   any
	kind   string
}

func newFake(t *testing.T, answers map[string]answer) *fake {
	t.Helper()
	f := &fake{answers: answers}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.asked = append(f.asked, asked{
		r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("Authorization"),
		r.Header.Get("Idempotency-Key"), r.Header.Get("Accept"), string(body),
	})
	a, ok := f.answers[r.Method+" "+r.URL.Path]
	f.mu.Unlock()
	if !ok {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	if a.kind == "" {
		a.kind = "application/json"
	}
	w.Header().Set("Content-Type", a.kind)
	w.WriteHeader(a.status)
	if s, ok := a.body.(string); ok {
		_, _ = io.WriteString(w, s)
		return
	}
	_ = json.NewEncoder(w).Encode(a.body)
}

func (f *fake) last(t *testing.T) asked {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.asked) == 0 {
		t.Fatal("the gateway was not asked")
	}
	return f.asked[len(f.asked)-1]
}

// shell has the fake's address and a credential of each kind.
func (f *fake) shell() shell {
	return shell{env: []string{"STET_URL=" + f.URL, "STET_KEY=key-1", "STET_TURN_TOKEN=token-1"}}
}

func problem(p wire.Problem) answer { return answer{p.Status, p, wire.ProblemType} }

func put(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// runTo runs the program with its output going to w.
func (s shell) runTo(w io.Writer, args ...string) int {
	return cli.Run(s.ctx, args, cli.IO{
		In: strings.NewReader(s.in), Out: w, Err: w, Environ: s.env, Version: "v-test", Tick: s.ticks(),
	})
}
