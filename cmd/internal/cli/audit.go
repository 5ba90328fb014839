package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"stet/gateway/client"
	"stet/gateway/wire"
)

type auditCmd struct {
	Query  auditQuery  `cmd:"" help:"List rows, newest first."`
	Count  auditCount  `cmd:"" help:"Count rows by columns."`
	Tail   auditTail   `cmd:"" help:"Follow new rows until interrupted."`
	Show   auditShow   `cmd:"" help:"Show one row whole."`
	Export auditExport `cmd:"" help:"Copy every matching row, oldest first."`
}

// filter are the flags that select rows. Values of one flag are alternatives.
type filter struct {
	Org       []string `group:"Which rows (all that is set must hold):" help:"Organization."`
	Platform  []string `group:"Which rows (all that is set must hold):" help:"Platform."`
	Workspace []string `group:"Which rows (all that is set must hold):" help:"Workspace."`
	Surface   []string `group:"Which rows (all that is set must hold):" help:"Surface."`
	Principal []string `group:"Which rows (all that is set must hold):" help:"Who spoke."`
	Session   []string `group:"Which rows (all that is set must hold):" help:"Session."`
	Turn      []string `group:"Which rows (all that is set must hold):" help:"Turn."`
	Wake      []string `group:"Which rows (all that is set must hold):" help:"Wake."`
	Attempt   []string `group:"Which rows (all that is set must hold):" help:"Attempt."`
	Kind      []string `group:"Which rows (all that is set must hold):" enum:"outcome,note" help:"outcome or note."`
	Action    []string `group:"Which rows (all that is set must hold):" help:"Action, such as reply.edit."`
	Outcome   []string `group:"Which rows (all that is set must hold):" help:"Outcome, such as applied."`
	Reason    []string `group:"Which rows (all that is set must hold):" help:"Reason, such as not-own-post."`
	Failure   []string `group:"Which rows (all that is set must hold):" help:"definitive, ambiguous or partial."`
	Status    []string `group:"Which rows (all that is set must hold):" help:"The platform's HTTP status."`
	Code      []string `group:"Which rows (all that is set must hold):" help:"Code."`
	DryRun    string   `group:"Which rows (all that is set must hold):" name:"dry-run" placeholder:"true|false" help:"Dry runs, or none."`
	Since     string   `group:"Which rows (all that is set must hold):" placeholder:"TIME" help:"From this time on: RFC 3339, or a duration ago such as 10m."`
	Until     string   `group:"Which rows (all that is set must hold):" placeholder:"TIME" help:"Before this time."`
}

// filter is the client's form of the flags.
func (f filter) filter(now time.Time) (client.Filter, error) {
	out := client.Filter{Equal: map[string][]string{}}
	for column, values := range map[string][]string{
		"org": f.Org, "platform": f.Platform, "workspace": f.Workspace, "surface": f.Surface,
		"principal": f.Principal, "session": f.Session, "turn": f.Turn, "wake": f.Wake,
		"attempt": f.Attempt, "kind": f.Kind, "action": f.Action, "outcome": f.Outcome,
		"reason": f.Reason, "failure": f.Failure, "status": f.Status, "code": f.Code,
	} {
		if len(values) > 0 {
			out.Equal[column] = values
		}
	}
	if f.DryRun != "" {
		v, err := strconv.ParseBool(f.DryRun)
		if err != nil {
			return out, usagef("--dry-run: want true or false, not %q", f.DryRun)
		}
		out.Equal["dry_run"] = []string{strconv.FormatBool(v)}
	}
	var err error
	if out.Since, err = when("--since", f.Since, now); err != nil {
		return out, err
	}
	out.Until, err = when("--until", f.Until, now)
	return out, err
}

// when reads a time, or a duration before now.
func when(flag, s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(s); err == nil {
		return now.Add(-d), nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return t, usagef("%s: want a time such as 2006-01-02T15:04:05Z or a duration such as 10m, not %q", flag, s)
	}
	return t, nil
}

type auditQuery struct {
	where  `embed:""`
	filter `embed:""`
	Limit  int    `default:"50" help:"At most so many rows."`
	Before string `placeholder:"ROW" help:"Only rows older than this one: the next page."`
	Wide   bool   `help:"Show every column, ids whole."`
}

// Run lists a page of rows.
func (c auditQuery) Run(r *run) error {
	gw, f, err := r.auditor(c.where, c.filter)
	if err != nil {
		return err
	}
	page, err := gw.Rows(r.ctx, f, c.Limit, c.Before)
	if err != nil {
		return err
	}
	if r.json {
		return r.printJSON(page)
	}
	if len(page.Rows) == 0 {
		r.complain("No row matches.\n")
		return nil
	}
	t := rowTable(page.Rows)
	if c.Wide {
		t = wideTable(page.Rows)
	}
	if err := t.print(r); err != nil {
		return err
	}
	if page.Next != "" {
		r.complain("There is more: --before %s\n", page.Next)
	}
	return nil
}

// auditor makes what every audit verb needs.
func (r *run) auditor(w where, flags filter) (*client.Client, client.Filter, error) {
	f, err := flags.filter(time.Now())
	if err != nil {
		return nil, f, err
	}
	gw, err := r.connect(w, opsPlane)
	return gw, f, err
}

type auditCount struct {
	where  `embed:""`
	filter `embed:""`
	By     []string `default:"action,outcome" help:"The columns to count by."`
}

// Run counts rows.
func (c auditCount) Run(r *run) error {
	gw, f, err := r.auditor(c.where, c.filter)
	if err != nil {
		return err
	}
	got, err := gw.CountRows(r.ctx, f, c.By...)
	if err != nil {
		return err
	}
	if r.json {
		return r.printJSON(got)
	}
	t := table{head: append([]string{"rows"}, c.By...)}
	for _, g := range got.Groups {
		cells := []cell{text(fmt.Sprintf("%*d", len("rows"), g.Count))}
		for _, column := range c.By {
			cells = append(cells, text(orNone(g.By[column], "-")))
		}
		t.add(cells...)
	}
	t.add(cell{fmt.Sprintf("%*d", len("rows"), got.Total), bold}, cell{"all", bold})
	return t.print(r)
}

type auditShow struct {
	where `embed:""`
	Row   string `arg:"" help:"The row's id, or its last eight or more characters if it is one of the newest."`
}

// shownRows is how far back the end of an id is looked for.
const shownRows = 200

// Run shows one row.
func (c auditShow) Run(r *run) error {
	gw, err := r.connect(c.where, opsPlane)
	if err != nil {
		return err
	}
	id, err := fullID(r, gw, c.Row)
	if err != nil {
		return err
	}
	row, err := gw.Row(r.ctx, id)
	if err != nil {
		return err
	}
	if r.json {
		return r.printJSON(row)
	}
	return r.pairs(rowPairs(row)...)
}

// fullID completes the end of an id that a table showed.
func fullID(r *run, gw *client.Client, id string) (string, error) {
	if len(id) < tailLen || len(id) >= 36 {
		return id, nil
	}
	page, err := gw.Rows(r.ctx, client.Filter{}, shownRows, "")
	if err != nil {
		return "", err
	}
	found := ""
	for _, row := range page.Rows {
		if !strings.HasSuffix(row.ID, id) {
			continue
		}
		if found != "" {
			return "", usagef("several rows end in %s: name one whole", id)
		}
		found = row.ID
	}
	return orNone(found, id), nil
}

func rowPairs(row wire.Row) [][2]string {
	pairs := [][2]string{
		{"row", row.ID}, {"at", row.At.UTC().Format(time.RFC3339Nano)}, {"kind", row.Kind}, {"action", row.Action},
		{"outcome", row.Outcome}, {"reason", row.Reason}, {"failure", row.Failure}, {"code", row.Code},
		{"status", nonZero(row.Status)}, {"dry run", yesNo(row.DryRun)}, {"org", row.Org}, {"platform", row.Platform},
		{"workspace", row.Workspace}, {"surface", row.Surface}, {"principal", row.Principal},
		{"session", row.Session}, {"turn", row.Turn}, {"wake", row.Wake}, {"attempt", row.Attempt},
	}
	return append(pairs, detailPairs(row.Detail)...)
}

// detailPairs flattens what a row says beside its columns.
func detailPairs(raw json.RawMessage) [][2]string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	var pairs [][2]string
	for _, name := range sorted(fields) {
		v := string(fields[name])
		if s, err := strconv.Unquote(v); err == nil {
			v = s
		}
		pairs = append(pairs, [2]string{"· " + name, v})
	}
	return pairs
}
