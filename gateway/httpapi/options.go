package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"stet/arms"
	"stet/audit"
	"stet/gateway"
	"stet/gateway/bind"
	"stet/gateway/turn"
	"stet/gateway/wire"
	"stet/ledger"
)

// Verbs is the pipeline. Its errors are always a [*gateway.Problem].
type Verbs interface {
	Reply(context.Context, turn.Turn, gateway.ReplyRequest) (gateway.Answer, error)
	Edit(context.Context, turn.Turn, gateway.EditRequest) (gateway.Answer, error)
	Retract(context.Context, turn.Turn, gateway.RetractRequest) (gateway.Answer, error)
}

// OwnPosts lists own posts that may still be changed, newest first.
type OwnPosts interface {
	Editable(ctx context.Context, q ledger.Query, limit int) ([]ledger.Entry, error)
}

// Events tells when something was found out about a turn. It is a nudge and no
// more: what was found out stands in the trail, which is also looked at from
// time to time, since another process may have written it.
type Events interface {
	// Subscribe answers a channel that receives after an event of the turn, and
	// a function that ends the subscription.
	Subscribe(turn string) (rows <-chan audit.Row, end func())
}

// Options is what the door needs. Verbs, Bind and Trail must be there.
type Options struct {
	Verbs Verbs
	Bind  *bind.Service
	Trail audit.Reader
	// Ledger is nil where no own posts can be listed.
	Ledger OwnPosts
	// Capabilities is a platform's data sheet for a place; false where it
	// isn't set up. Nil: none is.
	Capabilities func(arms.Platform, arms.Place) (arms.Capabilities, bool)
	// Ready says whether the gateway can do its work. Nil: always.
	Ready func(context.Context) wire.Ready
	// Events is nil where only the trail tells.
	Events Events
	// Metrics and Room are mounted at /metrics and /room/; nil: not there.
	// Room is reached without a key of the door's.
	Metrics, Room http.Handler
	// Registerer takes the door's own metrics; nil: nobody does.
	Registerer prometheus.Registerer
	// Logger gets one line for each request; nil: nobody does.
	Logger  *slog.Logger
	Version string
	// Loopback: the listener can be reached from this machine alone, so
	// health and metrics need no key.
	Loopback bool
	// Draining reports that no new turn or verb is taken any more.
	Draining func() bool
	// Heartbeat is the pause after which an event stream looks at the trail and
	// shows a sign of life; 0: 5 s.
	Heartbeat time.Duration
	// BodyTime is how long a body may take to arrive; 0: 10 s.
	BodyTime time.Duration
}

func (o *Options) complete() error {
	if o.Verbs == nil || o.Bind == nil || o.Trail == nil {
		return errors.New("httpapi: verbs, bind and trail are needed")
	}
	if o.Capabilities == nil {
		o.Capabilities = func(arms.Platform, arms.Place) (arms.Capabilities, bool) { return arms.Capabilities{}, false }
	}
	if o.Ready == nil {
		o.Ready = func(context.Context) wire.Ready { return wire.Ready{Ready: true, Checks: []wire.Check{}} }
	}
	if o.Draining == nil {
		o.Draining = func() bool { return false }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Heartbeat <= 0 {
		o.Heartbeat = 5 * time.Second
	}
	if o.BodyTime <= 0 {
		o.BodyTime = 10 * time.Second
	}
	return nil
}
