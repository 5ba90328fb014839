package app

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"stet/audit"
	"stet/audit/postgres"
	"stet/audit/sqlite"
	"stet/gateway/bind"
	"stet/ledger"
)

// store is the whole memory of a deployment, in whatever database.
type store interface {
	audit.Store
	audit.Reader
	ledger.Store
	ledger.WindowSource
	bind.SessionStore
	bind.TurnStore
	bind.KeyStore
	Prune(context.Context) (int, error)
	Close() error
}

func (a *App) openStore(ctx context.Context) error {
	var m *audit.Metrics
	s, err := a.openDatabase(ctx, func(writes int, took time.Duration) { m.Commit(writes, took) })
	if err != nil {
		return fmt.Errorf("open the audit store: %w", err)
	}
	a.store = s
	a.onStop("store", func(context.Context) error { return s.Close() })
	m = audit.NewMetrics(a.reg, platformNames(), a.openAttempts)
	a.trail = audit.NewRecorder(s, m, a.log)
	a.trail.Reserve(a.shortOfSpace)
	a.onStop("audit trail", a.trail.Stop)
	return a.openLedger(s)
}

// shared: the database serves other processes too, so none of them may take
// the others for dead.
func (a *App) shared() bool { return a.o.Settings.DatabaseURL != "" }

// openDatabase opens the one database of the settings. observe is told of its
// commits.
func (a *App) openDatabase(ctx context.Context, observe func(int, time.Duration)) (store, error) {
	if a.shared() {
		// The database's own clock decides, whatever this process is told.
		return postgres.Open(ctx, postgres.Options{
			URL: a.o.Settings.DatabaseURL.Reveal(), Observe: observe, TranscriptKeep: a.o.Settings.Transcript.Keep,
		})
	}
	return sqlite.Open(ctx, sqlite.Options{
		Path: filepath.Join(a.o.Settings.Data, "stet.db"), Now: a.o.Now,
		Observe: observe, TranscriptKeep: a.o.Settings.Transcript.Keep,
	})
}

// openAttempts counts for the scrape; a store that can't be read counts
// nothing, which its own metrics say.
func (a *App) openAttempts() float64 {
	ctx, cancel := context.WithTimeout(a.ctx, time.Second)
	defer cancel()
	n, err := a.store.OpenAttempts(ctx)
	if err != nil {
		return 0
	}
	return float64(n)
}
