package sqlite

import (
	"context"

	"stet/audit"
	"stet/gateway/locus"
	"stet/gateway/outcome"
	"stet/ledger"
)

// Open checks and opens an attempt in one commit, or ends it, or lets it wait.
func (s *Store) Open(ctx context.Context, r audit.OpenRequest) (audit.Opening, error) {
	var end audit.Opening
	err := s.commit(ctx, later, func(u *unit) (err error) {
		o := &opening{unit: u, r: r, seq: r.Seq}
		end, err = o.run()
		return err
	})
	if err != nil {
		return audit.Opening{}, err
	}
	return end, nil
}

// opening is one try to open an attempt. A call after a wait is a new one and
// repeats all of its steps.
type opening struct {
	*unit
	r audit.OpenRequest
	// Of an edit or retract: the own post, its first part's state, the number.
	entry ledger.Entry
	head  head
	seq   int64
}

// run takes the steps in the order in which their answers take precedence;
// the first that has one ends the call.
func (o *opening) run() (audit.Opening, error) {
	for _, step := range []func() (*audit.Opening, error){
		o.known, o.claimed, o.turn, o.ownPost, o.number, o.unchanged,
	} {
		if end, err := step(); err != nil || end != nil {
			if end == nil {
				end = &audit.Opening{}
			}
			return *end, err
		}
	}
	return o.insert()
}

// known answers a repeated call, whose attempt is there.
func (o *opening) known() (*audit.Opening, error) {
	if there, err := one(o.row(sqlAttemptThere, o.r.Attempt.ID), new(int)); err != nil || !there {
		return nil, err
	}
	a, _, err := o.attempt(o.r.Attempt.ID)
	if err != nil {
		return nil, err
	}
	row, ended, err := o.outcomeOf(a.ID)
	if err != nil {
		return nil, err
	}
	if ended {
		return &audit.Opening{State: audit.Ended, Seq: a.seq, Row: row}, nil
	}
	entry, err := o.entryOf(a)
	return &audit.Opening{State: audit.Opened, Seq: a.seq, Entry: entry}, err
}

// claimed answers from the idempotency key's first use, if it had one.
func (o *opening) claimed() (*audit.Opening, error) {
	if o.r.Claim == nil {
		return nil, nil
	}
	a := o.r.Attempt
	use, err := o.useOf(claimKey{a.Turn.Org, a.Turn.Principal, a.Verb, o.r.Claim.Key}, o.r.Claim.Hash, a.ID)
	if err != nil || use.State == "" {
		return nil, err
	}
	if use.abandoned {
		if use.Opening, err = o.endUse(use); err != nil {
			return nil, err
		}
	}
	return &use.Opening, nil
}

// turn repeats the checks of the turn: its token still works, and a reply
// still has a place in it.
func (o *opening) turn() (*audit.Opening, error) {
	t, found, err := o.turnState(o.r.Attempt.Turn)
	switch {
	case err != nil:
		return nil, err
	case !found || !t.open:
		return o.refuse(audit.Refusal{Outcome: outcome.Refused, Reason: outcome.Unauthorized, Vouched: o.placed()})
	case o.r.Attempt.Verb != outcome.Reply:
		return nil, nil
	case t.declined:
		return o.refuse(audit.Refusal{Outcome: outcome.Refused, Reason: outcome.TurnDeclined})
	case t.answered:
		return o.refuse(audit.Refusal{Outcome: outcome.Refused, Reason: outcome.TurnAnswered})
	case t.ambiguous:
		return o.refuse(audit.Refusal{Outcome: outcome.Refused, Reason: outcome.TurnAmbiguous})
	case t.partial:
		return o.refuse(audit.Refusal{Outcome: outcome.Refused, Reason: outcome.TurnPartial})
	}
	return nil, nil
}

// placed reports that the early look at the ledger vouched for the target.
func (o *opening) placed() bool {
	return o.r.Attempt.Verb != outcome.Reply && !o.r.Attempt.Place.Zero()
}

// ownPost repeats the ledger's decision. A write that waited and finds its
// message retracted was overtaken; it isn't told that the message isn't its own.
func (o *opening) ownPost() (*audit.Opening, error) {
	a := o.r.Attempt
	if a.Verb == outcome.Reply {
		return nil, nil
	}
	entries, err := o.entries(a.Turn.Org, a.Target)
	if err != nil {
		return nil, err
	}
	q := ledger.Query{Org: a.Turn.Org, Session: a.Turn.Session, DryRun: a.Turn.DryRun, At: a.Turn.Locus, ID: a.Target}
	d := ledger.Decide(entries, q, o.now)
	switch {
	case d.Own:
		o.entry = d.Entry
		return nil, nil
	case o.r.Seq > 0 && closedAt(entries, a.Turn.Locus):
		return o.refuse(audit.Refusal{Outcome: outcome.NotSent, Reason: outcome.Superseded, Vouched: true})
	default:
		return o.refuse(audit.Refusal{Outcome: outcome.Refused, Reason: outcome.NotOwnPost, Code: string(d.Code)})
	}
}

func closedAt(entries []ledger.Entry, at locus.Locus) bool {
	for _, e := range entries {
		if e.Platform == at.Platform && e.Workspace == at.Workspace && e.Channel == at.Channel && !e.DryRun {
			return !e.ClosedAt.IsZero()
		}
	}
	return false
}

// entryOf finds the own post that a recorded edit or retract is about.
func (u *unit) entryOf(a record) (ledger.Entry, error) {
	if a.Verb == outcome.Reply {
		return ledger.Entry{}, nil
	}
	entries, err := u.entries(a.Turn.Org, a.Target)
	for _, e := range entries {
		if e.Platform == a.Place.Platform && e.Workspace == a.Place.Workspace && e.Channel == a.Place.Channel {
			return e, err
		}
	}
	return ledger.Entry{}, err
}

// refuse ends the attempt in this commit: attempt and outcome, no claim.
func (o *opening) refuse(why audit.Refusal) (*audit.Opening, error) {
	row := o.r.Refused(why)
	a := o.r.Attempt
	if !why.Vouched {
		a.Target = ""
	}
	if err := o.ended(a, o.seq, &row); err != nil {
		return nil, err
	}
	return &audit.Opening{State: audit.Ended, Seq: o.seq, Row: row}, nil
}

// insert opens the attempt: from its commit on, bytes may leave.
func (o *opening) insert() (audit.Opening, error) {
	rec := o.record()
	rec.deadline = o.now.Add(o.r.Budget + o.r.Grace)
	if _, err := o.insertAttempt(rec); err != nil {
		return audit.Opening{}, err
	}
	if err := o.insertPending(rec); err != nil {
		return audit.Opening{}, err
	}
	if err := o.claim(nil); err != nil {
		return audit.Opening{}, err
	}
	if err := o.leaveQueue(rec.message()); err != nil {
		return audit.Opening{}, err
	}
	return audit.Opening{State: audit.Opened, Seq: o.seq, Entry: o.entry}, nil
}

// record is the attempt as it goes into the trail. An edit or retract goes
// where the ledger says that the message is.
func (o *opening) record() record {
	rec := record{Attempt: o.r.Attempt, seq: o.seq, opened: o.now, deadline: o.now}
	if e := o.entry; rec.Verb != outcome.Reply {
		rec.reply = messageOf(e).reply
		rec.Place = locus.Locus{
			Platform: e.Platform, Workspace: e.Workspace, Channel: e.Channel, Thread: e.Thread,
			ServiceURL: e.ServiceURL, Organization: e.Organization,
		}
	} else {
		rec.Target = ""
	}
	return rec
}
