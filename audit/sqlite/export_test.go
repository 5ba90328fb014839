package sqlite

import (
	"context"
	"strings"
)

// ExecForTest runs a statement past the store.
func (s *Store) ExecForTest(ctx context.Context, statement string) error {
	_, err := s.db.Write.ExecContext(ctx, statement)
	return err
}

// CountForTest counts a table's rows.
func (s *Store) CountForTest(ctx context.Context, table string) (n int, err error) {
	err = s.db.Read.QueryRowContext(ctx, "select count(*) from "+table).Scan(&n)
	return n, err
}

// HotForTest are the statements on the way of an attempt.
func HotForTest() []string { return append(append([]string{}, hotWrites...), hotReads...) }

// PruneForTest are the statements of the janitor, and those of the sweeper.
func PruneForTest() []string {
	return []string{
		pruneClaims, pruneWaiters, pruneEvidence, pruneTranscript, pruneTurnEvidence, pruneTurnActivity,
		pruneTurns, prunePosts, sqlAbandoned, sqlDue, sqlOpenCount,
	}
}

// PlanForTest is how SQLite would run a statement.
func (s *Store) PlanForTest(ctx context.Context, q string) (string, error) {
	args := make([]any, strings.Count(q, "?"))
	rows, err := s.db.Read.QueryContext(ctx, "explain query plan "+q, args...)
	lines, err := collect(rows, err, func(scan func(...any) error) (string, error) {
		var id, parent, unused int
		var line string
		return line, scan(&id, &parent, &unused, &line)
	})
	return strings.Join(lines, "\n"), err
}
