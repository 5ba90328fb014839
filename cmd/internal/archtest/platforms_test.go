package archtest

import (
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// inText finds a platform's name as a word of a string.
	inText = regexp.MustCompile(`(?i)\b(slack|discord|teams|linear)\b`)
	// inName finds one in an identifier; the words are English in lower case.
	inName = regexp.MustCompile(`(Slack|Discord|Teams|Linear)([A-Z0-9_]|$)`)
	// spoken is a struct tag, where the reader of the API is told about fields
	// that single platforms need.
	spoken = regexp.MustCompile(`doc:"`)
)

// platformsIn lists the names and strings of a source that name a platform.
func platformsIn(src []byte) []string {
	var (
		s     scanner.Scanner
		found []string
	)
	file := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(file, src, func(token.Position, string) {}, 0)
	for {
		_, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return found
		case tok == token.IDENT && inName.MatchString(lit),
			tok == token.STRING && inText.MatchString(lit) && !spoken.MatchString(lit):
			found = append(found, lit)
		}
	}
}

func TestTheCoreNamesNoPlatform(t *testing.T) {
	for _, s := range sources(t) {
		top, _, _ := strings.Cut(s.path, "/")
		if s.test() || s.suite() || !slices.Contains([]string{"gateway", "audit", "ledger", "guards"}, top) {
			continue
		}
		for _, name := range platformsIn(s.text) {
			t.Errorf("%s names a platform: %s", s.path, name)
		}
	}
}

func TestAPlatformsNameIsToldFromAnEnglishWord(t *testing.T) {
	for src, want := range map[string]bool{
		`package p; const slack = 1`:                         false,
		`package p; var s = "linear growth"`:                 true,
		`package p; var s = "slack"`:                         true,
		`package p; type SlackToken string`:                  true,
		`package p; var teams []string`:                      false,
		"package p // Slack in a comment":                    false,
		"package p; type T struct { A int `doc:\"Teams\"` }": false,
	} {
		if got := len(platformsIn([]byte(src))) > 0; got != want {
			t.Errorf("%s: %t", src, got)
		}
	}
}
