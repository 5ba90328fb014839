package cli

import (
	"strconv"
	"strings"
	"time"

	"stet/gateway/wire"
)

// stamp is a time as tables show it.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

func count(n int) string { return strconv.Itoa(n) }

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// yes is empty for no, so that the line stays out.
func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

func orNone(s, none string) string {
	if s == "" {
		return none
	}
	return s
}

// named lists the names whose flag is set.
func named(flags []bool, names ...string) string {
	var set []string
	for i, name := range names {
		if flags[i] {
			set = append(set, name)
		}
	}
	return strings.Join(set, ", ")
}

func marks(m wire.Marks) string {
	return named([]bool{m.Answered, m.Declined, m.Ambiguous, m.Partial, m.Stale},
		"answered", "declined", "ambiguous", "partial", "stale")
}

func abilities(c wire.Can) string {
	s := named([]bool{c.Reply, c.Edit, c.Retract, c.ReadChannel, c.ReadThread},
		"reply", "edit", "retract", "read channel", "read thread")
	if c.TextLimit > 0 {
		s += " (at most " + strconv.Itoa(c.TextLimit) + " " + c.TextUnit + ")"
	}
	return s
}
