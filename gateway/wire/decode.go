package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// DecodeError is a body that isn't what the request's type says.
type DecodeError struct {
	// Path is where, such as "wake.id"; empty for the body itself.
	Path string
	// Rule says what would be right. It never holds a value.
	Rule string
}

// Error names the place and the rule.
func (e *DecodeError) Error() string {
	if e.Path == "" {
		return "the body " + e.Rule
	}
	return e.Path + " " + e.Rule
}

// Decode reads a request body into v, a pointer to a request of this package.
// What it takes, every reader of JSON reads the same: one object of UTF-8, no
// name twice, none that the type doesn't have by that exact name, no null, no
// other type, nothing after it. Required fields, lengths and closed sets are
// those of the struct tags. The only error is a [*DecodeError].
func Decode(data []byte, v any) error {
	t := reflect.TypeOf(v).Elem()
	if err := checkSyntax(data); err != nil {
		return err
	}
	r := reader{data: data, utf8: utf8.Valid(data)}
	if err := r.value(shapeOf(t)); err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return &DecodeError{Rule: "could not be read"}
	}
	return nil
}

func checkSyntax(data []byte) error {
	if json.Valid(data) {
		return nil
	}
	var skip json.RawMessage
	err := json.Unmarshal(data, &skip)
	var syntax *json.SyntaxError
	switch {
	case len(strings.TrimSpace(string(data))) == 0:
		return &DecodeError{Rule: "is missing: send a JSON object"}
	case !errors.As(err, &syntax):
		return &DecodeError{Rule: "is not JSON"}
	case strings.Contains(err.Error(), "after top-level value"):
		return &DecodeError{Rule: fmt.Sprintf("holds something after the JSON object, at byte %d", syntax.Offset)}
	case errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(err.Error(), "unexpected end"):
		return &DecodeError{Rule: "is not JSON: it ends too early"}
	default:
		return &DecodeError{Rule: fmt.Sprintf("is not JSON, from byte %d on", syntax.Offset)}
	}
}

// reader walks over bytes that are known to be valid JSON.
type reader struct {
	data []byte
	pos  int
	// utf8: all of data is, so no string has to be looked at again.
	utf8 bool
}

func (r *reader) space() {
	for r.pos < len(r.data) {
		switch r.data[r.pos] {
		case ' ', '\t', '\r', '\n':
			r.pos++
		default:
			return
		}
	}
}

// next is the first byte of what follows.
func (r *reader) next() byte {
	r.space()
	return r.data[r.pos]
}

// str reads a string with its quotes.
func (r *reader) str() []byte {
	start := r.pos
	for r.pos++; r.data[r.pos] != '"'; r.pos++ {
		if r.data[r.pos] == '\\' {
			r.pos++
		}
	}
	r.pos++
	return r.data[start:r.pos]
}

// scalar skips a number or a literal.
func (r *reader) scalar() {
	for r.pos < len(r.data) && !strings.ContainsRune(",]} \t\r\n", rune(r.data[r.pos])) {
		r.pos++
	}
}

var typeNames = map[kind]string{
	kindString: "a string", kindText: "a string", kindBool: "true or false",
	kindObject: "an object", kindMap: "an object of strings", kindList: "a list",
}

// firstBytes tell a JSON value's type.
var firstBytes = map[kind]string{
	kindString: `"`, kindText: `"`, kindBool: "tf",
	kindObject: "{", kindMap: "{", kindList: "[",
}

func (r *reader) value(s *shape) error {
	if s.kind == kindAny {
		return r.anything()
	}
	if !strings.ContainsRune(firstBytes[s.kind], rune(r.next())) {
		return &DecodeError{Rule: "must be " + typeNames[s.kind]}
	}
	switch s.kind {
	case kindObject, kindMap:
		return r.object(s)
	case kindList:
		return r.list(s)
	case kindBool:
		r.scalar()
		return nil
	default:
		return r.text(s)
	}
}

// text checks a string, but not a [Text]: what is broken in one is the
// gateway's to refuse.
func (r *reader) text(s *shape) error {
	raw := r.str()
	if s.kind == kindText {
		return nil
	}
	v, ok := r.unquote(raw)
	if !ok {
		return &DecodeError{Rule: "must be valid UTF-8"}
	}
	if len(s.enum) > 0 && !slices.Contains(s.enum, v) {
		return &DecodeError{Rule: "must be one of " + strings.Join(s.enum, ", ")}
	}
	if s.maxLength > 0 && utf8.RuneCountInString(v) > s.maxLength {
		return &DecodeError{Rule: fmt.Sprintf("must be at most %d characters", s.maxLength)}
	}
	return nil
}

// unquote reads a string; false when it isn't UTF-8 or escapes half of a
// surrogate pair.
func (r *reader) unquote(raw []byte) (string, bool) {
	if !r.utf8 && !utf8.Valid(raw) || loneSurrogate(raw) {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	var v string
	err := json.Unmarshal(raw, &v)
	return v, err == nil
}

// each calls fn at every value of an object or list, past the name of an
// object's member, and gives that name.
func (r *reader) each(end byte, fn func(name string) error) error {
	for r.pos++; r.next() != end; {
		name := ""
		if end == '}' {
			var ok bool
			if name, ok = r.unquote(r.str()); !ok {
				return &DecodeError{Rule: "has a name that is not valid UTF-8"}
			}
			r.space()
			r.pos++ // the colon
		}
		if err := fn(name); err != nil {
			return err
		}
		if r.next() == ',' {
			r.pos++
			r.space()
		}
	}
	r.pos++
	return nil
}

func (r *reader) object(s *shape) error {
	seen := make(map[string]bool, len(s.names))
	err := r.each('}', func(name string) error {
		if seen[name] {
			return &DecodeError{Path: shown(name), Rule: "is there twice"}
		}
		seen[name] = true
		elem := s.elem
		if s.kind == kindObject {
			f, ok := s.fields[name]
			if !ok {
				return &DecodeError{Path: shown(name), Rule: "is not a field of this request" + s.hint(name)}
			}
			elem = f.shape
		}
		return at(shown(name), r.value(elem))
	})
	if err != nil {
		return err
	}
	if s.max > 0 && len(seen) > s.max {
		return &DecodeError{Rule: fmt.Sprintf("must have at most %d keys", s.max)}
	}
	for _, name := range s.names {
		if s.fields[name].required && !seen[name] {
			return &DecodeError{Path: name, Rule: "is required"}
		}
	}
	return nil
}

// hint names the field that was meant, where only the case is wrong.
func (s *shape) hint(name string) string {
	for _, known := range s.names {
		if strings.EqualFold(known, name) {
			return "; " + known + " is"
		}
	}
	return ""
}

func (r *reader) list(s *shape) error {
	n := 0
	err := r.each(']', func(string) error {
		n++
		return at(strconv.Itoa(n-1), r.value(s.elem))
	})
	if err != nil {
		return err
	}
	if n < s.min || (s.max > 0 && n > s.max) {
		return &DecodeError{Rule: fmt.Sprintf("must have %d to %d values", s.min, s.max)}
	}
	return nil
}

// anything walks over a value of any shape. Names that stand twice are refused
// there too: two readers could show two different things to a person.
func (r *reader) anything() error {
	switch r.next() {
	case '{':
		seen := map[string]bool{}
		return r.each('}', func(name string) error {
			if seen[name] {
				return &DecodeError{Path: shown(name), Rule: "is there twice"}
			}
			seen[name] = true
			return at(shown(name), r.anything())
		})
	case '[':
		return r.each(']', func(string) error { return r.anything() })
	case '"':
		if raw := r.str(); !r.utf8 && !utf8.Valid(raw) {
			return &DecodeError{Rule: "must be valid UTF-8"}
		}
	default:
		r.scalar()
	}
	return nil
}

// at puts a name in front of an error's path.
func at(name string, err error) error {
	var e *DecodeError
	if !errors.As(err, &e) {
		return err
	}
	path := name
	if e.Path != "" {
		path += "." + e.Path
	}
	return &DecodeError{Path: path, Rule: e.Rule}
}

// maxShown is how much of a stranger's name an error repeats.
const maxShown = 64

// shown makes a name that a caller made up safe to repeat.
func shown(name string) string {
	for _, r := range name {
		if r < 0x20 || r > 0x7e || r == '"' {
			name = strings.Trim(strconv.QuoteToASCII(name), `"`)
			break
		}
	}
	if len(name) > maxShown {
		name = name[:maxShown] + "..."
	}
	return name
}
