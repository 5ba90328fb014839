package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"stet/audit"
	"stet/audit/sqldb"
	"stet/gateway/bind"
)

// unit is one run of a write or one reading: where its statements go, and the
// store's time at its start. It lives no longer than the call that made it.
type unit struct {
	ctx context.Context
	s   *Store
	now time.Time
	// tx is nil for a reading outside a transaction.
	tx *sql.Tx
}

// urgent writes are committed before the others.
const (
	urgent = true
	later  = false
)

// commit runs fn in a transaction and returns after its commit. fn may run
// again, so it sets its results anew each time; on an error they must not be
// read, since an unconfirmed commit may still be running.
func (s *Store) commit(ctx context.Context, first bool, fn func(*unit) error) error {
	return asAudit(s.committer.Do(ctx, first, func(ctx context.Context, tx *sql.Tx) error {
		return fn(&unit{ctx: ctx, s: s, now: s.clock(), tx: tx})
	}))
}

// reading is a unit that reads what is committed.
func (s *Store) reading(ctx context.Context) *unit {
	return &unit{ctx: ctx, s: s, now: s.clock()}
}

// asAudit translates an error into the contract's closed set. Nothing of a
// statement, whose values are other people's, goes along.
func asAudit(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, audit.ErrNotFound), errors.Is(err, bind.ErrNotFound):
		return err
	case errors.Is(err, sqldb.ErrOverloaded):
		return audit.ErrOverloaded
	case errors.Is(err, sqldb.ErrUnknown):
		return fmt.Errorf("%w: %s", audit.ErrUnconfirmed, sqldb.Class(err))
	default:
		return fmt.Errorf("%w: %s", audit.ErrUnavailable, sqldb.Class(err))
	}
}

func (u *unit) exec(q string, args ...any) (int64, error) {
	var res sql.Result
	var err error
	if st := u.s.writes[q]; st != nil {
		res, err = u.tx.StmtContext(u.ctx, st).ExecContext(u.ctx, args...)
	} else {
		res, err = u.tx.ExecContext(u.ctx, q, args...)
	}
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (u *unit) row(q string, args ...any) *sql.Row {
	switch {
	case u.tx == nil && u.s.reads[q] != nil:
		return u.s.reads[q].QueryRowContext(u.ctx, args...)
	case u.tx == nil:
		return u.s.db.Read.QueryRowContext(u.ctx, q, args...)
	case u.s.writes[q] != nil:
		return u.tx.StmtContext(u.ctx, u.s.writes[q]).QueryRowContext(u.ctx, args...)
	default:
		return u.tx.QueryRowContext(u.ctx, q, args...)
	}
}

func (u *unit) rows(q string, args ...any) (*sql.Rows, error) {
	switch {
	case u.tx == nil && u.s.reads[q] != nil:
		return u.s.reads[q].QueryContext(u.ctx, args...)
	case u.tx == nil:
		return u.s.db.Read.QueryContext(u.ctx, q, args...)
	case u.s.writes[q] != nil:
		return u.tx.StmtContext(u.ctx, u.s.writes[q]).QueryContext(u.ctx, args...)
	default:
		return u.tx.QueryContext(u.ctx, q, args...)
	}
}

// one scans a single row; found is false when there is none.
func one(r *sql.Row, into ...any) (found bool, err error) {
	err = r.Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// collect scans all rows of a query.
func collect[T any](rows *sql.Rows, err error, scan func(func(...any) error) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
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

// micros is a time as it is stored; the zero time is stored as null.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

func fromMicros(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMicro(n.Int64).UTC()
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
