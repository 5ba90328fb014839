package bind

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// NewKey asks for a key.
type NewKey struct {
	Name   string
	Scopes []Scope
	// Org is empty only with AllOrgs, and in a key of one organization may be
	// left out.
	Org string
	// AllOrgs marks a key that spans all organizations.
	AllOrgs bool
}

// CreateKey makes a key on behalf of another one and answers its clear text,
// which is kept nowhere. A key of one organization makes keys of that one only.
func (s *Service) CreateKey(ctx context.Context, by Key, n NewKey) (string, Key, error) {
	if by.Org != "" {
		if n.AllOrgs || (n.Org != "" && n.Org != by.Org) {
			return "", Key{}, ErrForbidden
		}
		n.Org = by.Org
	}
	return s.MintKey(ctx, by.ID, n)
}

// MintKey makes a key; by names who asked, for the trail.
func (s *Service) MintKey(ctx context.Context, by string, n NewKey) (string, Key, error) {
	if err := checkNewKey(n); err != nil {
		return "", Key{}, err
	}
	kind, err := KindOf(n.Scopes)
	if err != nil {
		return "", Key{}, err
	}
	clear, token := Mint(kind)
	k := s.newKey(token, n)
	if err := s.keys.CreateKey(ctx, k, by); err != nil {
		return "", Key{}, err
	}
	return clear, k, nil
}

func (s *Service) newKey(token Token, n NewKey) Key {
	scopes := slices.Clone(n.Scopes)
	slices.Sort(scopes)
	return Key{
		ID: token.ID, Hash: token.Hash, Org: n.Org, Scopes: slices.Compact(scopes),
		Name: n.Name, CreatedAt: s.now().UTC(),
	}
}

func checkNewKey(n NewKey) error {
	if n.AllOrgs != (n.Org == "") {
		return invalid("org", "must name the organization, or all_orgs must be true, and not both")
	}
	return first(checkID("name", n.Name), checkText("org", n.Org, MaxHostID))
}

// ListKeys lists the keys that a key may see, without their hashes.
func (s *Service) ListKeys(ctx context.Context, by Key) ([]Key, error) {
	keys, err := s.keys.Keys(ctx, by.Org)
	if err != nil {
		return nil, err
	}
	mine := make([]Key, 0, len(keys))
	for _, k := range keys {
		if by.Org == "" || by.Org == k.Org {
			k.Hash = nil
			mine = append(mine, k)
		}
	}
	return mine, nil
}

// RevokeKey revokes a key at once; [ErrNotFound] also for one that the caller
// may not see.
func (s *Service) RevokeKey(ctx context.Context, by Key, id string) error {
	if checkID("id", id) != nil {
		return ErrNotFound
	}
	k, err := s.keys.KeyByID(ctx, id)
	if err != nil {
		return err
	}
	if by.Org != "" && by.Org != k.Org {
		return ErrNotFound
	}
	return s.keys.RevokeKey(ctx, id, by.ID)
}

// EnsureKey makes a key from a secret store usable: it spans all organizations
// and has the scopes. A key of the form that [Mint] makes is taken as it is;
// any other of at least [MinForeignKey] bytes is taken too. Doing it again
// changes nothing. No error holds the key.
func (s *Service) EnsureKey(ctx context.Context, clear, name string, scopes ...Scope) error {
	want, err := KindOf(scopes)
	if err != nil {
		return err
	}
	token, err := givenToken(clear, want)
	if err != nil {
		return err
	}
	have, err := s.keys.KeyByID(ctx, token.ID)
	if err == nil {
		return checkGiven(have, token, scopes)
	}
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	k := s.newKey(token, NewKey{Name: name, Scopes: scopes, AllOrgs: true})
	return s.keys.CreateKey(ctx, k, "start")
}

func givenToken(clear string, want Kind) (Token, error) {
	kind, token, ok := Parse(clear)
	switch {
	case ok && kind == want:
		return token, nil
	case ok:
		return Token{}, fmt.Errorf("it is %s, not %s", kindNames[kind], kindNames[want])
	case foreign(clear):
		return foreignToken(clear), nil
	case len(clear) < MinForeignKey:
		return Token{}, fmt.Errorf("it is too short: a key has at least %d characters, better a minted one", MinForeignKey)
	case len(clear) > maxForeignKey:
		return Token{}, fmt.Errorf("it is too long: a key has at most %d bytes", maxForeignKey)
	default:
		return Token{}, errors.New("it looks like one of stet's own keys, and its checksum is wrong: a character is missing or mistyped")
	}
}

// checkGiven holds a key that is there already to what was asked for.
func checkGiven(have Key, token Token, scopes []Scope) error {
	if !token.Matches(have.Hash) {
		return errors.New("another key has its public id")
	}
	if !have.RevokedAt.IsZero() {
		return errors.New("it was revoked")
	}
	if have.Org != "" {
		return errors.New("it belongs to one organization, a first key spans all")
	}
	for _, s := range scopes {
		if !have.Has(s) {
			return fmt.Errorf("it exists and lacks the scope %s", s)
		}
	}
	return nil
}
