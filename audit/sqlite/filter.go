package sqlite

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"stet/audit"
)

// clause collects what must hold.
type clause struct {
	// narrow: another index than the organization's leads to few rows.
	narrow bool
	terms  []string
	args   []any
}

func (w *clause) add(term string, args ...any) {
	w.terms = append(w.terms, term)
	w.args = append(w.args, args...)
}

func (w *clause) sql() string {
	if len(w.terms) == 0 {
		return ""
	}
	return " where " + strings.Join(w.terms, " and ")
}

// where builds the clause of a filter; column names come from a closed set,
// values are parameters.
func where(f audit.Filter) (*clause, error) {
	w := &clause{narrow: narrow(f)}
	for _, c := range slices.Sorted(maps.Keys(f.Equal)) {
		if err := w.equal(c, f.Equal[c]); err != nil {
			return nil, err
		}
	}
	w.between(f.Since, f.Until)
	return w, nil
}

func (w *clause) equal(c audit.Column, values []string) error {
	if len(values) == 0 {
		return nil
	}
	if _, err := expression(c); err != nil {
		return err
	}
	args := make([]any, len(values))
	for i, v := range values {
		arg, err := argument(c, v)
		if err != nil {
			return err
		}
		args[i] = arg
	}
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(args)), ", ")
	if c == "attempt" {
		w.attempts(marks, args)
		return nil
	}
	name := string(c)
	if c == "org" && w.narrow {
		// SQLite knows nothing of how often a value occurs; the sign keeps it
		// from the index of an organization that may have most of the rows.
		name = "+org"
	}
	w.add(name+" in ("+marks+")", args...)
	if (c == "reason" || c == "failure") && !slices.Contains(values, "") {
		w.add(string(c) + " <> ''") // lets the index of those rows serve
	}
	return nil
}

// attempts names both kinds of row, so that the two indexes by attempt serve.
func (w *clause) attempts(marks string, args []any) {
	in := "attempt in (" + marks + ")"
	term := "(" + in + " and kind = 'outcome') or (" + in + " and kind = 'note')"
	all := append(slices.Clone(args), args...)
	if slices.Contains(args, any("")) {
		term += " or attempt is null"
	}
	w.add("("+term+")", all...)
}

func (w *clause) between(since, until time.Time) {
	if !since.IsZero() {
		w.add("at >= ?", ceilMicro(since))
	}
	if !until.IsZero() {
		w.add("at < ?", ceilMicro(until))
	}
}

// ceilMicro rounds a bound up to the precision of stored times, which keeps
// "at or after" and "before" exact for them.
func ceilMicro(t time.Time) int64 {
	n := t.UnixMicro()
	if time.UnixMicro(n).Before(t) {
		n++
	}
	return n
}

func expression(c audit.Column) (string, error) {
	if _, err := audit.ParseColumn(string(c)); err != nil {
		return "", err
	}
	if c == "attempt" {
		return "coalesce(attempt, '')", nil
	}
	return string(c), nil
}

func argument(c audit.Column, v string) (any, error) {
	switch c {
	case "dry_run":
		b, err := strconv.ParseBool(v)
		if err != nil {
			return nil, fmt.Errorf("dry_run is true or false")
		}
		return flag(b), nil
	case "status":
		n, err := strconv.Atoi(v)
		if err != nil {
			return nil, fmt.Errorf("status is a number")
		}
		return n, nil
	default:
		return v, nil
	}
}
