package gateway

import (
	"context"
	"encoding/json"
	"time"

	"stet/arms"
	"stet/audit"
	"stet/gateway/outcome"
	"stet/ledger"
)

// lookAgain is how often a waiting write looks whether another process freed
// its message.
const lookAgain = 200 * time.Millisecond

// open commits the attempt before any byte leaves, with everything that has to
// be true at that moment; where the message is busy it waits, unopened.
func (g *Gateway) open(ctx context.Context, a *attempt) *end {
	giveUp := time.NewTimer(g.o.MaxWait)
	defer giveUp.Stop()
	for {
		freed := g.hear(a)
		a.began = time.Now()
		o, err := g.o.Recorder.Open(ctx, g.opening(a))
		if err != nil {
			return unwritable(err)
		}
		switch o.State {
		case audit.Opened:
			a.opened = true
			if a.vouched {
				a.found(o.Entry)
			}
			return nil
		case audit.Wait:
			a.seq = o.Seq
		case audit.Ended:
			g.tellEnded(ctx, a, o)
			return g.ended(a, o)
		default:
			return g.claimed(a, o)
		}
		if !wait(freed, giveUp.C) {
			return refused(outcome.MessageBusy, "", advice[outcome.MessageBusy])
		}
	}
}

// hear must come before the look that may answer "busy", so that no ring in
// between is lost.
func (g *Gateway) hear(a *attempt) <-chan struct{} {
	if a.verb == outcome.Reply {
		return nil
	}
	return g.bell.hear(a.entry.Key)
}

func wait(freed <-chan struct{}, giveUp <-chan time.Time) bool {
	again := time.NewTimer(lookAgain)
	defer again.Stop()
	select {
	case <-giveUp:
		return false
	case <-freed:
	case <-again.C:
	}
	return true
}

func (g *Gateway) opening(a *attempt) audit.OpenRequest {
	r := audit.OpenRequest{
		Attempt: a.record(g.o.Boot), Claim: a.claim,
		Budget: g.o.PlatformTimeout, Grace: Grace, Seq: a.seq, MaxWait: g.o.MaxWait,
		Refused: func(f audit.Refusal) audit.Row {
			b := *a
			b.vouched = f.Vouched
			return b.row(f.Outcome, f.Reason, f.Code)
		},
	}
	if a.verb == outcome.Edit {
		row := a.appliedRow(a.here(), audit.CodeUnchanged)
		r.Unchanged, r.Answer = &row, encode(a.answer(a.entry.Reply, true))
	}
	return r
}

// ended reads the verdict of a check that the opening commit repeated.
func (g *Gateway) ended(a *attempt, o audit.Opening) *end {
	if o.Row.Outcome == outcome.Applied {
		ans := a.answer(a.entry.Reply, true)
		return &end{written: true, answer: &ans}
	}
	return &end{written: true, problem: &Problem{
		Reason: o.Row.Reason, Outcome: o.Row.Outcome, Failure: o.Row.Failure, Attempt: a.id,
		Detail: advice[o.Row.Reason],
	}}
}

func encode(a Answer) []byte {
	b, err := json.Marshal(a)
	if err != nil { // plain strings and numbers always encode
		return nil
	}
	return b
}

// post is the ledger's entry of what a reply left on the platform.
func (a *attempt) post(p arms.Posted) ledger.Entry {
	e := ledger.Entry{
		Key: ledger.Key{
			Org: a.turn.Org, Platform: a.place.Platform, Workspace: a.place.Workspace,
			Channel: p.Channel, ID: p.ID,
		},
		Reply: p.ID, Thread: p.Thread, ServiceURL: a.place.ServiceURL,
		Organization: a.place.Organization, Session: a.turn.Session, DryRun: a.turn.DryRun,
	}
	if e.Channel == "" {
		e.Channel = a.place.Channel
	}
	if e.Thread == "" {
		e.Thread = a.place.Thread
	}
	return e
}
