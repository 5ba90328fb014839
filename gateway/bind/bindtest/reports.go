package bindtest

import (
	"reflect"
	"time"

	"stet/audit"
	"stet/gateway/turn"
)

var reportChecks = []check{
	{"evidence of a turn counts for it alone", turnEvidence},
	{"evidence of a session counts for its turns until it expires", sessionEvidence},
	{"the same event twice is one", evidenceOnce},
	{"tool calls come in the order of their reports", callsInOrder},
	{"a call's later result is a further entry", laterResult},
	{"the database refuses to change a transcript", transcriptIsFixed},
	{"a newer message is noted", sawMessage},
}

func (f *fixture) evidence(t turn.Turn, want ...turn.Evidence) {
	f.Helper()
	got, err := f.Evidence(f.ctx, t)
	f.no(err)
	if len(got) != len(want) {
		f.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			f.Errorf("event %+v, want %+v", got[i], want[i])
		}
	}
}

func (f *fixture) event(kind string) turn.Evidence {
	return turn.Evidence{ID: audit.NewID(), Kind: kind, Ref: "ref", Subject: "subject", At: f.at}
}

func turnEvidence(f *fixture) {
	t, other := f.turn(), f.turn()
	first, second := f.event("memory.write"), f.event("approval.granted")
	second.At = f.at.Add(time.Second)
	f.no(f.AddEvidence(f.ctx, t, second))
	f.no(f.AddEvidence(f.ctx, t, first))
	f.evidence(t, first, second)
	f.evidence(other)
	f.at = f.at.Add(1000 * time.Hour)
	f.evidence(t, first, second)
}

func sessionEvidence(f *fixture) {
	t := f.turn()
	e := f.event("approval.granted")
	e.Session, e.ExpiresAt = true, f.at.Add(time.Hour)
	f.no(f.AddEvidence(f.ctx, t, e))
	sibling := f.turn()
	f.evidence(t, e)
	f.evidence(sibling, e)
	f.evidence(f.turn(func(t *turn.Turn) { t.Session = "s2" }))
	f.evidence(f.turn(func(t *turn.Turn) { t.Org = "other" }))
	f.at = e.ExpiresAt.Add(-time.Microsecond)
	f.evidence(sibling, e)
	f.at = e.ExpiresAt
	f.evidence(sibling)
	f.evidence(t)
}

func evidenceOnce(f *fixture) {
	t := f.turn()
	e := f.event("request.submitted")
	f.no(f.AddEvidence(f.ctx, t, e))
	f.no(f.AddEvidence(f.ctx, t, e))
	f.evidence(t, e)
}

func (f *fixture) calls(org, session string, want ...turn.Call) {
	f.Helper()
	got, err := f.Calls(f.ctx, org, session)
	f.no(err)
	if !reflect.DeepEqual(got, want) {
		f.Errorf("calls %+v\nwant %+v", got, want)
	}
}

func call(f *fixture, id, result string) turn.Call {
	return turn.Call{ID: id, Name: "search", Args: []byte(`{"q":1}`), Result: []byte(result), At: f.at}
}

func callsInOrder(f *fixture) {
	t, next := f.turn(), f.turn()
	one, two := call(f, "c1", "one"), call(f, "c2", "two")
	two.IsError = true
	f.no(f.AddCall(f.ctx, t, one))
	f.no(f.AddCall(f.ctx, next, two))
	f.calls("acme", "s1", one, two)
	f.calls("acme", "s2")
	f.calls("other", "s1")
}

func laterResult(f *fixture) {
	t := f.turn()
	one, later := call(f, "c1", "first"), call(f, "c1", "rewritten")
	f.no(f.AddCall(f.ctx, t, one))
	f.no(f.AddCall(f.ctx, t, later))
	f.calls("acme", "s1", one, later)
}

func transcriptIsFixed(f *fixture) {
	one := call(f, "c1", "first")
	f.no(f.AddCall(f.ctx, f.turn(), one))
	if f.exec(f.ctx, "update transcript set result = 'rewritten'") == nil {
		f.Error("the database let a change through")
	}
	f.calls("acme", "s1", one)
}

func sawMessage(f *fixture) {
	t := f.turn()
	f.no(f.SawMessage(f.ctx, t, "m7"))
	f.no(f.SawMessage(f.ctx, t, "m7"))
	f.found(t)
}
