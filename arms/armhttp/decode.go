package armhttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"stet/arms"
)

// Object decodes the answer's body into v, a pointer to a struct. The body has
// to be one JSON object in valid UTF-8 with nothing behind it, in which no
// object holds a name twice (in any letter case, since decoding ignores case).
// Fields that v doesn't have are passed over. Anything else is an ambiguous
// unreadable answer.
func (a Answer) Object(v any) *arms.Fault {
	if !utf8.Valid(a.Body) || !isObject(a.Body) {
		return a.ambiguous(arms.CodeGarbage)
	}
	// Unmarshal comes first because it bounds the depth that walk recurses to.
	if json.Unmarshal(a.Body, v) != nil || walk(a.Body) != nil {
		return a.ambiguous(arms.CodeGarbage)
	}
	return nil
}

func isObject(b []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{"))
}

var (
	errTwice    = errors.New("a name is there twice")
	errTrailing = errors.New("something follows the value")
)

// walk reads the tokens once, looking for names that are there twice.
func walk(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := value(d); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errTrailing
	}
	return nil
}

func value(d *json.Decoder) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('{'):
		err = members(d)
	case json.Delim('['):
		err = elements(d)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	_, err = d.Token()
	return err
}

func members(d *json.Decoder) error {
	names := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		folded := strings.ToLower(strings.ToUpper(name))
		if names[folded] {
			return errTwice
		}
		names[folded] = true
		if err := value(d); err != nil {
			return err
		}
	}
	return nil
}

func elements(d *json.Decoder) error {
	for d.More() {
		if err := value(d); err != nil {
			return err
		}
	}
	return nil
}
