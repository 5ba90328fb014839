package e2e

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/arms/room"
	"stet/audit"
	"stet/cmd/internal/app"
	"stet/cmd/internal/config"
	"stet/gateway/client"
	"stet/gateway/outcome"
	"stet/gateway/wire"
)

// booted is the whole program inside the test, with real files and a real door.
type booted struct {
	testing.TB
	app  *app.App
	data string
	// file is stet.db, read past the program.
	file      *sql.DB
	logs      *logbook
	http      *http.Client
	host, ops *client.Client
}

// logbook is a log that may be read while it is written.
type logbook struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// quick are the settings of a program that gives up and looks soon.
func quick(data string) config.Settings {
	s := config.Default()
	s.Listen, s.Data, s.Arms = "127.0.0.1:0", data, app.Sections()
	s.PlatformTimeout, s.MaxWait = 2*time.Second, time.Second
	s.Resolve.FirstLook, s.Sweep.Interval = 50*time.Millisecond, 50*time.Millisecond
	return s
}

// boot starts a program with fresh data; it stops with the test.
func boot(t testing.TB, change ...func(*app.Options)) *booted {
	t.Helper()
	b := &booted{TB: t, logs: &logbook{}}
	o := app.Options{
		Settings: quick(filepath.Join(t.TempDir(), "data")), Version: "test",
		Logger: slog.New(slog.NewJSONHandler(b.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, c := range change {
		c(&o)
	}
	b.data = o.Settings.Data
	var err error
	b.app, err = app.New(t.Context(), o)
	must(t, err)
	t.Cleanup(b.stop)
	must(t, b.app.Start())
	b.file, err = openFile(filepath.Join(b.data, "stet.db"), "mode=ro")
	must(t, err)
	t.Cleanup(func() { must(t, b.file.Close()) })
	transport := &http.Transport{MaxIdleConnsPerHost: 256}
	t.Cleanup(transport.CloseIdleConnections)
	b.http = &http.Client{Transport: transport, Timeout: time.Minute}
	b.host, err = client.New(b.app.Addr(), client.WithKey(b.app.HostKey()), client.WithHTTPClient(b.http))
	must(t, err)
	b.ops = b.host.With(b.app.OpsKey())
	return b
}

// misbehave gives the room a configuration of its own.
func misbehave(c room.Config) func(*app.Options) {
	return func(o *app.Options) { o.Settings.Arms[room.Platform] = &c }
}

func (b *booted) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), b.app.DrainTime())
	defer cancel()
	if err := b.app.Stop(ctx); err != nil {
		b.Errorf("stop: %v", err)
	}
}

// in is where a turn is opened; what is left out is the same for all.
type in struct {
	org, session, channel, principal string
	nowhere, dry                     bool
	platform                         string
	ttl                              string
}

// agent is a turn with its token.
type agentOf struct {
	*client.Client
	turn, token string
}

func (b *booted) turn(where ...in) agentOf {
	b.Helper()
	w := in{}
	if len(where) > 0 {
		w = where[0]
	}
	or := func(v, other string) string {
		if v != "" {
			return v
		}
		return other
	}
	r := wire.OpenTurnRequest{
		Session: or(w.session, "session"), Org: or(w.org, "acme"), Workspace: "main", Surface: "test",
		Principal: or(w.principal, "helper"), DryRun: w.dry, TTL: w.ttl, Wake: wire.Wake{ID: "wake"},
	}
	if !w.nowhere {
		r.Wake.Origin = &wire.Locus{Platform: or(w.platform, string(room.Platform)), Channel: or(w.channel, "lobby")}
	}
	opened, err := b.host.OpenTurn(b.Context(), r)
	must(b, err)
	return agentOf{b.host.With(opened.Token), opened.Turn, opened.Token}
}

// post posts and answers the message's id.
func (b *booted) post(a agentOf, text string) string {
	b.Helper()
	got, err := a.Reply(b.Context(), wire.ReplyRequest{Text: wire.Text(text)})
	must(b, err)
	return got.ID
}

func (b *booted) script(faults ...room.Fault) {
	b.Helper()
	must(b, b.app.Room().Script(faults...))
}

// response is an answer as it came over the wire.
type response struct {
	status int
	header http.Header
	body   string
}

// problem reads the answer as a problem; a success has none.
func (r response) problem() wire.Problem {
	var p wire.Problem
	_ = json.Unmarshal([]byte(r.body), &p)
	return p
}

// call makes any request; headers are pairs of name and value.
func (b *booted) call(method, path, key, body string, header ...string) response {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), method, b.app.Addr()+path, strings.NewReader(body))
	must(b, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := b.http.Do(req)
	must(b, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	must(b, err)
	return response{resp.StatusCode, resp.Header, string(raw)}
}

func (b *booted) trail() trail {
	b.Helper()
	tr, err := trailOf(context.Background(), b.file)
	must(b, err)
	return tr
}

func (b *booted) truth() room.Truth {
	b.Helper()
	tr, err := b.app.Room().Truth(context.Background())
	must(b, err)
	return tr
}

// row is the one outcome row of an attempt.
func (b *booted) row(attempt string) audit.Row {
	b.Helper()
	var found []audit.Row
	for _, r := range b.trail().rows {
		if r.Attempt == attempt && r.Kind == audit.Outcome {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		b.Fatalf("attempt %q has %d outcome rows", attempt, len(found))
	}
	return found[0]
}

// notes are the verdicts on an attempt.
func (b *booted) notes(attempt string) []audit.Detail {
	b.Helper()
	var found []audit.Detail
	for _, r := range b.trail().rows {
		if r.Attempt == attempt && r.Kind == audit.Note {
			found = append(found, detail(r))
		}
	}
	return found
}

// received counts the write requests that the room got.
func (b *booted) received() int { return len(b.truth().Received) }

// size is what a request that is refused at the door must not change.
type size struct{ rows, attempts, received, applied int }

func (b *booted) size() size {
	b.Helper()
	tr, truth := b.trail(), b.truth()
	return size{len(tr.rows), len(tr.attempts), len(truth.Received), len(truth.Applied)}
}

// balanced holds all rows against all that was counted since the start, and
// everything against the room's truth.
func (b *booted) balanced() {
	b.Helper()
	// An outcome is counted right after it was written.
	poll(b.Context(), 2*time.Second, func() bool {
		return len(differences(scrape(b, b.app.Addr()), b.trail().rows, nil)) == 0
	})
	h := history{trail: b.trail(), truth: b.truth()}
	for _, a := range h.trail.attempts {
		if h.trail.open[a.id] {
			h.live = a.boot
		}
	}
	for _, v := range h.unasked() {
		b.Errorf("%s\n%s", v, h.about(v))
	}
	for _, d := range differences(scrape(b, b.app.Addr()), h.trail.rows, nil) {
		b.Error(d)
	}
}

// refusal is the problem of a call that must not have succeeded.
func refusal(t testing.TB, err error) wire.Problem {
	t.Helper()
	var p *client.Error
	if !errors.As(err, &p) {
		t.Fatalf("got %v, want a problem", err)
	}
	return p.Problem
}

// want holds a problem to its reason, status and outcome.
func want(t testing.TB, p wire.Problem, r outcome.Reason, o outcome.Outcome) {
	t.Helper()
	if p.Reason != string(r) || p.Status != outcome.Status(r, o) || p.Outcome != string(o) || p.Failure != string(o.Failure()) {
		t.Errorf("got %s, status %d, outcome %q, failure %q; want %s, %d, %q, %q",
			p.Reason, p.Status, p.Outcome, p.Failure, r, outcome.Status(r, o), o, o.Failure())
	}
}
