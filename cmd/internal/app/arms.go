package app

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"stet/arms"
	"stet/arms/room"
	"stet/cmd/internal/config"
)

// newArms makes the arm of every platform. This file alone names them all.
func (a *App) newArms(ctx context.Context) (*arms.Registry, error) {
	roomArm, err := a.newRoom(ctx)
	if err != nil {
		return nil, err
	}
	return arms.NewRegistry(roomArm)
}

// newRoom starts the built-in platform and makes the arm that talks to it over
// a real connection, as to any other.
func (a *App) newRoom(ctx context.Context) (arms.Arm, error) {
	c := config.SectionOf[room.Config](a.o.Settings, room.Platform)
	server, err := room.NewServer(ctx, room.ServerOptions{
		Path: filepath.Join(a.o.Settings.Data, "room.db"), Now: a.o.Now,
		Logger: a.log.With(slog.String("part", "room")), Config: c,
	})
	if err != nil {
		return nil, fmt.Errorf("open the room: %w", err)
	}
	a.onStop("room", server.Stop)
	if err := server.Start(); err != nil {
		return nil, fmt.Errorf("start the room: %w", err)
	}
	a.room = server
	base, token := server.Endpoint()
	arm := room.NewArm(room.ArmOptions{
		BaseURL: base, Token: token, SettleTime: c.SettleTime, TextLimit: c.TextLimit,
		Version: a.o.Version, Now: a.o.Now,
	})
	a.onStop("room connections", func(context.Context) error { arm.CloseIdle(); return nil })
	return arm, nil
}

// probes asks each platform whether its credentials work, at most once in
// probeEvery, for the detail of readiness.
type probes struct {
	registry *arms.Registry
	now      func() time.Time
	cache    map[arms.Platform]probed
}

type probed struct {
	at    time.Time
	fault *arms.Fault
}

const (
	probeEvery = 10 * time.Second
	probeLimit = 2 * time.Second
)

func (p *probes) ask(ctx context.Context, platform arms.Platform) *arms.Fault {
	if last, ok := p.cache[platform]; ok && p.now().Sub(last.at) < probeEvery {
		return last.fault
	}
	arm, _ := p.registry.Arm(platform)
	prober, ok := arm.(arms.Prober)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	f := arms.AsFault(prober.Probe(ctx))
	p.cache[platform] = probed{at: p.now(), fault: f}
	return f
}

// platformNames lists every platform that this build has an arm for.
func platformNames() []arms.Platform { return []arms.Platform{room.Platform} }

// checkPlace asks the platform's arm whether a place that a host named can be
// trusted.
func (a *App) checkPlace(p arms.Platform, place arms.Place) error {
	arm, ok := a.registry.Arm(p)
	if !ok {
		return nil
	}
	if c, ok := arm.(interface{ CheckPlace(arms.Place) error }); ok {
		return c.CheckPlace(place)
	}
	return nil
}

// Sections is the arms' part of the configuration file, with its defaults.
func Sections() config.Sections {
	return config.Sections{room.Platform: &room.Config{}}
}
