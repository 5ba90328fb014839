package cli

import (
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"stet/arms/armhttp"
	"stet/cmd/internal/app"
	"stet/cmd/internal/config"
)

// settings are the flags of the contract's table, for every command that needs
// what a gateway needs.
type settings struct {
	Listen          string         `from:"STET_LISTEN" default:"127.0.0.1:8484" help:"Where to listen; port 0 picks a free one."`
	Data            string         `from:"STET_DATA" default:"./stet-data" complete:"file" help:"The folder of everything that must outlive the process."`
	RedisURL        armhttp.Secret `name:"redis-url" from:"STET_REDIS_URL" placeholder:"URL" help:"Redis in front of the ledger; without it SQL answers alone. A URL (redis://, rediss://, unix://), or a comma list for a cluster or, with redis+sentinel://, for Sentinel."`
	DatabaseURL     armhttp.Secret `name:"database-url" from:"STET_DATABASE_URL" placeholder:"URL" help:"A PostgreSQL database, postgres://...; empty: SQLite under the data folder."`
	EditWindow      time.Duration  `from:"STET_EDIT_WINDOW" default:"4h" help:"How long after it was posted a message may be changed."`
	PlatformTimeout time.Duration  `from:"STET_PLATFORM_TIMEOUT" default:"15s" help:"The limit of one request to a platform."`
	MaxWait         time.Duration  `from:"STET_MAX_WAIT" default:"10s" help:"The longest wait for a busy message or a budget."`
	Config          string         `from:"STET_CONFIG" placeholder:"FILE" complete:"file" help:"YAML for what flags can't say."`
	DryRun          bool           `from:"STET_DRY_RUN" help:"Make every turn a dry one: nothing reaches a platform."`
}

// load completes the flags with the file and the environment's secrets.
func (f settings) load(r *run) (config.Settings, error) {
	s := config.Default()
	s.Listen, s.Data, s.ConfigPath, s.DryRun = f.Listen, f.Data, f.Config, f.DryRun
	s.RedisURL, s.DatabaseURL = f.RedisURL, f.DatabaseURL
	s.EditWindow, s.PlatformTimeout, s.MaxWait = f.EditWindow, f.PlatformTimeout, f.MaxWait
	return config.Load(s, r.env, app.Sections())
}

type serveCmd struct {
	settings `embed:""`
}

// Run serves until the context ends, then drains.
func (c serveCmd) Run(r *run) error {
	s, err := c.load(r)
	if err != nil {
		return usage{err}
	}
	a, err := app.New(r.ctx, app.Options{
		Settings: s, Version: r.Version, Logger: slog.New(slog.NewJSONHandler(r.Err, nil)),
	})
	if err != nil {
		return err
	}
	return errors.Join(r.greet(a, s), a.Run(r.ctx))
}

// greet shows the first keys, this once, and, to a person, where to look.
func (r *run) greet(a *app.App, s config.Settings) error {
	if a.MintedKeys() {
		err := r.say("First start. These keys are shown this once; they are also in %s.\n"+
			"STET_HOST_KEY=%s\nSTET_OPS_KEY=%s\n", filepath.Join(s.Data, "keys.env"), a.HostKey(), a.OpsKey())
		if err != nil {
			return err
		}
	}
	if !r.OutTerminal {
		return nil
	}
	return r.say("Stet is at %s\n  a room to watch    %s/room/\n  the API to read    %s/docs\n",
		a.Addr(), a.Addr(), a.Addr())
}
