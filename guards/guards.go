// Package guards is what a text has to pass between the fences and the
// measuring, and the contract of who must say yes to a write.
//
// Guards never loosen: a guard may take something out of a text or refuse it,
// never put a claim in. They sit in one place for reply, edit and approved
// draft alike; after them only rendering and splitting touch the text.
package guards

import (
	"context"

	"stet/arms"
	"stet/gateway/locus"
	"stet/gateway/outcome"
	"stet/gateway/turn"
)

// Draft is a text on its way out.
type Draft struct {
	Verb   outcome.Verb
	Turn   turn.Turn
	Place  locus.Locus
	Target arms.MessageID
	Text   arms.Text
}

// Withheld is a claim that was taken out: byte offsets in what the agent sent.
type Withheld struct {
	Guard, Cause string
	Start, End   int
}

// Verdict is what a guard says of a draft.
type Verdict struct {
	// Text is what is left of the draft's text.
	Text     arms.Text
	Withheld []Withheld
	// Refuse is empty to let the text pass; else the reason to refuse it,
	// with Detail for the agent.
	Refuse outcome.Reason
	Detail string
}

// Guard judges a draft. It must not block on anything outside the process
// longer than its context allows; an error refuses the draft.
type Guard interface {
	Check(context.Context, Draft) (Verdict, error)
}

// Chain runs guards in order, each on what the one before left. The empty
// chain passes every text unchanged.
type Chain []Guard

// Check runs the chain; the first refusal ends it.
func (c Chain) Check(ctx context.Context, d Draft) (Verdict, error) {
	out := Verdict{Text: d.Text}
	for _, g := range c {
		d.Text = out.Text
		v, err := g.Check(ctx, d)
		if err != nil {
			return Verdict{}, err
		}
		out.Text = v.Text
		out.Withheld = append(out.Withheld, v.Withheld...)
		if v.Refuse != "" {
			out.Refuse, out.Detail = v.Refuse, v.Detail
			return out, nil
		}
	}
	return out, nil
}

// Action is a write that asks for approval, as the platform will get it.
type Action struct {
	Draft
	Rendered arms.Rendered
	Route    locus.Route
}

// Decision is the answer of the ladder.
type Decision struct {
	Allow bool
	// Stage makes the write a draft that a person decides.
	Stage bool
	// By says who answered: open, rule, refusal, reviewer or person.
	By string
	// Reason is one sentence to the agent about a no.
	Reason string
}

// Ladder decides who must say yes. An error is a no.
type Ladder interface {
	Decide(context.Context, Action) (Decision, error)
}

// Open is the ladder of a deployment without any policy: it lets through what
// passed the fences and guards.
type Open struct{}

// Decide says yes.
func (Open) Decide(context.Context, Action) (Decision, error) {
	return Decision{Allow: true, By: "open"}, nil
}
