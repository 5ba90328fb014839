package audittest

import (
	"time"

	"stet/arms"
	"stet/audit"
	"stet/gateway/outcome"
	"stet/ledger"
)

var resolveChecks = []check{
	{"an ambiguous attempt is due at its next look, whole", dueWhole},
	{"the newest is due first", dueNewestFirst},
	{"a weak verdict is counted and looked at again later", weakVerdict},
	{"a final verdict is a row and ends the looks", finalVerdict},
	{"a second final verdict changes nothing", finalOnce},
	{"a verdict recorded twice with one row id is one", verdictOnce},
	{"a verdict about an open attempt changes nothing", verdictTooEarly},
	{"a post that was seen enters the ledger with its own time", seenPost},
	{"an edit that was seen is what the message shows", seenEdit},
	{"an edit that others may cover is not proven by a look that misses it", coveredEdit},
	{"an edit that surfaces over a later one is what the message shows", surfacedEdit},
	{"a retract that was seen closes the message", seenRetract},
}

// look records a verdict as a resolver would.
func (f *fixture) look(a audit.Attempt, v audit.Verdict, found arms.MessageID) bool {
	f.Helper()
	r := audit.Resolution{
		Pending: audit.Pending{Attempt: a}, Verdict: v, Write: true, Window: window, NextLook: time.Minute,
		Row:  note(a, audit.ActionResolved, audit.Detail{Verdict: v, Evidence: "marker", ID: string(found)}),
		Miss: v == audit.NotSeen,
	}
	if v == audit.Seen {
		r.Digest = a.Digest
		if a.Verb == outcome.Reply {
			r.Posts = []ledger.Entry{posted(a, found)}
		}
	}
	return f.resolve(r)
}

func (f *fixture) resolve(r audit.Resolution) bool {
	f.Helper()
	ok, err := f.Resolve(f.ctx, r)
	f.no(err)
	return ok
}

func dueWhole(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	opened := f.clock.Now()
	a := f.ambiguous(edit(t, "m1", "second"))
	f.clock.Advance(time.Minute - time.Microsecond)
	f.due(0)
	f.clock.Advance(time.Microsecond)
	p := f.due(1)[0]
	got := p.Attempt
	if got.ID != a.ID || got.Verb != a.Verb || got.Target != a.Target || got.Marker != a.Marker ||
		string(got.Digest) != string(a.Digest) || got.Place != t.Locus || got.Route != a.Route || got.Chars != a.Chars {
		f.Errorf("attempt %+v, want %+v", got, a)
	}
	if got.Turn.ID != t.ID || got.Turn.Org != t.Org || got.Turn.Session != t.Session ||
		got.Turn.Surfaced() != t.Surfaced() || got.Turn.Principal != t.Principal || got.Turn.WakeID != t.WakeID {
		f.Errorf("turn %+v, want %+v", got.Turn, t)
	}
	if p.Seq != 1 || !p.OpenedAt.Equal(opened) || !p.Deadline.Equal(opened.Add(budget+grace)) {
		f.Errorf("number %d opened %v deadline %v", p.Seq, p.OpenedAt, p.Deadline)
	}
	if p.Entry.ID != "m1" || p.Looks != 0 || !p.FirstMiss.IsZero() || p.Overwritten {
		f.Errorf("pending %+v", p)
	}
}

func dueNewestFirst(f *fixture) {
	var want []string
	for range 3 {
		f.clock.Advance(time.Second)
		want = append(want, f.ambiguous(reply(f.turn())).ID)
	}
	f.clock.Advance(time.Minute)
	for i, p := range f.due(3) {
		if p.Attempt.ID != want[2-i] {
			f.Errorf("place %d isn't the newest", i)
		}
	}
	if first, err := f.Due(f.ctx, 1); err != nil || len(first) != 1 || first[0].Attempt.ID != want[2] {
		f.Errorf("one of them: %v, %v", first, err)
	}
}

func weakVerdict(f *fixture) {
	a := f.ambiguous(reply(f.turn()))
	f.clock.Advance(time.Minute)
	blind := audit.Resolution{Pending: f.due(1)[0], Verdict: audit.NotSeen, NextLook: time.Minute}
	if !f.resolve(blind) {
		f.Error("the incomplete look wasn't recorded")
	}
	f.clock.Advance(time.Minute)
	if p := f.due(1)[0]; p.Looks != 1 || !p.FirstMiss.IsZero() {
		f.Errorf("an incomplete look counts as a miss: %+v", p)
	}
	first := f.clock.Now()
	if !f.look(a, audit.NotSeen, "") {
		f.Error("the first look wasn't recorded")
	}
	f.due(0)
	f.clock.Advance(time.Minute)
	r := audit.Resolution{Pending: f.due(1)[0], Verdict: audit.NotSeen, Miss: true, NextLook: time.Minute}
	if r.Pending.Looks != 2 || !r.Pending.FirstMiss.Equal(first) {
		f.Errorf("after one look: %+v", r.Pending)
	}
	if !f.resolve(r) {
		f.Error("the second look wasn't recorded")
	}
	f.clock.Advance(time.Minute)
	if p := f.due(1)[0]; p.Looks != 3 || !p.FirstMiss.Equal(first) {
		f.Errorf("after all looks: %+v", p)
	}
	f.rowCount(2) // the outcome and the first weak verdict
}

func finalVerdict(f *fixture) {
	for _, v := range audit.Verdicts() {
		if !v.Final() {
			continue
		}
		a := f.ambiguous(reply(f.turn()))
		if !f.look(a, v, arms.MessageID("id of "+v)) {
			f.Errorf("%s wasn't recorded", v)
		}
		_, notes := f.rowsOf(a.ID)
		if len(notes) != 1 || detail(f, notes[0]).Verdict != v || notes[0].Kind != audit.Note {
			f.Errorf("%s: notes %+v", v, notes)
		}
		f.oneOutcome(a.ID)
	}
	f.clock.Advance(time.Hour)
	f.due(0)
}

func finalOnce(f *fixture) {
	a := f.ambiguous(reply(f.turn()))
	f.look(a, audit.Seen, "m1")
	if f.look(a, audit.NotApplied, "") || f.look(a, audit.NotSeen, "") {
		f.Error("a further verdict was recorded")
	}
	f.rowCount(2)
}

func verdictOnce(f *fixture) {
	a := f.ambiguous(reply(f.turn()))
	r := audit.Resolution{
		Pending: audit.Pending{Attempt: a}, Verdict: audit.GaveUp, Write: true,
		Row: note(a, audit.ActionResolved, audit.Detail{Verdict: audit.GaveUp}),
	}
	if !f.resolve(r) || !f.resolve(r) {
		f.Error("the same verdict wasn't recognised")
	}
	f.rowCount(2)
}

func verdictTooEarly(f *fixture) {
	a := reply(f.turn())
	f.opened(request(a))
	if f.look(a, audit.Seen, "m1") {
		f.Error("a verdict stands before the outcome")
	}
	f.rowCount(0)
	f.openAttempts(1)
}

func seenPost(f *fixture) {
	t := f.turn()
	opened := f.clock.Now()
	a := f.ambiguous(reply(t))
	f.clock.Advance(time.Hour)
	f.look(a, audit.Seen, "m1")
	if e := f.entry("m1"); !e.PostedAt.Equal(opened) || !e.EditableUntil.Equal(opened.Add(window)) {
		f.Errorf("posted %v, editable until %v", e.PostedAt, e.EditableUntil)
	}
	f.shows("m1", "first", true)

	b := f.ambiguous(reply(f.turn()))
	r := audit.Resolution{
		Pending: audit.Pending{Attempt: b}, Verdict: audit.Seen, Write: true, Window: window,
		Posts: []ledger.Entry{posted(b, "m2")}, Row: note(b, audit.ActionResolved, audit.Detail{Verdict: audit.Seen}),
	}
	r.Posts[0].PostedAt = opened.Add(time.Minute) // the platform's own time
	f.resolve(r)
	if e := f.entry("m2"); !e.PostedAt.Equal(opened.Add(time.Minute)) {
		f.Errorf("posted %v", e.PostedAt)
	}
}

func coveredEdit(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	older := f.ambiguous(edit(t, "m1", "second"))
	newer := f.ambiguous(edit(t, "m1", "third"))
	missed := func(a audit.Attempt, shown string) bool {
		return f.resolve(audit.Resolution{
			Pending: audit.Pending{Attempt: a}, Verdict: audit.NotApplied, Write: true, NextLook: time.Minute,
			Shown: request(edit(t, "m1", shown)).Attempt.Digest,
			Row:   note(a, audit.ActionResolved, audit.Detail{Verdict: audit.NotApplied}),
		})
	}
	if missed(older, "third") || missed(newer, "second") {
		f.Error("what another write may cover was taken for not applied")
	}
	if !missed(older, "first") || !missed(newer, "first") {
		f.Error("the text from before them all proves nothing")
	}
	older, newer = f.ambiguous(edit(t, "m1", "fourth")), f.ambiguous(edit(t, "m1", "fifth"))
	f.look(older, audit.Seen, "") // it surfaced over the newer one, perhaps
	if missed(newer, "fourth") {
		f.Error("what an older write covered was taken for not applied")
	}
}

func surfacedEdit(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	late := f.ambiguous(edit(t, "m1", "second"))
	f.applied(edit(t, "m1", "third"))
	f.look(late, audit.Seen, "")
	f.shows("m1", "third", false)
}

func seenEdit(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	older := f.ambiguous(edit(t, "m1", "second"))
	newer := f.ambiguous(edit(t, "m1", "third"))
	f.look(newer, audit.Seen, "")
	f.shows("m1", "third", false) // the older one may still surface over it
	if f.marks(t).Ambiguous {
		f.Error("the older edit still marks the turn")
	}
	f.look(older, audit.GaveUp, "")
	f.shows("m1", "third", true)
}

func seenRetract(f *fixture) {
	t := f.turn()
	f.split(t, "m1", "m1b")
	a := f.ambiguous(retract(t, "m1"))
	f.resolve(audit.Resolution{
		Pending: audit.Pending{Attempt: a}, Verdict: audit.Seen, Write: true, Close: true,
		Row: note(a, audit.ActionResolved, audit.Detail{Verdict: audit.Seen}),
	})
	f.notOwn(edit(t, "m1b", "x"), ledger.Unknown)
}
