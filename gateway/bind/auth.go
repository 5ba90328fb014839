package bind

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"unicode/utf8"

	"stet/gateway/turn"
)

// MinForeignKey is the shortest key of a form that isn't ours, in bytes.
const MinForeignKey = 32

// maxForeignKey bounds the work that a stranger can ask for.
const maxForeignKey = 1024

// Caller is who a credential speaks for: a key or a turn.
type Caller struct {
	Kind Kind
	// Key is set for a host or ops key.
	Key Key
	// Turn is set for a turn token.
	Turn turn.Turn
}

// Authenticate finds out who a credential speaks for: its form and checksum
// are looked at first, then the store is read once. The only errors are
// [ErrUnauthorized] and the store's own.
func (s *Service) Authenticate(ctx context.Context, clear string) (Caller, error) {
	kind, token, ok := Parse(clear)
	switch {
	case ok && kind == TurnToken:
		return s.byTurn(ctx, token)
	case ok:
		return s.byKey(ctx, kind, token)
	case foreign(clear):
		return s.byKey(ctx, "", foreignToken(clear))
	default:
		return Caller{}, ErrUnauthorized
	}
}

func (s *Service) byTurn(ctx context.Context, token Token) (Caller, error) {
	t, stored, err := s.turns.TurnByToken(ctx, token.ID)
	if err != nil {
		return Caller{}, hideMiss(err)
	}
	if !token.Matches(stored) || !t.Open(s.now()) {
		return Caller{}, ErrUnauthorized
	}
	return Caller{Kind: TurnToken, Turn: t}, nil
}

// byKey checks a key; want is empty where the credential's form says no kind.
func (s *Service) byKey(ctx context.Context, want Kind, token Token) (Caller, error) {
	k, err := s.keys.KeyByID(ctx, token.ID)
	if err != nil {
		return Caller{}, hideMiss(err)
	}
	if !token.Matches(k.Hash) || !k.RevokedAt.IsZero() {
		return Caller{}, ErrUnauthorized
	}
	kind, err := KindOf(k.Scopes)
	if err != nil || (want != "" && want != kind) {
		return Caller{}, ErrUnauthorized
	}
	return Caller{Kind: kind, Key: k}, nil
}

func hideMiss(err error) error {
	if errors.Is(err, ErrNotFound) {
		return ErrUnauthorized
	}
	return err
}

// foreign reports a key that somebody else made. What looks like ours and
// isn't, is a mistyped key and none.
func foreign(clear string) bool {
	if len(clear) < MinForeignKey || len(clear) > maxForeignKey || !utf8.ValidString(clear) {
		return false
	}
	for _, kind := range []Kind{HostKey, OpsKey, TurnToken} {
		if strings.HasPrefix(clear, string(kind)+"_") {
			return false
		}
	}
	return true
}

// foreignToken derives the public id from a digest of its own, so that neither
// of the two stored values is part of the other.
func foreignToken(clear string) Token {
	id := sha256.Sum256([]byte("stet public key id\x00" + clear))
	return Token{ID: "x" + hex.EncodeToString(id[:10]), Hash: hash(clear)}
}

// KindOf is the kind of credential that carries the scopes. Host stands alone:
// whoever opens turns has no business in the trail.
func KindOf(scopes []Scope) (Kind, error) {
	host, ops := false, false
	for _, s := range scopes {
		switch s {
		case ScopeHost:
			host = true
		case ScopeOps, ScopeReviewer:
			ops = true
		default:
			return "", invalid("scopes", "must be host, ops or reviewer")
		}
	}
	switch {
	case host && ops:
		return "", invalid("scopes", "host must stand alone")
	case host:
		return HostKey, nil
	case ops:
		return OpsKey, nil
	default:
		return "", invalid("scopes", "must name at least one")
	}
}

// kindNames are the kinds in words for people.
var kindNames = map[Kind]string{HostKey: "a host key", OpsKey: "an ops key", TurnToken: "a turn token"}
