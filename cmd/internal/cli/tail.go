package cli

import (
	"time"

	"stet/gateway/client"
	"stet/gateway/wire"
)

type auditTail struct {
	where    `embed:""`
	filter   `embed:""`
	Lines    int           `short:"n" default:"10" help:"Begin with so many rows that are there already."`
	Interval time.Duration `default:"1s" help:"How often to ask."`
}

// overlap is how far back each look reaches again: a row's time is taken
// before its commit, so a later row can be seen before an earlier one.
const overlap = 10 * time.Second

// Run follows the trail until the context ends, which is no failure.
func (c auditTail) Run(r *run) error {
	if c.Interval <= 0 {
		return usagef("--interval: %s is not a positive duration", c.Interval)
	}
	gw, f, err := r.auditor(c.where, c.filter)
	if err != nil {
		return err
	}
	t := follower{run: r, gw: gw, filter: f, seen: map[string]time.Time{}}
	if err := t.begin(c.Lines); err != nil {
		return err
	}
	next, stop := r.tick(c.Interval)
	defer stop()
	for {
		select {
		case <-r.ctx.Done():
			return nil
		case <-next:
			if err := t.look(); err != nil && r.ctx.Err() == nil {
				return err
			}
		}
	}
}

// follower prints each row once.
type follower struct {
	*run
	gw     *client.Client
	filter client.Filter
	seen   map[string]time.Time
	newest time.Time
	// floor is the time of the oldest row that the beginning looked at.
	floor  time.Time
	headed bool
}

// begin shows the last n rows, and takes all that are there as seen.
func (t *follower) begin(n int) error {
	limit := max(n, shownRows)
	page, err := t.gw.Rows(t.ctx, t.filter, limit, "")
	if err != nil {
		return err
	}
	if len(page.Rows) == limit {
		t.floor = page.Rows[limit-1].At
	}
	for i := len(page.Rows) - 1; i >= 0; i-- {
		if i < n {
			if err := t.show(page.Rows[i]); err != nil {
				return err
			}
		}
		t.note(page.Rows[i])
	}
	return nil
}

// look shows what is new. Without any row yet it looks at everything.
func (t *follower) look() error {
	f := t.filter
	f.Since = latest(f.Since, t.floor)
	if !t.newest.IsZero() {
		f.Since = latest(f.Since, t.newest.Add(-overlap))
	}
	for row, err := range t.gw.EachRow(t.ctx, f) {
		if err != nil {
			return err
		}
		if _, old := t.seen[row.ID]; old {
			continue
		}
		if err := t.show(row); err != nil {
			return err
		}
		t.note(row)
	}
	t.forget()
	return nil
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (t *follower) note(row wire.Row) {
	t.seen[row.ID] = row.At
	if row.At.After(t.newest) {
		t.newest = row.At
	}
}

// forget drops what no later look can reach any more.
func (t *follower) forget() {
	for id, at := range t.seen {
		if at.Before(t.newest.Add(-2 * overlap)) {
			delete(t.seen, id)
		}
	}
}

// show prints a row; columns have fixed widths, since no later row is known.
func (t *follower) show(row wire.Row) error {
	if t.json {
		return printLine(t.Out, row)
	}
	one := table{}
	if !t.headed {
		t.headed = true
		one.head = rowHead()
	}
	one.add(rowCells(row)...)
	one.least = rowWidths()
	return one.print(t.run)
}
