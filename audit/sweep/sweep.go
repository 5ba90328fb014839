// Package sweep records what a dead or stuck process left open. It is safe to
// run any number of sweepers beside live owners: the store arbitrates.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"stet/audit"
)

// batch bounds the rows of one commit.
const batch = 200

// Trail is what a sweeper needs: see [audit.Recorder].
type Trail interface {
	Sweep(ctx context.Context, margin time.Duration, boot string, limit int) ([]audit.Row, error)
}

// Options is what a sweeper is made of.
type Options struct {
	Trail  Trail
	Logger *slog.Logger
	// Every is the pause between two sweeps.
	Every time.Duration
	// Margin is how far an attempt's deadline must be behind before the
	// attempt counts as left.
	Margin time.Duration
	// OnSwept is told that there are new ambiguous outcomes; nil: nobody is.
	OnSwept func()
}

// Sweeper closes what was left open.
type Sweeper struct{ o Options }

// New makes a sweeper. A margin that isn't positive would sweep attempts
// whose owner may still be writing their outcome, so it is an error.
func New(o Options) (*Sweeper, error) {
	if o.Every <= 0 || o.Margin <= 0 {
		return nil, errors.New("sweep: the pause and the margin must be positive")
	}
	if o.OnSwept == nil {
		o.OnSwept = func() {}
	}
	return &Sweeper{o: o}, nil
}

// Dead records at once everything that any process but boot left open. Only a
// process that holds the store alone may call it: everybody else is dead then.
func (s *Sweeper) Dead(ctx context.Context, boot string) (int, error) {
	n, err := s.sweep(ctx, boot)
	if err != nil {
		return n, fmt.Errorf("record interrupted attempts: %w", err)
	}
	if n > 0 {
		s.o.Logger.Info("attempts of an earlier process recorded as interrupted", "attempts", n)
	}
	return n, nil
}

// Run sweeps until the context ends.
func (s *Sweeper) Run(ctx context.Context) {
	tick := time.NewTicker(s.o.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		n, err := s.sweep(ctx, "")
		if err != nil && ctx.Err() == nil {
			s.o.Logger.Warn("a sweep failed, the next one goes on", "error", err)
		}
		if n > 0 {
			s.o.Logger.Info("attempts past their deadline recorded as interrupted", "attempts", n)
		}
	}
}

func (s *Sweeper) sweep(ctx context.Context, boot string) (int, error) {
	total := 0
	for ctx.Err() == nil {
		rows, err := s.o.Trail.Sweep(ctx, s.o.Margin, boot, batch)
		total += len(rows)
		if len(rows) > 0 {
			s.o.OnSwept()
		}
		if err != nil || len(rows) < batch {
			return total, err
		}
	}
	return total, ctx.Err()
}
