package gateway

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"stet/arms"
	"stet/audit"
	"stet/gateway/locus"
	"stet/gateway/outcome"
	"stet/gateway/turn"
	"stet/guards"
)

// Options is what a gateway is made of.
type Options struct {
	Arms     *arms.Registry
	Recorder recorder
	Posts    posts
	Guards   guard         // nil: the empty chain
	Ladder   guards.Ladder // nil: guards.Open
	Metrics  *Metrics
	Logger   *slog.Logger

	// Boot names this process in the attempts that it owns.
	Boot string
	// Window is how long a post on a platform may be changed.
	Window func(locus.Locus) time.Duration
	// PlatformTimeout bounds a wire request, from before the opening commit.
	PlatformTimeout time.Duration
	// MaxWait bounds the wait for a message that is busy.
	MaxWait time.Duration
	// MaxInFlight bounds the attempts under way; beyond it a request is
	// refused as overloaded. 0: 1024.
	MaxInFlight int
	// FirstLook is how long after an ambiguous outcome the first look at it is.
	FirstLook time.Duration
	// OnAmbiguous is told of each ambiguous outcome, so that a look at it can
	// begin; it must not block. nil: nobody is told.
	OnAmbiguous func()
	// Probe sees the named points that an attempt passes. Tests alone set it.
	Probe func(point string)
}

// Gateway is the way of a write. Its methods are safe for concurrent use.
type Gateway struct {
	o        Options
	inFlight chan struct{}
	bell     bell
}

const defaultInFlight = 1024

// Grace is what an attempt's deadline allows beyond the platform's time: the
// opening commit before it and the settling one after it.
const Grace = audit.CommitLimit + time.Second

// New makes a gateway.
func New(o Options) (*Gateway, error) {
	switch {
	case o.Arms == nil, o.Recorder == nil, o.Posts == nil, o.Metrics == nil, o.Logger == nil, o.Window == nil:
		return nil, errors.New("gateway: arms, recorder, posts, metrics, logger and window are needed")
	case o.PlatformTimeout <= 0 || o.MaxWait <= 0:
		return nil, errors.New("gateway: the platform timeout and the longest wait must be positive")
	}
	if o.Guards == nil {
		o.Guards = guards.Chain{}
	}
	if o.Ladder == nil {
		o.Ladder = guards.Open{}
	}
	if o.MaxInFlight == 0 {
		o.MaxInFlight = defaultInFlight
	}
	if o.OnAmbiguous == nil {
		o.OnAmbiguous = func() {}
	}
	if o.Probe == nil {
		o.Probe = func(string) {}
	}
	return &Gateway{o: o, inFlight: make(chan struct{}, o.MaxInFlight)}, nil
}

// Reply posts a new message where the turn speaks. The error is a *[Problem].
func (g *Gateway) Reply(ctx context.Context, t turn.Turn, r ReplyRequest) (Answer, error) {
	a := newAttempt(outcome.Reply, t)
	a.text, a.format, a.split, a.done, a.key = r.Text, r.Format, r.Split, r.Done, r.Key
	return g.run(ctx, a, g.replyStages())
}

// Edit replaces the text of an own message. The error is a *[Problem].
func (g *Gateway) Edit(ctx context.Context, t turn.Turn, r EditRequest) (Answer, error) {
	a := newAttempt(outcome.Edit, t)
	a.text, a.format, a.split, a.target, a.key = r.Text, r.Format, r.Split, r.ID, r.Key
	return g.run(ctx, a, g.editStages())
}

// Retract removes an own message. The error is a *[Problem].
func (g *Gateway) Retract(ctx context.Context, t turn.Turn, r RetractRequest) (Answer, error) {
	a := newAttempt(outcome.Retract, t)
	a.target, a.key = r.ID, r.Key
	return g.run(ctx, a, g.retractStages())
}
