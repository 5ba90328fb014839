// Package sqldb opens SQLite files the one way that this project uses them:
// write-ahead log, full synchronous commits, one writing connection, separate
// readers, immediate transactions. It knows no table.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the "sqlite" driver
)

// DB is one SQLite file.
type DB struct {
	// Write has a single connection whose transactions take the write lock at
	// once, so that none fails with a stale snapshot half-way.
	Write *sql.DB
	// Read is a pool of connections that cannot write.
	Read *sql.DB

	path string
}

// Open opens or creates the file at path, readable by its owner alone.
func Open(ctx context.Context, path string) (*DB, error) {
	if err := create(path); err != nil {
		return nil, err
	}
	w, err := sql.Open("sqlite", dsn(path, "rwc", "synchronous(FULL)", "journal_mode(WAL)", "cache_size(-16000)"))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", filepath.Base(path), err)
	}
	w.SetMaxOpenConns(1)
	r, err := sql.Open("sqlite", dsn(path, "ro", "query_only(1)"))
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	r.SetMaxOpenConns(max(4, runtime.NumCPU()*2))
	r.SetMaxIdleConns(max(4, runtime.NumCPU()*2))
	db := &DB{Write: w, Read: r, path: path}
	if err := w.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", filepath.Base(path), err), db.Close())
	}
	return db, nil
}

func create(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("create database: %w", err)
	}
	return f.Close()
}

func dsn(path, mode string, pragmas ...string) string {
	q := url.Values{"mode": {mode}, "_txlock": {"immediate"}}
	for _, p := range append(pragmas, "busy_timeout(2000)", "foreign_keys(1)") {
		q.Add("_pragma", p)
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}
	if !filepath.IsAbs(path) {
		u.Opaque, u.Path = url.PathEscape(path), ""
	}
	return u.String()
}

// Path is the file's path.
func (db *DB) Path() string { return db.path }

// Close closes both pools.
func (db *DB) Close() error { return errors.Join(db.Read.Close(), db.Write.Close()) }

// Migrate brings the schema to the newest of the numbered files in migrations
// and returns its version. A schema newer than those is an error: an older
// program must not write to it.
func (db *DB) Migrate(ctx context.Context, migrations fs.FS) (int64, error) {
	p, err := goose.NewProvider(goose.DialectSQLite3, db.Write, migrations)
	if err != nil {
		return 0, fmt.Errorf("read migrations: %w", err)
	}
	have, want, err := p.GetVersions(ctx)
	if err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	if have > want {
		return 0, fmt.Errorf("the database has schema version %d, this program knows %d at most: run a newer stet", have, want)
	}
	if _, err := p.Up(ctx); err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	return want, nil
}

// InTx runs fn in one write transaction.
func (db *DB) InTx(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := db.Write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
