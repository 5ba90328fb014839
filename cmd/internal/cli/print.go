package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// width is what a table is made to fit in, in characters.
const width = 100

// The colours in use, as terminals take them.
const (
	plain  = ""
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// paint colours a text for standard output, if a person sees it there.
func (r *run) paint(colour, s string) string { return r.colour(r.OutTerminal, colour, s) }

// paintErr colours a text for standard error, if a person sees it there.
func (r *run) paintErr(colour, s string) string { return r.colour(r.ErrTerminal, colour, s) }

func (r *run) colour(terminal bool, colour, s string) string {
	if colour == plain || s == "" || !terminal || r.env("NO_COLOR") != "" || r.env("TERM") == "dumb" {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}

// say prints text.
func (r *run) say(format string, args ...any) error {
	_, err := fmt.Fprintf(r.Out, format, args...)
	return err
}

// printJSON prints one value, indented.
func (r *run) printJSON(v any) error {
	e := json.NewEncoder(r.Out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// printLine prints one value as a line of JSON.
func printLine(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// cell is a piece of a table with its colour.
type cell struct {
	text, colour string
}

func text(s string) cell { return cell{text: s} }

// table is rows of cells under a head.
type table struct {
	head []string
	rows [][]cell
	// least are widths that columns have whatever stands in them.
	least []int
}

func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

// print writes the table with aligned columns; the last one is not padded.
func (t *table) print(r *run) error {
	widths := t.widths()
	var b strings.Builder
	if len(t.head) > 0 {
		head := make([]cell, len(t.head))
		for i, h := range t.head {
			head[i] = cell{strings.ToUpper(h), dim}
		}
		r.line(&b, widths, head)
	}
	for _, row := range t.rows {
		r.line(&b, widths, row)
	}
	_, err := io.WriteString(r.Out, b.String())
	return err
}

func (t *table) widths() []int {
	w := make([]int, max(len(t.head), len(t.least)))
	copy(w, t.least)
	for i, h := range t.head {
		w[i] = max(w[i], utf8.RuneCountInString(h))
	}
	for _, row := range t.rows {
		for i, c := range row {
			if i == len(w) {
				w = append(w, 0)
			}
			w[i] = max(w[i], utf8.RuneCountInString(clean(c.text)))
		}
	}
	return w
}

func (r *run) line(b *strings.Builder, widths []int, row []cell) {
	for i, c := range row {
		s := clean(c.text)
		b.WriteString(r.paint(c.colour, s))
		if i < len(row)-1 {
			b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(s)+2))
		}
	}
	b.WriteByte('\n')
}

// clean keeps control characters, which a name may hold, away from a terminal.
func clean(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return '·'
		}
		return c
	}, s)
}

// cut shortens a text to n characters and says so.
func cut(s string, n int) string {
	rs := []rune(s)
	if len(rs) <= n {
		return s
	}
	return string(rs[:n-1]) + "…"
}

// pairs prints names and values, the names aligned.
func (r *run) pairs(rows ...[2]string) error {
	var t table
	for _, row := range rows {
		if row[1] != "" {
			t.add(cell{row[0], dim}, text(row[1]))
		}
	}
	return t.print(r)
}
