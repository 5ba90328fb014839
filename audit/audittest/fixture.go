package audittest

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"stet/arms"
	"stet/audit"
	"stet/gateway/bind"
	"stet/gateway/locus"
	"stet/gateway/outcome"
	"stet/gateway/turn"
	"stet/ledger"
)

// The times of the suite's attempts and posts.
const (
	budget  = 15 * time.Second
	grace   = 5 * time.Second
	window  = 4 * time.Hour
	maxWait = 10 * time.Second
	keep    = 24 * time.Hour
)

// fixture is one fresh store with a clock of its own. Its methods end the test
// on an error that the test isn't about.
type fixture struct {
	testing.TB
	Store
	backend Backend
	clock   *Clock
	ctx     context.Context
}

func newFixture(t testing.TB, open Opener) *fixture {
	clock := NewClock()
	b := open(t, clock.Now)
	return &fixture{TB: t, Store: b.Store, backend: b, clock: clock, ctx: t.Context()}
}

func (f *fixture) no(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// turn opens a turn of session s1 in a room.
func (f *fixture) turn(change ...func(*turn.Turn)) turn.Turn {
	f.Helper()
	t := turn.Turn{
		ID: audit.NewID(), Org: "acme", Session: "s1", Workspace: "w1", Surface: "chat", Principal: "bot",
		Creator: "ann", WakeID: "wake-1", Bound: "room", Route: locus.Wake,
		Locus:    locus.Locus{Platform: "room", Workspace: "w1", Channel: "general", Thread: "th"},
		OpenedAt: f.clock.Now(), ExpiresAt: f.clock.Now().Add(24 * time.Hour),
	}
	for _, c := range change {
		c(&t)
	}
	f.no(f.OpenTurn(f.ctx, t, bind.Token{ID: "token-" + t.ID, Hash: []byte("hash")}))
	return t
}

func dry(t *turn.Turn) { t.DryRun = true }

// reply, edit and retract make attempts as the pipeline would after its early
// looks.
func reply(t turn.Turn) audit.Attempt {
	return audit.Attempt{
		ID: audit.NewID(), Verb: outcome.Reply, Turn: t, Place: t.Locus, Route: t.Route,
		Marker: "mark", Digest: []byte("first"), Chars: 5, Boot: "boot-1",
	}
}

func edit(t turn.Turn, id arms.MessageID, text string) audit.Attempt {
	a := reply(t)
	a.Verb, a.Target, a.Digest = outcome.Edit, id, []byte(text)
	return a
}

func retract(t turn.Turn, id arms.MessageID) audit.Attempt {
	a := reply(t)
	a.Verb, a.Target, a.Digest = outcome.Retract, id, nil
	return a
}

// request asks to open an attempt, with everything that the pipeline sets.
func request(a audit.Attempt) audit.OpenRequest {
	r := audit.OpenRequest{
		Attempt: a, Budget: budget, Grace: grace, MaxWait: maxWait,
		Refused: func(why audit.Refusal) audit.Row {
			d := audit.Detail{Route: string(a.Route)}
			if why.Vouched {
				d.ID = string(a.Target)
			}
			r := row(a, why.Outcome, why.Reason)
			r.Code, r.Detail = why.Code, d.JSON()
			return r
		},
	}
	if a.Verb == outcome.Edit {
		u := row(a, outcome.Applied, "")
		u.Code = audit.CodeUnchanged
		r.Unchanged = &u
	}
	return r
}

func keyed(a audit.Attempt, key, body string) audit.OpenRequest {
	r := request(a)
	r.Claim = &audit.Claim{Key: key, Hash: []byte(body), Keep: keep}
	r.Answer = []byte("answer of unchanged")
	return r
}

// row is the outcome row of an attempt.
func row(a audit.Attempt, o outcome.Outcome, why outcome.Reason) audit.Row {
	t := a.Turn
	return audit.Row{
		ID: audit.NewID(), Org: t.Org, Platform: t.Surfaced(), Workspace: t.Workspace, Surface: t.Surface,
		Principal: t.Principal, Session: t.Session, Turn: t.ID, Wake: t.WakeID, Attempt: a.ID,
		Kind: audit.Outcome, Action: outcome.Action(a.Verb, o), Outcome: o, Reason: why, Failure: o.Failure(),
		DryRun: t.DryRun, Detail: audit.Detail{Route: string(a.Route)}.JSON(),
	}
}

// note is a row beside an attempt's outcome.
func note(a audit.Attempt, action string, d audit.Detail) audit.Row {
	r := row(a, "", "")
	r.Kind, r.Action, r.Failure, r.Detail = audit.Note, action, "", d.JSON()
	return r
}

func (f *fixture) open(r audit.OpenRequest) audit.Opening {
	f.Helper()
	o, err := f.Open(f.ctx, r)
	f.no(err)
	return o
}

func (f *fixture) opened(r audit.OpenRequest) audit.Opening {
	f.Helper()
	return f.expect(r, audit.Opened)
}

func (f *fixture) expect(r audit.OpenRequest, want audit.OpenState) audit.Opening {
	f.Helper()
	o := f.open(r)
	if o.State != want {
		f.Fatalf("opening ended as %q (%s %s %s), want %q", o.State, o.Row.Outcome, o.Row.Reason, o.Row.Code, want)
	}
	return o
}

// refused opens and expects the end that a repeated check makes.
func (f *fixture) refused(r audit.OpenRequest, o outcome.Outcome, why outcome.Reason) audit.Row {
	f.Helper()
	end := f.expect(r, audit.Ended)
	if end.Row.Outcome != o || end.Row.Reason != why {
		f.Fatalf("ended as %s %s (code %q), want %s %s", end.Row.Outcome, end.Row.Reason, end.Row.Code, o, why)
	}
	return end.Row
}

// settlement is an outcome as the pipeline would settle it.
func settlement(a audit.Attempt, o outcome.Outcome) audit.Settlement {
	s := audit.Settlement{Attempt: a, Window: window, NextLook: time.Minute, Answer: []byte("answer of " + o)}
	why := outcome.PlatformError
	if o == outcome.Applied {
		why = ""
		s.Digest, s.MayEnd, s.Close = a.Digest, true, a.Verb == outcome.Retract
		if a.Verb == outcome.Retract {
			s.Digest = nil
		}
	}
	s.MayEnd = s.MayEnd || o == outcome.Ambiguous
	s.Row = row(a, o, why)
	return s
}

// posted is the entry of a reply's message.
func posted(a audit.Attempt, id arms.MessageID) ledger.Entry {
	p := a.Turn.Locus
	return ledger.Entry{
		Key:   ledger.Key{Org: a.Turn.Org, Platform: p.Platform, Workspace: p.Workspace, Channel: p.Channel, ID: id},
		Reply: id, Thread: p.Thread, ServiceURL: p.ServiceURL, Organization: p.Organization,
		Session: a.Turn.Session, DryRun: a.Turn.DryRun,
	}
}

func (f *fixture) settle(s audit.Settlement) audit.Settled {
	f.Helper()
	end, err := f.Settle(f.ctx, s)
	f.no(err)
	return end
}

func (f *fixture) settleAs(a audit.Attempt, o outcome.Outcome) audit.Settled {
	f.Helper()
	return f.settle(settlement(a, o))
}

// post replies with a message that is there afterwards.
func (f *fixture) post(t turn.Turn, id arms.MessageID) audit.Attempt {
	f.Helper()
	a := reply(t)
	f.opened(request(a))
	s := settlement(a, outcome.Applied)
	s.Posts = []ledger.Entry{posted(a, id)}
	f.settle(s)
	return a
}

// applied opens an attempt and settles it as applied.
func (f *fixture) applied(a audit.Attempt) {
	f.Helper()
	f.opened(request(a))
	f.settleAs(a, outcome.Applied)
}

// ambiguous opens an attempt and settles it as ambiguous.
func (f *fixture) ambiguous(a audit.Attempt) audit.Attempt {
	f.Helper()
	f.opened(request(a))
	f.settleAs(a, outcome.Ambiguous)
	return a
}

func (f *fixture) all(equal map[audit.Column][]string) []audit.Row {
	f.Helper()
	var rows []audit.Row
	f.no(f.Each(f.ctx, audit.Filter{Equal: equal}, func(r audit.Row) error {
		rows = append(rows, r)
		return nil
	}))
	return rows
}

// rowsOf answers an attempt's outcome rows and notes.
func (f *fixture) rowsOf(attempt string) (outcomes, notes []audit.Row) {
	f.Helper()
	for _, r := range f.all(map[audit.Column][]string{"attempt": {attempt}}) {
		if r.Kind == audit.Outcome {
			outcomes = append(outcomes, r)
		} else {
			notes = append(notes, r)
		}
	}
	return outcomes, notes
}

func (f *fixture) oneOutcome(attempt string) audit.Row {
	f.Helper()
	outcomes, _ := f.rowsOf(attempt)
	if len(outcomes) != 1 {
		f.Fatalf("the attempt has %d outcome rows, want 1", len(outcomes))
	}
	return outcomes[0]
}

func (f *fixture) rowCount(want int) {
	f.Helper()
	if n := len(f.all(nil)); n != want {
		f.Fatalf("the trail has %d rows, want %d", n, want)
	}
}

func (f *fixture) marks(t turn.Turn) turn.Marks {
	f.Helper()
	got, err := f.Turn(f.ctx, t.ID)
	f.no(err)
	return got.Marks
}

func (f *fixture) entry(id arms.MessageID) ledger.Entry {
	f.Helper()
	entries, _, err := f.Entries(f.ctx, "acme", id)
	f.no(err)
	if len(entries) != 1 {
		f.Fatalf("the ledger has %d entries for the id, want 1", len(entries))
	}
	return entries[0]
}

func (f *fixture) openAttempts(want int) {
	f.Helper()
	n, err := f.OpenAttempts(f.ctx)
	f.no(err)
	if n != want {
		f.Fatalf("%d attempts are open, want %d", n, want)
	}
}

func (f *fixture) sweep(boot string) []audit.Row {
	f.Helper()
	rows, err := f.Sweep(f.ctx, 0, boot, 100)
	f.no(err)
	return rows
}

// pastDeadline moves the clock past the deadline of what was opened before.
func (f *fixture) pastDeadline() { f.clock.Advance(budget + grace + time.Microsecond) }

func detail(f *fixture, r audit.Row) audit.Detail {
	f.Helper()
	var d audit.Detail
	f.no(json.Unmarshal(r.Detail, &d))
	return d
}

func isErr(f *fixture, err, want error) {
	f.Helper()
	if !errors.Is(err, want) {
		f.Fatalf("error %v, want %v", err, want)
	}
}
