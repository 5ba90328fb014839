package postgres_test

import (
	"context"
	"flag"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"stet/audit/audittest"
	"stet/audit/postgres"
	"stet/audit/postgres/pgtest"
	"stet/gateway/bind/bindtest"
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

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		pgtest.Stop()
		os.Exit(code)
	}))
}

// openStore opens a store, on a fresh schema if no other is named, that is
// closed with the test.
func openStore(t testing.TB, o postgres.Options) *postgres.Store {
	t.Helper()
	if o.URL == "" {
		o.URL = pgtest.Schema(t)
	}
	s, err := postgres.Open(context.Background(), o)
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

func openForSuite(t testing.TB, now func() time.Time) audittest.Backend {
	s := openStore(t, postgres.Options{Now: now})
	return audittest.Backend{Store: s, Exec: s.ExecForTest}
}

func TestTrailContract(t *testing.T) { audittest.Run(t, openForSuite) }

func TestOneMessageShowsItsHighestAppliedNumber(t *testing.T) { audittest.Model(t, openForSuite) }

func TestBindContract(t *testing.T) {
	bindtest.Run(t, func(t testing.TB, now func() time.Time) bindtest.Backend {
		s := openStore(t, postgres.Options{Now: now})
		return bindtest.Backend{Store: s, Exec: s.ExecForTest}
	})
}
