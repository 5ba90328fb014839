package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"stet/gateway"
)

const pruneEvery = 10 * time.Minute

// Start records what an earlier process left open, then serves. It doesn't
// block.
func (a *App) Start() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped {
		return errors.New("app: it was stopped")
	}
	if a.started {
		return nil
	}
	a.started = true
	a.log.Info("stet is starting", "address", a.listener.Addr().String(), "data", a.o.Settings.Data, "version", a.o.Version)
	a.trail.Start()
	if !a.shared() {
		if _, err := a.sweeper.Dead(a.ctx, a.boot); err != nil {
			return err
		}
	}
	a.loops.Go(func() { a.sweeper.Run(a.ctx) })
	a.loops.Go(func() { a.resolver.Run(a.ctx) })
	a.loops.Go(a.prune)
	a.loops.Go(a.tendRedis)
	a.loops.Go(a.serve)
	path := filepath.Join(a.o.Settings.Data, "address")
	if err := os.WriteFile(path, []byte(a.listener.Addr().String()+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the address file: %w", err)
	}
	a.onStop("address file", func(context.Context) error { return os.Remove(path) })
	return nil
}

func (a *App) serve() {
	if err := a.server.Serve(a.listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
		a.log.Error("the door stopped", "error", err)
	}
}

// prune removes from the working tables what nothing needs any more; the
// trail is never touched.
func (a *App) prune() {
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		select {
		case <-a.ctx.Done():
			return
		case <-tick.C:
			if n, err := a.store.Prune(a.ctx); err != nil && a.ctx.Err() == nil {
				a.log.Warn("old working data could not be removed", "error", err)
			} else if n > 0 {
				a.log.Info("old working data removed", "entries", n)
			}
		}
	}
}

// Stop drains and undoes everything: no new work, then what is under way to
// its recorded end, then the loops, the trail, the platform, the store. The
// context bounds the whole of it.
func (a *App) Stop(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped {
		return nil
	}
	a.stopped = true
	a.draining.Store(true)
	a.drain()
	err := a.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("drain: %w", err), a.server.Close())
	}
	a.cancel()
	a.loops.Wait()
	return errors.Join(err, a.undo(ctx))
}

// DrainTime is how long what is under way may take at most.
func (a *App) DrainTime() time.Duration {
	s := a.o.Settings
	return s.MaxWait + s.PlatformTimeout + gateway.Grace + 5*time.Second
}

// Run starts, waits for the context and stops.
func (a *App) Run(ctx context.Context) error {
	if err := a.Start(); err != nil {
		return errors.Join(err, a.stopWithin())
	}
	<-ctx.Done()
	a.log.Info("stet is draining", "under_way_may_take", a.DrainTime().String())
	err := a.stopWithin()
	a.log.Info("stet has stopped")
	return err
}

func (a *App) stopWithin() error {
	ctx, cancel := context.WithTimeout(context.Background(), a.DrainTime())
	defer cancel()
	return a.Stop(ctx)
}
