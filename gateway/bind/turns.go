package bind

import (
	"context"
	"maps"
	"time"

	"github.com/google/uuid"

	"stet/gateway/locus"
	"stet/gateway/turn"
)

// How long a turn token works.
const (
	DefaultTTL = time.Hour
	MaxTTL     = 24 * time.Hour
)

// NewTurn asks for a turn.
type NewTurn struct {
	Session string
	WakeID  string
	// Origin is where the wake came from; nil for a wake from nowhere.
	Origin  *locus.Locus
	Refs    map[string]string
	Creator string
	// TTL is 0 for [DefaultTTL].
	TTL    time.Duration
	DryRun bool
	// Org and the rest say what a binding would say. For a bound session they
	// may be left out and must not say otherwise.
	Org, Workspace, Surface, Principal string
}

// OpenTurn opens a turn and answers its token's clear text, which is kept
// nowhere. The wake's origin wins over the binding; with neither the turn has
// no locus, and is legal. [ErrAmbiguousSession] when the key spans several
// organizations that have this session and none is named.
func (s *Service) OpenTurn(ctx context.Context, k Key, n NewTurn) (string, turn.Turn, error) {
	if err := checkNewTurn(n); err != nil {
		return "", turn.Turn{}, err
	}
	bound, err := s.sessionOf(ctx, k, n)
	if err != nil {
		return "", turn.Turn{}, err
	}
	t := s.freeze(n, bound)
	if n.Origin != nil {
		if err := s.place("wake.origin", t.Org, &t.Locus); err != nil {
			return "", turn.Turn{}, err
		}
	}
	clear, token := Mint(TurnToken)
	if err := s.turns.OpenTurn(ctx, t, token); err != nil {
		return "", turn.Turn{}, err
	}
	return clear, t, nil
}

func checkNewTurn(n NewTurn) error {
	if n.TTL < 0 || n.TTL > MaxTTL {
		return invalid("ttl", "must be more than 0 and at most 24h")
	}
	err := first(
		checkID("session", n.Session), checkText("wake.id", n.WakeID, MaxHostID),
		checkText("creator", n.Creator, MaxHostID), checkRefs("wake.refs", n.Refs),
		checkText("org", n.Org, MaxHostID), checkText("workspace", n.Workspace, MaxHostID),
		checkText("surface", n.Surface, MaxHostID), checkText("principal", n.Principal, MaxHostID),
	)
	if err == nil && n.Origin != nil {
		err = checkLocus("wake.origin", *n.Origin)
	}
	return err
}

// sessionOf finds the session's binding, or makes do with what the request says.
func (s *Service) sessionOf(ctx context.Context, k Key, n NewTurn) (Session, error) {
	org, err := orgFor(k, n.Org)
	if err != nil {
		return Session{}, err
	}
	found, err := s.sessions.Sessions(ctx, org, n.Session)
	if err != nil {
		return Session{}, err
	}
	switch len(found) {
	case 0:
		return unbound(org, n)
	case 1:
		return found[0], agrees(found[0], n)
	default:
		return Session{}, ErrAmbiguousSession
	}
}

func unbound(org string, n NewTurn) (Session, error) {
	for _, need := range []struct{ field, value string }{
		{"org", org}, {"workspace", n.Workspace}, {"surface", n.Surface}, {"principal", n.Principal},
	} {
		if need.value == "" {
			return Session{}, invalid(need.field, "is needed, since the session is not bound")
		}
	}
	return Session{Org: org, ID: n.Session, Workspace: n.Workspace, Surface: n.Surface, Principal: n.Principal}, nil
}

// agrees refuses a request that contradicts the binding: one of the two is a
// mistake, and nobody knows which.
func agrees(b Session, n NewTurn) error {
	for _, pair := range []struct{ field, named, bound string }{
		{"workspace", n.Workspace, b.Workspace}, {"surface", n.Surface, b.Surface},
		{"principal", n.Principal, b.Principal},
	} {
		if pair.named != "" && pair.named != pair.bound {
			return invalid(pair.field, "differs from the session's binding; leave it out, or bind the session anew")
		}
	}
	return nil
}

// freeze makes the turn with everything that no later call can change.
func (s *Service) freeze(n NewTurn, b Session) turn.Turn {
	now := s.now().UTC().Truncate(time.Microsecond)
	ttl := n.TTL
	if ttl == 0 {
		ttl = DefaultTTL
	}
	t := turn.Turn{
		ID: newID(), Org: b.Org, Session: b.ID, Workspace: b.Workspace, Surface: b.Surface,
		Principal: b.Principal, Creator: n.Creator, WakeID: n.WakeID, Refs: maps.Clone(n.Refs),
		Bound: string(b.Locus.Platform), DryRun: n.DryRun || s.dryRun, OpenedAt: now, ExpiresAt: now.Add(ttl),
	}
	switch {
	case n.Origin != nil:
		t.Locus, t.Route = *inWorkspace(n.Origin, b.Workspace), locus.Wake
	case !b.Locus.Zero():
		t.Locus, t.Route = b.Locus, locus.Binding
	}
	return t
}

// CloseTurn makes the turn's token dead and answers the turn as it is then.
func (s *Service) CloseTurn(ctx context.Context, k Key, id string) (turn.Turn, error) {
	t, err := s.Turn(ctx, k, id)
	if err != nil {
		return turn.Turn{}, err
	}
	if err := s.turns.CloseTurn(ctx, t.ID); err != nil {
		return turn.Turn{}, err
	}
	return s.turns.Turn(ctx, t.ID)
}

func newID() string {
	id, err := uuid.NewV7()
	if err != nil {
		panic("bind: no randomness") // crypto/rand never fails on supported systems
	}
	return id.String()
}
