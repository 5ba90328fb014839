package httpapi

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"stet/audit"
	"stet/gateway/outcome"
	"stet/gateway/wire"
)

// write adds rows to the trail, one by one, so that they are in order.
func (d *door) write(n int, change func(i int, r *audit.Row)) []audit.Row {
	d.Helper()
	rows := make([]audit.Row, n)
	for i := range rows {
		rows[i] = audit.Row{
			ID: audit.NewID(), Org: "acme", Platform: "room", Session: "s", Kind: audit.Note,
			Action: audit.ActionProvenance, Outcome: outcome.Applied, Detail: audit.Detail{ID: "m"}.JSON(),
		}
		if change != nil {
			change(i, &rows[i])
		}
		d.must(d.store.Note(d.Context(), rows[i]))
	}
	return rows
}

func TestPagesShowEveryRowOnceNewestFirst(t *testing.T) {
	d := open(t)
	rows := d.write(25, nil)
	next, got := "", []string{}
	for pages := 1; ; pages++ {
		var page wire.RowPage
		d.ask("GET", "/v1/audit?limit=10&session=s&before="+next, d.ops, "").want(200).into(&page)
		for _, r := range page.Rows {
			got = append(got, r.ID)
		}
		if next = page.Next; next == "" {
			if pages != 3 {
				t.Errorf("%d pages", pages)
			}
			break
		}
	}
	if len(got) != len(rows) {
		t.Fatalf("%d rows, want %d", len(got), len(rows))
	}
	for i, id := range got {
		if want := rows[len(rows)-1-i].ID; id != want {
			t.Fatalf("row %d is %s, want %s", i, id, want)
		}
	}
	var page wire.RowPage
	d.ask("GET", "/v1/audit?limit=25&session=s", d.ops, "").want(200).into(&page)
	if page.Next != "" {
		t.Error("a full last page promises another one")
	}
}

func TestTheLargestPageKnowsThatThereIsAnother(t *testing.T) {
	d := open(t)
	rows := make([]audit.Row, 501)
	for i := range rows {
		rows[i] = audit.Row{ID: audit.NewID(), Org: "acme", Session: "s", Kind: audit.Note, Action: audit.ActionProvenance}
	}
	d.must(d.store.Note(t.Context(), rows...))
	var page wire.RowPage
	d.ask("GET", "/v1/audit?limit=500&session=s", d.ops, "").want(200).into(&page)
	if len(page.Rows) != 500 || page.Next != page.Rows[499].ID {
		t.Errorf("%d rows, next %q", len(page.Rows), page.Next)
	}
}

func TestARowIsOneFlatObjectWithTheNamesOfTheContract(t *testing.T) {
	d := open(t)
	row := d.write(1, nil)[0]
	var got map[string]any
	d.ask("GET", "/v1/audit/"+row.ID, d.ops, "").want(200).into(&got)
	for _, name := range csvHeader {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
	if len(got) != len(csvHeader) {
		t.Errorf("%d names, want %d", len(got), len(csvHeader))
	}
	var want map[string]any
	b, err := json.Marshal(row)
	d.must(err)
	d.must(json.Unmarshal(b, &want))
	want["at"] = got["at"]
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFiltersHoldOnEveryColumn(t *testing.T) {
	d := open(t)
	d.write(3, func(i int, r *audit.Row) {
		if i == 1 {
			r.Org, r.Platform, r.Workspace, r.Surface, r.Principal = "o", "p", "w", "su", "pr"
			r.Session, r.Turn, r.Wake, r.Attempt, r.Kind = "se", "t", "wa", "at", audit.Outcome
			r.Action, r.Outcome, r.Reason, r.Failure = "reply.edit.refused", outcome.Rejected, outcome.PlatformError, outcome.Definitive
			r.Status, r.Code, r.DryRun = 418, "gone", true
		}
	})
	for column, value := range map[string]string{
		"org": "o", "platform": "p", "workspace": "w", "surface": "su", "principal": "pr", "session": "se", "turn": "t",
		"wake": "wa", "attempt": "at", "kind": "outcome&attempt=at", "action": "reply.edit.refused", "outcome": "rejected",
		"reason": "platform-error", "failure": "definitive", "status": "418", "code": "gone", "dry_run": "true",
	} {
		var page wire.RowPage
		d.ask("GET", "/v1/audit?"+column+"="+value, d.ops, "").want(200).into(&page)
		if len(page.Rows) != 1 || page.Rows[0].Session != "se" {
			t.Errorf("%s=%s finds %d rows", column, value, len(page.Rows))
		}
	}
	var page wire.RowPage
	d.ask("GET", "/v1/audit?session=s&session=se", d.ops, "").want(200).into(&page)
	if len(page.Rows) != 3 {
		t.Errorf("two values of a column find %d rows", len(page.Rows))
	}
	at := d.clock.Now().Format(time.RFC3339)
	for query, want := range map[string]int{"since=" + at: 3, "until=" + at: 0} {
		d.ask("GET", "/v1/audit?session=s&session=se&"+query, d.ops, "").want(200).into(&page)
		if len(page.Rows) != want {
			t.Errorf("%s finds %d rows, want %d", query, len(page.Rows), want)
		}
	}
}

func TestStreamsShowEveryRowOldestFirst(t *testing.T) {
	d := open(t)
	rows := d.write(2*flushEvery+7, nil)
	byAccept := d.ask("GET", "/v1/audit?session=s", d.ops, "", "Accept", "application/x-ndjson").want(200)
	byFormat := d.ask("GET", "/v1/audit?session=s&format=ndjson", d.ops, "", "Accept", "text/html").want(200)
	if byAccept.body != byFormat.body || byAccept.header.Get("Content-Type") != typeNDJSON {
		t.Error("the two ways to ask for a stream differ")
	}
	lines := strings.Split(strings.TrimSpace(byAccept.body), "\n")
	records, err := csv.NewReader(strings.NewReader(d.ask("GET", "/v1/audit?session=s&format=csv", d.ops, "").want(200).body)).ReadAll()
	d.must(err)
	if len(lines) != len(rows) || len(records) != len(rows)+1 {
		t.Fatalf("%d lines and %d records for %d rows", len(lines), len(records), len(rows))
	}
	for i, r := range rows {
		var got wire.Row
		d.must(json.Unmarshal([]byte(lines[i]), &got))
		if got.ID != r.ID || records[i+1][0] != r.ID || records[i+1][19] != string(got.Detail) {
			t.Fatalf("place %d has %s and %v, want %s", i, got.ID, records[i+1], r.ID)
		}
	}
	if got := d.ask("GET", "/v1/audit?session=none&format=ndjson", d.ops, "").want(200); got.body != "" {
		t.Errorf("no rows are %q", got.body)
	}
}

// failing is a trail that breaks after some rows.
type failing struct {
	audit.Reader
	after int
}

func (f failing) Each(ctx context.Context, filter audit.Filter, fn func(audit.Row) error) error {
	n := 0
	err := f.Reader.Each(ctx, filter, func(r audit.Row) error {
		if n++; n > f.after {
			return errors.New("the disk is gone")
		}
		return fn(r)
	})
	return err
}

func TestAStreamThatBreaksIsNotTakenForComplete(t *testing.T) {
	for _, after := range []int{0, 3, flushEvery + 1} {
		d := open(t, func(o *Options) { o.Trail = failing{o.Trail, after} })
		d.write(flushEvery+5, nil)
		if after == 0 {
			d.ask("GET", "/v1/audit?format=ndjson", d.ops, "").problem(503, "audit-unavailable")
			continue
		}
		r, err := d.asking(t.Context(), "GET", "/v1/audit?format=ndjson&session=s", d.ops, "")
		if err == nil {
			t.Errorf("after %d rows it ended in order: %d", after, r.status)
		}
		if !strings.Contains(d.log.String(), "the store did not answer") {
			t.Error("no operator hears of it")
		}
	}
}

func TestCountsGroupByColumns(t *testing.T) {
	d := open(t)
	d.write(5, func(i int, r *audit.Row) {
		if i > 2 {
			r.Outcome, r.Reason = outcome.Refused, outcome.NoLocus
		}
	})
	var c wire.Count
	d.ask("GET", "/v1/audit/count?session=s&by=outcome,reason", d.ops, "").want(200).into(&c)
	if c.Total != 5 || len(c.Groups) != 2 || c.Groups[0].Count != 3 || c.Groups[0].By["outcome"] != "applied" || c.Groups[1].By["reason"] != "no-locus" {
		t.Errorf("counted %+v", c)
	}
	d.ask("GET", "/v1/audit/count?session=s", d.ops, "").want(200).into(&c)
	if c.Total != 5 || len(c.Groups) != 1 {
		t.Errorf("without columns, counted %+v", c)
	}
	d.ask("GET", "/v1/audit/count?session=none", d.ops, "").want(200).into(&c)
	if c.Total != 0 {
		t.Errorf("of nothing, counted %+v", c)
	}
}

// stream follows a turn's events as a client sees them.
type stream struct {
	*testing.T
	resp  *http.Response
	lines *bufio.Reader
}

func (d *door) follow(ctx context.Context, turn, last string) *stream {
	d.Helper()
	req, err := http.NewRequestWithContext(ctx, "GET", d.url+"/v1/turns/"+turn+"/events", nil)
	d.must(err)
	req.Header.Set("Authorization", "Bearer "+d.host)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(req)
	d.must(err)
	d.Cleanup(func() { _ = resp.Body.Close() })
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || got != typeSSE {
		d.Fatalf("status %d, type %q", resp.StatusCode, got)
	}
	return &stream{d.T, resp, bufio.NewReader(resp.Body)}
}

// next is the next event, or ok false after a sign of life without one.
func (s *stream) next() (wire.Event, bool) {
	s.Helper()
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			s.Fatalf("the stream ended: %v", err)
		}
		if strings.HasPrefix(line, ": alive") {
			return wire.Event{}, false
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			var e wire.Event
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				s.Fatal(err)
			}
			return e, true
		}
	}
}

func (d *door) resolve(turn string, v audit.Verdict) audit.Row {
	d.Helper()
	return d.write(1, func(_ int, r *audit.Row) {
		r.Turn, r.Attempt, r.Action = turn, "a-"+string(v), audit.ActionResolved
		r.Detail = audit.Detail{Verdict: v, ID: "m-5"}.JSON()
	})[0]
}

func TestEventsShowWhatIsKnownThenWhatComes(t *testing.T) {
	d := open(t, func(o *Options) { o.Heartbeat = time.Hour })
	turn := d.turn("acme").Turn
	known := d.resolve(turn, audit.NotSeen)
	d.resolve("another turn", audit.Seen)
	s := d.follow(t.Context(), turn, "")
	if e, ok := s.next(); !ok || e.ID != known.ID || e.Verdict != "not_seen" || e.Message != "m-5" || e.Attempt != "a-not_seen" || e.Turn != turn {
		t.Errorf("first %+v", e)
	}
	if e, ok := s.next(); ok {
		t.Errorf("another turn's event came: %+v", e)
	}
	live := d.resolve(turn, audit.Seen)
	d.events.Publish(live)
	if e, ok := s.next(); !ok || e.ID != live.ID || e.Verdict != "seen" {
		t.Errorf("then %+v", e)
	}
}

func TestEventsOfAnotherProcessComeByLooking(t *testing.T) {
	d := open(t, func(o *Options) { o.Heartbeat, o.Events = 10*time.Millisecond, nil })
	turn := d.turn("acme").Turn
	s := d.follow(t.Context(), turn, "")
	s.next()
	row := d.resolve(turn, audit.Seen)
	for {
		if e, ok := s.next(); ok {
			if e.ID != row.ID {
				t.Errorf("got %+v", e)
			}
			return
		}
	}
}

func TestAClientThatComesBackMissesAndRepeatsNothing(t *testing.T) {
	d := open(t, func(o *Options) { o.Heartbeat = 5 * time.Millisecond })
	turn := d.turn("acme").Turn
	seen := d.resolve(turn, audit.NotSeen)
	missed := d.resolve(turn, audit.Seen)
	s := d.follow(t.Context(), turn, seen.ID)
	if e, ok := s.next(); !ok || e.ID != missed.ID {
		t.Errorf("got %+v, want what was missed", e)
	}
	for range 5 {
		if e, ok := s.next(); ok {
			t.Errorf("%+v came again", e)
		}
	}
}

func TestEventsEndWhenTheGatewayDrains(t *testing.T) {
	drained := make(chan struct{})
	d := open(t, func(o *Options) {
		o.Heartbeat = time.Hour
		o.Draining = func() bool {
			select {
			case <-drained:
				return true
			default:
				return false
			}
		}
	})
	s := d.follow(t.Context(), d.turn("acme").Turn, "")
	s.next()
	close(drained)
	if _, err := io.ReadAll(s.lines); err != nil {
		t.Errorf("it did not end in order: %v", err)
	}
}

func TestEventsAreForTheTurnsOrganization(t *testing.T) {
	d := open(t)
	turn := d.turn("umbrella").Turn
	d.ask("GET", "/v1/turns/"+turn+"/events", d.acmeHost, "").problem(404, "not-found")
	d.ask("GET", "/v1/turns/none/events", d.host, "").problem(404, "not-found")
}
