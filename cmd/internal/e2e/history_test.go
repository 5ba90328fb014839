package e2e

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"stet/arms/room"
	"stet/audit"
	"stet/gateway/outcome"
)

// asked is one logical request: it is sent again with the same key until it
// has an answer that ends it.
type asked struct {
	key, org, channel string
	verb              outcome.Verb
	// text is of a reply or edit. Most requests have one of their own.
	text   string
	target string
}

// told is one answer that a caller got.
type told struct {
	asked *asked
	// applied: the answer was a success.
	applied, unchanged       bool
	id, attempt              string
	reason, outcome, failure string
	// unrecorded: the answer says that no row backs it yet.
	unrecorded bool
}

// history is everything that is known about a run.
type history struct {
	asked []*asked
	told  []told
	trail trail
	truth room.Truth
	// live is the process whose attempts may still be open; "" when none may.
	live string
}

// verdicts is what the trail finally says about one attempt.
type verdicts struct {
	outcomes []audit.Row
	notes    []audit.Row
}

// has reports a note with the verdict.
func (v verdicts) has(want ...audit.Verdict) bool {
	return slices.ContainsFunc(v.notes, func(r audit.Row) bool {
		d := detail(r)
		if d.Verdict == audit.LateResult && d.Evidence != string(outcome.Applied) {
			return false
		}
		return slices.Contains(want, d.Verdict)
	})
}

// there reports that the trail says that the effect is there.
func (v verdicts) there() bool {
	return len(v.outcomes) == 1 && v.outcomes[0].Outcome == outcome.Applied ||
		v.has(audit.Seen, audit.SeenChanged, audit.LateResult)
}

// never reports that the trail says that the effect isn't there and never will be.
func (v verdicts) never() bool {
	if len(v.outcomes) != 1 {
		return false
	}
	switch v.outcomes[0].Outcome {
	case outcome.Refused, outcome.NotSent, outcome.Rejected:
		return true
	case outcome.Ambiguous:
		return v.has(audit.NotApplied) || slices.ContainsFunc(v.notes, func(r audit.Row) bool {
			d := detail(r)
			return d.Verdict == audit.LateResult && d.Evidence != string(outcome.Applied)
		})
	}
	return false
}

// checker finds what a history may not show. Its indexes are by attempt.
type checker struct {
	history
	tries    map[string]tried
	said     map[string]verdicts
	received map[string][]room.Received
	effects  map[string][]room.Applied
	messages map[string]room.Standing
	// changes are the effects on a message, oldest first.
	changes map[string][]room.Applied
	found   []string
}

// violations lists what the history shows and may not.
func (h history) violations() []string {
	c := h.checked()
	c.checkOneEffect()
	c.checkAnswers()
	return c.found
}

// unasked lists what the rows and the room's truth show and may not, where
// nobody kept what was asked and answered.
func (h history) unasked() []string { return h.checked().found }

func (h history) checked() *checker {
	c := &checker{
		history: h, tries: map[string]tried{}, said: map[string]verdicts{},
		received: map[string][]room.Received{}, effects: map[string][]room.Applied{},
		messages: map[string]room.Standing{}, changes: map[string][]room.Applied{},
	}
	c.index()
	for _, a := range h.trail.attempts {
		c.checkOutcome(a)
		c.checkEffect(a)
		c.checkVerdicts(a)
	}
	c.checkRequests()
	c.checkText()
	return c
}

func (c *checker) wrong(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

func (c *checker) index() {
	for _, a := range c.trail.attempts {
		c.tries[a.id] = a
	}
	for _, r := range c.trail.rows {
		if r.Attempt == "" {
			continue
		}
		v := c.said[r.Attempt]
		if r.Kind == audit.Outcome {
			v.outcomes = append(v.outcomes, r)
		} else {
			v.notes = append(v.notes, r)
		}
		c.said[r.Attempt] = v
		if _, ok := c.tries[r.Attempt]; !ok {
			c.wrong("row without attempt: %s of %s", r.Action, r.Attempt)
		}
	}
	for _, r := range c.truth.Received {
		c.received[r.Marker] = append(c.received[r.Marker], r)
	}
	for _, e := range c.truth.Applied {
		if e.Kind == room.KindBot {
			c.effects[e.Marker] = append(c.effects[e.Marker], e)
			c.changes[e.Message] = append(c.changes[e.Message], e)
		}
	}
	for _, m := range c.truth.Messages {
		c.messages[m.ID] = m
	}
}

// checkOutcome: every attempt has exactly one outcome row; none as long as its
// own process lives and has it open.
func (c *checker) checkOutcome(a tried) {
	n := len(c.said[a.id].outcomes)
	switch {
	case n > 1:
		c.wrong("doubled outcome: %s of %s has %d rows", a.verb, a.id, n)
	case n == 1 && c.trail.open[a.id]:
		c.wrong("ended and open: %s of %s", a.verb, a.id)
	case n == 0 && (c.live == "" || a.boot != c.live || !c.trail.open[a.id]):
		c.wrong("orphan: %s of %s has no outcome", a.verb, a.id)
	}
}

// checkEffect: what is said to be there is there, as it was written; what is
// said not to be there isn't, now or later.
func (c *checker) checkEffect(a tried) {
	v := c.said[a.id]
	if len(v.outcomes) != 1 || a.dry {
		return
	}
	row, effects := v.outcomes[0], c.effects[a.marker]
	if v.never() && len(effects) > 0 {
		c.wrong("false %s: %s of %s is there (%s)", row.Outcome, a.verb, a.id, row.Reason)
	}
	if (row.Outcome == outcome.Refused || row.Outcome == outcome.NotSent) && len(c.received[a.marker]) > 0 {
		c.wrong("false %s: a request of %s left (%s)", row.Outcome, a.id, row.Reason)
	}
	if row.Outcome != outcome.Applied {
		return
	}
	switch row.Code {
	case audit.CodeUnchanged:
		c.checkUnchanged(a, row)
	case audit.CodeAlreadyGone:
		if m, ok := c.messages[a.target]; !ok || !m.Deleted {
			c.wrong("false applied: %s found %s gone, and it isn't", a.id, a.target)
		}
	default:
		c.checkApplied(a, row)
	}
}

func (c *checker) checkApplied(a tried, row audit.Row) {
	effects := c.effects[a.marker]
	if len(effects) == 0 {
		c.wrong("false applied: %s of %s isn't there", a.verb, a.id)
		return
	}
	e := effects[0]
	if id := detail(row).ID; e.Message != id {
		c.wrong("false applied: %s changed %s, its row says %s", a.id, e.Message, id)
	}
	if e.Channel != a.channel || e.Org != a.org {
		c.wrong("wrong place: %s landed in %s/%s, meant for %s/%s", a.id, e.Org, e.Channel, a.org, a.channel)
	}
	if a.verb != string(outcome.Retract) && digest(e.Text) != a.digest {
		c.wrong("false applied: the text of %s isn't what was written", a.id)
	}
}

// checkUnchanged: the message showed the text at that moment.
func (c *checker) checkUnchanged(a tried, row audit.Row) {
	if len(c.received[a.marker]) > 0 {
		c.wrong("false unchanged: a request of %s left", a.id)
	}
	shown := ""
	for _, e := range c.changes[a.target] {
		if !e.At.After(row.At) {
			shown = e.Text
		}
	}
	if digest(shown) != a.digest {
		c.wrong("false unchanged: %s showed another text than that of %s", a.target, a.id)
	}
}

// checkVerdicts: what a later look is sure of is so.
func (c *checker) checkVerdicts(a tried) {
	v := c.said[a.id]
	if len(v.outcomes) == 1 && len(v.notes) > 0 && v.outcomes[0].Outcome != outcome.Ambiguous {
		c.wrong("verdict on what needs none: %s of %s", v.outcomes[0].Outcome, a.id)
	}
	if v.has(audit.Seen, audit.SeenChanged, audit.LateResult) && v.has(audit.NotApplied) {
		c.wrong("contradicting verdicts on %s", a.id)
	}
	if !v.has(audit.Seen, audit.SeenChanged, audit.LateResult) || len(c.effects[a.marker]) > 0 {
		return
	}
	if !c.asWanted(a) {
		c.wrong("false seen: %s of %s isn't there", a.verb, a.id)
	}
}

// asWanted reports that the message came to be as the write wanted it, whoever
// made it so: gone for a retract, with that text for an edit.
func (c *checker) asWanted(a tried) bool {
	if a.verb == string(outcome.Retract) {
		return c.messages[a.target].Deleted
	}
	return slices.ContainsFunc(c.changes[a.target], func(e room.Applied) bool { return digest(e.Text) == a.digest })
}

// checkRequests: no wire request without an attempt, at most one for each.
func (c *checker) checkRequests() {
	markers := map[string]tried{}
	for _, a := range c.trail.attempts {
		markers[a.marker] = a
	}
	for marker, all := range c.received {
		a, ok := markers[marker]
		if !ok {
			c.wrong("request without attempt: %s with marker %s", all[0].Verb, marker)
			continue
		}
		if len(all) > 1 {
			c.wrong("doubled request: %d for %s", len(all), a.id)
		}
		r := all[0]
		if r.At.Before(a.opened) {
			c.wrong("request before attempt: %s", a.id)
		}
		if a.dry {
			c.wrong("request of a dry run: %s", a.id)
		}
		if r.Org != a.org || r.Channel != a.channel || r.Target != a.target {
			c.wrong("wrong place: the request of %s went to %s/%s %s", a.id, r.Org, r.Channel, r.Target)
		}
	}
	for marker, all := range c.effects {
		if len(all) > 1 {
			c.wrong("doubled effect: %d with marker %s", len(all), marker)
		}
		if len(c.received[marker]) == 0 {
			c.wrong("effect without request: marker %s", marker)
		}
	}
}

// checkOneEffect: one idempotency key has one effect at most, so a text has no
// more effects than keys.
func (c *checker) checkOneEffect() {
	keys, texts, gone := map[string]map[string]bool{}, map[string]int{}, map[string]bool{}
	for _, a := range c.asked {
		if keys[a.text] == nil {
			keys[a.text] = map[string]bool{}
		}
		keys[a.text][a.key] = true
	}
	for _, e := range c.truth.Applied {
		switch {
		case e.Kind != room.KindBot:
			continue
		case e.Verb == room.VerbRetract && gone[e.Message]:
			c.wrong("doubled retract of %s", e.Message)
		case e.Verb == room.VerbRetract:
			gone[e.Message] = true
		default:
			if texts[e.Text]++; texts[e.Text] > len(keys[e.Text]) {
				c.wrong("one key, two effects: %d of a text that %d keys have, the last on %s", texts[e.Text], len(keys[e.Text]), e.Message)
			}
		}
	}
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(sum[:])
}
