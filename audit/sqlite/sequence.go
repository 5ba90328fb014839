package sqlite

import (
	"bytes"

	"stet/audit"
	"stet/gateway/outcome"
)

const (
	sqlBusy = `select 1 from pending where org = ? and reply = ? and reply <> '' and platform = ?
		and workspace = ? and channel = ? and state = 'open' and dry_run = 0 and deadline_at > ? limit 1`
	// An earlier write that nothing is known of may still surface over a later one.
	sqlUnresolved = `select 1 from pending where org = ? and reply = ? and reply <> '' and platform = ?
		and workspace = ? and channel = ? and dry_run = 0 limit 1`
	sqlWaiters = `select verb, seq from edit_waiter where org = ? and reply = ? and platform = ?
		and workspace = ? and channel = ? and wait_until > ? and attempt <> ?`
	sqlPutWaiter = `insert into edit_waiter (attempt, verb, org, platform, workspace, channel, reply, seq,
		wait_until, principal, claim_key, claim_hash) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		on conflict (attempt) do nothing`
	sqlDropWaiter = `delete from edit_waiter where attempt = ?`
)

// number gives an edit or retract its number and lets it go on, wait, or end
// as overtaken. Dry runs change nothing, so they have no order to keep.
func (o *opening) number() (*audit.Opening, error) {
	a := o.r.Attempt
	if a.Verb == outcome.Reply {
		return nil, nil
	}
	m := messageOf(o.entry)
	var err error
	if o.head, err = o.unit.head(m); err != nil || a.Turn.DryRun {
		return nil, err
	}
	if o.seq == 0 {
		o.seq = o.head.last + 1
		if err := o.takeSeq(m, o.seq); err != nil {
			return nil, err
		}
	}
	q, err := o.queue(m)
	if err != nil {
		return nil, err
	}
	// A retract is overtaken by an applied retract alone, which ownPost found.
	if a.Verb == outcome.Edit && (o.head.opened > o.seq || q.newestEdit > o.seq) {
		return o.refuse(audit.Refusal{Outcome: outcome.NotSent, Reason: outcome.Superseded, Vouched: true})
	}
	if q.busy || (a.Verb == outcome.Edit && q.retract) {
		return o.wait(m)
	}
	return nil, nil
}

// queue is who else is at a message.
type queue struct {
	// busy: an attempt is open on it.
	busy bool
	// retract: a retract waits; newestEdit is the highest number of an edit
	// that waits.
	retract    bool
	newestEdit int64
}

func (o *opening) queue(m message) (q queue, err error) {
	var n int
	now := o.now.UnixMicro()
	if q.busy, err = one(o.row(sqlBusy, m.org, m.reply, m.platform, m.workspace, m.channel, now), &n); err != nil {
		return q, err
	}
	rows, err := o.rows(sqlWaiters, m.org, m.reply, m.platform, m.workspace, m.channel, now, o.r.Attempt.ID)
	_, err = collect(rows, err, func(scan func(...any) error) (struct{}, error) {
		var verb outcome.Verb
		var seq int64
		err := scan(&verb, &seq)
		if verb == outcome.Retract {
			q.retract = true
		} else {
			q.newestEdit = max(q.newestEdit, seq)
		}
		return struct{}{}, err
	})
	return q, err
}

// wait puts the write into the message's queue, or leaves it there: it counts
// as waiting from its first call on.
func (o *opening) wait(m message) (*audit.Opening, error) {
	a := o.r.Attempt
	var key any
	var hash []byte
	if c := o.r.Claim; c != nil {
		key, hash = c.Key, c.Hash
	}
	_, err := o.exec(sqlPutWaiter, a.ID, string(a.Verb), m.org, m.platform, m.workspace, m.channel, m.reply,
		o.seq, o.now.Add(o.r.MaxWait).UnixMicro(), a.Turn.Principal, key, hash)
	return &audit.Opening{State: audit.Wait, Seq: o.seq}, err
}

func (u *unit) dropWaiter(attempt string) error {
	_, err := u.exec(sqlDropWaiter, attempt)
	return err
}

// leaveQueue notes that the write opened or ended as applied. Only edits note
// their number: a retract that fails must not have overtaken the edits before
// it, and one that is applied closes the message.
func (o *opening) leaveQueue(m message) error {
	if o.r.Attempt.Verb == outcome.Reply || o.seq == 0 {
		return nil
	}
	if o.r.Attempt.Verb == outcome.Edit {
		if err := o.openedSeq(m, o.seq); err != nil {
			return err
		}
	}
	if o.r.Seq == 0 {
		return nil // it never waited
	}
	return o.dropWaiter(o.r.Attempt.ID)
}

// unchanged ends an edit whose text the message shows already, provided that
// no write to it is open or unresolved.
func (o *opening) unchanged() (*audit.Opening, error) {
	r := o.r
	if r.Attempt.Verb != outcome.Edit || r.Unchanged == nil ||
		len(r.Attempt.Digest) == 0 || !bytes.Equal(r.Attempt.Digest, o.head.digest) {
		return nil, nil
	}
	m := messageOf(o.entry)
	var n int
	unresolved, err := one(o.row(sqlUnresolved, m.org, m.reply, m.platform, m.workspace, m.channel), &n)
	if err != nil || unresolved {
		return nil, err
	}
	return o.endUnchanged(m)
}

func (o *opening) endUnchanged(m message) (*audit.Opening, error) {
	rec := o.record()
	row := *o.r.Unchanged
	if _, err := o.insertAttempt(rec); err != nil {
		return nil, err
	}
	if _, err := o.insertOutcome(rec.ID, &row); err != nil {
		return nil, err
	}
	if err := o.mark(rec.Turn.ID, marks{mayEnd: true}); err != nil {
		return nil, err
	}
	if err := o.claim(o.r.Answer); err != nil {
		return nil, err
	}
	if !rec.Turn.DryRun {
		if err := o.confirm(m, rec.Digest, o.seq); err != nil {
			return nil, err
		}
	}
	return &audit.Opening{State: audit.Ended, Seq: o.seq, Entry: o.entry, Row: row}, o.leaveQueue(m)
}
