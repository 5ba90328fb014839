package sqlite

import (
	"bytes"
	"context"
	"database/sql"
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
	sqlClaim = `select i.claim_hash, i.attempt, i.answer, i.keep_until, a.deadline_at
		from idempotency i join attempt a on a.id = i.attempt
		where i.org = ? and i.principal = ? and i.verb = ? and i.claim_key = ?`
	sqlClaimWaits = `select claim_hash from edit_waiter where org = ? and principal = ? and verb = ?
		and claim_key = ? and wait_until > ? and attempt <> ? limit 1`
	sqlPutClaim = `insert into idempotency
		(org, principal, verb, claim_key, claim_hash, attempt, answer, made_at, keep_until)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?)
		on conflict (org, principal, verb, claim_key) do update set claim_hash = excluded.claim_hash,
		attempt = excluded.attempt, answer = excluded.answer, made_at = excluded.made_at,
		keep_until = excluded.keep_until`
	sqlReleaseClaim = `delete from idempotency where attempt = ?`
	sqlAnswerClaim  = `update idempotency set answer = ? where attempt = ?`
	sqlVerdicts     = `select detail from audit_row
		where attempt = ? and kind = 'note' and action = 'reply.resolved' order by id`
)

type claimKey struct {
	org, principal string
	verb           outcome.Verb
	key            string
}

// use is what became of a claim's first use; the state is empty for a free key.
type use struct {
	audit.Opening
	attempt string
	// abandoned: no outcome, and the deadline has passed.
	abandoned bool
}

// Claimed finds what became of an idempotency key. A first use that is past its
// deadline without an outcome is ended here, so that its caller isn't told to
// wait for nothing.
func (s *Store) Claimed(ctx context.Context, t turn.Turn, v outcome.Verb, c audit.Claim) (audit.Opening, error) {
	k := claimKey{t.Org, t.Principal, v, c.Key}
	found, err := s.reading(ctx).useOf(k, c.Hash, "")
	if err != nil || !found.abandoned {
		return found.Opening, asAudit(err)
	}
	err = s.commit(ctx, urgent, func(u *unit) (err error) {
		found, err = u.useOf(k, c.Hash, "")
		if err != nil || !found.abandoned {
			return err
		}
		found.Opening, err = u.endUse(found)
		return err
	})
	if err != nil {
		return audit.Opening{}, err
	}
	return found.Opening, nil
}

// endUse ends a claim's abandoned first use and answers its replay.
func (u *unit) endUse(left use) (audit.Opening, error) {
	swept, err := u.interrupt(left.attempt)
	if err != nil {
		return audit.Opening{}, err
	}
	end, err := u.replay(left.attempt, left.Answer)
	end.Swept = swept != nil
	return end, err
}

// useOf finds a claim's use by another attempt than own.
func (u *unit) useOf(k claimKey, hash []byte, own string) (use, error) {
	var stored, answer []byte
	var attempt string
	var keep, deadline sql.NullInt64
	found, err := one(u.row(sqlClaim, k.org, k.principal, string(k.verb), k.key),
		&stored, &attempt, &answer, &keep, &deadline)
	if err != nil {
		return use{}, err
	}
	if !found || !u.now.Before(fromMicros(keep)) {
		return u.waitingUse(k, hash, own)
	}
	if !bytes.Equal(stored, hash) {
		return use{Opening: audit.Opening{State: audit.Mismatch}}, nil
	}
	end, err := u.replay(attempt, answer)
	if err != nil || end.State == audit.Replayed {
		return use{Opening: end, attempt: attempt}, err
	}
	inProgress := audit.Opening{State: audit.InProgress, Answer: answer, RetryAfter: askAgain}
	return use{Opening: inProgress, attempt: attempt, abandoned: !u.now.Before(fromMicros(deadline))}, nil
}

// waitingUse finds a claim that a write in a message's queue holds.
func (u *unit) waitingUse(k claimKey, hash []byte, own string) (use, error) {
	var stored []byte
	found, err := one(u.row(sqlClaimWaits, k.org, k.principal, string(k.verb), k.key, u.now.UnixMicro(), own), &stored)
	switch {
	case err != nil || !found:
		return use{}, err
	case !bytes.Equal(stored, hash):
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
		return audit.Opening{}, err
	}
	end := audit.Opening{State: audit.Replayed, Row: row, Answer: answer}
	if row.Outcome == outcome.Ambiguous {
		end.Resolution, end.Found, err = u.strongest(attempt)
	}
	return end, err
}

// strength orders final verdicts: what was seen is never overturned by what
// was not.
var strength = map[audit.Verdict]int{
	audit.GaveUp: 1, audit.NotApplied: 2, audit.LateResult: 3, audit.SeenChanged: 4, audit.Seen: 5,
}

// strongest is the strongest final verdict about an ambiguous outcome, and the
// message that it is about.
func (u *unit) strongest(attempt string) (audit.Verdict, arms.MessageID, error) {
	rows, err := u.rows(sqlVerdicts, attempt)
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

// claim gives the idempotency key to this attempt, with what a replay answers
// if the attempt has ended. An earlier claim on it has expired, or the first
// step would have answered.
func (o *opening) claim(answer []byte) error {
	c := o.r.Claim
	if c == nil {
		return nil
	}
	a := o.r.Attempt
	_, err := o.exec(sqlPutClaim, a.Turn.Org, a.Turn.Principal, string(a.Verb), c.Key, c.Hash, a.ID, answer,
		o.now.UnixMicro(), o.now.Add(c.Keep).UnixMicro())
	return err
}

// giveBack frees the claim of an attempt, or stores what its replay answers.
func (u *unit) giveBack(attempt string, release bool, answer []byte) error {
	var err error
	if release {
		_, err = u.exec(sqlReleaseClaim, attempt)
	} else if answer != nil {
		_, err = u.exec(sqlAnswerClaim, answer, attempt)
	}
	return err
}
