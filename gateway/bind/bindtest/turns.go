package bindtest

import (
	"reflect"
	"time"

	"stet/audit"
	"stet/gateway/bind"
	"stet/gateway/locus"
	"stet/gateway/turn"
)

var turnChecks = []check{
	{"a turn is found by its token and by its id, whole", wholeTurn},
	{"a turn without refs, locus or creator is found as it is", bareTurn},
	{"a dry turn stays dry", dryTurn},
	{"a token that nobody minted finds nothing", noToken},
	{"opening twice is one turn, a token serves one turn", openedTwice},
	{"a closed turn says when, and closing again keeps it", closedTurn},
	{"closing a turn that isn't there says so", closeNothing},
	{"a decline marks the turn and leaves one row", declinedTurn},
	{"a turn that is over can't be declined", declineOver},
}

func (f *fixture) same(got, want turn.Turn) {
	f.Helper()
	if !reflect.DeepEqual(got, want) {
		f.Errorf("turn %+v\nwant %+v", got, want)
	}
}

func (f *fixture) found(want turn.Turn) {
	f.Helper()
	got, err := f.Turn(f.ctx, want.ID)
	f.no(err)
	f.same(got, want)
	got, hash, err := f.TurnByToken(f.ctx, want.ID)
	f.no(err)
	f.same(got, want)
	if string(hash) != "hash of "+want.ID {
		f.Errorf("hash %q", hash)
	}
}

func wholeTurn(f *fixture) {
	f.turn()
	f.found(f.turn(func(t *turn.Turn) { t.Locus, t.Route = there, locus.Binding }))
}

func bareTurn(f *fixture) {
	f.found(f.turn(func(t *turn.Turn) {
		t.Refs, t.Locus, t.Route, t.Creator, t.Bound = nil, locus.Locus{}, "", "", ""
	}))
}

func dryTurn(f *fixture) {
	f.found(f.turn(func(t *turn.Turn) { t.DryRun = true }))
}

func noToken(f *fixture) {
	f.turn()
	_, _, err := f.TurnByToken(f.ctx, "nothing")
	f.notFound(err)
	_, err = f.Turn(f.ctx, "nothing")
	f.notFound(err)
}

func openedTwice(f *fixture) {
	t := f.turn()
	f.no(f.OpenTurn(f.ctx, t, bind.Token{ID: t.ID, Hash: []byte("hash of " + t.ID)}))
	f.found(t)
	other := t
	other.ID = audit.NewID()
	if f.OpenTurn(f.ctx, other, bind.Token{ID: t.ID, Hash: []byte("other")}) == nil {
		f.Error("one token opened two turns")
	}
	f.found(t)
}

func closedTurn(f *fixture) {
	t := f.turn()
	f.at = f.at.Add(time.Minute)
	t.ClosedAt = f.at
	f.no(f.CloseTurn(f.ctx, t.ID))
	f.at = f.at.Add(time.Minute)
	f.no(f.CloseTurn(f.ctx, t.ID))
	f.found(t)
	if t.Open(f.at) {
		f.Error("its token still works")
	}
}

func closeNothing(f *fixture) {
	f.notFound(f.CloseTurn(f.ctx, "nothing"))
}

func declinedTurn(f *fixture) {
	t := f.turn()
	f.no(f.Decline(f.ctx, t))
	f.no(f.Decline(f.ctx, t))
	t.Marks = turn.Marks{Declined: true, MayEnd: true}
	f.found(t)
	rows := f.rows(audit.ActionDeclined)
	if len(rows) != 1 {
		f.Fatalf("%d rows, want 1", len(rows))
	}
	r := rows[0]
	if r.Turn != t.ID || r.Org != t.Org || r.Session != t.Session || r.Wake != t.WakeID || r.Platform != "room" ||
		r.Principal != t.Principal || r.Kind != audit.Outcome || r.Attempt != "" {
		f.Errorf("row %+v", r)
	}
}

func declineOver(f *fixture) {
	t := f.turn()
	foreign := t
	foreign.Org = "other"
	f.notFound(f.Decline(f.ctx, foreign))
	f.at = t.ExpiresAt
	f.notFound(f.Decline(f.ctx, t))
	if n := len(f.rows(audit.ActionDeclined)); n != 0 {
		f.Errorf("%d rows", n)
	}
}
