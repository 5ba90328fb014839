package postgres

import (
	"context"

	"stet/audit"
)

const (
	sqlProbe        = `update probe set at = ` + sqlNow + ` where id = 1`
	sqlSessionAlone = `select pg_advisory_xact_lock($1)`
)

// Note writes rows that belong to no attempt of a verb. A row whose id is
// there already changes nothing.
func (s *Store) Note(ctx context.Context, rows ...audit.Row) error {
	q, args := addRows(s.clock(), rows)
	_, err := s.write(ctx, q, args...)
	return err
}

// Probe proves that the trail can be written, by a write that reaches the disk
// the way that attempts take. After it, no attempt whose opening was not
// confirmed before can turn up any more: what is under way is before it in the
// committer, and what lost its connection and may still be running at the
// server is waited for.
func (s *Store) Probe(ctx context.Context) error {
	if err := s.committer.do(ctx, later, &write{probe: true}); err != nil {
		return asAudit(err)
	}
	doubt := s.committer.session.doubtful()
	if len(doubt) == 0 {
		return nil
	}
	err := s.inTx(ctx, func(u *unit) error {
		for _, name := range doubt {
			if _, err := u.exec(sqlSessionAlone, name); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		s.committer.session.over(doubt)
	}
	return err
}
