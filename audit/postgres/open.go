package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"stet/audit"
	"stet/gateway/outcome"
	"stet/ledger"
)

// opening is one try to open an attempt, and how it ended. A call after a wait
// is a new one and repeats all of its checks.
type opening struct {
	r audit.OpenRequest

	state string
	seq   int64
	at    time.Time
	why   audit.Refusal
	entry ledger.Entry
}

// The states of an opening that package audit has no name for.
const (
	stateAgain     = "again"     // it has to go with another batch
	stateKnown     = "known"     // the attempt is there
	stateRefused   = "refused"   // a check said no; nothing was written yet
	stateUnchanged = "unchanged" // ended as applied
	stateAbandoned = "abandoned" // the claim's first use is past its deadline
)

// Open checks and opens an attempt in one commit, or ends it, or lets it wait.
func (s *Store) Open(ctx context.Context, r audit.OpenRequest) (audit.Opening, error) {
	o := &opening{r: r}
	a := r.Attempt
	w := &write{open: o, clash: [3]clash{{kind: 'a', thing: a.ID}}}
	if !isReply(a.Verb) {
		w.clash[1] = clash{kind: 't', org: a.Turn.Org, thing: string(a.Target)}
	}
	if r.Claim != nil {
		w.clash[2] = clash{'k', a.Turn.Org, a.Turn.Principal, string(a.Verb), r.Claim.Key}
	}
	switch err := s.committer.do(ctx, later, w); {
	case isDuplicate(err):
		return s.known(ctx, a.ID)
	case err != nil:
		return audit.Opening{}, asAudit(err)
	}
	return s.finish(ctx, w.open)
}

// finish makes the answer of what the commit decided.
func (s *Store) finish(ctx context.Context, o *opening) (audit.Opening, error) {
	switch o.state {
	case stateRefused:
		return s.refuseOpening(ctx, o)
	case stateUnchanged:
		row := *o.r.Unchanged
		row.At, row.Attempt, row.Kind, row.Detail = o.at, o.r.Attempt.ID, audit.Outcome, detail(row)
		return audit.Opening{State: audit.Ended, Seq: o.seq, Entry: o.entry, Row: row}, nil
	case stateKnown:
		return s.known(ctx, o.r.Attempt.ID)
	case stateAbandoned, string(audit.Replayed):
		return s.claimed(ctx, o.r)
	case string(audit.InProgress):
		return audit.Opening{State: audit.InProgress, RetryAfter: askAgain}, nil
	default:
		return audit.Opening{State: audit.OpenState(o.state), Seq: o.seq, Entry: o.entry}, nil
	}
}

// claimed answers from a claim's first use. Should it have been given back since
// the commit, that is a use that hasn't ended: the caller asks again.
func (s *Store) claimed(ctx context.Context, r audit.OpenRequest) (audit.Opening, error) {
	a := r.Attempt
	end, err := s.Claimed(ctx, a.Turn, a.Verb, *r.Claim)
	if err == nil && end.State == "" {
		end = audit.Opening{State: audit.InProgress, RetryAfter: askAgain}
	}
	return end, err
}

// refuseOpening writes what a check said no to. Between the check and this
// nothing but a second call with the same attempt could have begun it, and then
// that one counts.
func (s *Store) refuseOpening(ctx context.Context, o *opening) (audit.Opening, error) {
	row, err := refusedRow(o.r, o.why)
	if err != nil {
		return audit.Opening{}, asAudit(err)
	}
	a := o.r.Attempt
	if !o.why.Vouched {
		a.Target = ""
	}
	r := &refusing{attempt: a, row: row, seq: o.seq}
	if err := s.refuse(ctx, r); err != nil {
		return audit.Opening{}, err
	}
	if !r.fresh {
		return s.known(ctx, a.ID)
	}
	row.At, row.Attempt, row.Kind, row.Detail = r.at, a.ID, audit.Outcome, detail(row)
	return audit.Opening{State: audit.Ended, Seq: o.seq, Row: row}, nil
}

// refusedRow turns a panic of the caller's function into an error of this one
// write.
func refusedRow(r audit.OpenRequest, why audit.Refusal) (row audit.Row, err error) {
	defer func() {
		if recover() != nil {
			err = errPanicked
		}
	}()
	return r.Refused(why), nil
}

// known answers a repeated call, whose attempt is there.
func (s *Store) known(ctx context.Context, id string) (audit.Opening, error) {
	u := s.reading(ctx)
	a, found, err := u.attempt(id)
	if err != nil || !found {
		return audit.Opening{}, asAudit(orGone(err))
	}
	row, ended, err := u.outcomeOf(id)
	if err != nil {
		return audit.Opening{}, asAudit(err)
	}
	if ended {
		return audit.Opening{State: audit.Ended, Seq: a.seq, Row: row}, nil
	}
	entry, err := u.entryOf(a)
	return audit.Opening{State: audit.Opened, Seq: a.seq, Entry: entry}, asAudit(err)
}

// orGone: what was there a moment ago and isn't now, in a table that nothing is
// removed from, is a failure of the database.
func orGone(err error) error {
	if err == nil {
		return errUnknown
	}
	return err
}

func openArgs(writes []*write, clock *int64) []any {
	var c attemptArrays
	var life, wait, keep []int64
	var keys, unchanged []*string
	var hashes, answers [][]byte
	edits := 0
	for _, w := range writes {
		r := w.open.r
		a, at, target := r.Attempt, r.Attempt.Place, ""
		if !isReply(a.Verb) {
			at, target = a.Turn.Locus, string(a.Target)
			edits++
		}
		c.add(a, at, target, r.Seq)
		life, wait = append(life, (r.Budget+r.Grace).Microseconds()), append(wait, r.MaxWait.Microseconds())
		key, hash, kept := claimArgs(r.Claim)
		keys, hashes, keep = append(keys, key), append(hashes, hash), append(keep, kept)
		answers = append(answers, r.Answer)
		var row *string
		if r.Unchanged != nil {
			text := string(rowJSON(*r.Unchanged))
			row = &text
		}
		unchanged = append(unchanged, row)
	}
	return append(append([]any{clock}, c.args()...), life, wait, keys, hashes, keep, answers, unchanged, edits)
}

func claimArgs(c *audit.Claim) (key *string, hash []byte, keep int64) {
	if c == nil {
		return nil, nil, 0
	}
	k := stored(c.Key)
	return &k, append([]byte{}, c.Hash...), c.Keep.Microseconds()
}

func readOpened(writes []*write, rows pgx.Rows) error {
	return inOrder(writes, rows, func(w *write, scan func(...any) error) (string, error) {
		o := &opening{r: w.open.r}
		var at int64
		var number *int64
		var posted, until *int64
		var part *int
		var dry *bool
		e := &o.entry
		err := scan(&o.state, &number, &at, into(&e.Reply), &part, into(&e.Thread), into(&e.ServiceURL),
			into(&e.Organization), into(&e.Session), &dry, &posted, &until, nil, nil, nil)
		if err != nil {
			return "", err
		}
		o.at = time.UnixMicro(at).UTC()
		if number != nil {
			o.seq = *number
		}
		if posted != nil {
			a := o.r.Attempt
			e.Key = ledger.Key{
				Org: a.Turn.Org, Platform: a.Turn.Locus.Platform, Workspace: a.Turn.Locus.Workspace,
				Channel: a.Turn.Locus.Channel, ID: a.Target,
			}
			e.Part, e.DryRun = *part, *dry
			e.PostedAt, e.EditableUntil = fromMicros(posted), fromMicros(until)
		}
		o.refusal()
		w.open = o
		return o.state, nil
	})
}

// refusal takes the words of a no apart: outcome, reason and code.
func (o *opening) refusal() {
	words := strings.Fields(o.state)
	if len(words) < 2 {
		return
	}
	a := o.r.Attempt
	o.state = stateRefused
	o.why = audit.Refusal{Outcome: outcome.Outcome(words[0]), Reason: outcome.Reason(words[1])}
	if len(words) > 2 {
		o.why.Code = words[2]
	}
	switch o.why.Reason {
	case outcome.Superseded:
		o.why.Vouched = true
	case outcome.Unauthorized:
		// The early look at the ledger vouched for the target.
		o.why.Vouched = !isReply(a.Verb) && !a.Place.Zero()
	}
}
