package cli

import (
	"maps"
	"slices"
	"strings"
	"time"

	"stet/gateway/outcome"
	"stet/gateway/wire"
)

// tailLen is how much of an id a table shows: its end, which is random.
const tailLen = 8

// rowTable is rows in the order given.
func rowTable(rows []wire.Row) *table {
	t := &table{head: rowHead()}
	for _, row := range rows {
		t.add(rowCells(row)...)
	}
	return t
}

func rowHead() []string { return []string{"at", "action", "outcome", "why", "session", "row"} }

// rowWidths are the most that the columns of rowCells take; with their gaps
// they are [width].
func rowWidths() []int { return []int{14, 21, 9, 28, 10, tailLen} }

func rowCells(row wire.Row) []cell {
	return []cell{
		{row.At.UTC().Format("01-02 15:04:05"), dim},
		text(row.Action),
		{orNone(row.Outcome, "-"), outcomeColour(row)},
		text(cut(why(row), 28)),
		text(cut(row.Session, 10)),
		{tail(row.ID), dim},
	}
}

// wideTable has every column that a person may look for, ids whole.
func wideTable(rows []wire.Row) *table {
	t := &table{head: []string{"row", "at", "org", "platform", "workspace", "surface", "principal", "session",
		"turn", "wake", "attempt", "action", "outcome", "reason", "failure", "status", "code", "dry run"}}
	for _, row := range rows {
		t.add(text(row.ID), text(row.At.UTC().Format(time.RFC3339Nano)), text(row.Org), text(row.Platform),
			text(row.Workspace), text(row.Surface), text(row.Principal), text(row.Session), text(row.Turn),
			text(row.Wake), text(row.Attempt), text(row.Action), cell{row.Outcome, outcomeColour(row)},
			text(row.Reason), text(row.Failure), text(nonZero(row.Status)), text(row.Code), text(yes(row.DryRun)))
	}
	return t
}

func nonZero(n int) string {
	if n == 0 {
		return ""
	}
	return count(n)
}

// why says in the trail's own words why a row isn't a plain success.
func why(row wire.Row) string {
	reason, code := row.Reason, row.Code
	if reason == string(outcome.PlatformError) && code != "" {
		reason, code = "platform: "+code, ""
	}
	parts := []string{}
	for _, s := range []string{dry(row), reason, code, verdict(row)} {
		if s != "" && !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " ")
}

func dry(row wire.Row) string {
	if row.DryRun {
		return "dry"
	}
	return ""
}

func verdict(row wire.Row) string {
	for _, p := range detailPairs(row.Detail) {
		if p[0] == "· verdict" {
			return p[1]
		}
	}
	return ""
}

func outcomeColour(row wire.Row) string {
	switch row.Outcome {
	case "applied":
		return green
	case "refused", "not_sent":
		return yellow
	case "rejected", "partial":
		return red
	case "ambiguous":
		return "35"
	default:
		return dim
	}
}

// tail is an id's end.
func tail(id string) string {
	if len(id) <= tailLen {
		return id
	}
	return id[len(id)-tailLen:]
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02")
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
