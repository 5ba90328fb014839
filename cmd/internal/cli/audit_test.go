package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/gateway/wire"
)

// rowAt is a row n seconds after noon.
func rowAt(n int, action, outcome string) wire.Row {
	return wire.Row{
		ID: fmt.Sprintf("0195a1b2-0000-7000-8000-%012d", n), At: noon.Add(time.Duration(n) * time.Second), Kind: "outcome",
		Action: action, Outcome: outcome, Platform: "room", Session: "s1", Org: "acme", Attempt: attempt1,
		Detail: json.RawMessage(`{"id":"m1","chars":12}`),
	}
}

func someRows() []wire.Row {
	refused := rowAt(3, "reply.edit.refused", "refused")
	refused.Reason, refused.Code, refused.Session = "not-own-post", "window-closed", "a-session-with-a-long-name"
	ambiguous := rowAt(2, "reply.retract.refused", "ambiguous")
	ambiguous.Reason, ambiguous.Failure, ambiguous.Code, ambiguous.DryRun = "platform-error", "ambiguous", "connection-cut", true
	seen := rowAt(1, "reply.resolved", "")
	seen.Kind, seen.Detail = "note", json.RawMessage(`{"verdict":"seen","evidence":"marker"}`)
	return []wire.Row{refused, ambiguous, seen, rowAt(0, "reply.post", "applied")}
}

func TestQueryShowsATableThatFits(t *testing.T) {
	f := newFake(t, map[string]answer{"GET /v1/audit": {200, wire.RowPage{Rows: someRows(), Next: "cursor-1"}, ""}})
	got := f.shell().run(t, "audit", "query").want(t, 0)
	golden(t, "audit-query.txt", got.out)
	for _, line := range strings.Split(got.out, "\n") {
		if n := len([]rune(line)); n > 100 {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
	golden(t, "audit-query-wide.txt", f.shell().run(t, "audit", "query", "--wide").want(t, 0).out)
	if got.err != "There is more: --before cursor-1\n" {
		t.Errorf("err: %s", got.err)
	}
}

func TestQuerySendsEveryFilter(t *testing.T) {
	f := newFake(t, map[string]answer{"GET /v1/audit": {200, wire.RowPage{}, ""}})
	args := []string{"audit", "query", "--limit", "7", "--before", "r1", "--dry-run", "TRUE",
		"--since", "2026-03-04T12:00:00Z", "--until", "2026-03-04T13:00:00+01:00", "--outcome", "applied,partial", "--kind", "note"}
	want := url.Values{
		"limit": {"7"}, "before": {"r1"}, "dry_run": {"true"}, "since": {"2026-03-04T12:00:00Z"},
		"until": {"2026-03-04T12:00:00Z"}, "outcome": {"applied", "partial"}, "kind": {"note"},
	}
	for _, column := range []string{"org", "platform", "workspace", "surface", "principal", "session", "turn", "wake", "attempt", "action", "reason", "failure", "status", "code"} {
		args = append(args, "--"+column, "a-"+column)
		want[column] = []string{"a-" + column}
	}
	got := f.shell().run(t, args...).want(t, 0)
	if q := f.last(t).query; q != want.Encode() {
		t.Errorf("asked\n%s\nwant\n%s", q, want.Encode())
	}
	if got.err != "No row matches.\n" {
		t.Errorf("err: %s", got.err)
	}
}

func TestADurationIsATimeAgo(t *testing.T) {
	f := newFake(t, map[string]answer{"GET /v1/audit": {200, wire.RowPage{}, ""}})
	before := time.Now().Add(-10 * time.Minute)
	f.shell().run(t, "audit", "query", "--since", "10m").want(t, 0)
	q, err := url.ParseQuery(f.last(t).query)
	if err != nil {
		t.Fatal(err)
	}
	since, err := time.Parse(time.RFC3339Nano, q.Get("since"))
	if err != nil || since.Before(before) || since.After(time.Now().Add(-10*time.Minute)) {
		t.Errorf("since %s: %v", since, err)
	}
}

func TestCountShowsGroupsAndTheirSum(t *testing.T) {
	f := newFake(t, map[string]answer{"GET /v1/audit/count": {200, wire.Count{Total: 1203, Groups: []wire.Group{
		{By: map[string]string{"outcome": "applied", "platform": "room"}, Count: 1200},
		{By: map[string]string{"outcome": "", "platform": "room"}, Count: 3},
	}}, ""}})
	golden(t, "audit-count.txt", f.shell().run(t, "audit", "count", "--by", "outcome,platform").want(t, 0).out)
	if q := f.last(t).query; q != "by=outcome%2Cplatform" {
		t.Errorf("asked %s", q)
	}
}

func TestShowTakesTheEndOfAnID(t *testing.T) {
	rows := someRows()
	f := newFake(t, map[string]answer{
		"GET /v1/audit":               {200, wire.RowPage{Rows: rows}, ""},
		"GET /v1/audit/" + rows[0].ID: {200, rows[0], ""},
	})
	golden(t, "audit-show.txt", f.shell().run(t, "audit", "show", rows[0].ID[len(rows[0].ID)-8:]).want(t, 0).out)
	golden(t, "audit-show.txt", f.shell().run(t, "audit", "show", rows[0].ID).want(t, 0).out)
	if n := len(f.asked); n != 3 {
		t.Errorf("%d calls", n)
	}
	rows[1].ID = "1" + rows[0].ID[1:]
	got := f.shell().run(t, "audit", "show", rows[0].ID[len(rows[0].ID)-8:]).want(t, 2)
	if !strings.Contains(got.err, "several rows") {
		t.Errorf("err: %s", got.err)
	}
}

func TestExportCopiesTheStream(t *testing.T) {
	f := newFake(t, map[string]answer{"GET /v1/audit": {200, "a,b\n1,2\n", "text/csv"}})
	if got := f.shell().run(t, "audit", "export", "--format", "csv", "--org", "acme").want(t, 0); got.out != "a,b\n1,2\n" {
		t.Errorf("out: %q", got.out)
	}
	if q := f.last(t).query; q != "format=csv&org=acme" {
		t.Errorf("asked %s", q)
	}
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	f.shell().run(t, "audit", "export", "-o", path).want(t, 0)
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "a,b\n1,2\n" {
		t.Errorf("%q %v", raw, err)
	}
	if q := f.last(t).query; q != "format=ndjson" {
		t.Errorf("asked %s", q)
	}
	f.shell().run(t, "audit", "export", "-o", path).want(t, 1) // never over a file
}

// growing is a trail that a follower reads: pages newest first, streams oldest
// first, both from since on.
type growing struct {
	mu   sync.Mutex
	rows []wire.Row
	// asked has the since of each stream.
	asked []string
}

func (g *growing) add(rows ...wire.Row) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rows = append(g.rows, rows...)
}

func (g *growing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	since, _ := time.Parse(time.RFC3339Nano, r.URL.Query().Get("since"))
	var found []wire.Row
	for _, row := range g.rows {
		if !row.At.Before(since) {
			found = append(found, row)
		}
	}
	if strings.Contains(r.Header.Get("Accept"), "ndjson") {
		g.asked = append(g.asked, r.URL.Query().Get("since"))
		for _, row := range found {
			_ = json.NewEncoder(w).Encode(row)
		}
		return
	}
	page := wire.RowPage{}
	for i := len(found) - 1; i >= 0; i-- {
		page.Rows = append(page.Rows, found[i])
	}
	_ = json.NewEncoder(w).Encode(page)
}

func TestTailShowsEachRowOnceEvenWhenCommitsComeOutOfOrder(t *testing.T) {
	g := &growing{}
	for n := range 20 {
		g.add(rowAt(100+n, "reply.post", "applied"))
	}
	srv := httptest.NewServer(g)
	t.Cleanup(srv.Close)
	ctx, cancel := context.WithCancel(t.Context())
	out := newWatcher()
	s := shell{env: []string{"STET_URL=" + srv.URL, "STET_KEY=k"}, ctx: ctx, tick: make(chan time.Time)}
	code := make(chan int, 1)
	go func() { code <- s.runTo(out, "audit", "tail", "-n", "2") }()

	s.tick <- noon // the beginning was shown before the first tick is taken
	g.add(rowAt(130, "reply.edit", "applied"))
	s.tick <- noon
	g.add(rowAt(125, "reply.retract", "applied")) // committed late, with an earlier time
	s.tick <- noon
	s.tick <- noon // the look before has ended
	cancel()
	if c := <-code; c != 0 {
		t.Errorf("exit code %d", c)
	}
	golden(t, "audit-tail.txt", out.String())
	g.mu.Lock()
	defer g.mu.Unlock()
	if last := g.asked[len(g.asked)-1]; last != noon.Add(120*time.Second).Format(time.RFC3339Nano) {
		t.Errorf("the last look was from %s on", last)
	}
}

func TestTailWithJSONIsOneRowALine(t *testing.T) {
	g := &growing{}
	g.add(rowAt(1, "reply.post", "applied"), rowAt(2, "reply.edit", "applied"))
	srv := httptest.NewServer(g)
	t.Cleanup(srv.Close)
	ctx, cancel := context.WithCancel(t.Context())
	out := newWatcher()
	s := shell{env: []string{"STET_URL=" + srv.URL, "STET_KEY=k"}, ctx: ctx, tick: make(chan time.Time)}
	code := make(chan int, 1)
	go func() { code <- s.runTo(out, "audit", "tail", "--json") }()
	s.tick <- noon
	cancel()
	if c := <-code; c != 0 {
		t.Errorf("exit code %d", c)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines: %s", len(lines), out)
	}
	for i, line := range lines {
		var row wire.Row
		if err := json.Unmarshal([]byte(line), &row); err != nil || row.At != noon.Add(time.Duration(i+1)*time.Second) {
			t.Errorf("line %d: %s", i, line)
		}
	}
}
