package sqlite_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"stet/audit/audittest"
	"stet/audit/sqlite"
)

// The model's default, which a flag of the test run still overrides: more than
// this belongs into long runs.
func init() {
	for name, value := range map[string]string{"rapid.checks": "25", "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// migrated is an empty store's file. Migrating costs more than most tests do.
var migrated = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "stet-migrated-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "stet.db")
	s, err := sqlite.Open(context.Background(), sqlite.Options{Path: path})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// openStore opens a fresh store that is closed with the test.
func openStore(t testing.TB, o sqlite.Options) *sqlite.Store {
	t.Helper()
	if o.Path == "" {
		o.Path = filepath.Join(t.TempDir(), "stet.db")
		empty, err := migrated()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(o.Path, empty, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := sqlite.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestTrailContract(t *testing.T) {
	audittest.Run(t, openForSuite)
}

func openForSuite(t testing.TB, now func() time.Time) audittest.Backend {
	s := openStore(t, sqlite.Options{Now: now})
	return audittest.Backend{Store: s, Exec: s.ExecForTest}
}

func TestOneMessageShowsItsHighestAppliedNumber(t *testing.T) {
	audittest.Model(t, openForSuite)
}
