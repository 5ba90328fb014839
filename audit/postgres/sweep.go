package postgres

import (
	"context"
	"time"

	"stet/audit"
)

const (
	sqlAbandoned = `select attempt from pending where state = 'open'
		and (deadline_at < ` + sqlNowToRead + ` - $2 or ($3 <> '' and boot <> $3)) order by deadline_at limit $4`
	sqlNobodyWaits = `delete from edit_waiter`
	sqlOpenCount   = `select count(*) from pending where state = 'open'`
)

// Sweep ends attempts that nobody can still be working on. What it finds is
// looked at again under lock before it is ended, so two sweepers and a live
// owner between them leave one outcome.
//
// Where several replicas share the database, boot must be empty: the attempts
// and the waits of another process may well be alive.
func (s *Store) Sweep(ctx context.Context, margin time.Duration, boot string, limit int) ([]audit.Row, error) {
	if boot != "" {
		// Who waited in another process waits no more.
		if _, err := s.write(ctx, sqlNobodyWaits); err != nil {
			return nil, err
		}
	}
	rows, err := s.pool.Query(ctx, sqlAbandoned, s.clock(), margin.Microseconds(), stored(boot), limit)
	ids, err := collect(rows, err, func(scan func(...any) error) (string, error) {
		var id string
		return id, scan(into(&id))
	})
	if err != nil || len(ids) == 0 {
		return nil, asAudit(err)
	}
	return s.interrupt(ctx, ids)
}

// OpenAttempts counts the attempts that are open now, of all replicas.
func (s *Store) OpenAttempts(ctx context.Context) (int, error) {
	var n int
	err := s.pool.QueryRow(ctx, sqlOpenCount).Scan(&n)
	return n, asAudit(err)
}
