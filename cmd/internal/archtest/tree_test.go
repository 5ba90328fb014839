package archtest

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// root is the module's folder, seen from this package.
const root = "../../.."

// source is one Go file of the module.
type source struct {
	// path is slash-separated, from the module's folder.
	path    string
	imports []string
	lines   int
	text    []byte
}

// pkg is the file's folder, as an import path inside the module ("gateway/bind").
func (s source) pkg() string {
	dir, _, ok := cutLast(s.path, "/")
	if !ok {
		return ""
	}
	return dir
}

func (s source) test() bool { return strings.HasSuffix(s.path, "_test.go") }

// suite reports a package of shared tests, which may import what tests may.
func (s source) suite() bool { return strings.HasSuffix(s.pkg(), "test") }

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// sources reads every Go file of the module.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		s, err := readSource(path)
		all = append(all, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("only %d files found: the test looks in the wrong place", len(all))
	}
	return all
}

func readSource(path string) (source, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return source{}, err
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, raw, parser.ImportsOnly)
	if err != nil {
		return source{}, err
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return source{}, err
	}
	s := source{path: filepath.ToSlash(rel), text: raw, lines: bytes.Count(raw, []byte("\n"))}
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return source{}, err
		}
		s.imports = append(s.imports, p)
	}
	return s, nil
}

func TestTheTopLevelIsTheDesigns(t *testing.T) {
	folders := []string{"cmd", "gateway", "arms", "ledger", "guards", "audit", "deploy", "bin"}
	files := []string{"go.mod", "go.sum", "README.md", "LICENSE", "Makefile", "CONTRIBUTING.md"}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		name := e.Name()
		seen[name] = true
		switch {
		case strings.HasPrefix(name, "."), name == "stet-data":
		case e.IsDir() && !slices.Contains(folders, name):
			t.Errorf("there is no top-level folder %s in the design", name)
		case !e.IsDir() && !slices.Contains(files, name):
			t.Errorf("there is no top-level file %s in the design", name)
		}
	}
	for _, name := range files {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestNoFileIsOverFourHundredLines(t *testing.T) {
	for _, s := range sources(t) {
		if s.lines > 400 && !s.test() {
			t.Errorf("%s has %d lines", s.path, s.lines)
		}
	}
}

func TestNoFunctionIsOverEightyLinesOrFiveParameters(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, s.path, s.text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1
			if lines > 80 {
				t.Errorf("%s: %s has %d lines", s.path, fn.Name.Name, lines)
			}
			if n := fn.Type.Params.NumFields(); n > 5 {
				t.Errorf("%s: %s has %d parameters", s.path, fn.Name.Name, n)
			}
		}
	}
}

func TestNoFileHasAMarkOfUnfinishedWork(t *testing.T) {
	words := []string{"TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"}
	for _, s := range sources(t) {
		lines := bufio.NewScanner(bytes.NewReader(s.text))
		for n := 1; lines.Scan(); n++ {
			fields := strings.FieldsFunc(lines.Text(), func(r rune) bool {
				return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
			})
			for _, w := range words {
				if slices.Contains(fields, w) {
					t.Errorf("%s:%d: a mark of unfinished work", s.path, n)
				}
			}
		}
	}
}

func TestNoTestSleepsInRealTime(t *testing.T) {
	for _, s := range sources(t) {
		if (s.test() || s.suite()) && bytes.Contains(s.text, []byte("time."+"Sleep(")) && !slices.Contains(s.imports, "testing/synctest") {
			t.Errorf("%s sleeps, and not in testing/synctest", s.path)
		}
	}
}

func TestNoTestSkipsInSilence(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() && bytes.Contains(s.text, []byte("t."+"Skip")) && !bytes.Contains(s.text, []byte("t.Fatal")) {
			t.Errorf("%s skips and can't fail where CI=true", s.path)
		}
	}
}
