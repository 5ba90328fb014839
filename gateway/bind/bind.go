// Package bind holds who may speak where: keys, sessions bound to a locus, and
// turns with their tokens.
package bind

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"stet/gateway/locus"
	"stet/gateway/turn"
)

// ErrNotFound: there is no such thing, or not for this caller; the two are
// not told apart.
var ErrNotFound = errors.New("bind: not found")

// ErrAmbiguousSession: a key that spans organizations named a session that
// several of them have.
var ErrAmbiguousSession = errors.New("bind: several organizations have this session")

// Session is a conversation over many turns, of one organization.
type Session struct {
	Org       string
	ID        string
	Workspace string
	Surface   string
	Principal string
	// Locus is where the session is bound; zero for an unbound one.
	Locus locus.Locus
}

// Scope is what a key may do.
type Scope string

// The scopes.
const (
	ScopeHost     Scope = "host"
	ScopeOps      Scope = "ops"
	ScopeReviewer Scope = "reviewer"
)

// Key is an API key without its secret.
type Key struct {
	ID string
	// Org is empty for a key that spans all organizations.
	Org       string
	Scopes    []Scope
	Name      string
	Hash      []byte
	CreatedAt time.Time
	RevokedAt time.Time
}

// Spans reports whether the key may act for the organization.
func (k Key) Spans(org string) bool { return k.Org == "" || k.Org == org }

// Has reports whether the key has a scope.
func (k Key) Has(s Scope) bool {
	for _, have := range k.Scopes {
		if have == s {
			return true
		}
	}
	return false
}

// SessionStore keeps sessions.
type SessionStore interface {
	// PutSession binds a session, replacing an earlier binding of the same
	// organization and id.
	PutSession(ctx context.Context, s Session) error
	// Sessions finds a session by id in one organization, or in all for "".
	Sessions(ctx context.Context, org, id string) ([]Session, error)
}

// TurnStore keeps turns and what was reported to them.
type TurnStore interface {
	// OpenTurn stores a turn under its token's public id and hash.
	OpenTurn(ctx context.Context, t turn.Turn, token Token) error
	// TurnByToken finds a turn by its token's public id, with the hash of its
	// secret; [ErrNotFound] when there is none.
	TurnByToken(ctx context.Context, tokenID string) (turn.Turn, []byte, error)
	// Turn finds a turn with its marks as they stand now.
	Turn(ctx context.Context, id string) (turn.Turn, error)
	// CloseTurn makes the token dead; closing twice keeps the first time.
	CloseTurn(ctx context.Context, id string) error
	// AddEvidence stores an event with the turn, or with its session.
	AddEvidence(ctx context.Context, t turn.Turn, e turn.Evidence) error
	// AddCall appends a tool call; a call's later result is a further entry.
	AddCall(ctx context.Context, t turn.Turn, c turn.Call) error
	// SawMessage notes that the host saw a newer inbound message.
	SawMessage(ctx context.Context, t turn.Turn, message string) error
	// Decline sets the mark and writes the row turn.declined in one commit;
	// declining twice leaves one row.
	Decline(ctx context.Context, t turn.Turn) error
}

// KeyStore keeps keys. Creating and revoking write their row in the same commit.
type KeyStore interface {
	CreateKey(ctx context.Context, k Key, by string) error
	KeyByID(ctx context.Context, id string) (Key, error)
	Keys(ctx context.Context, org string) ([]Key, error)
	// RevokeKey revokes at once; [ErrNotFound] when there is no such live key.
	RevokeKey(ctx context.Context, id, by string) error
}

// Clock is the injected time.
type Clock func() time.Time

// MaxHostID is the longest host-given id (session, wake, principal, creator),
// in characters.
const MaxHostID = 200

// Refs encodes a turn's refs for a store.
func Refs(refs map[string]string) []byte {
	if len(refs) == 0 {
		return []byte("{}")
	}
	b, err := json.Marshal(refs)
	if err != nil { // a map of strings always encodes
		return []byte("{}")
	}
	return b
}
