package sqlite

import (
	"context"
	"time"

	"stet/audit"
	"stet/gateway/outcome"
	"stet/ledger"
)

// Settle writes an opened attempt's outcome with all that it changes, unless
// an outcome is there. What comes after a sweeper's outcome becomes a note.
func (s *Store) Settle(ctx context.Context, st audit.Settlement) (audit.Settled, error) {
	var end audit.Settled
	err := s.commit(ctx, urgent, func(u *unit) (err error) {
		end, err = u.settle(st)
		return err
	})
	if err != nil {
		return audit.Settled{}, err
	}
	return end, nil
}

func (u *unit) settle(st audit.Settlement) (audit.Settled, error) {
	rec, found, err := u.attempt(st.Attempt.ID)
	if err != nil {
		return audit.Settled{}, err
	}
	if !found {
		return audit.Settled{}, audit.ErrNotFound
	}
	row := st.Row
	fresh, err := u.insertOutcome(rec.ID, &row)
	if err != nil {
		return audit.Settled{}, err
	}
	if !fresh {
		return u.settleAgain(rec, st)
	}
	if err := u.insertNotes(rec.ID, st.Notes); err != nil {
		return audit.Settled{}, err
	}
	if err := u.apply(rec, st); err != nil {
		return audit.Settled{}, err
	}
	return audit.Settled{Row: row}, u.settlePending(rec, st)
}

// settleAgain is for a settlement that finds an outcome: its own of an earlier
// call, or a sweeper's.
func (u *unit) settleAgain(rec record, st audit.Settlement) (audit.Settled, error) {
	there, _, err := u.outcomeOf(rec.ID)
	if err != nil {
		return audit.Settled{}, err
	}
	if there.ID == st.Row.ID {
		return audit.Settled{Row: there}, nil
	}
	late := audit.Settled{Row: there, Late: true}
	if st.Row.Outcome == outcome.Ambiguous || st.IfOpen {
		return late, nil
	}
	note := lateResult(st.Row)
	fresh, err := u.insertRow(&note)
	if err != nil || !fresh {
		return late, err
	}
	if err := u.insertNotes(rec.ID, st.Notes); err != nil {
		return audit.Settled{}, err
	}
	if err := u.apply(rec, st); err != nil {
		return audit.Settled{}, err
	}
	_, err = u.exec(sqlDropPending, rec.ID)
	return late, err
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

// apply makes the changes that go with a definite or ambiguous outcome: the
// ledger, the claim, the turn's marks, the writes that this one overtook.
func (u *unit) apply(rec record, st audit.Settlement) error {
	if err := u.applyLedger(rec, change{st.Posts, st.Digest, st.Close, st.Window, u.now}); err != nil {
		return err
	}
	if err := u.giveBack(rec.ID, st.Release, st.Answer); err != nil {
		return err
	}
	m := marks{
		answered: st.Answered, mayEnd: st.MayEnd,
		partial: rec.Verb == outcome.Reply && st.Row.Outcome == outcome.Partial,
	}
	if err := u.mark(rec.Turn.ID, m); err != nil {
		return err
	}
	switch {
	case rec.Verb == outcome.Reply || rec.Turn.DryRun:
		return nil
	case st.Row.Outcome == outcome.Applied:
		return u.overwrite(rec)
	case st.Row.Outcome == outcome.Partial && st.Digest == nil:
		return u.doubt(rec)
	}
	return nil
}

func (u *unit) settlePending(rec record, st audit.Settlement) error {
	var err error
	if st.Row.Outcome == outcome.Ambiguous && !rec.Turn.DryRun {
		_, err = u.exec(sqlPendingAmbiguous, u.now.Add(st.NextLook).UnixMicro(), rec.ID)
	} else {
		_, err = u.exec(sqlDropPending, rec.ID)
	}
	return err
}

// change is what an outcome or a look does to the ledger.
type change struct {
	posts  []ledger.Entry
	digest []byte
	close  bool
	// window counts from since; a post with a time of its own counts from that.
	window time.Duration
	since  time.Time
}

// applyLedger changes the own-post ledger.
func (u *unit) applyLedger(rec record, c change) error {
	if rec.Verb == outcome.Reply {
		return u.enterReply(rec, c)
	}
	m := rec.message()
	h, err := u.head(m)
	if err != nil || (rec.Turn.DryRun && !h.dry) {
		return err // a dry run leaves real posts alone
	}
	for _, e := range c.posts {
		// A part that an edit added has no longer a life than its message.
		e.Reply, e.PostedAt, e.EditableUntil = m.id(), c.since, h.editable
		if err := u.insertPost(owned(e, rec), nil); err != nil {
			return err
		}
	}
	if c.digest != nil {
		if err := u.confirm(m, c.digest, rec.seq); err != nil {
			return err
		}
	}
	if c.close {
		return u.closeMessage(m)
	}
	return nil
}

// enterReply brings the parts of a new message into the ledger.
func (u *unit) enterReply(rec record, c change) error {
	for i, e := range c.posts {
		e.PostedAt, e.EditableUntil = c.since, c.since.Add(c.window)
		var digest []byte
		if i == 0 {
			digest = c.digest
		}
		if err := u.insertPost(owned(e, rec), digest); err != nil {
			return err
		}
	}
	return nil
}

// owned says for whom a message is in the ledger.
func owned(e ledger.Entry, rec record) ledger.Entry {
	e.DryRun, e.Session = rec.Turn.DryRun, rec.Turn.Session
	return e
}
