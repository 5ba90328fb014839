package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stet/audit/sqldb"
	"stet/audit/sqlite"
	"stet/gateway/wire"
)

// findings runs the doctor and answers what it found, by check.
func findings(t *testing.T, code int, env []string, args ...string) map[string][2]string {
	t.Helper()
	got := shell{env: env}.run(t, append([]string{"doctor", "--json"}, args...)...).want(t, code)
	var report struct {
		OK       bool `json:"ok"`
		Findings []struct{ State, Check, Text string }
	}
	if err := json.Unmarshal([]byte(got.out), &report); err != nil {
		t.Fatalf("%v: %s", err, got.out)
	}
	if report.OK != (code == 0) {
		t.Errorf("ok is %t with exit code %d", report.OK, code)
	}
	found := map[string][2]string{}
	for _, f := range report.Findings {
		if have, ok := found[f.Check]; ok {
			f.Text = have[1] + "\n" + f.Text
			if have[0] == "mend" {
				f.State = "mend"
			}
		}
		found[f.Check] = [2]string{f.State, f.Text}
	}
	return found
}

func expect(t *testing.T, found map[string][2]string, check, state, text string) {
	t.Helper()
	f := found[check]
	if f[0] != state || !strings.Contains(f[1], text) {
		t.Errorf("%s: %s %q, want %s %q", check, f[0], f[1], state, text)
	}
}

// quiet is an address where no gateway is, so that a real one isn't asked.
func quiet(data string) []string { return []string{"STET_DATA=" + data} }

// folder is a data folder as a gateway leaves it.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "address", "127.0.0.1:1\n")
	return dir
}

func TestBeforeTheFirstStartNothingIsToMend(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there")
	found := findings(t, 0, quiet(dir))
	expect(t, found, "settings", "ok", "are valid")
	expect(t, found, "data folder", "note", "the first start makes it")
	expect(t, found, "keys", "note", "the first start mints the keys")
	expect(t, found, "audit store", "note", "the first start makes it")
	expect(t, found, "redis", "note", "SQL alone")
	if _, err := os.Stat(dir); err == nil {
		t.Error("the doctor made the folder")
	}
}

func TestAGoodFolderIsWell(t *testing.T) {
	dir := folder(t)
	put(t, dir, "keys.env", "STET_HOST_KEY=x\n")
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "stet.db")})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	found := findings(t, 0, quiet(dir))
	expect(t, found, "data folder", "ok", "by its owner alone")
	expect(t, found, "keys", "ok", "owner's alone")
	expect(t, found, "audit store", "ok", "can be written, schema version")
	expect(t, found, "gateway", "note", "none answers")
	expect(t, found, "gateway", "note", "was left by one that ended without a goodbye")
}

func TestWhatIsToMendIsSaidWithItsCure(t *testing.T) {
	dir := folder(t)
	put(t, dir, "keys.env", "STET_HOST_KEY=x\n")
	put(t, dir, "stet.db", strings.Repeat("this is no database ", 100))
	for _, name := range []string{dir, filepath.Join(dir, "keys.env")} {
		if err := os.Chmod(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	found := findings(t, 1, append(quiet(dir), "STET_REDIS_URL=redis://127.0.0.1:1/secret-canary", "STET_SLAK_TOKEN=secret-canary"), "--listen", "x")
	expect(t, found, "data folder", "mend", "chmod 700")
	expect(t, found, "keys", "mend", "chmod 600")
	expect(t, found, "audit store", "mend", "can't be used")
	expect(t, found, "settings", "mend", `listen: "x" is not host:port`)
	expect(t, found, "settings", "mend", "redis-url: not a database")
	expect(t, found, "environment", "note", "STET_SLAK_TOKEN is set, but")
	for check, f := range found {
		if strings.Contains(f[1], "secret-canary") {
			t.Errorf("%s shows a secret: %s", check, f[1])
		}
	}
}

func TestAFolderThatIsAFileIsToMend(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "file", "x")
	expect(t, findings(t, 1, quiet(filepath.Join(dir, "file"))), "data folder", "mend", "is no folder")
	expect(t, findings(t, 1, quiet(filepath.Join(dir, "file", "below"))), "data folder", "mend", "not a directory")
}

func TestANewerSchemaIsToMend(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, "stet.db")
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	set := func(query string) {
		t.Helper()
		db, err := sqldb.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Write.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	set(`insert into goose_db_version (version_id, is_applied) values (900, 1)`)
	expect(t, findings(t, 1, quiet(dir)), "audit store", "mend", "schema version 900")
	set(`delete from goose_db_version where version_id > 1`)
	expect(t, findings(t, 0, quiet(dir)), "audit store", "note", "the next start brings it to")
}

func TestARunningGatewaysOwnChecksAreShown(t *testing.T) {
	ready := wire.Ready{Ready: false, Checks: []wire.Check{
		{Name: "audit store", OK: false, Needed: true, Detail: "the trail can't be written"},
		{Name: "room", OK: false, Detail: "the platform could not be reached"},
		{Name: "ledger", OK: true, Needed: true},
	}}
	f := newFake(t, map[string]answer{"GET /readyz": {503, ready, ""}})
	dir := folder(t)
	put(t, dir, "address", strings.TrimPrefix(f.URL, "http://"))
	found := findings(t, 1, quiet(dir))
	expect(t, found, "gateway", "mend", "is not ready")
	expect(t, found, "audit store", "mend", "the trail can't be written")
	expect(t, found, "room", "note", "could not be reached")
	expect(t, found, "ledger", "ok", "well")

	ready.Ready, ready.Checks = true, ready.Checks[2:]
	f.answers["GET /readyz"] = answer{200, ready, ""}
	expect(t, findings(t, 0, quiet(dir)), "gateway", "ok", "is ready")
}

func TestANamedGatewayThatDoesNotAnswerIsToMend(t *testing.T) {
	dir := folder(t)
	expect(t, findings(t, 1, append(quiet(dir), "STET_URL=http://127.0.0.1:1")), "gateway", "mend", "could not be reached")
	expect(t, findings(t, 1, append(quiet(dir), "STET_URL=nonsense")), "gateway", "mend", "URL")
}

func TestTheDoctorsTableSaysHowManyAreToMend(t *testing.T) {
	got := shell{env: quiet(folder(t)), terminal: true}.run(t, "doctor", "--listen", "x").want(t, 1)
	if !strings.Contains(got.out, "1 to mend.") || !strings.Contains(got.out, "mend") {
		t.Errorf("out:\n%s", got.out)
	}
	for _, line := range strings.Split(got.out, "\n") {
		if len([]rune(line)) > 130 { // colours included
			t.Errorf("a long line: %q", line)
		}
	}
}
