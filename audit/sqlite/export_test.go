package sqlite

import "context"

// ExecForTest runs a statement past the store.
func (s *Store) ExecForTest(ctx context.Context, statement string) error {
	_, err := s.db.Write.ExecContext(ctx, statement)
	return err
}
