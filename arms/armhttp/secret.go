package armhttp

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// Secret is a credential. Printed, logged or marshalled it is a placeholder;
// only [Secret.Reveal] gives the value.
//
// fmt calls no methods on unexported struct fields, so a struct that may be
// printed whole holds a *Secret or an exported field.
type Secret string

// Reveal is the value itself.
func (s Secret) Reveal() string { return string(s) }

func (Secret) String() string { return redacted }

// GoString keeps the value out of %#v.
func (Secret) GoString() string { return redacted }

// Format keeps the value out of every verb, %x and %q among them.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText keeps the value out of text encodings.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON keeps the value out of JSON.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalYAML keeps the value out of YAML.
func (Secret) MarshalYAML() (any, error) { return redacted, nil }

// LogValue keeps the value out of slog records.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
