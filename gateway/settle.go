package gateway

import (
	"context"
	"errors"
	"time"

	"stet/arms"
	"stet/audit"
	"stet/gateway/outcome"
	"stet/ledger"
)

// settle classifies what happened, commits the outcome with everything that
// follows from it, and only then lets the answer out.
func (g *Gateway) settle(ctx context.Context, a *attempt) *end {
	f := a.effect.fault
	if f == nil && a.verb == outcome.Reply && a.effect.posted.ID == "" {
		// A success that names no message can't be one.
		f = &arms.Fault{Certainty: arms.Ambiguous, Code: arms.CodeMismatch}
	}
	switch {
	case f == nil:
		return g.applied(ctx, a, "")
	case f.Code == arms.CodeGone && f.Certainty == arms.Rejected && a.verb == outcome.Retract:
		return g.applied(ctx, a, audit.CodeAlreadyGone)
	default:
		return g.failed(ctx, a, f)
	}
}

func (g *Gateway) applied(ctx context.Context, a *attempt, code string) *end {
	s := audit.Settlement{Answered: a.done, MayEnd: a.verb != outcome.Retract, Digest: a.digest}
	posted, id := a.here(), a.entry.Reply
	switch a.verb {
	case outcome.Reply:
		entry := a.post(a.effect.posted)
		posted, id = arms.Posted{ID: entry.ID, Channel: entry.Channel, Thread: entry.Thread}, entry.ID
		s.Posts, s.Window = []ledger.Entry{entry}, g.window(a)
	case outcome.Retract:
		s.Close = a.writable()
	}
	if !a.writable() {
		s.Digest = nil
	}
	s.Row = a.appliedRow(posted, code)
	s.Notes = a.withheldNotes()
	ans := a.answer(id, false)
	s.Answer = encode(ans)
	return g.commit(ctx, a, s, nil, ans)
}

// writable: a dry run leaves the entry of a real message as it is.
func (a *attempt) writable() bool {
	return !a.turn.DryRun || a.verb == outcome.Reply || a.entry.DryRun
}

func (g *Gateway) window(a *attempt) time.Duration {
	return ledger.Window(g.o.Window(a.place), a.caps.EditMaxAge)
}

func (g *Gateway) failed(ctx context.Context, a *attempt, f *arms.Fault) *end {
	o := map[arms.Certainty]outcome.Outcome{
		arms.NotSent: outcome.NotSent, arms.Rejected: outcome.Rejected, arms.Ambiguous: outcome.Ambiguous,
	}[f.Certainty]
	p := &Problem{Reason: outcome.PlatformError, Outcome: o, Failure: o.Failure(), Attempt: a.id, RetryAfter: f.RetryAfter}
	limited := f.Code == arms.CodeRateLimited && o != outcome.Ambiguous
	if limited {
		p.Reason = outcome.RateLimited
	}
	p.Detail = detailOf(a.verb, o, string(f.Code))
	row := a.row(o, p.Reason, string(f.Code))
	row.Status = f.Status
	s := audit.Settlement{
		Row: row, MayEnd: o == outcome.Ambiguous,
		Release: o == outcome.NotSent || limited,
		Close:   f.Code == arms.CodeGone && o == outcome.Rejected && a.caps.GoneIsCertain,
	}
	return g.commit(ctx, a, s, p)
}

// commit writes the outcome and answers with what is recorded, whoever
// recorded it.
func (g *Gateway) commit(ctx context.Context, a *attempt, s audit.Settlement, p *Problem, ans ...Answer) *end {
	s.Attempt = a.record(g.o.Boot)
	if s.Row.Outcome == outcome.Ambiguous {
		s.NextLook = g.firstLook(a)
	}
	a.settled = true
	done, err := g.o.Recorder.Settle(ctx, s)
	if err != nil {
		return unrecorded(a, err)
	}
	g.tellSettled(ctx, a, s, done)
	if s.Row.Outcome == outcome.Ambiguous {
		g.o.OnAmbiguous()
	}
	if done.Late {
		return recordedByOthers(a, done.Row)
	}
	if len(s.Notes) > 0 {
		g.o.Metrics.struck(a.withheld)
	}
	if p != nil {
		return &end{written: true, problem: p}
	}
	return &end{written: true, answer: &ans[0]}
}

// unrecorded is the one answer that no row backs yet.
func unrecorded(a *attempt, err error) *end {
	p := &Problem{
		Reason: outcome.AuditUnavailable, Outcome: outcome.Ambiguous, Failure: outcome.AmbiguousFailure,
		Attempt: a.id, Unrecorded: true, Detail: detailOf(a.verb, outcome.Ambiguous, ""),
	}
	if errors.Is(err, audit.ErrNotFound) {
		p.Reason, p.Outcome, p.Failure, p.Detail = outcome.Internal, "", "", advice[outcome.Internal]
	}
	return &end{written: true, problem: p}
}

// recordedByOthers answers an owner whose deadline passed before it was done:
// the row says interrupted, so the answer does too.
func recordedByOthers(a *attempt, row audit.Row) *end {
	return &end{written: true, problem: &Problem{
		Reason: outcome.PlatformError, Outcome: row.Outcome, Failure: row.Failure, Attempt: a.id,
		Detail: detailOf(a.verb, row.Outcome, row.Code),
	}}
}
