package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"stet/arms"
	"stet/audit/sqlite"
	"stet/gateway"
	"stet/gateway/bind"
	"stet/gateway/turn"
	"stet/gateway/wire"
	"stet/ledger"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// verbs is a pipeline that says what a test tells it to, and remembers.
type verbs struct {
	mu      sync.Mutex
	answer  gateway.Answer
	problem *gateway.Problem
	hook    func(context.Context)
	turns   []turn.Turn
	replies []gateway.ReplyRequest
	edits   []gateway.EditRequest
	retract []gateway.RetractRequest
}

func (v *verbs) end(ctx context.Context, t turn.Turn) (gateway.Answer, error) {
	v.turns = append(v.turns, t)
	if v.hook != nil {
		v.hook(ctx)
	}
	if v.problem != nil {
		return gateway.Answer{}, v.problem
	}
	return v.answer, nil
}

func (v *verbs) Reply(ctx context.Context, t turn.Turn, r gateway.ReplyRequest) (gateway.Answer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.replies = append(v.replies, r)
	return v.end(ctx, t)
}

func (v *verbs) Edit(ctx context.Context, t turn.Turn, r gateway.EditRequest) (gateway.Answer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.edits = append(v.edits, r)
	return v.end(ctx, t)
}

func (v *verbs) Retract(ctx context.Context, t turn.Turn, r gateway.RetractRequest) (gateway.Answer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.retract = append(v.retract, r)
	return v.end(ctx, t)
}

// calls is how often any verb was asked.
func (v *verbs) calls() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.turns)
}

// posts is a ledger that has what a test gives it.
type posts struct {
	entries []ledger.Entry
	err     error
}

func (p *posts) Editable(context.Context, ledger.Query, int) ([]ledger.Entry, error) {
	return p.entries, p.err
}

// serverOf is a door that is not served, to look at from inside.
func serverOf(t *testing.T, change ...func(*Options)) *server {
	t.Helper()
	var s *server
	open(t, append(change, func(o *Options) { s = &server{Options: *o} })...)
	s.Registerer = nil // the door that is served has its place there
	if err := s.complete(); err != nil {
		t.Fatal(err)
	}
	s.build()
	return s
}

// door is a served API over a real store.
type door struct {
	*testing.T
	url     string
	store   *sqlite.Store
	bind    *bind.Service
	verbs   *verbs
	posts   *posts
	events  *gateway.Events
	metrics *prometheus.Registry
	log     *lockedBuffer
	clock   *clock
	// stop ends the server once every request has ended, log line and all.
	stop func()
	// Credentials of every kind, made at the start.
	host, ops, reviewer, acmeHost, acmeOps string
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func open(t *testing.T, change ...func(*Options)) *door {
	t.Helper()
	d := &door{
		T: t, verbs: &verbs{answer: gateway.Answer{ID: "m1", Parts: []string{"m1"}, Attempt: "a1"}},
		posts: &posts{}, events: &gateway.Events{}, metrics: prometheus.NewRegistry(), log: &lockedBuffer{},
		clock: &clock{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)},
	}
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "stet.db"), Now: d.clock.Now})
	d.must(err)
	d.store = store
	t.Cleanup(func() { d.must(store.Close()) })
	d.bind = bind.NewService(bind.ServiceOptions{
		Sessions: store, Turns: store, Keys: store, Now: d.clock.Now,
		CheckPlace: func(_ arms.Platform, p arms.Place) error {
			if strings.Contains(p.ServiceURL, "evil") {
				return io.ErrUnexpectedEOF
			}
			return nil
		},
	})
	o := Options{
		Verbs: d.verbs, Bind: d.bind, Trail: store, Ledger: d.posts, Events: d.events,
		Registerer: d.metrics, Logger: slog.New(slog.NewJSONHandler(d.log, nil)), Version: "test",
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "metrics here") }),
		Room:    http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "room here") }),
		Capabilities: func(p arms.Platform, _ arms.Place) (arms.Capabilities, bool) {
			return arms.Capabilities{Edit: true, TextLimit: 100, TextUnit: arms.CodePoints}, p == "room"
		},
		Loopback: true,
	}
	for _, c := range change {
		c(&o)
	}
	h, err := New(o)
	d.must(err)
	srv := httptest.NewServer(h)
	d.stop = sync.OnceFunc(srv.Close)
	t.Cleanup(d.stop)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	d.url = srv.URL
	d.host = d.key("", bind.ScopeHost)
	d.ops = d.key("", bind.ScopeOps, bind.ScopeReviewer)
	d.reviewer = d.key("", bind.ScopeReviewer)
	d.acmeHost = d.key("acme", bind.ScopeHost)
	d.acmeOps = d.key("acme", bind.ScopeOps)
	return d
}

func (d *door) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

func (d *door) key(org string, scopes ...bind.Scope) string {
	d.Helper()
	clear, _, err := d.bind.MintKey(d.Context(), "test", bind.NewKey{Name: "k", Org: org, AllOrgs: org == "", Scopes: scopes})
	d.must(err)
	return clear
}

// turn opens a turn of an organization in the room.
func (d *door) turn(org string) wire.OpenedTurn {
	d.Helper()
	var opened wire.OpenedTurn
	body := `{"session":"s","wake":{"id":"w","origin":{"platform":"room","channel":"lobby"}},"org":"` + org +
		`","workspace":"main","surface":"room","principal":"bot"}`
	d.ask(http.MethodPost, "/v1/turns", d.host, body).want(http.StatusCreated).into(&opened)
	return opened
}

// reply is a response read whole.
type reply struct {
	*testing.T
	status int
	header http.Header
	body   string
}

func (d *door) ask(method, path, key, body string, header ...string) reply {
	d.Helper()
	r, err := d.asking(d.Context(), method, path, key, body, header...)
	d.must(err)
	return r
}

func (d *door) asking(ctx context.Context, method, path, key, body string, header ...string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, d.url+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := noFollow.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return reply{d.T, resp.StatusCode, resp.Header, string(b)}, err
}

var noFollow = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func (r reply) want(status int) reply {
	r.Helper()
	if r.status != status {
		r.Fatalf("status %d, want %d: %s", r.status, status, r.body)
	}
	return r
}

func (r reply) into(v any) {
	r.Helper()
	if err := json.Unmarshal([]byte(r.body), v); err != nil {
		r.Fatalf("read %q: %v", r.body, err)
	}
}

// problem reads a problem and holds it to the standard's form.
func (r reply) problem(status int, reason string) wire.Problem {
	r.Helper()
	var p wire.Problem
	r.want(status).into(&p)
	if got := r.header.Get("Content-Type"); got != wire.ProblemType {
		r.Errorf("content type %q, want %q", got, wire.ProblemType)
	}
	if p.Reason != reason || p.Status != status || p.Type != "/docs#"+reason || p.Title == "" || p.Detail == "" {
		r.Errorf("got %s, want reason %q and status %d", r.body, reason, status)
	}
	return p
}
