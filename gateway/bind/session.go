package bind

import (
	"context"

	"stet/gateway/locus"
)

// NewSession asks for a session to be bound.
type NewSession struct {
	ID string
	// Org may be empty where the key has one.
	Org                           string
	Workspace, Surface, Principal string
	// Locus is nil for a session that is bound nowhere; without a workspace of
	// its own it is in the session's.
	Locus *locus.Locus
}

// BindSession binds a session, replacing an earlier binding.
func (s *Service) BindSession(ctx context.Context, k Key, n NewSession) (Session, error) {
	org, err := orgFor(k, n.Org)
	if err != nil {
		return Session{}, err
	}
	if org == "" {
		return Session{}, invalid("org", "is needed, since the key spans all organizations")
	}
	err = first(
		checkID("session", n.ID), checkID("org", org), checkID("workspace", n.Workspace),
		checkID("surface", n.Surface), checkID("principal", n.Principal),
	)
	if err != nil {
		return Session{}, err
	}
	at := inWorkspace(n.Locus, n.Workspace)
	if err := s.place("locus", org, at); err != nil {
		return Session{}, err
	}
	bound := Session{Org: org, ID: n.ID, Workspace: n.Workspace, Surface: n.Surface, Principal: n.Principal}
	if at != nil {
		bound.Locus = *at
	}
	if err := s.sessions.PutSession(ctx, bound); err != nil {
		return Session{}, err
	}
	return bound, nil
}

// orgFor is the organization that a key acts for when a request names one, or
// none; empty when neither says.
func orgFor(k Key, named string) (string, error) {
	switch {
	case k.Org == "":
		return named, nil
	case named == "" || named == k.Org:
		return k.Org, nil
	default:
		return "", ErrForbidden
	}
}

func inWorkspace(l *locus.Locus, workspace string) *locus.Locus {
	if l == nil {
		return nil
	}
	at := *l
	if at.Workspace == "" {
		at.Workspace = workspace
	}
	return &at
}
