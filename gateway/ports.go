package gateway

import (
	"context"

	"stet/audit"
	"stet/gateway/outcome"
	"stet/gateway/turn"
	"stet/guards"
	"stet/ledger"
)

// recorder is the trail as the stages need it: see [audit.Recorder].
type recorder interface {
	Claimed(context.Context, turn.Turn, outcome.Verb, audit.Claim) (audit.Opening, error)
	Open(context.Context, audit.OpenRequest) (audit.Opening, error)
	Refuse(context.Context, audit.Refused) error
	Settle(context.Context, audit.Settlement) (audit.Settled, error)
}

// resolutions is the trail as the resolver needs it.
type resolutions interface {
	Due(ctx context.Context, limit int) ([]audit.Pending, error)
	Resolve(context.Context, audit.Resolution) (bool, error)
}

// posts is the early look at the own posts: see [ledger.Ledger].
type posts interface {
	Look(context.Context, ledger.Query) (ledger.Decision, error)
	Ask(context.Context, ledger.Query) (ledger.Decision, error)
	changes
}

// changes is told what became of own posts, after the commit that says so. It
// is a courtesy to the early look and can't fail.
type changes interface {
	Landed(context.Context, ...ledger.Entry)
	Closed(context.Context, ...ledger.Key)
}

// nobody is told.
type nobody struct{}

func (nobody) Landed(context.Context, ...ledger.Entry) {}
func (nobody) Closed(context.Context, ...ledger.Key)   {}

// guard is what a text has to pass: see [guards.Chain].
type guard interface {
	Check(context.Context, guards.Draft) (guards.Verdict, error)
}
