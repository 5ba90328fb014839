package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stet/gateway/outcome"
)

const root = "../../.."

// section is README's part for bot developers.
func section(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(raw), "\n## Five minutes")
	if !ok {
		t.Fatal("README has no five minutes for a bot developer")
	}
	part, _, _ := strings.Cut(rest, "\n## ")
	return part
}

// blocks are the code blocks of a language.
func blocks(text, language string) []string {
	var found []string
	for _, m := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)\n```").FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// tool finds a program that a test can't do without.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("there is no %s", name)
		}
		t.Skipf("SKIPPED, LOUDLY: there is no %s", name)
	}
	return path
}

// command runs a program and answers all that it printed.
func command(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

func TestReadmesCommandsDoWhatReadmeSays(t *testing.T) {
	bash := tool(t, "bash")
	tool(t, "curl")
	dir := t.TempDir()
	command(t, root, nil, tool(t, "go"), "build", "-o", filepath.Join(dir, "bin", "stet"), "./cmd/stet")
	g := serve(t, filepath.Join(dir, "stet-data"))
	shells := blocks(section(t), "sh")
	if len(shells) < 6 {
		t.Fatalf("README has %d blocks to run", len(shells))
	}
	script := "set -euo pipefail\n" + strings.Join(shells, "\necho\n")
	out := command(t, dir, nil, bash, "-c", strings.ReplaceAll(script, "http://127.0.0.1:8484", g.url))
	for _, want := range []string{
		`"reason":"not-own-post"`, `"action":"reply.post"`, `"action":"reply.edit"`, `"action":"reply.edit.refused"`,
		"edited   m", "retracted  m", "editable until", "reply.retract",
	} {
		if !strings.Contains(strings.ToLower(out), strings.ToLower(want)) {
			t.Errorf("there is no %s in\n%s", want, out)
		}
	}
}

func TestReadmesGoProgramDoesWhatReadmeSays(t *testing.T) {
	g := serve(t, filepath.Join(t.TempDir(), "stet-data"))
	programs := blocks(section(t), "go")
	if len(programs) != 1 {
		t.Fatalf("README has %d Go programs", len(programs))
	}
	dir := t.TempDir()
	put(t, dir, "main.go", strings.ReplaceAll(programs[0], "http://127.0.0.1:8484", g.url))
	raw, err := os.ReadFile(filepath.Join(g.data, "keys.env"))
	if err != nil {
		t.Fatal(err)
	}
	out := command(t, root, strings.Fields(string(raw)), tool(t, "go"), "run", filepath.Join(dir, "main.go"))
	if !strings.HasPrefix(out, "edited m") {
		t.Errorf("out: %s", out)
	}
}

func TestReadmesConfigurationLoads(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	files := blocks(string(raw), "yaml")
	if len(files) != 1 {
		t.Fatalf("README has %d configuration files", len(files))
	}
	dir := t.TempDir()
	put(t, dir, "stet.yaml", files[0])
	for _, kind := range []string{"host", "ops"} {
		_, secret, _ := strings.Cut(shell{}.run(t, "keys", "mint", kind).want(t, 0).out, "=")
		put(t, dir, kind+".key", secret)
	}
	env := []string{"STET_DATA=" + filepath.Join(dir, "data"), "STET_CONFIG=" + filepath.Join(dir, "stet.yaml")}
	expect(t, findings(t, 0, env), "settings", "ok", "are valid")
}

func TestReadmeNamesEveryReasonAndFlag(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	help := shell{}.run(t, "serve", "--help").want(t, 0).out
	for _, m := range regexp.MustCompile(`--([a-z-]+)=|\((STET_[A-Z_]+)\)`).FindAllStringSubmatch(help, -1) {
		if name := m[1] + m[2]; !strings.Contains(string(raw), name) {
			t.Errorf("README doesn't name %s", name)
		}
	}
	for _, reason := range reasons() {
		if !strings.Contains(string(raw), "`"+reason+"`") {
			t.Errorf("README doesn't name the reason %s", reason)
		}
	}
}

// reasons are those that this version can answer with.
func reasons() []string {
	later := []outcome.Reason{outcome.NoReadArm, outcome.NothingLeft, outcome.ClaimRefused, outcome.Denied}
	var names []string
	for _, r := range outcome.Reasons() {
		if !slices.Contains(later, r) {
			names = append(names, string(r))
		}
	}
	return names
}
