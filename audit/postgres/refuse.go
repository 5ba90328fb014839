package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"stet/audit"
	"stet/gateway/outcome"
)

// urgent writes are committed before the others.
const (
	urgent = true
	later  = false
)

// refusing is an attempt that ends before it was opened.
type refusing struct {
	attempt audit.Attempt
	row     audit.Row
	// seq is the number to give up, 0 if the attempt never waited.
	seq int64

	// fresh is false where the attempt was there already: nothing changed.
	fresh bool
	at    time.Time
}

// Refuse writes an attempt and its outcome together. The target of an edit or
// retract is kept only where the ledger's early look vouched for it, which
// shows in the attempt's place.
func (s *Store) Refuse(ctx context.Context, r audit.Refused) error {
	a := r.Attempt
	if a.Place.Zero() || r.Row.Reason == outcome.NotOwnPost {
		a.Target = ""
	}
	return s.refuse(ctx, &refusing{attempt: a, row: r.Row, seq: r.Seq})
}

func (s *Store) refuse(ctx context.Context, r *refusing) error {
	w := &write{refuse: r, clash: [3]clash{{kind: 'a', thing: r.attempt.ID}}}
	return asAudit(s.committer.do(ctx, later, w))
}

func refuseArgs(writes []*write, clock *int64) []any {
	var c attemptArrays
	var rows rowArrays
	for _, w := range writes {
		r := w.refuse
		target := string(r.attempt.Target)
		if isReply(r.attempt.Verb) {
			target = ""
		}
		c.add(r.attempt, r.attempt.Place, target, r.seq)
		rows.add(r.row)
	}
	return append(append([]any{clock}, c.args()...), rows.args()...)
}

func readRefused(writes []*write, rows pgx.Rows) error {
	return inOrder(writes, rows, func(w *write, scan func(...any) error) (string, error) {
		var at int64
		err := scan(&w.refuse.fresh, &at)
		w.refuse.at = time.UnixMicro(at).UTC()
		return "", err
	})
}
