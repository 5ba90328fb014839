package sqlite_test

import (
	"testing"
	"time"

	"stet/audit/sqlite"
	"stet/gateway/bind/bindtest"
)

func TestBindContract(t *testing.T) {
	bindtest.Run(t, func(t testing.TB, now func() time.Time) bindtest.Backend {
		s := openStore(t, sqlite.Options{Now: now})
		return bindtest.Backend{Store: s, Exec: s.ExecForTest}
	})
}
