package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFile bounds the file, in bytes.
const maxFile = 1 << 20

// file is the part of the YAML file that belongs to no arm.
type file struct {
	Keys       keys       `yaml:"keys"`
	Windows    Windows    `yaml:"windows"`
	Transcript Transcript `yaml:"transcript"`
	Sweep      Sweep      `yaml:"sweep"`
	Resolve    Resolve    `yaml:"resolve"`
}

// keys are the first keys, in the clear or as paths beside the file.
type keys struct {
	Host     string `yaml:"host"`
	HostFile string `yaml:"host_file"`
	Ops      string `yaml:"ops"`
	OpsFile  string `yaml:"ops_file"`
}

// readFile decodes the file at path over the settings.
func readFile(s Settings, path string, sections Sections) (Settings, keys, error) {
	f, err := os.Open(path)
	if err != nil {
		return s, keys{}, err
	}
	defer func() { _ = f.Close() }() // only read
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return s, keys{}, err
	}
	out, k, err := decode(s, raw, sections)
	if err != nil {
		return s, keys{}, err
	}
	k.HostFile, k.OpsFile = beside(path, k.HostFile), beside(path, k.OpsFile)
	return out, k, nil
}

// beside reads a relative path as one from the folder of the file that names it.
func beside(file, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}

func decode(s Settings, raw []byte, sections Sections) (Settings, keys, error) {
	if len(raw) > maxFile {
		return s, keys{}, fmt.Errorf("the file is over %d bytes", maxFile)
	}
	own := file{Windows: s.Windows, Transcript: s.Transcript, Sweep: s.Sweep, Resolve: s.Resolve}
	frame, err := sections.frame(own)
	if err != nil {
		return s, keys{}, err
	}
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	if err := d.Decode(frame.Interface()); err != nil && !errors.Is(err, io.EOF) {
		return s, keys{}, plain(err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return s, keys{}, errors.New("there is more than one document in the file")
	}
	own = frame.Elem().Field(0).Interface().(file)
	s.Windows, s.Transcript, s.Sweep, s.Resolve = own.Windows, own.Transcript, own.Sweep, own.Resolve
	s.Arms = sections.decoded(frame)
	return s, own.Keys, nil
}

// The decoder's own messages name Go types and repeat values, which may be
// secrets in the wrong place. These are the forms of its messages.
var (
	unknownField = regexp.MustCompile(`(?s)^line (\d+): field (.+) not found in type .+$`)
	setTwice     = regexp.MustCompile(`(?s)^line (\d+): field (.+) already set in type .+$`)
	twice        = regexp.MustCompile(`(?s)^line (\d+): mapping key "(.*)" already defined at line (\d+)$`)
	wrongType    = regexp.MustCompile(`(?s)^line (\d+): cannot unmarshal !!(\w+) .*into (.+)$`)
	anyLine      = regexp.MustCompile(`^line (\d+):`)
)

// plain says a decoder's error in words for the person who wrote the file.
func plain(err error) error {
	var te *yaml.TypeError
	if !errors.As(err, &te) {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var all []error
	for _, msg := range te.Errors {
		all = append(all, errors.New(plainMessage(msg)))
	}
	return errors.Join(all...)
}

func plainMessage(msg string) string {
	if m := unknownField.FindStringSubmatch(msg); m != nil {
		return fmt.Sprintf("line %s: there is no field %q here", m[1], m[2])
	}
	if m := twice.FindStringSubmatch(msg); m != nil {
		return fmt.Sprintf("line %s: %q stands here a second time, first on line %s", m[1], m[2], m[3])
	}
	if m := setTwice.FindStringSubmatch(msg); m != nil {
		return fmt.Sprintf("line %s: %q stands here a second time", m[1], m[2])
	}
	if m := wrongType.FindStringSubmatch(msg); m != nil {
		return fmt.Sprintf("line %s: %s", m[1], wanted(m[2], m[3]))
	}
	if m := anyLine.FindStringSubmatch(msg); m != nil {
		return fmt.Sprintf("line %s: what stands here can't be read", m[1])
	}
	return "the file can't be read"
}

// wanted says what should have stood where something of another kind stood.
func wanted(found, goType string) string {
	want := map[string]string{
		reflect.Int.String(): "a whole number", reflect.Float64.String(): "a number",
		reflect.Bool.String(): "true or false", reflect.String.String(): "text",
		"time.Duration": `a duration such as "10m"`,
	}[goType]
	if want == "" {
		want = "named fields or a list"
	}
	have, ok := map[string]string{
		"str": "text", "int": "a number", "float": "a number", "bool": "true or false",
		"seq": "a list", "map": "named fields",
	}[found]
	if !ok {
		have = "something else"
	}
	return fmt.Sprintf("want %s, found %s", want, have)
}
