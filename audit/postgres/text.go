package postgres

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"
)

// escape begins the stored form of text that Postgres would refuse. No id that
// passed the doors begins with a control character.
const escape = "\x01"

// stored is the form in which text goes into the database and into every
// comparison with it. It is the text itself but for what is not UTF-8, holds a
// zero byte or begins like an escaped form; no two texts have the same form.
func stored[S ~string](s S) string {
	t := string(s)
	if utf8.ValidString(t) && strings.IndexByte(t, 0) < 0 && !strings.HasPrefix(t, escape) {
		return t
	}
	return escape + hex.EncodeToString([]byte(t))
}

// restored is the text of a stored form.
func restored(s string) string {
	if !strings.HasPrefix(s, escape) {
		return s
	}
	b, err := hex.DecodeString(s[len(escape):])
	if err != nil {
		return s // nothing that this package wrote
	}
	return string(b)
}

// text scans a stored form into a string of any type; null is empty.
type text[S ~string] struct{ to *S }

func into[S ~string](to *S) *text[S] { return &text[S]{to} }

// ScanText implements [pgtype.TextScanner].
func (t *text[S]) ScanText(v pgtype.Text) error {
	*t.to = ""
	if v.Valid {
		*t.to = S(restored(v.String))
	}
	return nil
}
