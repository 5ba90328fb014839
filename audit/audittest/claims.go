package audittest

import (
	"bytes"
	"time"

	"stet/audit"
	"stet/gateway/outcome"
	"stet/gateway/turn"
)

var claimChecks = []check{
	{"a key whose first use is open is in progress", inProgress},
	{"a key whose first use ended is replayed", replays},
	{"a key with another body is a mismatch", mismatches},
	{"a key past its deadline is ended inline and replayed", sweepsInline},
	{"a replay of a late no finds no message", lateNo},
	{"a key is free again when it was given back", releases},
	{"a refusal in the opening commit leaves no claim", refusalLeavesNoClaim},
	{"a key is of its organization, principal and verb", scoped},
	{"a key is free after it was kept", expires},
	{"a write that waits holds its key", waiterHoldsKey},
	{"an unchanged edit keeps its key with its answer", unchangedKeepsKey},
	{"replays and mismatches come before the turn's marks", beforeMarks},
	{"a replay carries the strongest final verdict", replayResolution},
}

// claimed looks a key up without opening, and expects what an opening would say.
func (f *fixture) claimed(r audit.OpenRequest, want audit.OpenState) audit.Opening {
	f.Helper()
	o, err := f.Claimed(f.ctx, r.Attempt.Turn, r.Attempt.Verb, *r.Claim)
	f.no(err)
	if o.State != want {
		f.Fatalf("the key shows as %q, want %q", o.State, want)
	}
	return o
}

func inProgress(f *fixture) {
	t := f.turn()
	f.claimed(keyed(reply(t), "k", "body"), "")
	f.opened(keyed(reply(t), "k", "body"))
	f.claimed(keyed(reply(t), "k", "body"), audit.InProgress)
	o := f.expect(keyed(reply(t), "k", "body"), audit.InProgress)
	if o.RetryAfter != time.Second {
		f.Errorf("ask again after %v", o.RetryAfter)
	}
	f.openAttempts(1)
	f.rowCount(0)
}

func replays(f *fixture) {
	t := f.turn()
	a := reply(t)
	f.opened(keyed(a, "k", "body"))
	s := settlement(a, outcome.Applied)
	f.settle(s)
	f.claimed(keyed(reply(t), "k", "body"), audit.Replayed)
	o := f.expect(keyed(reply(t), "k", "body"), audit.Replayed)
	if o.Row.ID != s.Row.ID || !bytes.Equal(o.Answer, s.Answer) || o.Resolution != "" {
		f.Errorf("replayed row %s answer %q resolution %q", o.Row.ID, o.Answer, o.Resolution)
	}
	f.rowCount(1)
}

func mismatches(f *fixture) {
	t := f.turn()
	a := reply(t)
	f.opened(keyed(a, "k", "body"))
	f.expect(keyed(reply(t), "k", "other"), audit.Mismatch)
	f.claimed(keyed(reply(t), "k", "other"), audit.Mismatch)
	f.settleAs(a, outcome.Applied)
	f.expect(keyed(reply(t), "k", "other"), audit.Mismatch)
	f.rowCount(1)
}

// sweepsInline: both ways to find the key end its first use, and the one that
// does says so.
func sweepsInline(f *fixture) {
	for name, look := range map[string]func(turn.Turn) audit.Opening{
		"open":    func(t turn.Turn) audit.Opening { return f.expect(keyed(reply(t), "k", "body"), audit.Replayed) },
		"claimed": func(t turn.Turn) audit.Opening { return f.claimed(keyed(reply(t), "k", "body"), audit.Replayed) },
	} {
		t := f.turn()
		t.Principal = name // a key of its own
		a := reply(t)
		f.opened(keyed(a, "k", "body"))
		f.pastDeadline()
		for i := range 2 {
			o := look(t)
			if o.Row.Outcome != outcome.Ambiguous || o.Row.Reason != outcome.Interrupted || o.Row.Attempt != a.ID {
				f.Errorf("%s: replayed %s %s of %s", name, o.Row.Outcome, o.Row.Reason, o.Row.Attempt)
			}
			if o.Swept != (i == 0) {
				f.Errorf("%s, look %d: swept %v", name, i, o.Swept)
			}
		}
		f.oneOutcome(a.ID)
		f.openAttempts(0)
		if !f.marks(t).Ambiguous {
			f.Errorf("%s: the turn isn't marked ambiguous", name)
		}
	}
}

// lateNo: the owner's own late result was that nothing is there, so a replay
// finds no message.
func lateNo(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	a := edit(t, "m1", "x")
	f.swept(keyed(a, "k", "body"))
	late := settlement(a, outcome.Rejected)
	if got := f.settle(late); !got.Late {
		f.Errorf("settled %+v", got)
	}
	o := f.claimed(keyed(edit(t, "m1", "x"), "k", "body"), audit.Replayed)
	if o.Resolution != audit.LateResult || o.Found != "" {
		f.Errorf("resolution %s, found %q", o.Resolution, o.Found)
	}
}

func releases(f *fixture) {
	t := f.turn()
	a := reply(t)
	f.opened(keyed(a, "k", "body"))
	s := settlement(a, outcome.Rejected)
	s.Release = true
	f.settle(s)
	f.opened(keyed(reply(t), "k", "another body"))
}

func refusalLeavesNoClaim(f *fixture) {
	t := f.turn()
	f.refused(keyed(edit(t, "nothing", "x"), "k", "body"), outcome.Refused, outcome.NotOwnPost)
	f.claimed(keyed(edit(t, "nothing", "x"), "k", "body"), "")
}

func scoped(f *fixture) {
	t := f.turn()
	f.opened(keyed(reply(t), "k", "body"))
	f.opened(keyed(reply(f.turn(func(t *turn.Turn) { t.Org = "other" })), "k", "body"))
	f.opened(keyed(reply(f.turn(func(t *turn.Turn) { t.Principal = "other" })), "k", "body"))
	f.claimed(keyed(edit(t, "m1", "x"), "k", "body"), "")
}

func expires(f *fixture) {
	a := reply(f.turn())
	f.opened(keyed(a, "k", "body"))
	f.settleAs(a, outcome.Applied)
	f.clock.Advance(keep - time.Microsecond)
	f.claimed(keyed(reply(f.turn()), "k", "body"), audit.Replayed)
	f.clock.Advance(time.Microsecond)
	f.claimed(keyed(reply(f.turn()), "k", "body"), "")
	f.opened(keyed(reply(f.turn()), "k", "another body"))
}

func waiterHoldsKey(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	f.opened(request(edit(t, "m1", "one")))
	waits := keyed(edit(t, "m1", "two"), "k", "body")
	f.expect(waits, audit.Wait)
	f.expect(keyed(edit(t, "m1", "two"), "k", "body"), audit.InProgress)
	f.expect(keyed(edit(t, "m1", "two"), "k", "other"), audit.Mismatch)
	f.claimed(keyed(edit(t, "m1", "two"), "k", "body"), audit.InProgress)
	f.expect(waits, audit.Wait) // it doesn't stand in its own way
	f.clock.Advance(maxWait)
	f.claimed(keyed(edit(t, "m1", "two"), "k", "body"), "")
}

func unchangedKeepsKey(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	f.expect(keyed(edit(t, "m1", "first"), "k", "body"), audit.Ended)
	o := f.expect(keyed(edit(t, "m1", "first"), "k", "body"), audit.Replayed)
	if o.Row.Code != audit.CodeUnchanged || string(o.Answer) != "answer of unchanged" {
		f.Errorf("replayed code %q answer %q", o.Row.Code, o.Answer)
	}
}

func beforeMarks(f *fixture) {
	t := f.turn()
	a := reply(t)
	f.opened(keyed(a, "k", "body"))
	f.settleAs(a, outcome.Ambiguous)
	f.expect(keyed(reply(t), "k", "body"), audit.Replayed)
	f.expect(keyed(reply(t), "k", "other"), audit.Mismatch)
	f.refused(keyed(reply(t), "k2", "body"), outcome.Refused, outcome.TurnAmbiguous)
}

func replayResolution(f *fixture) {
	t := f.turn()
	a := reply(t)
	f.opened(keyed(a, "k", "body"))
	f.settleAs(a, outcome.Ambiguous)
	f.look(a, audit.NotSeen, "")
	if o := f.expect(keyed(reply(t), "k", "body"), audit.Replayed); o.Resolution != "" {
		f.Errorf("a weak verdict shows as %q", o.Resolution)
	}
	f.look(a, audit.Seen, "m7")
	o := f.expect(keyed(reply(t), "k", "body"), audit.Replayed)
	if o.Resolution != audit.Seen || o.Found != "m7" {
		f.Errorf("resolution %q of %q, want seen of m7", o.Resolution, o.Found)
	}
	// A further verdict that contradicts it doesn't win over what was seen.
	weaker := note(a, audit.ActionResolved, audit.Detail{Verdict: audit.NotApplied})
	f.no(f.Note(f.ctx, weaker))
	if o := f.expect(keyed(reply(t), "k", "body"), audit.Replayed); o.Resolution != audit.Seen {
		f.Errorf("resolution %q, want seen", o.Resolution)
	}
}
