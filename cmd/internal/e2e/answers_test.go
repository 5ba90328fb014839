package e2e

import (
	"cmp"
	"slices"

	"stet/arms/room"
	"stet/audit"
	"stet/gateway/outcome"
)

// checkAnswers: no answer contradicts its row, and all answers to one key tell
// the same story.
func (c *checker) checkAnswers() {
	byKey := map[string]told{}
	for _, t := range c.told {
		if t.attempt == "" {
			c.checkUnattempted(t)
			continue
		}
		c.checkAnswer(t)
		if t.released() {
			continue
		}
		if first, ok := byKey[t.asked.key]; ok && first.attempt != t.attempt {
			c.wrong("one key, two attempts: %s and %s", first.attempt, t.attempt)
		}
		byKey[t.asked.key] = t
	}
}

// released reports an answer that gives its idempotency key back.
func (t told) released() bool {
	return t.outcome == string(outcome.Refused) || t.outcome == string(outcome.NotSent) ||
		t.reason == string(outcome.RateLimited)
}

// checkUnattempted: an answer without an attempt claims nothing about one.
func (c *checker) checkUnattempted(t told) {
	if t.applied || t.outcome != "" || t.failure != "" {
		c.wrong("answer about no attempt: %s says %q", t.asked.key, t.outcome)
	}
}

func (c *checker) checkAnswer(t told) {
	a, ok := c.tries[t.attempt]
	if !ok {
		if !t.unrecorded {
			c.wrong("answer without attempt: %s names %s", t.asked.key, t.attempt)
		}
		return
	}
	if a.verb != string(t.asked.verb) || a.org != t.asked.org {
		c.wrong("answer about another request: %s names %s", t.asked.key, t.attempt)
	}
	if a.digest != "" && t.asked.text != "" && a.digest != digest(t.asked.text) {
		c.wrong("answer about another text: %s names %s", t.asked.key, t.attempt)
	}
	v := c.said[t.attempt]
	if t.unrecorded {
		if t.outcome != string(outcome.Ambiguous) {
			c.wrong("contradicting answer: %s is unrecorded and %s", t.attempt, t.outcome)
		}
		return
	}
	if len(v.outcomes) != 1 {
		c.wrong("answer before its row: %s was told %q", t.attempt, t.outcome)
		return
	}
	if t.applied {
		c.checkSuccess(t, v)
		return
	}
	row := v.outcomes[0]
	reason := row.Reason
	if reason == outcome.Interrupted {
		reason = outcome.PlatformError
	}
	if t.outcome != string(row.Outcome) || t.reason != string(reason) || t.failure != string(row.Failure) {
		c.wrong("contradicting answer: %s was told %s, %s, %s; the row says %s, %s, %s",
			t.attempt, t.outcome, t.reason, t.failure, row.Outcome, row.Reason, row.Failure)
	}
}

// checkSuccess: a success has an applied row, or an ambiguous one whose effect
// was seen since.
func (c *checker) checkSuccess(t told, v verdicts) {
	row := v.outcomes[0]
	id := detail(row).ID
	if row.Outcome == outcome.Ambiguous {
		for _, n := range v.notes {
			if d := detail(n); d.ID != "" {
				id = d.ID
			}
		}
	}
	if !v.there() {
		c.wrong("contradicting answer: %s was told applied; the row says %s", t.attempt, row.Outcome)
	}
	if t.id != id {
		c.wrong("contradicting answer: %s was told id %s; the row says %s", t.attempt, t.id, id)
	}
	if t.unchanged != (row.Code == audit.CodeUnchanged) {
		c.wrong("contradicting answer: %s was told unchanged %t", t.attempt, t.unchanged)
	}
}

// write is an attempt on a message whose effect is there.
type write struct {
	seq    int64
	digest string
	gone   bool
}

// checkText: a message shows the text of the highest numbered write that is
// there, where nothing about it is in doubt.
func (c *checker) checkText() {
	writes, doubtful := map[string][]write{}, map[string]bool{}
	for _, a := range c.trail.attempts {
		v := c.said[a.id]
		if a.dry {
			continue
		}
		message := a.reply
		if a.verb == string(outcome.Reply) {
			message = c.posted(a)
		}
		if message == "" {
			continue
		}
		switch {
		case v.never():
		case c.clear(a, v):
			if len(c.effects[a.marker]) > 0 {
				writes[message] = append(writes[message], write{a.seq, a.digest, a.verb == string(outcome.Retract)})
			}
		default:
			doubtful[message] = true
		}
	}
	for id, all := range writes {
		if m := c.messages[id]; !doubtful[id] && m.Kind == room.KindBot {
			c.checkShown(m, all)
		}
	}
}

// posted is the message that a reply left.
func (c *checker) posted(a tried) string {
	if effects := c.effects[a.marker]; len(effects) > 0 {
		return effects[0].Message
	}
	return ""
}

// clear reports an effect that is there and came before its outcome was
// written, so that the order of numbers is the order of effects.
func (c *checker) clear(a tried, v verdicts) bool {
	if !v.there() || len(v.outcomes) != 1 {
		return false
	}
	effects := c.effects[a.marker]
	return len(effects) == 0 || !effects[0].At.After(v.outcomes[0].At)
}

func (c *checker) checkShown(m room.Standing, all []write) {
	if slices.ContainsFunc(all, func(w write) bool { return w.gone }) {
		if !m.Deleted {
			c.wrong("wrong text: %s was retracted and is there", m.ID)
		}
		return
	}
	last := slices.MaxFunc(all, func(a, b write) int { return cmp.Compare(a.seq, b.seq) })
	if m.Deleted || digest(m.Text) != last.digest {
		c.wrong("wrong text: %s doesn't show its write number %d", m.ID, last.seq)
	}
}
