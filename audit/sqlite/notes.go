package sqlite

import (
	"context"

	"stet/audit"
)

const sqlProbe = `update probe set at = ? where id = 1`

// Note writes rows that belong to no attempt of a verb. A row whose id is
// there already changes nothing.
func (s *Store) Note(ctx context.Context, rows ...audit.Row) error {
	return s.commit(ctx, later, func(u *unit) error {
		for _, r := range rows {
			if _, err := u.insertRow(&r); err != nil {
				return err
			}
		}
		return nil
	})
}

// Probe proves that the trail can be written, by a write that reaches the disk.
func (s *Store) Probe(ctx context.Context) error {
	return s.commit(ctx, later, func(u *unit) error {
		_, err := u.exec(sqlProbe, u.now.UnixMicro())
		return err
	})
}
