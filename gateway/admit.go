package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"strings"
	"time"

	"stet/audit"
	"stet/gateway/outcome"
)

// minClaim is the least time that an idempotency key is kept.
const minClaim = 24 * time.Hour

// admit answers a repeated request from what is recorded, and refuses what can
// be refused without looking anywhere.
func (g *Gateway) admit(ctx context.Context, a *attempt) *end {
	if e := g.replay(ctx, a); e != nil {
		return e
	}
	if a.verb != outcome.Retract {
		if a.text.Broken {
			return refused(outcome.InvalidText, "", "the text isn't valid UTF-8; send it again, properly encoded")
		}
		if strings.TrimSpace(a.text.Body) == "" {
			return refused(outcome.InvalidText, "", "the text is empty; nothing was sent")
		}
	}
	if a.verb == outcome.Reply {
		return marked(a)
	}
	return nil
}

// marked refuses a reply that the turn's marks rule out. The opening commit
// asks again.
func marked(a *attempt) *end {
	m := a.turn.Marks
	switch {
	case m.Declined:
		return refused(outcome.TurnDeclined, "", advice[outcome.TurnDeclined])
	case m.Answered:
		return refused(outcome.TurnAnswered, "", advice[outcome.TurnAnswered])
	case m.Ambiguous:
		return refused(outcome.TurnAmbiguous, "", advice[outcome.TurnAmbiguous])
	case m.Partial:
		return refused(outcome.TurnPartial, "", advice[outcome.TurnPartial])
	}
	return nil
}

func (g *Gateway) replay(ctx context.Context, a *attempt) *end {
	if a.key == "" {
		return nil
	}
	a.claim = &audit.Claim{Key: a.key, Hash: a.sameness(), Keep: max(minClaim, g.o.Window(a.turn.Locus))}
	found, err := g.o.Recorder.Claimed(ctx, a.turn, a.verb, *a.claim)
	if err != nil {
		return refused(outcome.LedgerUnavailable, "", advice[outcome.LedgerUnavailable])
	}
	return g.claimed(a, found)
}

// claimed ends an attempt whose idempotency key was used before; nil when it
// wasn't.
func (g *Gateway) claimed(a *attempt, found audit.Opening) *end {
	switch found.State {
	case audit.Mismatch:
		return unattempted(outcome.IdempotencyMismatch, 0)
	case audit.InProgress:
		return unattempted(outcome.InProgress, found.RetryAfter)
	case audit.Replayed:
		return g.again(a, found)
	default:
		return nil
	}
}

// again answers as the first use of the key was answered. Where that was
// ambiguous and has been seen since, the answer says what is there.
func (g *Gateway) again(a *attempt, found audit.Opening) *end {
	row := found.Row
	if row.Outcome == outcome.Applied {
		var first Answer
		if json.Unmarshal(found.Answer, &first) == nil && first.ID != "" {
			return &end{written: true, answer: &first}
		}
		// The outcome was committed between the two looks at it.
		return unattempted(outcome.InProgress, time.Second)
	}
	if row.Outcome == outcome.Ambiguous && seen(found.Resolution) && found.Found != "" {
		id := string(found.Found)
		return &end{written: true, answer: &Answer{ID: id, Parts: []string{id}, Attempt: row.Attempt}}
	}
	p := &Problem{Reason: row.Reason, Outcome: row.Outcome, Failure: row.Failure, Attempt: row.Attempt}
	if p.Reason == outcome.Interrupted {
		p.Reason = outcome.PlatformError
	}
	p.Detail = detailOf(a.verb, p.Outcome, row.Code)
	return &end{written: true, problem: p}
}

func seen(v audit.Verdict) bool {
	return v == audit.Seen || v == audit.SeenChanged || v == audit.LateResult
}

// sameness digests everything that makes two requests the same: the verb, what
// it is about, where it would land, and the body. Each piece goes in with its
// length, so that no two lists of pieces run together.
func (a *attempt) sameness() []byte {
	l := a.turn.Locus
	h := sha256.New()
	for _, s := range []string{
		string(a.verb), string(a.target), a.text.Body, string(a.format),
		string(l.Platform), l.Workspace, string(l.Channel), string(l.Thread), l.ServiceURL, l.Organization,
	} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	for _, b := range []bool{a.text.Broken, a.split, a.done, a.turn.DryRun} {
		if b {
			h.Write([]byte{1})
		} else {
			h.Write([]byte{0})
		}
	}
	return h.Sum(nil)
}
