package audittest

import (
	"stet/audit"
	"stet/gateway/outcome"
	"stet/gateway/turn"
)

var trailChecks = []check{
	{"the database refuses to change the trail", appendOnly},
	{"rows of no attempt are noted once", notedOnce},
	{"a decline is one row", declineOnce},
	{"the trail proves that it can be written", probes},
	{"nothing of a refused post's id is in the database", noTaint},
}

func appendOnly(f *fixture) {
	a := reply(f.turn())
	f.opened(request(a))
	f.settleAs(a, outcome.Applied)
	for _, s := range []string{
		"update audit_row set outcome = 'applied'", "delete from audit_row",
		"update attempt set verb = 'edit'", "delete from attempt",
	} {
		if f.backend.Exec(f.ctx, s) == nil {
			f.Errorf("the database let %q through", s)
		}
	}
	f.oneOutcome(a.ID)
}

func notedOnce(f *fixture) {
	r := row(reply(f.turn()), outcome.Applied, "")
	r.Attempt, r.Action = "", "rule.added"
	f.no(f.Note(f.ctx, r))
	f.no(f.Note(f.ctx, r, row(reply(f.turn()), outcome.Applied, "")))
	f.rowCount(2)
	if got, err := f.Row(f.ctx, r.ID); err != nil || got.Attempt != "" || got.Action != "rule.added" {
		f.Errorf("row %+v, %v", got, err)
	}
}

func declineOnce(f *fixture) {
	t := f.turn()
	f.no(f.Decline(f.ctx, t))
	f.no(f.Decline(f.ctx, t))
	f.rowCount(1)
	r := f.all(nil)[0]
	if r.Action != audit.ActionDeclined || r.Turn != t.ID || r.Kind != audit.Outcome || r.Attempt != "" {
		f.Errorf("row %+v", r)
	}
	if m := f.marks(t); !m.Declined || !m.MayEnd {
		f.Errorf("marks %+v", m)
	}
	closed := f.turn()
	f.no(f.CloseTurn(f.ctx, closed.ID))
	if f.Decline(f.ctx, closed) == nil {
		f.Error("a closed turn was declined")
	}
}

func probes(f *fixture) {
	f.no(f.Probe(f.ctx))
	f.rowCount(0)
}

func noTaint(f *fixture) {
	const named = "canary-the-agent-named-this"
	t := f.turn()
	f.refused(request(edit(t, named, "x")), outcome.Refused, outcome.NotOwnPost)
	elsewhere := f.turn(func(t *turn.Turn) { t.Locus.Channel = "private" })
	a := edit(elsewhere, named, "x")
	f.no(f.Refuse(f.ctx, audit.Refused{Attempt: a, Row: row(a, outcome.Refused, outcome.NotOwnPost)}))
	// A statement that fails exactly when the id is in the attempts.
	probe := "insert into probe (id, at) select 1, 0 from attempt where target = '" + named + "'"
	f.no(f.backend.Exec(f.ctx, probe))
}
