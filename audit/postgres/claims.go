package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"stet/arms"
	"stet/audit"
	"stet/gateway/outcome"
	"stet/gateway/turn"
)

// askAgain is when to ask again about a claim whose first use has not ended.
const askAgain = time.Second

const (
	sqlClaim = `select c.claim_hash, c.attempt, c.answer, a.deadline_at <= ` + sqlNowToRead + `
		from idempotency c join attempt a on a.id = c.attempt
		where c.org = $2 and c.principal = $3 and c.verb = $4 and c.claim_key = $5
		and c.keep_until > ` + sqlNowToRead
	sqlClaimWaits = `select claim_hash from edit_waiter where org = $2 and principal = $3 and verb = $4
		and claim_key = $5 and wait_until > ` + sqlNowToRead + ` limit 1`
	sqlVerdicts = `select detail::text from audit_row
		where attempt = $1 and kind = 'note' and action = 'reply.resolved' order by id`
	sqlInterrupt = `select ` + rowColumns + ` from interrupt_attempts($1, $2, $3)`
)

// use is what became of a claim's first use; the state is empty for a free key.
type use struct {
	audit.Opening
	attempt string
	answer  []byte
	// abandoned: no outcome, and the deadline has passed.
	abandoned bool
}

// Claimed finds what became of an idempotency key. A first use that is past its
// deadline without an outcome is ended here, so that its caller isn't told to
// wait for nothing.
func (s *Store) Claimed(ctx context.Context, t turn.Turn, v outcome.Verb, c audit.Claim) (audit.Opening, error) {
	found, err := s.reading(ctx).useOf(t, v, c)
	if err != nil || !found.abandoned {
		return found.Opening, asAudit(err)
	}
	return s.endUse(ctx, found)
}

// endUse ends a claim's abandoned first use and answers its replay. Where
// somebody else ended it meanwhile, that is what is answered.
func (s *Store) endUse(ctx context.Context, left use) (audit.Opening, error) {
	swept, err := s.interrupt(ctx, []string{left.attempt})
	if err != nil {
		return audit.Opening{}, err
	}
	end, err := s.reading(ctx).replay(left.attempt, left.answer)
	if err != nil {
		return audit.Opening{}, err
	}
	end.Swept = len(swept) > 0
	return end, nil
}

// interrupt ends open attempts whose owner left no outcome and answers the rows
// that it wrote.
func (s *Store) interrupt(ctx context.Context, attempts []string) ([]audit.Row, error) {
	ids, rows := make([]string, len(attempts)), make([]string, len(attempts))
	for i, a := range attempts {
		ids[i], rows[i] = stored(a), audit.NewID()
	}
	var swept []audit.Row
	err := s.inTx(ctx, func(u *unit) error {
		found, err := u.q.Query(u.ctx, sqlInterrupt, s.clock(), ids, rows)
		swept, err = collect(found, err, scanRow)
		return err
	})
	if err != nil {
		return nil, err
	}
	return swept, nil
}

// useOf finds a claim's first use.
func (u *unit) useOf(t turn.Turn, v outcome.Verb, c audit.Claim) (use, error) {
	args := []any{u.s.clock(), stored(t.Org), stored(t.Principal), stored(v), stored(c.Key)}
	var hash, answer []byte
	var attempt string
	var overdue bool
	found, err := one(u.row(sqlClaim, args...), &hash, into(&attempt), &answer, &overdue)
	switch {
	case err != nil:
		return use{}, err
	case !found:
		return u.waitingUse(args, c.Hash)
	case !bytes.Equal(hash, c.Hash):
		return use{Opening: audit.Opening{State: audit.Mismatch}}, nil
	}
	end, err := u.replay(attempt, answer)
	if err != nil || end.State == audit.Replayed {
		return use{Opening: end, attempt: attempt}, err
	}
	inProgress := audit.Opening{State: audit.InProgress, Answer: answer, RetryAfter: askAgain}
	return use{Opening: inProgress, attempt: attempt, answer: answer, abandoned: overdue}, nil
}

// waitingUse finds a claim that a write in a message's queue holds.
func (u *unit) waitingUse(args []any, hash []byte) (use, error) {
	var first []byte
	found, err := one(u.row(sqlClaimWaits, args...), &first)
	switch {
	case err != nil || !found:
		return use{}, err
	case !bytes.Equal(first, hash):
		return use{Opening: audit.Opening{State: audit.Mismatch}}, nil
	default:
		return use{Opening: audit.Opening{State: audit.InProgress, RetryAfter: askAgain}}, nil
	}
}

// replay answers from an attempt's outcome; the state is empty as long as it
// has none.
func (u *unit) replay(attempt string, answer []byte) (audit.Opening, error) {
	row, ended, err := u.outcomeOf(attempt)
	if err != nil || !ended {
		return audit.Opening{}, asAudit(err)
	}
	end := audit.Opening{State: audit.Replayed, Row: row, Answer: answer}
	if row.Outcome == outcome.Ambiguous {
		if end.Resolution, end.Found, err = u.strongest(attempt); err != nil {
			return audit.Opening{}, asAudit(err)
		}
	}
	return end, nil
}

// strength orders final verdicts: what was seen is never overturned by what
// was not.
var strength = map[audit.Verdict]int{
	audit.GaveUp: 1, audit.NotApplied: 2, audit.LateResult: 3, audit.SeenChanged: 4, audit.Seen: 5,
}

// strongest is the strongest final verdict about an ambiguous outcome, and the
// message that it is about.
func (u *unit) strongest(attempt string) (audit.Verdict, arms.MessageID, error) {
	rows, err := u.q.Query(u.ctx, sqlVerdicts, stored(attempt))
	details, err := collect(rows, err, func(scan func(...any) error) (string, error) {
		var d string
		return d, scan(&d)
	})
	if err != nil {
		return "", "", err
	}
	var best audit.Detail
	for _, raw := range details {
		var d audit.Detail
		if json.Unmarshal([]byte(raw), &d) == nil && strength[d.Verdict] > strength[best.Verdict] {
			best = d
		}
	}
	if best.Verdict == audit.LateResult && best.Evidence != string(outcome.Applied) {
		best.ID = "" // the owner's own result was that nothing is there
	}
	return best.Verdict, arms.MessageID(best.ID), nil
}
