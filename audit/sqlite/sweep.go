package sqlite

import (
	"context"
	"time"

	"stet/audit"
)

const (
	sqlAbandoned = `select attempt from pending where state = 'open'
		and (deadline_at < ? or (? <> '' and boot <> ?)) order by deadline_at limit ?`
	sqlNobodyWaits = `delete from edit_waiter`
	sqlOpenCount   = `select count(*) from pending where state = 'open'`
)

// Sweep ends attempts that nobody can still be working on. What it looks for
// is read in the transaction that writes, so two sweepers and a live owner
// between them leave one outcome.
func (s *Store) Sweep(ctx context.Context, margin time.Duration, boot string, limit int) ([]audit.Row, error) {
	var swept []audit.Row
	err := s.commit(ctx, urgent, func(u *unit) error {
		swept = nil
		if boot != "" {
			// Who waited in another process waits no more.
			if _, err := u.exec(sqlNobodyWaits); err != nil {
				return err
			}
		}
		rows, err := u.rows(sqlAbandoned, u.now.Add(-margin).UnixMicro(), boot, boot, limit)
		ids, err := collect(rows, err, func(scan func(...any) error) (string, error) {
			var id string
			return id, scan(&id)
		})
		if err != nil {
			return err
		}
		var ended []audit.Row
		for _, id := range ids {
			row, err := u.interrupt(id)
			if err != nil {
				return err
			}
			if row != nil {
				ended = append(ended, *row)
			}
		}
		swept = ended
		return nil
	})
	if err != nil {
		return nil, err
	}
	return swept, nil
}

// interrupt ends one open attempt as interrupted; nil when it has an outcome.
func (u *unit) interrupt(attempt string) (*audit.Row, error) {
	rec, found, err := u.attempt(attempt)
	if err != nil || !found {
		return nil, err
	}
	row := rec.interrupted()
	fresh, err := u.insertOutcome(rec.ID, &row)
	if err != nil || !fresh {
		return nil, err
	}
	if err := u.mark(rec.Turn.ID, marks{mayEnd: true}); err != nil {
		return nil, err
	}
	if rec.Turn.DryRun {
		// Nothing could have reached a platform: there is nothing to look for.
		_, err = u.exec(sqlDropPending, rec.ID)
	} else {
		_, err = u.exec(sqlPendingAmbiguous, u.now.UnixMicro(), rec.ID)
	}
	return &row, err
}

// OpenAttempts counts the attempts that are open now.
func (s *Store) OpenAttempts(ctx context.Context) (int, error) {
	var n int
	err := s.reading(ctx).row(sqlOpenCount).Scan(&n)
	return n, asAudit(err)
}
