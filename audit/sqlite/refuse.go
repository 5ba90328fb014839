package sqlite

import (
	"context"

	"stet/audit"
	"stet/gateway/outcome"
)

// Refuse writes an attempt and its outcome together. The target of an edit or
// retract is kept only where the ledger's early look vouched for it, which
// shows in the attempt's place.
func (s *Store) Refuse(ctx context.Context, r audit.Refused) error {
	return s.commit(ctx, later, func(u *unit) error {
		a, row := r.Attempt, r.Row
		if a.Place.Zero() || row.Reason == outcome.NotOwnPost {
			a.Target = ""
		}
		return u.ended(a, r.Seq, &row)
	})
}

// ended adds an attempt that was never opened, with its outcome, and gives up
// its place in a message's queue. Where the attempt is there already, nothing
// changes.
func (u *unit) ended(a audit.Attempt, seq int64, row *audit.Row) error {
	if a.Verb == outcome.Reply {
		a.Target = ""
	}
	fresh, err := u.insertAttempt(record{Attempt: a, seq: seq, opened: u.now, deadline: u.now})
	if err != nil || !fresh {
		return err
	}
	if _, err := u.insertOutcome(a.ID, row); err != nil {
		return err
	}
	if seq == 0 {
		return nil // it never waited
	}
	return u.dropWaiter(a.ID)
}
