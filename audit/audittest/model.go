package audittest

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stet/arms"
	"stet/audit"
	"stet/gateway/outcome"
	"stet/gateway/turn"
)

// Model drives one message with edits and retracts in any order, with results
// that come late, never or not at all, with sweepers and looks in between, and
// holds the store to what the platform really shows.
func Model(t *testing.T, open Opener) {
	f := newFixture(t, open)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		g := *f
		g.TB = inModel{f.TB, rt}
		m := &model{fixture: &g, id: arms.MessageID(fmt.Sprint("m", n)), shown: "first"}
		m.t = m.turn()
		m.post(m.t, m.id)
		rt.Repeat(map[string]func(*rapid.T){
			"edit": m.edit, "retract": m.retract, "ask again": m.askAgain, "settle": m.settleOne,
			"time passes": m.timePasses, "sweep": m.sweepAll, "look": m.lookAtOne, "": m.consistent,
		})
		m.quiet(rt)
	})
}

// inModel sends the fixture's failures to the model, which shrinks them.
type inModel struct {
	testing.TB
	rt *rapid.T
}

func (m inModel) Helper()                   { m.rt.Helper() }
func (m inModel) Error(a ...any)            { m.rt.Error(a...) }
func (m inModel) Errorf(s string, a ...any) { m.rt.Errorf(s, a...) }
func (m inModel) Fatal(a ...any)            { m.rt.Fatal(a...) }
func (m inModel) Fatalf(s string, a ...any) { m.rt.Fatalf(s, a...) }

type model struct {
	*fixture
	t  turn.Turn
	id arms.MessageID
	// shown and gone are the platform's truth.
	shown string
	gone  bool
	tries []*try
}

// try is one attempt and what really became of it.
type try struct {
	r      audit.OpenRequest
	text   string
	seq    int64
	state  string // waiting, open, ended
	landed bool
	row    audit.Row
}

func (y *try) verb() outcome.Verb { return y.r.Attempt.Verb }

func (m *model) edit(rt *rapid.T) {
	text := rapid.SampledFrom([]string{"first", "a", "b"}).Draw(rt, "text")
	m.begin(rt, &try{r: request(edit(m.t, m.id, text)), text: text})
}

func (m *model) retract(rt *rapid.T) {
	m.begin(rt, &try{r: request(retract(m.t, m.id))})
}

func (m *model) begin(rt *rapid.T, y *try) {
	m.tries = append(m.tries, y)
	m.step(rt, y)
}

func (m *model) askAgain(rt *rapid.T) {
	if y := m.pick(rt, "waiting"); y != nil {
		y.r.Seq = y.seq
		m.step(rt, y)
	}
}

// pick draws one try in a state; nil when there is none.
func (m *model) pick(rt *rapid.T, state string) *try {
	var all []*try
	for _, y := range m.tries {
		if y.state == state {
			all = append(all, y)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[rapid.IntRange(0, len(all)-1).Draw(rt, state)]
}

// step opens a try, as far as the store lets it. The effect on the platform,
// if there is one, comes at once; its result comes later or never.
func (m *model) step(rt *rapid.T, y *try) {
	o := m.open(y.r)
	y.seq = o.Seq
	switch o.State {
	case audit.Wait:
		y.state = "waiting"
	case audit.Ended:
		y.state, y.row = "ended", o.Row
		m.checkEnd(rt, y)
	case audit.Opened:
		y.state = "open"
		m.checkOrder(rt, y)
		y.landed = !m.gone && rapid.Bool().Draw(rt, "lands")
		if y.landed && y.verb() == outcome.Edit {
			m.shown = y.text
		}
		m.gone = m.gone || y.landed && y.verb() == outcome.Retract
	default:
		rt.Fatalf("opening %q", o.State)
	}
}

func (m *model) checkEnd(rt *rapid.T, y *try) {
	switch {
	case y.row.Code == audit.CodeUnchanged:
		if m.gone || m.shown != y.text {
			rt.Fatalf("%q is called unchanged while the message shows %q (gone: %v)", y.text, m.shown, m.gone)
		}
		y.landed = true
	case y.row.Reason == outcome.Superseded:
		if y.verb() == outcome.Retract && !m.gone {
			rt.Fatal("a retract is superseded and the message is there")
		}
		if !m.gone && !m.newer(y) {
			rt.Fatal("superseded by nothing newer")
		}
	case y.row.Reason != outcome.NotOwnPost || !m.gone:
		rt.Fatalf("ended as %s %s", y.row.Outcome, y.row.Reason)
	}
}

func (m *model) newer(y *try) bool {
	for _, z := range m.tries {
		if z != y && z.verb() == outcome.Edit && z.seq > y.seq {
			return true
		}
	}
	return false
}

// checkOrder: one at a time, and no edit after a newer one.
func (m *model) checkOrder(rt *rapid.T, y *try) {
	for _, z := range m.tries {
		if z == y || z.state == "waiting" {
			continue
		}
		sent := z.state == "open" || z.landed
		if sent && y.verb() == outcome.Edit && z.verb() == outcome.Edit && z.seq >= y.seq {
			rt.Fatalf("edit %d opens after edit %d", y.seq, z.seq)
		}
	}
}

func (m *model) settleOne(rt *rapid.T) {
	y := m.pick(rt, "open")
	if y == nil {
		return
	}
	o := outcome.Rejected
	if y.landed {
		o = outcome.Applied
	}
	if rapid.IntRange(0, 2).Draw(rt, "known") == 0 {
		o = outcome.Ambiguous
	}
	s := settlement(y.r.Attempt, o)
	if m.gone && o == outcome.Rejected {
		s.Close = true
	}
	y.state, y.row = "ended", m.settle(s).Row
}

func (m *model) timePasses(rt *rapid.T) {
	seconds := rapid.SampledFrom([]int{1, 9, 10, 21}).Draw(rt, "seconds")
	m.clock.Advance(time.Duration(seconds) * time.Second)
}

func (m *model) sweepAll(*rapid.T) { m.sweep("") }

// lookAtOne reads back like a resolver: what it sees is true, what it doesn't
// see proves nothing.
func (m *model) lookAtOne(rt *rapid.T) {
	due, err := m.Due(m.ctx, 10)
	m.no(err)
	for _, p := range due {
		if p.Attempt.Target != m.id {
			continue
		}
		r := audit.Resolution{Pending: p, Verdict: audit.NotSeen, NextLook: time.Second, Write: true}
		switch {
		case !p.Overwritten && p.Attempt.Verb == outcome.Retract && m.gone:
			r.Verdict, r.Close = audit.Seen, true
		case !p.Overwritten && p.Attempt.Verb == outcome.Edit && !m.gone && string(p.Attempt.Digest) == m.shown:
			r.Verdict, r.Digest = audit.Seen, p.Attempt.Digest
		case p.Overwritten || rapid.Bool().Draw(rt, "gives up"):
			r.Verdict = audit.GaveUp
		}
		r.Row = note(p.Attempt, audit.ActionResolved, audit.Detail{Verdict: r.Verdict})
		m.resolve(r)
		return
	}
}

// consistent: never more than one outcome for an attempt, and none for one
// that still waits.
func (m *model) consistent(rt *rapid.T) {
	outcomes := map[string]int{}
	for _, r := range m.all(map[audit.Column][]string{"turn": {m.t.ID}}) {
		if r.Kind == audit.Outcome {
			outcomes[r.Attempt]++
		}
	}
	for _, y := range m.tries {
		n := outcomes[y.r.Attempt.ID]
		if n > 1 || (y.state == "waiting" && n != 0) || (y.state == "ended" && n != 1) {
			rt.Fatalf("a try that is %s has %d outcomes", y.state, n)
		}
	}
}

// quiet ends everything and compares the trail with the platform.
func (m *model) quiet(rt *rapid.T) {
	for _, y := range m.tries {
		if y.state == "waiting" {
			a := y.r.Attempt
			y.row = row(a, outcome.Refused, outcome.MessageBusy)
			m.no(m.Refuse(m.ctx, audit.Refused{Attempt: a, Row: y.row, Seq: y.seq}))
			y.state = "ended"
		}
	}
	m.pastDeadline()
	m.sweep("")
	shown, highest := "first", int64(0)
	for _, y := range m.tries {
		y.row = m.oneOutcome(y.r.Attempt.ID)
		if y.row.Outcome == outcome.Applied && !y.landed || y.row.Outcome == outcome.Rejected && y.landed {
			rt.Fatalf("the row says %s, landed: %v", y.row.Outcome, y.landed)
		}
		if y.landed && y.verb() == outcome.Edit && y.seq > highest {
			shown, highest = y.text, y.seq
		}
	}
	if !m.gone && shown != m.shown {
		rt.Fatalf("the message shows %q, the highest applied number says %q", m.shown, shown)
	}
	m.openAttempts(0)
}
