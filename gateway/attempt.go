package gateway

import (
	"time"

	"stet/arms"
	"stet/audit"
	"stet/gateway/locus"
	"stet/gateway/outcome"
	"stet/gateway/turn"
	"stet/ledger"
)

// attempt is the envelope that the stages pass on. Each field is set by the
// stage named beside it and only read after it.
type attempt struct {
	// As asked.
	id     string
	verb   outcome.Verb
	turn   turn.Turn
	text   Text
	format arms.Format
	split  bool
	done   bool
	target arms.MessageID
	key    string

	claim    *audit.Claim      // admit
	place    locus.Locus       // locate; own replaces it by the ledger's
	arm      arms.Arm          // arm
	caps     arms.Capabilities // arm
	entry    ledger.Entry      // own
	vouched  bool              // own: the ledger knows the target
	early    bool              // own: a cache alone said so
	guarded  arms.Text         // guard
	withheld []Withheld        // guard
	chars    int               // guard
	rendered arms.Rendered     // measure
	digest   []byte            // measure
	approval string            // approve

	// began is when the wire's time started, just before the opening commit;
	// it carries the monotonic clock.
	began  time.Time
	opened bool  // open
	seq    int64 // open, for a write that waits

	dispatched bool   // dispatch: the arm was called
	effect     effect // dispatch
	settled    bool   // settle
}

// effect is what the platform did, as far as it is known.
type effect struct {
	posted arms.Posted
	fault  *arms.Fault // nil: confirmed
}

func newAttempt(v outcome.Verb, t turn.Turn) *attempt {
	return &attempt{id: audit.NewID(), verb: v, turn: t}
}

// marker is planted with the effect; it is the attempt's id, so that a later
// process can look for it.
func (a *attempt) marker() arms.Marker { return arms.Marker(a.id) }

// record is the attempt as the trail stores it.
func (a *attempt) record(boot string) audit.Attempt {
	r := audit.Attempt{
		ID: a.id, Verb: a.verb, Turn: a.turn, Place: a.place, Route: a.turn.Route,
		Marker: a.marker(), Digest: a.digest, Chars: a.chars, Approval: a.approval, Boot: boot,
	}
	if a.verb != outcome.Reply {
		r.Target = a.target
	}
	return r
}

// row is the attempt's outcome row, without its detail's landing part.
func (a *attempt) row(o outcome.Outcome, r outcome.Reason, code string) audit.Row {
	platform := a.turn.Surfaced()
	if o.Landed() {
		platform = string(a.place.Platform)
	}
	d := audit.Detail{Route: string(a.turn.Route), Approval: a.approval}
	if a.vouched {
		d.ID = string(a.target)
	}
	t := a.turn
	return audit.Row{
		ID: audit.NewID(), Org: t.Org, Platform: platform, Workspace: t.Workspace,
		Surface: t.Surface, Principal: t.Principal, Session: t.Session, Turn: t.ID, Wake: t.WakeID,
		Attempt: a.id, Kind: audit.Outcome, Action: outcome.Action(a.verb, o),
		Outcome: o, Reason: r, Failure: o.Failure(), Code: code, DryRun: t.DryRun, Detail: d.JSON(),
	}
}

// appliedRow is the row of an effect that is there.
func (a *attempt) appliedRow(posted arms.Posted, code string) audit.Row {
	row := a.row(outcome.Applied, "", code)
	d := audit.Detail{
		ID: string(posted.ID), Channel: string(posted.Channel), Parts: []string{string(posted.ID)},
		Unchanged: code == audit.CodeUnchanged,
		Route:     string(a.turn.Route), Creator: a.turn.Creator, Approval: a.approval,
	}
	if a.verb != outcome.Retract {
		d.Chars = &a.chars
	}
	row.Detail = d.JSON()
	return row
}

// answer is what the agent reads about an effect that is there.
func (a *attempt) answer(id arms.MessageID, unchanged bool) Answer {
	return Answer{
		ID: string(id), Parts: []string{string(id)}, Attempt: a.id,
		Unchanged: unchanged, Withheld: a.withheld,
	}
}

// here is the message of an edit or retract as the ledger has it.
func (a *attempt) here() arms.Posted {
	return arms.Posted{ID: a.entry.ID, Channel: a.entry.Channel, Thread: a.entry.Thread}
}

// withheldNotes is a note for each guard and cause that took something out, in
// the order in which the guards took it.
func (a *attempt) withheldNotes() []audit.Row {
	type why struct{ guard, cause string }
	var order []why
	count := map[why]int{}
	for _, w := range a.withheld {
		k := why{w.Guard, w.Cause}
		if count[k] == 0 {
			order = append(order, k)
		}
		count[k]++
	}
	var notes []audit.Row
	for _, k := range order {
		n := a.row(outcome.Applied, "", "")
		n.Kind, n.Action, n.Outcome = audit.Note, audit.ActionClaimWithheld, ""
		n.Detail = audit.Detail{Guard: k.guard, Cause: k.cause, Count: count[k]}.JSON()
		notes = append(notes, n)
	}
	return notes
}
