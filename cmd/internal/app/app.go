package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"stet/arms"
	"stet/arms/room"
	"stet/audit"
	"stet/audit/sweep"
	"stet/cmd/internal/config"
	"stet/gateway"
	"stet/gateway/bind"
	"stet/gateway/locus"
	"stet/ledger"
	"stet/ledger/redisstore"
)

// Options is what an app is made of.
type Options struct {
	Settings config.Settings
	// Logger gets everything that operators may read; nil: nobody does.
	Logger  *slog.Logger
	Version string
	// Now is the clock of windows, expiries and rows; nil: time.Now.
	Now func() time.Time
	// Probe sees the named points that an attempt passes. Tests alone set it.
	Probe func(point string)
}

// App is the whole program. Its life is New, Start, Stop; Stop may be called
// at any time and any number of times.
type App struct {
	o   Options
	log *slog.Logger

	boot     string
	reg      *prometheus.Registry
	store    store
	trail    *audit.Recorder
	registry *arms.Registry
	room     *room.Server
	ledger   *ledger.Ledger
	cache    *redisstore.Store // nil: no Redis is set
	gateway  *gateway.Gateway
	resolver *gateway.Resolver
	sweeper  *sweep.Sweeper
	events   *gateway.Events
	bind     *bind.Service
	keys     firstKeys
	listener net.Listener
	server   *http.Server
	probes   probes
	probing  sync.Mutex

	draining atomic.Bool
	drain    context.CancelFunc
	drained  context.Context
	cancel   context.CancelFunc
	ctx      context.Context
	loops    sync.WaitGroup

	mu      sync.Mutex
	started bool
	stopped bool
	steps   []step
}

// step is one named thing to undo.
type step struct {
	name string
	undo func(context.Context) error
}

// New makes every part and binds the listener, but serves nothing yet. What
// was made is undone when a later part fails.
func New(ctx context.Context, o Options) (*App, error) {
	a := &App{o: o, log: o.Logger, boot: audit.NewID(), reg: prometheus.NewRegistry(), events: &gateway.Events{}}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.o.Now == nil {
		a.o.Now = time.Now
	}
	a.ctx, a.cancel = context.WithCancel(context.WithoutCancel(ctx))
	a.drained, a.drain = context.WithCancel(a.ctx)
	data, err := filepath.Abs(a.o.Settings.Data)
	if err != nil {
		return nil, fmt.Errorf("find the data folder: %w", err)
	}
	a.o.Settings.Data = data
	for _, make := range []func(context.Context) error{
		a.takeData, a.openStore, a.openArms, a.openGateway, a.openKeys, a.openDoor,
	} {
		if err := make(ctx); err != nil {
			return nil, errors.Join(err, a.undo(ctx))
		}
	}
	return a, nil
}

func (a *App) onStop(name string, undo func(context.Context) error) {
	a.steps = append(a.steps, step{name, undo})
}

// undo runs the steps in reverse; each is run whatever the others answer.
func (a *App) undo(ctx context.Context) error {
	var errs []error
	for i := len(a.steps) - 1; i >= 0; i-- {
		if err := a.steps[i].undo(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", a.steps[i].name, err))
		}
	}
	a.steps = nil
	a.cancel()
	return errors.Join(errs...)
}

func (a *App) openArms(ctx context.Context) (err error) {
	a.registry, err = a.newArms(ctx)
	a.probes = probes{registry: a.registry, now: a.o.Now, cache: map[arms.Platform]probed{}}
	return err
}

func (a *App) window(l locus.Locus) time.Duration {
	return a.o.Settings.Window(l.Platform, l.Workspace, l.Channel)
}

func (a *App) openGateway(context.Context) (err error) {
	s, m := a.o.Settings, gateway.NewMetrics(a.reg, a.registry.Platforms())
	a.resolver = gateway.NewResolver(gateway.ResolverOptions{
		Arms: a.registry, Trail: a.trail, Posts: a.ledger, Metrics: m, Logger: a.log, Window: a.window,
		PlatformTimeout: s.PlatformTimeout, Settle: s.Resolve.Settle, Now: a.o.Now, Publish: a.events.Publish,
	})
	a.gateway, err = gateway.New(gateway.Options{
		Arms: a.registry, Recorder: a.trail, Posts: a.ledger, Metrics: m, Logger: a.log,
		Boot: a.boot, Window: a.window, PlatformTimeout: s.PlatformTimeout, MaxWait: s.MaxWait,
		FirstLook: s.Resolve.FirstLook, OnAmbiguous: a.resolver.Kick, Probe: a.o.Probe,
	})
	if err != nil {
		return err
	}
	a.sweeper, err = sweep.New(sweep.Options{
		Trail: a.trail, Logger: a.log, Every: s.Sweep.Interval, Margin: s.SweepMargin(), OnSwept: a.resolver.Kick,
	})
	return err
}
