package wire

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Text is a message's text. One that did not arrive as UTF-8, or that holds
// half of a surrogate pair, is kept as a value that [Text.Broken] tells: it is
// the gateway's to refuse, and never mended.
type Text string

// broken is what a text reads as when nobody can say what was meant.
const broken = Text("\xff")

// Broken reports that the text isn't what its author meant.
func (t Text) Broken() bool { return !utf8.ValidString(string(t)) }

// UnmarshalJSON reads a JSON string.
func (t *Text) UnmarshalJSON(raw []byte) error {
	if !utf8.Valid(raw) || loneSurrogate(raw) {
		*t = broken
		return nil
	}
	if len(raw) > 1 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 {
		*t = Text(raw[1 : len(raw)-1])
		return nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	*t = Text(s)
	return nil
}

// MarshalJSON writes a JSON string; a broken text stays broken on its way, so
// that the gateway and not this package says so.
func (t Text) MarshalJSON() ([]byte, error) {
	if t.Broken() {
		return []byte(`"\ud800"`), nil
	}
	return json.Marshal(string(t))
}

// loneSurrogate reports that a raw JSON string escapes one half of a surrogate
// pair without the other.
func loneSurrogate(raw []byte) bool {
	if bytes.IndexByte(raw, '\\') < 0 {
		return false
	}
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		r, ok := escaped(raw[i:])
		switch {
		case !ok:
			i++
		case r < 0xd800 || r > 0xdfff:
			i += 5
		case r >= 0xdc00:
			return true
		default:
			low, ok := escaped(raw[i+6:])
			if !ok || low < 0xdc00 || low > 0xdfff {
				return true
			}
			i += 11
		}
	}
	return false
}

// escaped reads a \uXXXX at the start of raw.
func escaped(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range raw[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
