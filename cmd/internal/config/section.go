package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"stet/arms"
)

// Section is an arm's own part of the file, at the top level under the
// platform's name. The value handed in is a pointer to a struct that holds the
// arm's defaults; the file is decoded over it.
type Section interface {
	// Validate says everything that is wrong, naming fields as the file does.
	Validate() error
}

// Sections holds the arms' sections by platform. An arm plugs in by one entry.
type Sections map[arms.Platform]Section

// SectionOf is the section of a platform, or T's zero value where the settings
// have none of that type.
func SectionOf[T any](s Settings, p arms.Platform) T {
	if have, ok := any(s.Arms[p]).(*T); ok && have != nil {
		return *have
	}
	var none T
	return none
}

// names lists the platforms in alphabetical order.
func (s Sections) names() []arms.Platform { return slices.Sorted(maps.Keys(s)) }

// frame makes a struct with the file's own fields and one field per section,
// so that one strict decoding sees every name with its line. The fields hold
// copies of the defaults.
func (s Sections) frame(own file) (reflect.Value, error) {
	fields := []reflect.StructField{{Name: "Own", Type: reflect.TypeFor[file](), Tag: `yaml:",inline"`}}
	for i, name := range s.names() {
		t := reflect.TypeOf(s[name])
		if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
			return reflect.Value{}, fmt.Errorf("section %q: %s is no pointer to a struct", name, t)
		}
		tag := reflect.StructTag("yaml:" + strconv.Quote(string(name)))
		fields = append(fields, reflect.StructField{Name: "Arm" + strconv.Itoa(i), Type: t.Elem(), Tag: tag})
	}
	v := reflect.New(reflect.StructOf(fields))
	v.Elem().Field(0).Set(reflect.ValueOf(own))
	for i, name := range s.names() {
		v.Elem().Field(i + 1).Set(reflect.ValueOf(s[name]).Elem())
	}
	return v, nil
}

// decoded takes the sections out of a frame, as new values.
func (s Sections) decoded(frame reflect.Value) Sections {
	out := make(Sections, len(s))
	for i, name := range s.names() {
		p := reflect.New(frame.Elem().Field(i + 1).Type())
		p.Elem().Set(frame.Elem().Field(i + 1))
		out[name] = p.Interface().(Section)
	}
	return out
}
