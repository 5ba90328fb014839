package audittest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"stet/audit"
	"stet/gateway/outcome"
)

var queryChecks = []check{
	{"pages go back in time without gap or repeat", pages},
	{"a stream goes forward in time over many pages", streams},
	{"a stream stops at the first error", streamStops},
	{"every column of the contract filters", filtersAll},
	{"values of one column are alternatives, columns all hold", filterLogic},
	{"since is inclusive, until exclusive", sinceUntil},
	{"rows are counted by columns, largest group first", counts},
	{"a filter that can't be read is an error", badFilter},
}

func equalRows(a, b audit.Row) bool {
	sameDetail := bytes.Equal(a.Detail, b.Detail)
	a.Detail, b.Detail = nil, nil
	return sameDetail && a.At.Equal(b.At) && fmt.Sprint(a) == fmt.Sprint(b)
}

// fill notes n rows, one a second, and answers their ids from old to new.
func (f *fixture) fill(n int) []string {
	f.Helper()
	rows := make([]audit.Row, n)
	ids := make([]string, n)
	a := reply(f.turn())
	for i := range rows {
		rows[i] = row(a, outcome.Refused, outcome.Denied)
		rows[i].Attempt, rows[i].Wake = "", fmt.Sprint("wake-", i)
		ids[i] = rows[i].ID
	}
	for chunk := range slices.Chunk(rows, 500) {
		f.no(f.Note(f.ctx, chunk...))
	}
	return ids
}

func ids(rows []audit.Row) []string {
	all := make([]string, len(rows))
	for i, r := range rows {
		all[i] = r.ID
	}
	return all
}

func pages(f *fixture) {
	want := f.fill(25)
	slices.Reverse(want)
	var got []string
	p := audit.Page{Limit: 10}
	for _, size := range []int{10, 10, 5, 0} {
		rows, err := f.Query(f.ctx, audit.Filter{}, p)
		f.no(err)
		if len(rows) != size {
			f.Fatalf("a page of %d rows, want %d", len(rows), size)
		}
		got = append(got, ids(rows)...)
		p.Before = got[len(got)-1]
	}
	if !slices.Equal(got, want) {
		f.Error("the pages together are not the rows from new to old")
	}
}

func streams(f *fixture) {
	want := f.fill(6100)
	var got []string
	f.no(f.Each(f.ctx, audit.Filter{}, func(r audit.Row) error { got = append(got, r.ID); return nil }))
	if !slices.Equal(got, want) {
		f.Errorf("%d rows, want %d in order", len(got), len(want))
	}
	narrow := f.all(map[audit.Column][]string{"session": {"s1"}})
	if !slices.Equal(ids(narrow), want) {
		f.Errorf("%d rows of the session, want %d in order", len(narrow), len(want))
	}
	if rows := f.all(map[audit.Column][]string{"wake": {"wake-0", "wake-6099"}}); len(rows) != 2 {
		f.Errorf("%d rows at the ends, want 2", len(rows))
	}
}

func streamStops(f *fixture) {
	f.fill(3)
	stop, seen := errors.New("enough"), 0
	err := f.Each(f.ctx, audit.Filter{}, func(audit.Row) error { seen++; return stop })
	if !errors.Is(err, stop) || seen != 1 {
		f.Errorf("error %v after %d rows", err, seen)
	}
}

// distinct is a row whose every column has a value that no other row has.
func distinct() audit.Row {
	return audit.Row{
		ID: audit.NewID(), Org: "o", Platform: "p", Workspace: "w", Surface: "s", Principal: "pr", Session: "se",
		Turn: "t", Wake: "wk", Attempt: audit.NewID(), Kind: audit.Note, Action: "reply.resolved",
		Outcome: "staged", Reason: "internal", Failure: "partial", Status: 418, Code: "teapot", DryRun: true,
	}
}

func filtersAll(f *fixture) {
	f.fill(3)
	r := distinct()
	f.no(f.Note(f.ctx, r))
	values := map[audit.Column]string{
		"org": r.Org, "platform": r.Platform, "workspace": r.Workspace, "surface": r.Surface,
		"principal": r.Principal, "session": r.Session, "turn": r.Turn, "wake": r.Wake, "attempt": r.Attempt,
		"kind": string(r.Kind), "action": r.Action, "outcome": string(r.Outcome), "reason": string(r.Reason),
		"failure": string(r.Failure), "status": "418", "code": r.Code, "dry_run": "true",
	}
	for _, c := range audit.Columns() {
		v, ok := values[c]
		if !ok {
			f.Errorf("column %s is not tried", c)
		}
		filter := audit.Filter{Equal: map[audit.Column][]string{c: {v}}}
		rows, err := f.Query(f.ctx, filter, audit.Page{Limit: 10})
		if err != nil || len(rows) != 1 || rows[0].ID != r.ID {
			f.Errorf("%s = %s finds %d rows, %v", c, v, len(rows), err)
		}
		groups, err := f.Count(f.ctx, filter, []audit.Column{c})
		if err != nil || len(groups) != 1 || groups[0].Rows != 1 || groups[0].Values[c] != v {
			f.Errorf("%s = %s counts %v, %v", c, v, groups, err)
		}
	}
}

func filterLogic(f *fixture) {
	f.fill(4)
	f.no(f.Note(f.ctx, distinct()))
	for _, tc := range []struct {
		equal map[audit.Column][]string
		want  int
	}{
		{map[audit.Column][]string{"wake": {"wake-0", "wake-2", "wk"}}, 3},
		{map[audit.Column][]string{"wake": {"wake-0", "wk"}, "org": {"acme"}}, 1},
		{map[audit.Column][]string{"attempt": {""}}, 4},
		{map[audit.Column][]string{"failure": {""}}, 4},
		{map[audit.Column][]string{"failure": {"", "partial"}}, 5},
		{map[audit.Column][]string{"failure": {"definitive"}}, 0},
		{map[audit.Column][]string{"dry_run": {"true", "false"}}, 5},
		{map[audit.Column][]string{"org": {}}, 5},
		{nil, 5},
	} {
		if got := len(f.all(tc.equal)); got != tc.want {
			f.Errorf("%v finds %d rows, want %d", tc.equal, got, tc.want)
		}
	}
}

func sinceUntil(f *fixture) {
	at := f.clock.Now()
	for range 3 {
		f.no(f.Note(f.ctx, distinct()))
		f.clock.Advance(time.Second)
	}
	for _, tc := range []struct {
		since, until time.Time
		want         int
	}{
		{at, at.Add(2 * time.Second), 2},
		{at.Add(time.Nanosecond), time.Time{}, 2},
		{at.Add(time.Second), time.Time{}, 2},
		{time.Time{}, at.Add(time.Nanosecond), 1},
		{time.Time{}, at, 0},
	} {
		rows, err := f.Query(f.ctx, audit.Filter{Since: tc.since, Until: tc.until}, audit.Page{Limit: 10})
		if err != nil || len(rows) != tc.want {
			f.Errorf("since %v until %v: %d rows, want %d, %v", tc.since, tc.until, len(rows), tc.want, err)
		}
	}
}

func counts(f *fixture) {
	f.fill(3)
	f.no(f.Note(f.ctx, distinct()))
	groups, err := f.Count(f.ctx, audit.Filter{}, []audit.Column{"org", "dry_run"})
	f.no(err)
	want := []audit.Group{
		{Values: map[audit.Column]string{"org": "acme", "dry_run": "false"}, Rows: 3},
		{Values: map[audit.Column]string{"org": "o", "dry_run": "true"}, Rows: 1},
	}
	if fmt.Sprint(groups) != fmt.Sprint(want) {
		f.Errorf("groups %v, want %v", groups, want)
	}
	all, err := f.Count(f.ctx, audit.Filter{}, nil)
	if err != nil || len(all) != 1 || all[0].Rows != 4 {
		f.Errorf("counted without columns: %v, %v", all, err)
	}
}

func badFilter(f *fixture) {
	for _, equal := range []map[audit.Column][]string{
		{"detail": {"x"}}, {"org; drop table audit_row": {"x"}}, {"dry_run": {"perhaps"}}, {"status": {"many"}},
	} {
		filter := audit.Filter{Equal: equal}
		if _, err := f.Query(f.ctx, filter, audit.Page{}); err == nil {
			f.Errorf("a page by %v", equal)
		}
		if err := f.Each(f.ctx, filter, func(audit.Row) error { return nil }); err == nil {
			f.Errorf("a stream by %v", equal)
		}
	}
	if _, err := f.Count(f.ctx, audit.Filter{}, []audit.Column{"detail"}); err == nil {
		f.Error("a count by detail")
	}
}
