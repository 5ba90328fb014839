package postgres

import (
	"context"

	"stet/audit"
)

const sqlProbe = `update probe set at = ` + sqlNow + ` where id = 1`

// Note writes rows that belong to no attempt of a verb. A row whose id is
// there already changes nothing.
func (s *Store) Note(ctx context.Context, rows ...audit.Row) error {
	q, args := addRows(s.clock(), rows)
	_, err := s.write(ctx, q, args...)
	return err
}

// Probe proves that the trail can be written, by a write that reaches the disk.
// After it, no attempt whose opening was not confirmed before can turn up any
// more: what such an opening left running at the server is waited for.
func (s *Store) Probe(ctx context.Context) error {
	doubt := s.committer.session.doubtful()
	err := s.inTx(ctx, func(u *unit) error {
		for _, name := range doubt {
			if _, err := u.exec(`select pg_advisory_xact_lock($1)`, name); err != nil {
				return err
			}
		}
		_, err := u.exec(sqlProbe, s.clock())
		return err
	})
	if err == nil {
		s.committer.session.over(doubt)
	}
	return err
}
