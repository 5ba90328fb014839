package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"stet/audit/postgres"
	"stet/audit/sqlite"
	"stet/cmd/internal/config"
	"stet/ledger"
	"stet/ledger/redisstore"
)

type ledgerCmd struct {
	Rebuild ledgerRebuildCmd `cmd:"" help:"Fill Redis again from SQL, beside a running gateway or without one."`
}

type ledgerRebuildCmd struct {
	settings `embed:""`
}

// Run copies every own post that may still be changed from SQL to Redis.
func (c ledgerRebuildCmd) Run(r *run) error {
	s, err := c.load(r)
	if err != nil {
		return usage{err}
	}
	if s.RedisURL == "" {
		return usagef("no Redis is set, so there is none to fill: name it with --redis-url")
	}
	source, err := openAuthority(r.ctx, s)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	redis, err := redisstore.New(redisstore.Options{URL: s.RedisURL.Reveal()})
	if err != nil {
		return err
	}
	defer func() { _ = redis.Close() }()
	began, entries := time.Now(), 0
	err = redis.Rebuild(r.ctx, source, func(done, total int) {
		entries = done
		r.progress(done, total)
	})
	r.endProgress()
	if err != nil {
		return fmt.Errorf("fill Redis: %w", err)
	}
	took := time.Since(began)
	if r.json {
		return r.printJSON(map[string]any{"entries": entries, "seconds": took.Seconds()})
	}
	return r.say("Redis holds all %d posts that may be changed now, after %s.\n", entries, took.Round(time.Millisecond))
}

// authority is the store that Redis stands in front of.
type authority interface {
	ledger.WindowSource
	Close() error
}

// openAuthority opens the store that a gateway uses. Of an SQLite file nothing
// is made or migrated beside a gateway that may be running; PostgreSQL knows
// how to migrate beside others.
func openAuthority(ctx context.Context, s config.Settings) (authority, error) {
	if s.DatabaseURL != "" {
		return postgres.Open(ctx, postgres.Options{URL: s.DatabaseURL.Reveal()})
	}
	path := filepath.Join(s.Data, "stet.db")
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("there is no ledger in %s: name the gateway's folder with --data", s.Data)
	}
	newest, err := newestSchema(ctx)
	if err != nil {
		return nil, err
	}
	have, err := openFile(ctx, path)
	if err != nil {
		return nil, errors.New(path + " can't be used: " + err.Error())
	}
	if have != newest {
		return nil, fmt.Errorf("%s has schema version %d, this program %d: run the stet that the gateway runs", path, have, newest)
	}
	return sqlite.Open(ctx, sqlite.Options{Path: path})
}

// progress rewrites one line on a terminal and is silent elsewhere.
func (r *run) progress(done, total int) {
	if r.ErrTerminal {
		r.complain("\r%d of %d", done, total)
	}
}

// endProgress clears the line.
func (r *run) endProgress() {
	if r.ErrTerminal {
		r.complain("\r\x1b[K")
	}
}
