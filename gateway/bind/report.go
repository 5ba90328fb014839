package bind

import (
	"context"
	"slices"
	"strings"
	"time"

	"stet/gateway/turn"
)

// MaxEvidenceTTL is how long evidence may count in its session.
const MaxEvidenceTTL = 366 * 24 * time.Hour

// NewEvidence reports an event that the host saw.
type NewEvidence struct {
	Kind, Ref, Subject string
	// TTL is 0 for evidence of this turn alone.
	TTL time.Duration
}

// AddEvidence stores an event with a turn, or with its session for a time.
func (s *Service) AddEvidence(ctx context.Context, k Key, id string, n NewEvidence) (turn.Evidence, error) {
	if !slices.Contains(turn.EvidenceKinds(), n.Kind) {
		return turn.Evidence{}, invalid("kind", "must be one of %s", strings.Join(turn.EvidenceKinds(), ", "))
	}
	if n.TTL < 0 || n.TTL > MaxEvidenceTTL {
		return turn.Evidence{}, invalid("ttl", "must be more than 0 and at most a year")
	}
	err := first(checkText("ref", n.Ref, MaxPlatformID), checkText("subject", n.Subject, MaxPlatformID))
	if err != nil {
		return turn.Evidence{}, err
	}
	t, err := s.Turn(ctx, k, id)
	if err != nil {
		return turn.Evidence{}, err
	}
	e := turn.Evidence{ID: newID(), Kind: n.Kind, Ref: n.Ref, Subject: n.Subject, At: s.now().UTC()}
	if n.TTL > 0 {
		e.Session, e.ExpiresAt = true, e.At.Add(n.TTL)
	}
	return e, s.turns.AddEvidence(ctx, t, e)
}

// AddCall appends a tool call to a turn's transcript.
func (s *Service) AddCall(ctx context.Context, k Key, id string, c turn.Call) error {
	if err := first(checkID("call", c.ID), checkID("name", c.Name)); err != nil {
		return err
	}
	t, err := s.Turn(ctx, k, id)
	if err != nil {
		return err
	}
	c.At = s.now().UTC()
	return s.turns.AddCall(ctx, t, c)
}

// SawMessage notes that the host saw a newer inbound message.
func (s *Service) SawMessage(ctx context.Context, k Key, id, message string) error {
	if message == "" {
		return invalid("message", "must not be empty")
	}
	if err := checkText("message", message, MaxPlatformID); err != nil {
		return err
	}
	t, err := s.Turn(ctx, k, id)
	if err != nil {
		return err
	}
	return s.turns.SawMessage(ctx, t, message)
}
