package wire

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// kind is what a value in a request may be.
type kind int

const (
	kindString kind = iota
	kindText
	kindBool
	kindObject
	kindMap
	kindList
	kindAny
)

// shape is what the tags of a request's type say about one value.
type shape struct {
	kind kind
	// fields are of an object, by their exact name; names keeps their order.
	fields map[string]*field
	names  []string
	// elem is of a map's or list's values.
	elem *shape
	// enum and maxLength (in characters, 0: none) are of a string.
	enum      []string
	maxLength int
	// min and max bound the number of values of a map or list; 0: no bound.
	min, max int
}

type field struct {
	*shape
	index    int
	required bool
}

var shapes sync.Map // reflect.Type → *shape

var (
	textType = reflect.TypeFor[Text]()
	rawType  = reflect.TypeFor[json.RawMessage]()
)

func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := compile(t, "")
	shapes.Store(t, s)
	return s
}

// compile panics on a type that no request may have: a mistake in this package.
func compile(t reflect.Type, tag reflect.StructTag) *shape {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s := &shape{maxLength: number(tag, "maxLength")}
	if e := tag.Get("enum"); e != "" {
		s.enum = strings.Split(e, ",")
	}
	switch {
	case t == rawType:
		s.kind = kindAny
	case t == textType:
		s.kind = kindText
	case t.Kind() == reflect.String:
		s.kind = kindString
	case t.Kind() == reflect.Bool:
		s.kind = kindBool
	case t.Kind() == reflect.Struct:
		s.kind = kindObject
		s.compileFields(t)
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		s.kind, s.max = kindMap, number(tag, "maxProperties")
		s.elem = compile(t.Elem(), "")
	case t.Kind() == reflect.Slice:
		s.kind, s.min, s.max = kindList, number(tag, "minItems"), number(tag, "maxItems")
		s.elem = compile(t.Elem(), tag)
		s.enum = nil
	default:
		panic(fmt.Sprintf("wire: no request may hold a %s", t))
	}
	return s
}

func (s *shape) compileFields(t reflect.Type) {
	s.fields = make(map[string]*field, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		s.fields[name] = &field{
			shape: compile(f.Type, f.Tag), index: i,
			required: !strings.Contains(opts, "omitempty"),
		}
		s.names = append(s.names, name)
	}
}

func number(tag reflect.StructTag, name string) int {
	v := tag.Get(name)
	if v == "" {
		return 0
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		panic("wire: the tag " + name + " must be a number")
	}
	return n
}
