package postgres

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"stet/audit"
)

// clause collects what must hold; a term's $ stands for its argument.
type clause struct {
	terms []string
	args  []any
}

func (w *clause) add(term string, args ...any) {
	for _, a := range args {
		term = strings.Replace(term, "$?", w.arg(a), 1)
	}
	w.terms = append(w.terms, term)
}

// arg adds an argument and answers its place in the statement.
func (w *clause) arg(a any) string {
	w.args = append(w.args, a)
	return "$" + strconv.Itoa(len(w.args))
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
	w := &clause{}
	for _, c := range slices.Sorted(maps.Keys(f.Equal)) {
		if err := w.equal(c, f.Equal[c]); err != nil {
			return nil, err
		}
	}
	if !f.Since.IsZero() {
		w.add("at >= $?", ceilMicro(f.Since))
	}
	if !f.Until.IsZero() {
		w.add("at < $?", ceilMicro(f.Until))
	}
	return w, nil
}

func (w *clause) equal(c audit.Column, values []string) error {
	if len(values) == 0 {
		return nil
	}
	if _, err := audit.ParseColumn(string(c)); err != nil {
		return err
	}
	arg, err := argument(c, values)
	if err != nil {
		return err
	}
	if c == "attempt" {
		w.attempts(arg, slices.Contains(values, ""))
		return nil
	}
	w.add(string(c)+" = any ($?)", arg)
	if (c == "reason" || c == "failure") && !slices.Contains(values, "") {
		w.add(string(c) + " <> ''") // lets the index of those rows serve
	}
	return nil
}

// attempts names both kinds of row, so that the two indexes by attempt serve.
func (w *clause) attempts(arg any, orNone bool) {
	term := "(attempt = any ($?) and kind = 'outcome') or (attempt = any ($?) and kind = 'note')"
	if orNone {
		term += " or attempt is null"
	}
	w.add("("+term+")", arg, arg)
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

// expression is a column as text, for counting.
func expression(c audit.Column) (string, error) {
	if _, err := audit.ParseColumn(string(c)); err != nil {
		return "", err
	}
	if c == "attempt" {
		return "coalesce(attempt, '')", nil
	}
	return string(c) + "::text", nil
}

func argument(c audit.Column, values []string) (any, error) {
	switch c {
	case "dry_run":
		return each1(values, strconv.ParseBool, errors.New("dry_run is true or false"))
	case "status":
		number := func(v string) (int32, error) {
			n, err := strconv.ParseInt(v, 10, 32)
			return int32(n), err
		}
		return each1(values, number, errors.New("status is a number"))
	default:
		return each1(values, func(v string) (string, error) { return stored(v), nil }, nil)
	}
}

// each1 reads all values, or answers what is wrong with them.
func each1[T any](values []string, read func(string) (T, error), wrong error) ([]T, error) {
	all := make([]T, len(values))
	for i, v := range values {
		var err error
		if all[i], err = read(v); err != nil {
			return nil, wrong
		}
	}
	return all, nil
}
