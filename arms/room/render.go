package room

import (
	"strings"
	"unicode/utf8"

	"stet/arms"
)

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Render keeps the text as it is, with every line end written as a line feed.
// Text that isn't UTF-8 is a fault: it would reach the room changed.
func (a *Arm) Render(t arms.Text) (arms.Rendered, error) {
	if !utf8.ValidString(t.Body) {
		return "", &arms.Fault{Certainty: arms.NotSent, Code: arms.CodeInvalid}
	}
	return arms.Rendered(newlines.Replace(t.Body)), nil
}
