package postgres

import (
	"bytes"
	"context"
	"slices"
	"time"

	"stet/audit"
	"stet/gateway/outcome"
)

const (
	sqlDue = `select ` + attemptColumns + `, p.overwritten, p.looks, p.first_miss
		from pending p join attempt a on a.id = p.attempt
		where p.state = 'ambiguous' and p.next_look <= ` + sqlNowToRead + ` order by p.opened_at desc limit $2`
	sqlLockMessage = `select 1 from own_post where org = $1 and message_id = $2 and channel = $3 and workspace = $4
		and platform = $5 for no key update`
	// Of the other writes to an edit's message that nothing is known of yet.
	sqlRivals = `select a.digest from pending p join pending q on q.org = p.org and q.reply = p.reply
		and q.platform = p.platform and q.workspace = p.workspace and q.channel = p.channel
		join attempt a on a.id = q.attempt
		where p.attempt = $1 and p.reply <> '' and q.attempt <> p.attempt and not q.dry_run`
	sqlIsOverwritten = `select overwritten from pending where attempt = $1`
	sqlConfirmed     = `select confirmed_seq, confirmed_digest from own_post where org = $1 and message_id = $2
		and channel = $3 and workspace = $4 and platform = $5`
	sqlFinish = `delete from pending where attempt = $1 and state = 'ambiguous' returning overwritten`
	sqlMissed = `update pending set looks = looks + 1,
		first_miss = coalesce(first_miss, case when $3 then ` + sqlNow + ` end), next_look = ` + sqlNow + ` + $4
		where attempt = $2 and state = 'ambiguous'`
	sqlSeenPost = `insert into own_post (` + entryColumns + `, confirmed_digest)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, null, $15) on conflict do nothing`
	sqlSeenPart = `insert into own_post (` + entryColumns + `)
		select $1, $2, $3, $4, $5, h.message_id, $6, $7, $8, $9, $10, $11, $12, h.editable_until, null
		from own_post h where h.org = $13 and h.message_id = $14 and h.channel = $15 and h.workspace = $16
			and h.platform = $17 and (h.dry_run or not $11)
		on conflict do nothing`
	sqlLand = `select land($2, $3, $4, $5, ` + sqlNow + `)`
)

// Due answers ambiguous attempts whose next look is due, newest first.
func (s *Store) Due(ctx context.Context, limit int) ([]audit.Pending, error) {
	u := s.reading(ctx)
	rows, err := u.q.Query(ctx, sqlDue, s.clock(), limit)
	found, err := collect(rows, err, scanPending)
	if err != nil {
		return nil, asAudit(err)
	}
	due := make([]audit.Pending, 0, len(found))
	for _, f := range found {
		if f.p.Entry, err = u.entryOf(f.rec); err != nil {
			return nil, asAudit(err)
		}
		due = append(due, f.p)
	}
	return due, nil
}

type pendingRecord struct {
	rec record
	p   audit.Pending
}

func scanPending(scan func(...any) error) (pendingRecord, error) {
	var f pendingRecord
	var miss *int64
	rec, err := scanAttempt(scan, &f.p.Overwritten, &f.p.Looks, &miss)
	f.rec = rec
	f.p.Attempt, f.p.Seq, f.p.FirstMiss = rec.Attempt, rec.seq, fromMicros(miss)
	f.p.OpenedAt, f.p.Deadline = rec.opened, rec.deadline
	return f, err
}

// Resolve records the verdict of a look. False: the attempt isn't ambiguous
// (any more), and nothing changed.
func (s *Store) Resolve(ctx context.Context, r audit.Resolution) (bool, error) {
	var recorded bool
	err := s.inTx(ctx, func(u *unit) (err error) {
		recorded, err = u.resolve(r)
		return err
	})
	return err == nil && recorded, err
}

func (u *unit) resolve(r audit.Resolution) (bool, error) {
	if r.Row.ID != "" {
		// An earlier call of the same verdict was committed, unconfirmed.
		if there, err := u.rowThere(r.Row.ID); err != nil || there {
			return there, err
		}
	}
	rec, found, err := u.attempt(r.Pending.Attempt.ID)
	if err != nil || !found {
		return false, err
	}
	// The message before its pending attempts, as everybody locks them.
	if _, err := one(u.row(sqlLockMessage, rec.message()...), new(int)); err != nil {
		return false, err
	}
	overwritten, there, err := u.looked(rec, r)
	if err != nil || !there {
		return false, err
	}
	if r.Write || r.Verdict.Final() {
		note := r.Row
		note.Attempt, note.Kind = rec.ID, audit.Note
		if err := u.addRows(note); err != nil {
			return false, err
		}
	}
	return true, u.applyVerdict(rec, r, overwritten)
}

// message is the key of the message that an edit or retract is about.
func (r record) message() []any {
	return []any{
		stored(r.Turn.Org), stored(r.reply), stored(r.Place.Channel), stored(r.Place.Workspace), stored(r.Place.Platform),
	}
}

// looked ends the looks at an ambiguous attempt, or counts one more; there is
// false when it isn't ambiguous, or when the look doesn't prove what it says.
func (u *unit) looked(rec record, r audit.Resolution) (overwritten, there bool, err error) {
	id := stored(rec.ID)
	if r.Verdict == audit.NotApplied {
		proven, err := u.proven(rec, r)
		if err != nil {
			return false, false, err
		}
		if !proven {
			_, err := u.exec(sqlMissed, u.s.clock(), id, true, r.NextLook.Microseconds())
			return false, false, err
		}
	}
	if r.Verdict.Final() {
		there, err = one(u.row(sqlFinish, id), &overwritten)
		return overwritten, there, err
	}
	n, err := u.exec(sqlMissed, u.s.clock(), id, r.Miss, r.NextLook.Microseconds())
	return false, n == 1, err
}

// proven reports that a look which didn't see an edit proves that it isn't
// there: no other write can have covered it. Where others are in doubt too, the
// message has to show what was confirmed before all of them.
func (u *unit) proven(rec record, r audit.Resolution) (bool, error) {
	if rec.Verb != outcome.Edit {
		return true, nil
	}
	var overwritten bool
	if _, err := one(u.row(sqlIsOverwritten, stored(rec.ID)), &overwritten); err != nil || overwritten {
		return false, err
	}
	rows, err := u.q.Query(u.ctx, sqlRivals, stored(rec.ID))
	rivals, err := collect(rows, err, func(scan func(...any) error) (digest []byte, err error) {
		return digest, scan(&digest)
	})
	if err != nil || len(rivals) == 0 {
		return err == nil, err
	}
	var seq int64
	var digest []byte
	if _, err := one(u.row(sqlConfirmed, rec.message()...), &seq, &digest); err != nil {
		return false, err
	}
	shown := len(digest) > 0 && seq < rec.seq && bytes.Equal(r.Shown, digest)
	return shown && !slices.ContainsFunc(rivals, func(d []byte) bool { return bytes.Equal(d, digest) }), nil
}

// applyVerdict brings the ledger to what the look saw. A post enters with the
// time at which its attempt was opened, unless the look knows better.
func (u *unit) applyVerdict(rec record, r audit.Resolution, overwritten bool) error {
	since := rec.opened
	if len(r.Posts) > 0 && !r.Posts[0].PostedAt.IsZero() {
		since = r.Posts[0].PostedAt
	}
	if err := u.enterSeen(rec, r, since); err != nil || isReply(rec.Verb) {
		return err
	}
	became := "look"
	switch {
	case r.Verdict == audit.NotApplied || r.Verdict == audit.NotSeen:
		became = ""
	case r.Close:
	case overwritten && r.Verdict == audit.Seen:
		became = "look-forget"
	case !overwritten && r.Digest == nil:
		became = "look-doubt"
	}
	_, err := u.exec(sqlLand, u.s.clock(), stored(rec.ID), became, r.Digest, r.Close)
	return err
}

// enterSeen brings messages that a look saw into the ledger.
func (u *unit) enterSeen(rec record, r audit.Resolution, since time.Time) error {
	for i, e := range r.Posts {
		if e.Reply == "" {
			e.Reply = e.ID
		}
		key := []any{stored(e.Org), stored(e.Platform), stored(e.Workspace), stored(e.Channel), stored(e.ID)}
		rest := []any{
			e.Part, stored(e.Thread), stored(e.ServiceURL), stored(e.Organization), stored(rec.Turn.Session),
			rec.Turn.DryRun, since.UnixMicro(),
		}
		var err error
		if isReply(rec.Verb) {
			var digest []byte
			if i == 0 {
				digest = r.Digest
			}
			args := append(append(key, stored(e.Reply)), rest...)
			_, err = u.exec(sqlSeenPost, append(args, since.Add(r.Window).UnixMicro(), digest)...)
		} else {
			// A part that an edit added has no longer a life than its message.
			_, err = u.exec(sqlSeenPart, append(append(key, rest...), rec.message()...)...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
