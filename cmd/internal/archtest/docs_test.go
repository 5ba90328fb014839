package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// named finds a path inside the module, in back quotes or as a link.
var named = regexp.MustCompile("(?:`|\\]\\()((?:cmd|gateway|arms|ledger|guards|audit|deploy|\\.ci|\\.config)/[A-Za-z0-9_./*-]*|Makefile|LICENSE|[A-Z]+\\.md)(?:`|\\))")

func TestPathsThatTheDocumentsNameExist(t *testing.T) {
	for _, doc := range []string{"README.md", "CONTRIBUTING.md"} {
		raw, err := os.ReadFile(filepath.Join(root, doc))
		if err != nil {
			t.Fatal(err)
		}
		found := named.FindAllStringSubmatch(string(raw), -1)
		if len(found) == 0 {
			t.Errorf("%s names no path at all: the test looks for the wrong form", doc)
		}
		for _, m := range found {
			matches, err := filepath.Glob(filepath.Join(root, strings.TrimSuffix(m[1], "/...")))
			if err != nil || len(matches) == 0 {
				t.Errorf("%s names %s, which isn't there", doc, m[1])
			}
		}
	}
}

// target finds a make target named in prose.
var target = regexp.MustCompile("make ([a-z]+)")

func TestMakeTargetsThatTheDocumentsNameExist(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range []string{"README.md", "CONTRIBUTING.md", ".ci/run"} {
		raw, err := os.ReadFile(filepath.Join(root, doc))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range target.FindAllStringSubmatch(codeOf(doc, string(raw)), -1) {
			if !strings.Contains(string(makefile), "\n"+m[1]+":") {
				t.Errorf("%s names make %s, which isn't there", doc, m[1])
			}
		}
	}
}

// codeOf is what a document shows as code: prose may well "make" other things.
func codeOf(name, s string) string {
	if !strings.HasSuffix(name, ".md") {
		return s
	}
	var b strings.Builder
	for _, m := range regexp.MustCompile("(?s)```.*?```|`[^`\n]+`").FindAllString(s, -1) {
		b.WriteString(m + "\n")
	}
	return b.String()
}
