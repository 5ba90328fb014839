package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// sqlLock waits for whoever migrates the same schema. The lock is its session's
// and ends with it, however the process ends.
const sqlLock = `select pg_advisory_lock(hashtextextended('stet migrate ' || current_schema(), 0))`

// migrate brings the schema to the newest version that this program knows and
// answers it. Several that start at once do it one after the other.
func migrate(ctx context.Context, config *pgx.ConnConfig) (version int64, err error) {
	db := stdlib.OpenDB(*config)
	defer func() { err = errors.Join(err, db.Close()) }()
	// One session holds the lock while another one migrates.
	db.SetMaxOpenConns(2)
	lock, err := db.Conn(ctx)
	if err != nil {
		return 0, fmt.Errorf("reach the database: %w", err)
	}
	defer func() { _ = lock.Close() }()
	if _, err := lock.ExecContext(ctx, sqlLock); err != nil {
		return 0, fmt.Errorf("wait for other migrations: %w", err)
	}
	return migrateLocked(ctx, db)
}

func migrateLocked(ctx context.Context, db *sql.DB) (int64, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return 0, err
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, files)
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
	if have == want {
		return want, nil
	}
	if _, err := p.Up(ctx); err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	return want, nil
}
