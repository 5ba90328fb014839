package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"slices"
	"time"

	"stet/audit"
	"stet/gateway/outcome"
)

const (
	sqlDue = `select ` + attemptColumns + `, p.overwritten, p.looks, p.first_miss
		from pending p join attempt a on a.id = p.attempt
		where p.attempt in (select attempt from pending
			where state = 'ambiguous' and next_look <= ? order by opened_at desc limit ?)
		order by p.opened_at desc`
	sqlFinish = `delete from pending where attempt = ? and state = 'ambiguous' returning overwritten`
	// Of the other writes to an edit's message that nothing is known of yet.
	sqlRivals = `select a.digest from pending p join pending q on q.org = p.org and q.reply = p.reply
		and q.platform = p.platform and q.workspace = p.workspace and q.channel = p.channel
		join attempt a on a.id = q.attempt
		where p.attempt = ? and p.reply <> '' and q.attempt <> p.attempt and q.dry_run = 0`
	sqlIsOverwritten = `select overwritten from pending where attempt = ?`
	sqlMissed        = `update pending set looks = looks + 1, first_miss = coalesce(first_miss, ?), next_look = ?
		where attempt = ? and state = 'ambiguous'`
)

// Due answers ambiguous attempts whose next look is due, newest first.
func (s *Store) Due(ctx context.Context, limit int) ([]audit.Pending, error) {
	u := s.reading(ctx)
	rows, err := u.rows(sqlDue, u.now.UnixMicro(), limit)
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
	var miss sql.NullInt64
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
	err := s.commit(ctx, urgent, func(u *unit) (err error) {
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
	id := r.Pending.Attempt.ID
	overwritten, there, err := u.looked(id, r)
	if err != nil || !there {
		return false, err
	}
	if r.Write || r.Verdict.Final() {
		if err := u.insertNotes(id, []audit.Row{r.Row}); err != nil {
			return false, err
		}
	}
	return true, u.applyVerdict(id, r, overwritten)
}

// looked ends the looks at an ambiguous attempt, or counts one more; there is
// false when it isn't ambiguous.
func (u *unit) looked(id string, r audit.Resolution) (overwritten, there bool, err error) {
	if r.Verdict == audit.NotApplied {
		proven, err := u.proven(id, r)
		if err != nil {
			return false, false, err
		}
		if !proven {
			_, err := u.exec(sqlMissed, u.now.UnixMicro(), u.now.Add(r.NextLook).UnixMicro(), id)
			return false, false, err
		}
	}
	if r.Verdict.Final() {
		there, err = one(u.row(sqlFinish, id), &overwritten)
		return overwritten, there, err
	}
	var miss time.Time
	if r.Miss {
		miss = u.now
	}
	n, err := u.exec(sqlMissed, micros(miss), u.now.Add(r.NextLook).UnixMicro(), id)
	return false, n == 1, err
}

// proven reports that a look which didn't see an edit proves that it isn't
// there: no other write can have covered it. Where others are in doubt too, the
// message has to show what was confirmed before all of them.
func (u *unit) proven(id string, r audit.Resolution) (bool, error) {
	rec, found, err := u.attempt(id)
	if err != nil || !found || rec.Verb != outcome.Edit {
		return found, err
	}
	var overwritten bool
	if _, err := one(u.row(sqlIsOverwritten, id), &overwritten); err != nil || overwritten {
		return false, err
	}
	rows, err := u.rows(sqlRivals, id)
	rivals, err := collect(rows, err, func(scan func(...any) error) (digest []byte, err error) {
		return digest, scan(&digest)
	})
	if err != nil || len(rivals) == 0 {
		return err == nil, err
	}
	h, err := u.head(rec.message())
	shown := len(h.digest) > 0 && h.confirmed < rec.seq && bytes.Equal(r.Shown, h.digest)
	return shown && !slices.ContainsFunc(rivals, func(d []byte) bool { return bytes.Equal(d, h.digest) }), err
}

// applyVerdict brings the ledger to what the look saw. A post enters with the
// time at which its attempt was opened.
func (u *unit) applyVerdict(attempt string, r audit.Resolution, overwritten bool) error {
	rec, found, err := u.attempt(attempt)
	if err != nil || !found {
		return err
	}
	c := change{posts: r.Posts, digest: r.Digest, close: r.Close, window: r.Window, since: rec.opened}
	if len(r.Posts) > 0 && !r.Posts[0].PostedAt.IsZero() {
		c.since = r.Posts[0].PostedAt
	}
	if err := u.applyLedger(rec, c); err != nil {
		return err
	}
	if rec.Verb == outcome.Reply || r.Verdict == audit.NotApplied || r.Verdict == audit.NotSeen {
		return nil
	}
	// Whatever else is in doubt may be covered by this one now.
	if err := u.cover(rec); err != nil {
		return err
	}
	switch {
	case r.Close:
		return nil
	case overwritten && r.Verdict == audit.Seen:
		return u.forget(rec.message()) // it surfaced over what was confirmed later
	case !overwritten && r.Digest == nil:
		return u.doubt(rec)
	}
	return nil
}
