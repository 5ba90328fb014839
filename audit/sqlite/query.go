package sqlite

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"stet/audit"
)

// maxPage bounds a page.
const maxPage = 1000

const sqlPlaceOf = `select at, id from audit_row where id = ?`

// place is where a row stands: rows are ordered by the time of their commit,
// and within one commit by their ids.
type place struct {
	at int64
	id string
}

func (w *clause) before(p place) { w.add("at <= ? and (at < ? or id < ?)", p.at, p.at, p.id) }
func (w *clause) after(p place)  { w.add("at >= ? and (at > ? or id > ?)", p.at, p.at, p.id) }
func (w *clause) upTo(p place)   { w.add("at <= ? and (at < ? or id <= ?)", p.at, p.at, p.id) }

// Query answers a page of rows, newest first. A page before a row that isn't
// there is [audit.ErrNotFound].
func (s *Store) Query(ctx context.Context, f audit.Filter, p audit.Page) ([]audit.Row, error) {
	var from place
	if p.Before != "" {
		found, err := one(s.reading(ctx).row(sqlPlaceOf, p.Before), &from.at, &from.id)
		if err == nil && !found {
			err = audit.ErrNotFound
		}
		if err != nil {
			return nil, asAudit(err)
		}
		if from.at < ceilMicro(f.Until) {
			f.Until = time.Time{} // the place is the nearer bound
		}
	}
	w, err := where(f)
	if err != nil {
		return nil, err
	}
	if p.Before != "" {
		w.before(from)
	} else if f.Since.IsZero() && f.Until.IsZero() {
		w.add("at >= ?", 0) // without any bound SQLite would sort the whole table
	}
	limit := p.Limit
	if limit <= 0 || limit > maxPage {
		limit = maxPage
	}
	return s.page(ctx, w, "at desc, id desc", limit)
}

func (s *Store) page(ctx context.Context, w *clause, order string, limit int) ([]audit.Row, error) {
	q := `select ` + rowColumns + ` from audit_row` + w.sql() + ` order by ` + order + ` limit ?`
	rows, err := s.reading(ctx).rows(q, append(w.args, limit)...)
	all, err := collect(rows, err, scanRow)
	return all, asAudit(err)
}

// Row finds one row.
func (s *Store) Row(ctx context.Context, id string) (audit.Row, error) {
	r, found, err := orMissing(scanRow(s.reading(ctx).row(sqlRowByID, id).Scan))
	if err == nil && !found {
		err = audit.ErrNotFound
	}
	return r, asAudit(err)
}

// Count counts matching rows by columns, largest group first.
func (s *Store) Count(ctx context.Context, f audit.Filter, by []audit.Column) ([]audit.Group, error) {
	w, err := where(f)
	if err != nil {
		return nil, err
	}
	cols := make([]string, len(by))
	for i, c := range by {
		if cols[i], err = expression(c); err != nil {
			return nil, err
		}
	}
	q := `select ` + strings.Join(append(slices.Clone(cols), "count(*)"), ", ") + ` from audit_row` + w.sql()
	if len(cols) > 0 {
		places := make([]string, len(cols))
		for i := range cols {
			places[i] = strconv.Itoa(i + 1)
		}
		list := strings.Join(places, ", ")
		q += ` group by ` + list + ` order by count(*) desc, ` + list
	}
	rows, err := s.reading(ctx).rows(q, w.args...)
	all, err := collect(rows, err, func(scan func(...any) error) (audit.Group, error) { return scanGroup(scan, by) })
	return all, asAudit(err)
}

func scanGroup(scan func(...any) error, by []audit.Column) (audit.Group, error) {
	g := audit.Group{Values: make(map[audit.Column]string, len(by))}
	values := make([]string, len(by))
	into := make([]any, 0, len(by)+1)
	for i := range values {
		into = append(into, &values[i])
	}
	err := scan(append(into, &g.Rows)...)
	for i, c := range by {
		g.Values[c] = values[i]
		if c == "dry_run" {
			g.Values[c] = strconv.FormatBool(values[i] == "1")
		}
	}
	return g, err
}
