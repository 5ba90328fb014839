package archtest

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"stet/cmd/internal/cli"
	"stet/cmd/internal/config"
	"stet/gateway"
)

func unit(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "deploy/systemd/stet.service"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func line(t *testing.T, text, name string) string {
	t.Helper()
	_, after, found := strings.Cut(text, "\n"+name+"=")
	if !found {
		t.Fatalf("the unit has no %s", name)
	}
	value, _, _ := strings.Cut(after, "\n")
	return value
}

// The unit must start the program that is built here, with flags and variables
// that it has.
func TestTheUnitsFlagsAndVariablesAreTheProgramsOwn(t *testing.T) {
	text := unit(t)
	words := strings.Fields(line(t, text, "ExecStart"))
	if len(words) < 2 || words[1] != "serve" {
		t.Fatalf("the unit starts %v", words)
	}
	var help bytes.Buffer
	if code := cli.Run(t.Context(), []string{"serve", "--help"}, cli.IO{Out: &help, Err: &help}); code != 0 {
		t.Fatalf("serve --help ended with %d", code)
	}
	known := func(name string) bool { return strings.Contains(help.String(), name) }
	for _, w := range words {
		if strings.HasPrefix(w, "--") && !known(w) {
			t.Errorf("stet serve has no flag %s", w)
		}
	}
	if known("--no-such-flag") {
		t.Error("the help knows everything: the test can't fail")
	}
	for _, v := range regexp.MustCompile(`STET_[A-Z_]+[A-Z]`).FindAllString(text, -1) {
		if !strings.HasPrefix(v, "STET_HOST_KEY") && !known(v) {
			t.Errorf("stet serve reads no %s", v)
		}
	}
}

func TestTheUnitLetsTheProgramDrain(t *testing.T) {
	limit, err := time.ParseDuration(line(t, unit(t), "TimeoutStopSec"))
	if err != nil {
		t.Fatal(err)
	}
	s := config.Default()
	if drain := s.MaxWait + s.PlatformTimeout + gateway.Grace + 5*time.Second; limit <= drain {
		t.Errorf("the unit kills after %v, draining may take %v", limit, drain)
	}
}
