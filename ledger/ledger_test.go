package ledger_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"stet/arms"
	"stet/gateway/locus"
	"stet/ledger"
)

var (
	now  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	here = locus.Locus{Platform: "room", Workspace: "w1", Channel: "general"}
)

func entry(change ...func(*ledger.Entry)) ledger.Entry {
	e := ledger.Entry{
		Key:     ledger.Key{Org: "acme", Platform: "room", Workspace: "w1", Channel: "general", ID: "m1"},
		Session: "s1", PostedAt: now.Add(-time.Hour), EditableUntil: now.Add(time.Hour),
	}
	for _, c := range change {
		c(&e)
	}
	return e
}

func TestDecide(t *testing.T) {
	elsewhere := func(e *ledger.Entry) { e.Channel = "private" }
	isDry := func(e *ledger.Entry) { e.DryRun = true }
	shut := func(e *ledger.Entry) { e.ClosedAt = now.Add(-time.Minute) }
	ends := func(at time.Time) func(*ledger.Entry) {
		return func(e *ledger.Entry) { e.EditableUntil = at }
	}
	for name, tc := range map[string]struct {
		entries []ledger.Entry
		query   func(*ledger.Query)
		own     bool
		code    ledger.Code
	}{
		"an own post here inside its window": {entries: []ledger.Entry{entry()}, own: true},
		"no entry at all":                    {code: ledger.Unknown},
		"an entry in another channel":        {entries: []ledger.Entry{entry(elsewhere)}, code: ledger.OtherPlace},
		"an entry in another workspace": {
			entries: []ledger.Entry{entry(func(e *ledger.Entry) { e.Workspace = "w2" })}, code: ledger.OtherPlace,
		},
		"an entry on another platform": {
			entries: []ledger.Entry{entry(func(e *ledger.Entry) { e.Platform = "slack" })}, code: ledger.OtherPlace,
		},
		"an entry elsewhere before one here": {entries: []ledger.Entry{entry(elsewhere), entry()}, own: true},
		"one microsecond before the window closes": {
			entries: []ledger.Entry{entry(ends(now.Add(time.Microsecond)))}, own: true,
		},
		"at the moment the window closes": {entries: []ledger.Entry{entry(ends(now))}, code: ledger.WindowClosed},
		"a retracted post":                {entries: []ledger.Entry{entry(shut)}, code: ledger.Unknown},
		"a retracted post past its window": {
			entries: []ledger.Entry{entry(shut, ends(now))}, code: ledger.Unknown,
		},
		"another organization's entry": {
			entries: []ledger.Entry{entry(func(e *ledger.Entry) { e.Org = "other" })}, code: ledger.Unknown,
		},
		"another id's entry": {
			entries: []ledger.Entry{entry(func(e *ledger.Entry) { e.ID = "m2" })}, code: ledger.Unknown,
		},
		"a dry post for a real turn": {entries: []ledger.Entry{entry(isDry)}, code: ledger.Unknown},
		"a dry post elsewhere tells a real turn nothing": {
			entries: []ledger.Entry{entry(isDry, elsewhere)}, code: ledger.Unknown,
		},
		"a dry post for a dry turn of its session": {
			entries: []ledger.Entry{entry(isDry)}, query: func(q *ledger.Query) { q.DryRun = true }, own: true,
		},
		"a dry post for a dry turn of another session": {
			entries: []ledger.Entry{entry(isDry)},
			query:   func(q *ledger.Query) { q.DryRun, q.Session = true, "s2" }, code: ledger.Unknown,
		},
		"a real post for a dry turn": {
			entries: []ledger.Entry{entry()}, query: func(q *ledger.Query) { q.DryRun = true }, own: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := ledger.Query{Org: "acme", Session: "s1", At: here, ID: "m1"}
			if tc.query != nil {
				tc.query(&q)
			}
			d := ledger.Decide(tc.entries, q, now)
			if d.Own != tc.own || d.Code != tc.code {
				t.Errorf("own %v code %q, want %v %q", d.Own, d.Code, tc.own, tc.code)
			}
			if named := d.Entry != (ledger.Entry{}); named != (tc.own || tc.code == ledger.WindowClosed) {
				t.Errorf("the decision names an entry: %v", named)
			}
		})
	}
}

func TestWindowIsTheShorterOfBoth(t *testing.T) {
	for _, tc := range []struct{ ours, platform, want time.Duration }{
		{time.Hour, 0, time.Hour},
		{time.Hour, time.Minute, time.Minute},
		{time.Minute, time.Hour, time.Minute},
		{time.Hour, -1, time.Hour},
	} {
		if got := ledger.Window(tc.ours, tc.platform); got != tc.want {
			t.Errorf("window of %v and %v is %v, want %v", tc.ours, tc.platform, got, tc.want)
		}
	}
}

func TestRefGoesWhereTheMessageIs(t *testing.T) {
	e := entry(func(e *ledger.Entry) {
		e.Thread, e.ServiceURL, e.Organization = "th", "https://service.example/", "lin"
	})
	want := arms.Ref{ID: "m1", Place: arms.Place{
		Org: "acme", Workspace: "w1", Channel: "general", Thread: "th",
		ServiceURL: "https://service.example/", Organization: "lin",
	}}
	if got := e.Ref(); got != want {
		t.Errorf("ref %+v, want %+v", got, want)
	}
}

// broken is a store that can't be read.
type broken struct{ ledger.Store }

var errBroken = errors.New("can't be read")

func (broken) Entries(context.Context, string, arms.MessageID) ([]ledger.Entry, time.Time, error) {
	return []ledger.Entry{entry()}, now, errBroken
}

func TestALookThatFailsDecidesNothing(t *testing.T) {
	d, err := ledger.New(broken{}).Look(t.Context(), ledger.Query{Org: "acme", Session: "s1", At: here, ID: "m1"})
	if !errors.Is(err, errBroken) || d.Own {
		t.Errorf("decision %+v, error %v", d, err)
	}
}
