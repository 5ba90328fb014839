package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"stet/audit"
	"stet/gateway/outcome"
)

// settling is the end of an opened attempt. late: it comes after a sweeper's
// outcome and becomes a note.
type settling struct {
	audit.Settlement
	late bool

	state string
	at    time.Time
}

// The states of a settlement that was sent.
const (
	stateSettled = "settled"
	stateMissing = "missing" // there is no such attempt
	stateSame    = "same"    // an earlier call wrote it
	stateLate    = "late"    // another outcome is there
)

// Settle writes an opened attempt's outcome with all that it changes, unless
// an outcome is there. What comes after a sweeper's outcome becomes a note.
func (s *Store) Settle(ctx context.Context, st audit.Settlement) (audit.Settled, error) {
	end := &settling{Settlement: st}
	if err := s.settle(ctx, end); err != nil {
		return audit.Settled{}, err
	}
	row := st.Row
	switch end.state {
	case stateSettled:
		row.At, row.Attempt, row.Kind, row.Detail = end.at, st.Attempt.ID, audit.Outcome, detail(row)
		return audit.Settled{Row: row}, nil
	case stateMissing:
		return audit.Settled{}, audit.ErrNotFound
	case stateLate:
		if row.Outcome != outcome.Ambiguous && !st.IfOpen {
			if err := s.settle(ctx, &settling{Settlement: st, late: true}); err != nil {
				return audit.Settled{}, err
			}
		}
	}
	there, found, err := s.reading(ctx).outcomeOf(st.Attempt.ID)
	if err != nil || !found {
		return audit.Settled{}, asAudit(orGone(err))
	}
	return audit.Settled{Row: there, Late: end.state == stateLate}, nil
}

func (s *Store) settle(ctx context.Context, end *settling) error {
	a := end.Attempt
	w := &write{settle: end, clash: [3]clash{{kind: 'a', thing: a.ID}}}
	if !isReply(a.Verb) {
		w.clash[1] = clash{kind: 's', org: a.Turn.Org, thing: string(a.Target)}
	}
	return asAudit(s.committer.do(ctx, urgent, w))
}

// lateResult is the note that takes the place of a definite outcome. It has the
// outcome's id, which no other row took, so that a repeated call is recognised.
func lateResult(r audit.Row) audit.Row {
	d := detailOf(r)
	r.Detail = audit.Detail{
		ID: d.ID, Channel: d.Channel, Parts: d.Parts,
		Verdict: audit.LateResult, Evidence: string(r.Outcome),
	}.JSON()
	r.Kind, r.Action = audit.Note, audit.ActionResolved
	r.Outcome, r.Reason, r.Failure = "", "", outcome.NoFailure
	return r
}

func settleArgs(writes []*write, clock *int64) []any {
	var attempts, outcomes []string
	var late, closes, releases, answered, mayEnd []bool
	var digests, answers [][]byte
	var next, window []int64
	var rows rowArrays
	var notes, posts []*string
	edits := 0
	for _, w := range writes {
		st := w.settle
		attempts, outcomes = append(attempts, stored(st.Attempt.ID)), append(outcomes, stored(st.Row.Outcome))
		late, digests, closes = append(late, st.late), append(digests, st.Digest), append(closes, st.Close)
		releases, answers = append(releases, st.Release), append(answers, st.Answer)
		answered, mayEnd = append(answered, st.Answered), append(mayEnd, st.MayEnd)
		next, window = append(next, st.NextLook.Microseconds()), append(window, st.Window.Microseconds())
		if !isReply(st.Attempt.Verb) {
			edits++
		}
		row := st.Row
		if st.late {
			row = lateResult(row)
		}
		rows.add(row)
		notes, posts = append(notes, list(st.Notes, rowJSON)), append(posts, list(st.Posts, postJSON))
	}
	args := append([]any{
		clock, attempts, late, outcomes, digests, closes, releases, answers, answered, mayEnd, next, window,
	}, rows.args()...)
	return append(args, notes, posts, edits)
}

// list is what goes with an outcome as one argument; nil for nothing.
func list[T any](all []T, encode func(T) json.RawMessage) *string {
	if len(all) == 0 {
		return nil
	}
	items := make([]json.RawMessage, len(all))
	for i, v := range all {
		items[i] = encode(v)
	}
	b, err := json.Marshal(items)
	if err != nil { // what was encoded encodes again
		return nil
	}
	text := string(b)
	return &text
}

func readSettled(writes []*write, rows pgx.Rows) error {
	return inOrder(writes, rows, func(w *write, scan func(...any) error) (string, error) {
		var at int64
		err := scan(&w.settle.state, &at, nil, nil, nil, nil, nil, nil)
		w.settle.at = time.UnixMicro(at).UTC()
		return w.settle.state, err
	})
}
