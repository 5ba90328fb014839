package sqlite

import (
	"context"
	"math"
	"slices"
	"time"

	"stet/audit"
)

const (
	// streamPage is how many rows a stream holds at a time.
	streamPage = 500
	// streamSpan is how many rows a stream looks through at a time, so that no
	// long reading keeps the write-ahead log from being folded back.
	streamSpan = 5000
)

const sqlSpanEnd = `select at, id from audit_row where at >= ? and (at > ? or id > ?)
	order by at, id limit 1 offset ?`

// Each calls fn with every matching row, oldest first, and stops at its error.
// It reads in pages, each on its own: a row that is added meanwhile is seen too.
func (s *Store) Each(ctx context.Context, f audit.Filter, fn func(audit.Row) error) error {
	if _, err := where(f); err != nil {
		return err
	}
	from, end := bounds(f)
	f.Since, f.Until = time.Time{}, time.Time{}
	if narrow(f) {
		return s.eachBetween(ctx, f, from, end, fn)
	}
	for {
		to := end
		more, err := one(s.reading(ctx).row(sqlSpanEnd, from.at, from.at, from.id, streamSpan), &to.at, &to.id)
		if err != nil {
			return asAudit(err)
		}
		if !more || to.at >= end.at {
			return s.eachBetween(ctx, f, from, end, fn)
		}
		if err := s.eachBetween(ctx, f, from, to, fn); err != nil {
			return err
		}
		from = to
	}
}

// bounds are a filter's times as places, so that a stream that moves on has one
// bound at each end: of two, SQLite might search by the wider one.
func bounds(f audit.Filter) (from, end place) {
	from, end = place{at: math.MinInt64}, place{at: math.MaxInt64}
	if !f.Since.IsZero() {
		from.at = ceilMicro(f.Since)
	}
	if !f.Until.IsZero() {
		end.at = ceilMicro(f.Until)
	}
	return from, end
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

// eachBetween streams the rows after one place, up to and with another.
func (s *Store) eachBetween(
	ctx context.Context, f audit.Filter, from, to place, fn func(audit.Row) error,
) error {
	for {
		w, err := where(f)
		if err != nil {
			return err
		}
		w.after(from)
		w.upTo(to)
		page, err := s.page(ctx, w, "at, id", streamPage)
		if err != nil {
			return err
		}
		for _, r := range page {
			if err := fn(r); err != nil {
				return err
			}
			from = place{r.At.UnixMicro(), r.ID}
		}
		if len(page) < streamPage {
			return nil
		}
	}
}
