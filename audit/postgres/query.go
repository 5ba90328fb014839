package postgres

import (
	"context"
	"strconv"
	"strings"

	"stet/audit"
)

const (
	// maxPage bounds a page.
	maxPage = 1000
	// streamPage is how many rows a stream holds at a time.
	streamPage = 500
)

const sqlPlaceOf = `select at, id from audit_row where id = $1`

// place is where a row stands: rows are ordered by the time of their commit,
// and within one commit by their ids.
type place struct {
	at int64
	id string
}

// Query answers a page of rows, newest first. A page before a row that isn't
// there is [audit.ErrNotFound].
func (s *Store) Query(ctx context.Context, f audit.Filter, p audit.Page) ([]audit.Row, error) {
	w, err := where(f)
	if err != nil {
		return nil, err
	}
	if p.Before != "" {
		var from place
		found, err := one(s.pool.QueryRow(ctx, sqlPlaceOf, stored(p.Before)), &from.at, &from.id)
		if err == nil && !found {
			err = audit.ErrNotFound
		}
		if err != nil {
			return nil, asAudit(err)
		}
		w.add("(at, id) < ($?, $?)", from.at, from.id)
	}
	limit := p.Limit
	if limit <= 0 || limit > maxPage {
		limit = maxPage
	}
	return s.page(ctx, w, "at desc, id desc", limit)
}

func (s *Store) page(ctx context.Context, w *clause, order string, limit int) ([]audit.Row, error) {
	q := `select ` + rowColumns + ` from audit_row` + w.sql() + ` order by ` + order + ` limit ` + w.arg(limit)
	rows, err := s.pool.Query(ctx, q, w.args...)
	all, err := collect(rows, err, scanRow)
	return all, asAudit(err)
}

// Each calls fn with every matching row, oldest first, and stops at its error.
// It reads in pages, each on its own: a row that is added meanwhile is seen too,
// unless its time is before that of a row that was passed on already.
func (s *Store) Each(ctx context.Context, f audit.Filter, fn func(audit.Row) error) error {
	var from *place
	for {
		w, err := where(f)
		if err != nil {
			return err
		}
		if from != nil {
			w.add("(at, id) > ($?, $?)", from.at, from.id)
		}
		page, err := s.page(ctx, w, "at, id", streamPage)
		if err != nil {
			return err
		}
		for _, r := range page {
			if err := fn(r); err != nil {
				return err
			}
			from = &place{r.At.UnixMicro(), stored(r.ID)}
		}
		if len(page) < streamPage {
			return nil
		}
	}
}

// Row finds one row.
func (s *Store) Row(ctx context.Context, id string) (audit.Row, error) {
	r, found, err := orMissing(scanRow(s.pool.QueryRow(ctx, sqlRowByID, stored(id)).Scan))
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
	var columns, places []string
	for i, c := range by {
		e, err := expression(c)
		if err != nil {
			return nil, err
		}
		columns, places = append(columns, e), append(places, strconv.Itoa(i+1))
	}
	q := `select ` + strings.Join(append(columns, "count(*)"), ", ") + ` from audit_row` + w.sql()
	if len(by) > 0 {
		list := strings.Join(places, ", ")
		q += ` group by ` + list + ` order by count(*) desc, ` + list
	}
	rows, err := s.pool.Query(ctx, q, w.args...)
	all, err := collect(rows, err, func(scan func(...any) error) (audit.Group, error) { return scanGroup(scan, by) })
	return all, asAudit(err)
}

func scanGroup(scan func(...any) error, by []audit.Column) (audit.Group, error) {
	g := audit.Group{Values: make(map[audit.Column]string, len(by))}
	values := make([]string, len(by))
	to := make([]any, 0, len(by)+1)
	for i := range values {
		to = append(to, into(&values[i]))
	}
	err := scan(append(to, &g.Rows)...)
	for i, c := range by {
		g.Values[c] = values[i]
	}
	return g, err
}
