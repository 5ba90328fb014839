package postgres

import "context"

// ExecForTest runs a statement past the store.
func (s *Store) ExecForTest(ctx context.Context, statement string) error {
	_, err := s.pool.Exec(ctx, statement)
	return err
}

// CountForTest counts a table's rows.
func (s *Store) CountForTest(ctx context.Context, table string) (n int, err error) {
	err = s.pool.QueryRow(ctx, "select count(*) from "+table).Scan(&n)
	return n, err
}

// StoredForTest and RestoredForTest are the two ways between text and its form
// in the database.
func StoredForTest(s string) string   { return stored(s) }
func RestoredForTest(s string) string { return restored(s) }

// WaitingForTest is how many writes wait for a batch.
func (s *Store) WaitingForTest() int { return len(s.committer.first) + len(s.committer.second) }
