package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// completeWith runs the bash script and asks it what can follow the words.
func completeWith(t *testing.T, words ...string) []string {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no bash to test the completion with")
		}
		t.Skip("SKIPPED, LOUDLY: there is no bash to test the completion with")
	}
	script := (shell{}).run(t, "completion", "bash").want(t, 0).out
	path := filepath.Join(t.TempDir(), "stet.bash")
	put(t, filepath.Dir(path), "stet.bash", script)
	const ask = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stet; printf '%s\n' "${COMPREPLY[@]}"`
	out, err := exec.CommandContext(t.Context(), bash, append([]string{"-c", ask, "bash", path}, words...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.Fields(string(out))
}

func TestBashCompletesCommandsFlagsAndValues(t *testing.T) {
	for _, c := range []struct {
		name  string
		words []string
		want  []string
	}{
		{"a command", []string{"stet", "tu"}, []string{"turn"}},
		{"a command's command", []string{"stet", "turn", ""}, []string{"open", "show", "close", "--help", "--json"}},
		{"a command after a flag", []string{"stet", "--json", "audit", "co"}, []string{"count"}},
		{"a flag", []string{"stet", "turn", "open", "--ses"}, []string{"--session"}},
		{"a flag after another's value", []string{"stet", "reply", "--format", "plain", "--over"}, []string{"--overflow"}},
		{"a flag's values", []string{"stet", "reply", "--format", ""}, []string{"markdown", "plain"}},
		{"an argument's values", []string{"stet", "completion", "z"}, []string{"zsh"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := completeWith(t, c.words...); strings.Join(got, " ") != strings.Join(c.want, " ") {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestEveryShellIsToldEveryCommand(t *testing.T) {
	for _, name := range []string{"bash", "zsh", "fish"} {
		script := (shell{}).run(t, "completion", name).want(t, 0).out
		for _, word := range []string{"serve", "demo", "turn", "reply", "edit", "retract", "audit", "keys", "doctor", "idempotency-key", "edit-window"} {
			if !strings.Contains(script, word) {
				t.Errorf("%s is not told %s", name, word)
			}
		}
	}
}

func TestTheScriptsAreValidInTheirShells(t *testing.T) {
	for _, c := range [][]string{{"bash", "-n"}, {"zsh", "-n"}, {"fish", "--no-execute"}} {
		path, err := exec.LookPath(c[0])
		if err != nil {
			t.Logf("SKIPPED, LOUDLY: there is no %s here", c[0])
			continue
		}
		file := filepath.Join(t.TempDir(), "script")
		put(t, filepath.Dir(file), "script", (shell{}).run(t, "completion", c[0]).want(t, 0).out)
		if out, err := exec.CommandContext(t.Context(), path, c[1], file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", c[0], err, out)
		}
	}
}
