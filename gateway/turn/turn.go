// Package turn has the values of one wake of an agent: the turn, its marks,
// the evidence that the host reported and the tool calls that the agent made.
package turn

import (
	"time"

	"stet/gateway/locus"
)

// Turn is one wake of the agent. Everything but the marks is frozen when the
// host opens it.
type Turn struct {
	ID  string
	Org string
	// Session, Workspace, Surface and Principal say who speaks where; they are
	// columns of every row.
	Session   string
	Workspace string
	Surface   string
	Principal string
	Creator   string
	WakeID    string
	// Refs are the ids of what this wake answers, by the tools' own key names.
	Refs map[string]string
	// Locus is where replies land, by Route; zero when the host gave none.
	Locus locus.Locus
	Route locus.Route
	// Bound is the platform of the session's binding when the turn was opened,
	// empty for an unbound session. A row about something that landed nowhere
	// names it.
	Bound    string
	DryRun   bool
	OpenedAt time.Time
	// ExpiresAt is when the token stops working; ClosedAt is zero until the
	// host closes the turn.
	ExpiresAt time.Time
	ClosedAt  time.Time
	Marks     Marks
}

// Open reports whether the turn's token still works at now.
func (t Turn) Open(now time.Time) bool { return t.ClosedAt.IsZero() && now.Before(t.ExpiresAt) }

// Surfaced names the platform column of a row about something that landed
// nowhere: the session's bound platform, else the wake's.
func (t Turn) Surfaced() string {
	if t.Bound != "" {
		return t.Bound
	}
	return string(t.Locus.Platform)
}

// Marks is what has become of a turn so far.
type Marks struct {
	// Answered: a reply said that it was the last one.
	Answered bool
	// Declined: the agent declined to answer.
	Declined bool
	// Ambiguous: the outcome of a write of this turn is unknown and unresolved.
	Ambiguous bool
	// Partial: of a split reply only some parts are there.
	Partial bool
	// Stale: the host saw a newer inbound message that the agent hasn't read.
	Stale bool
	// MayEnd: the agent has done enough for the turn to end.
	MayEnd bool
}

// Evidence is an event that the host saw.
type Evidence struct {
	ID   string
	Kind string
	// Ref and Subject are the host's words for what and about what.
	Ref, Subject string
	At           time.Time
	// Session is set, and ExpiresAt with it, for evidence that outlives its
	// turn.
	Session   bool
	ExpiresAt time.Time
}

// EvidenceKinds lists the kinds that a host may report.
func EvidenceKinds() []string {
	return []string{
		"memory.write", "approval.granted", "approval.not_required",
		"request.submitted", "delegation.opened", "delegation.reported",
	}
}

// Call is a tool call that the agent made elsewhere. Args and Result are
// third-party bytes: shown to people, never read by the gateway.
type Call struct {
	ID      string
	Name    string
	Args    []byte
	Result  []byte
	IsError bool
	At      time.Time
}
