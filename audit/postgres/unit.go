package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The store's time in a statement whose first argument is [Store.clock]. What
// only reads takes it from the statement's start, so that an index serves.
const (
	sqlNow       = `coalesce($1::bigint, (extract(epoch from clock_timestamp()) * 1000000)::bigint)`
	sqlNowToRead = `coalesce($1::bigint, (extract(epoch from statement_timestamp()) * 1000000)::bigint)`
)

// querier is a pool or a transaction.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// unit is one run of a write that goes its own way, or one reading.
type unit struct {
	ctx context.Context
	s   *Store
	q   querier
}

// reading is a unit that reads what is committed.
func (s *Store) reading(ctx context.Context) *unit { return &unit{ctx: ctx, s: s, q: s.pool} }

// inTx runs fn in a transaction of its own and returns after its commit. fn may
// run again, so it sets its results anew each time.
func (s *Store) inTx(ctx context.Context, fn func(*unit) error) error {
	began := time.Now()
	var err error
	for range maxTries {
		err = s.tryTx(ctx, fn)
		if !answered(err) || Class(err) != classConflict {
			break
		}
	}
	s.observe(1, time.Since(began))
	return asAudit(err)
}

func (s *Store) tryTx(ctx context.Context, fn func(*unit) error) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return errors.Join(errGaveUp, err)
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	if err := fn(&unit{ctx: ctx, s: s, q: tx}); err != nil {
		return err
	}
	return confirmed(tx.Commit(ctx))
}

// begin begins a transaction. A connection that was lost while it was idle shows
// only now, and others with it: then all are made anew.
func (s *Store) begin(ctx context.Context) (pgx.Tx, error) {
	tx, err := s.pool.Begin(ctx)
	if err == nil || answered(err) || ctx.Err() != nil || errors.As(err, new(*pgconn.ConnectError)) {
		return tx, err
	}
	s.pool.Reset()
	return s.pool.Begin(ctx)
}

// write runs one statement that is a transaction of its own and answers how
// many rows it changed.
func (s *Store) write(ctx context.Context, q string, args ...any) (int64, error) {
	began := time.Now()
	var tag pgconn.CommandTag
	var err error
	for range maxTries {
		tag, err = s.pool.Exec(ctx, q, args...)
		if !answered(err) || Class(err) != classConflict {
			break
		}
	}
	s.observe(1, time.Since(began))
	return tag.RowsAffected(), asAudit(confirmed(err))
}

// confirmed says of an error that came back from a commit whether it leaves
// open what became of it.
func confirmed(err error) error {
	if err == nil || answered(err) || pgconn.SafeToRetry(err) {
		return err
	}
	return errors.Join(errUnknown, err)
}

func (u *unit) exec(q string, args ...any) (int64, error) {
	tag, err := u.q.Exec(u.ctx, q, args...)
	return tag.RowsAffected(), err
}

func (u *unit) row(q string, args ...any) pgx.Row { return u.q.QueryRow(u.ctx, q, args...) }

// one scans a single row; found is false when there is none.
func one(r pgx.Row, into ...any) (found bool, err error) {
	err = r.Scan(into...)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// collect scans all rows of a query.
func collect[T any](rows pgx.Rows, err error, scan func(func(...any) error) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		v, err := scan(rows.Scan)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

func orMissing[T any](v T, err error) (T, bool, error) {
	var none T
	switch {
	case err == nil:
		return v, true, nil
	case errors.Is(err, pgx.ErrNoRows):
		return none, false, nil
	default:
		return none, false, err
	}
}

// micros is a time as it is stored; the zero time is stored as null.
func micros(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	n := t.UnixMicro()
	return &n
}

func fromMicros(n *int64) time.Time {
	if n == nil {
		return time.Time{}
	}
	return time.UnixMicro(*n).UTC()
}
