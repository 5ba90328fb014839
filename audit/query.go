package audit

import (
	"fmt"
	"slices"
	"time"
)

// Column names a column that rows can be filtered and counted by.
type Column string

// Columns lists the columns that a filter may name, in the contract's order.
func Columns() []Column {
	return []Column{
		"org", "platform", "workspace", "surface", "principal", "session", "turn", "wake",
		"attempt", "kind", "action", "outcome", "reason", "failure", "status", "code", "dry_run",
	}
}

// ParseColumn reads a column name.
func ParseColumn(s string) (Column, error) {
	if slices.Contains(Columns(), Column(s)) {
		return Column(s), nil
	}
	return "", fmt.Errorf("no column %q to count by; there are %v", s, Columns())
}

// Filter selects rows; all that is set must hold. Values of one column are
// alternatives.
type Filter struct {
	// Equal holds a column's allowed values: for dry_run "true" or "false",
	// for status a number.
	Equal map[Column][]string
	// Since is inclusive, Until exclusive; zero: no bound.
	Since, Until time.Time
}

// Page asks for at most Limit rows that are older than the row Before.
type Page struct {
	Limit  int
	Before string
}

// Group is a count of rows that share their values of the counted columns.
type Group struct {
	Values map[Column]string
	Rows   int64
}
