package bind

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stet/arms"
	"stet/gateway/locus"
	"stet/gateway/turn"
)

// ErrUnauthorized: the credential doesn't work. Unknown, expired, closed,
// revoked and malformed ones are not told apart.
var ErrUnauthorized = errors.New("bind: the credential doesn't work")

// ErrForbidden: the credential works, and not for this.
var ErrForbidden = errors.New("bind: not with this credential")

// ErrUntrustedURL: a locus names a service URL that is not trusted.
var ErrUntrustedURL = errors.New("bind: the service URL is not trusted")

// InvalidError is a value that breaks a rule.
type InvalidError struct {
	// Field is the JSON path of the value.
	Field string
	// Rule says what would be right. It never holds the value.
	Rule string
}

// Error names the field and the rule.
func (e *InvalidError) Error() string { return e.Field + ": " + e.Rule }

func invalid(field, rule string, args ...any) error {
	return &InvalidError{Field: field, Rule: fmt.Sprintf(rule, args...)}
}

// ServiceOptions is what a service needs.
type ServiceOptions struct {
	Sessions SessionStore
	Turns    TurnStore
	Keys     KeyStore
	// Now is nil for the machine's clock.
	Now Clock
	// CheckPlace is asked about every locus that a host names; an error means
	// that its service URL is not trusted. Nil: all are.
	CheckPlace func(arms.Platform, arms.Place) error
	// DryRun makes every turn a dry one, whatever its host asked for.
	DryRun bool
}

// Service has the rules of who may speak where. It is safe for concurrent use.
// Errors other than those of this package are the stores' own.
type Service struct {
	sessions   SessionStore
	turns      TurnStore
	keys       KeyStore
	now        Clock
	checkPlace func(arms.Platform, arms.Place) error
	dryRun     bool
}

// NewService makes a service.
func NewService(o ServiceOptions) *Service {
	s := &Service{sessions: o.Sessions, turns: o.Turns, keys: o.Keys, now: o.Now, checkPlace: o.CheckPlace, dryRun: o.DryRun}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// place checks a locus that a host named. A nil one is none.
func (s *Service) place(field, org string, l *locus.Locus) error {
	if l == nil {
		return nil
	}
	if err := checkLocus(field, *l); err != nil {
		return err
	}
	if s.checkPlace == nil {
		return nil
	}
	if err := s.checkPlace(l.Platform, l.Place(org)); err != nil {
		return fmt.Errorf("%w: %s", ErrUntrustedURL, field)
	}
	return nil
}

// Turn finds a turn for a key; [ErrNotFound] also for one of another
// organization.
func (s *Service) Turn(ctx context.Context, k Key, id string) (turn.Turn, error) {
	if checkID("turn", id) != nil {
		return turn.Turn{}, ErrNotFound
	}
	t, err := s.turns.Turn(ctx, id)
	if err != nil {
		return turn.Turn{}, err
	}
	if !k.Spans(t.Org) {
		return turn.Turn{}, ErrNotFound
	}
	return t, nil
}

// Current is a turn with its marks as they stand now.
func (s *Service) Current(ctx context.Context, t turn.Turn) (turn.Turn, error) {
	return s.turns.Turn(ctx, t.ID)
}

// Decline sets the turn's mark and answers the turn as it is then.
func (s *Service) Decline(ctx context.Context, t turn.Turn) (turn.Turn, error) {
	if err := s.turns.Decline(ctx, t); err != nil {
		return turn.Turn{}, err
	}
	return s.turns.Turn(ctx, t.ID)
}
