package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"stet/audit/audittest"
	"stet/audit/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// openStore opens a fresh store that is closed with the test.
func openStore(t testing.TB, o sqlite.Options) *sqlite.Store {
	t.Helper()
	if o.Path == "" {
		o.Path = filepath.Join(t.TempDir(), "stet.db")
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
