package sqlite

import (
	"context"
	"slices"

	"stet/audit"
)

const (
	// streamPage is how many rows a stream holds at a time.
	streamPage = 500
	// streamSpan is how many rows a stream looks through at a time, so that no
	// long reading keeps the write-ahead log from being folded back.
	streamSpan = 5000
)

const sqlSpanEnd = `select id from audit_row where id > ? order by id limit 1 offset ?`

// Each calls fn with every matching row, oldest first, and stops at its error.
// It reads in pages: a row that is added meanwhile is seen if its id comes
// after those seen so far.
func (s *Store) Each(ctx context.Context, f audit.Filter, fn func(audit.Row) error) error {
	if _, err := where(f); err != nil {
		return err
	}
	if narrow(f) {
		return s.eachIn(ctx, f, span{}, fn)
	}
	for from := ""; ; {
		var to string
		more, err := one(s.reading(ctx).row(sqlSpanEnd, from, streamSpan), &to)
		if err != nil {
			return asAudit(err)
		}
		if err := s.eachIn(ctx, f, span{from, to}, fn); err != nil || !more {
			return err
		}
		from = to
	}
}

// narrow reports that an index leads to the matching rows without a look at
// the others.
func narrow(f audit.Filter) bool {
	for _, c := range []audit.Column{"session", "turn", "attempt", "reason", "failure"} {
		if v := f.Equal[c]; len(v) > 0 && !slices.Contains(v, "") {
			return true
		}
	}
	return false
}

// span is the rows after one id, up to and with another; empty: no bound.
type span struct{ after, upTo string }

func (s *Store) eachIn(ctx context.Context, f audit.Filter, in span, fn func(audit.Row) error) error {
	for {
		w, err := where(f)
		if err != nil {
			return err
		}
		if in.after != "" {
			w.add("id > ?", in.after)
		}
		if in.upTo != "" {
			w.add("id <= ?", in.upTo)
		}
		page, err := s.page(ctx, w, "asc", streamPage)
		if err != nil {
			return err
		}
		for _, r := range page {
			if err := fn(r); err != nil {
				return err
			}
			in.after = r.ID
		}
		if len(page) < streamPage {
			return nil
		}
	}
}
