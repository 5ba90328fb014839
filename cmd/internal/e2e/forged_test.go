package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"stet/arms/room"
	"stet/audit"
	"stet/gateway/outcome"
)

// forger makes a history by hand: a reply, an edit of it, an ambiguous edit
// that was seen, a refusal, and one that was proven not to be there.
type forger struct {
	history
	clock time.Time
}

var forgedAt = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

func forge() *forger {
	f := &forger{clock: forgedAt}
	f.trail.open = map[string]bool{}
	reply := f.try("reply", "r1", "hello", "")
	f.arrive(reply, "m1", "hello")
	f.end(reply, outcome.Applied, "", "m1")
	edit := f.try("edit", "e1", "hello you", "m1")
	f.arrive(edit, "m1", "hello you")
	f.end(edit, outcome.Applied, "", "m1")
	seen := f.try("edit", "e2", "hello all", "m1")
	f.arrive(seen, "m1", "hello all")
	f.end(seen, outcome.Ambiguous, outcome.PlatformError, "m1")
	f.look("e2", audit.Seen, "marker", "m1")
	missed := f.try("edit", "e3", "hello none", "m1")
	f.receive(missed)
	f.end(missed, outcome.Ambiguous, outcome.Interrupted, "m1")
	f.look("e3", audit.NotApplied, "fetched", "m1")
	no := f.try("edit", "e4", "not mine", "")
	f.end(no, outcome.Refused, outcome.NotOwnPost, "")
	rejected := f.try("reply", "r2", "too much", "")
	f.receive(rejected)
	f.end(rejected, outcome.Rejected, outcome.PlatformError, "")
	f.truth.Messages = []room.Standing{{ID: "m1", Org: "o", Channel: "c", Kind: room.KindBot, Text: "hello all", Marker: "e2"}}
	return f
}

func (f *forger) tick() time.Time {
	f.clock = f.clock.Add(time.Second)
	return f.clock
}

// try adds an attempt with the request that made it.
func (f *forger) try(verb, id, text, target string) *tried {
	a := tried{
		id: id, verb: verb, org: "o", channel: "c", target: target, reply: target, marker: id, boot: "b",
		digest: digest(text), seq: int64(len(f.trail.attempts)), opened: f.tick(),
	}
	f.trail.attempts = append(f.trail.attempts, a)
	f.asked = append(f.asked, &asked{key: "key " + id, org: "o", channel: "c", verb: outcome.Verb(verb), text: text, target: target})
	return &a
}

func (f *forger) receive(a *tried) {
	verb := map[string]string{"reply": "post", "edit": "edit", "retract": "retract"}[a.verb]
	f.truth.Received = append(f.truth.Received, room.Received{
		At: f.tick(), Marker: a.marker, Verb: verb, Org: a.org, Channel: a.channel, Target: a.target,
	})
}

func (f *forger) arrive(a *tried, message, text string) {
	f.receive(a)
	f.effect(a, message, text)
}

func (f *forger) effect(a *tried, message, text string) {
	f.truth.Applied = append(f.truth.Applied, room.Applied{
		At: f.tick(), Marker: a.marker, Verb: map[string]string{"reply": "post", "edit": "edit"}[a.verb], Kind: room.KindBot,
		Org: a.org, Channel: a.channel, Message: message, Text: text,
	})
}

// end adds the outcome row and the answer that goes with it.
func (f *forger) end(a *tried, o outcome.Outcome, r outcome.Reason, id string) {
	f.trail.rows = append(f.trail.rows, audit.Row{
		ID: "row " + a.id, At: f.tick(), Attempt: a.id, Kind: audit.Outcome, Action: outcome.Action(outcome.Verb(a.verb), o),
		Outcome: o, Reason: r, Failure: o.Failure(), Detail: audit.Detail{ID: id}.JSON(),
	})
	if r == outcome.Interrupted {
		return // nobody was left to answer
	}
	t := told{asked: f.asked[len(f.asked)-1], attempt: a.id, applied: o == outcome.Applied}
	if t.applied {
		t.id = id
	} else {
		t.outcome, t.reason, t.failure = string(o), string(r), string(o.Failure())
	}
	f.told = append(f.told, t)
}

func (f *forger) look(attempt string, v audit.Verdict, evidence, id string) {
	f.trail.rows = append(f.trail.rows, audit.Row{
		ID: "note " + attempt + string(v), At: f.tick(), Attempt: attempt, Kind: audit.Note, Action: audit.ActionResolved,
		Detail: audit.Detail{ID: id, Verdict: v, Evidence: evidence}.JSON(),
	})
}

// row is the outcome row of an attempt, to be changed.
func (f *forger) row(attempt string) *audit.Row {
	i := slices.IndexFunc(f.trail.rows, func(r audit.Row) bool { return r.Attempt == attempt && r.Kind == audit.Outcome })
	return &f.trail.rows[i]
}

func (f *forger) answer(attempt string) *told {
	i := slices.IndexFunc(f.told, func(t told) bool { return t.attempt == attempt })
	return &f.told[i]
}

func (f *forger) tried(attempt string) *tried {
	i := slices.IndexFunc(f.trail.attempts, func(a tried) bool { return a.id == attempt })
	return &f.trail.attempts[i]
}

func (f *forger) drop(attempt string) {
	f.trail.rows = slices.DeleteFunc(f.trail.rows, func(r audit.Row) bool { return r.Attempt == attempt })
}

func TestAnHonestHistoryShowsNothing(t *testing.T) {
	if found := forge().violations(); len(found) > 0 {
		t.Errorf("found %q", found)
	}
}

// TestTheCheckerCatchesForgedHistories shows that the crash tests can fail.
func TestTheCheckerCatchesForgedHistories(t *testing.T) {
	tests := []struct {
		name  string
		forge func(*forger)
		want  string
	}{
		{"an attempt without an outcome", func(f *forger) { f.drop("e3") }, "orphan"},
		{"an open attempt of a dead process", func(f *forger) { f.drop("e3"); f.trail.open["e3"] = true; f.live = "other" }, "orphan"},
		{"an outcome twice", func(f *forger) { r := *f.row("e1"); r.ID = "again"; f.trail.rows = append(f.trail.rows, r) }, "doubled outcome"},
		{"an outcome of an open attempt", func(f *forger) { f.trail.open["e1"] = true }, "ended and open"},
		{"a row of no attempt", func(f *forger) { r := *f.row("e1"); r.Attempt = "e9"; f.trail.rows = append(f.trail.rows, r) }, "row without attempt"},
		{"an applied that isn't there", func(f *forger) { f.truth.Applied = f.truth.Applied[1:] }, "false applied"},
		{"an applied on another message", func(f *forger) { f.truth.Applied[1].Message = "m2" }, "false applied"},
		{"an applied with another text", func(f *forger) { f.truth.Applied[1].Text = "hello" }, "false applied: the text"},
		{"an effect in another channel", func(f *forger) { f.truth.Applied[1].Channel = "d" }, "wrong place"},
		{"a request to another channel", func(f *forger) { f.truth.Received[1].Channel = "d" }, "wrong place"},
		{"a request about another message", func(f *forger) { f.truth.Received[1].Target = "m2" }, "wrong place"},
		{"a rejected that is there", func(f *forger) { f.effect(f.tried("r2"), "m2", "too much") }, "false rejected"},
		{"a rejected that comes late", func(f *forger) { f.clock = f.clock.Add(time.Hour); f.effect(f.tried("r2"), "m2", "too much") }, "false rejected"},
		{"a refused that is there", func(f *forger) { f.arrive(f.tried("e4"), "m1", "not mine") }, "false refused"},
		{"a refused that left", func(f *forger) { f.receive(f.tried("e4")) }, "false refused: a request"},
		{"a not_sent that left", func(f *forger) { f.row("r2").Outcome = outcome.NotSent }, "false not_sent: a request"},
		{"a not_applied that is there", func(f *forger) { f.effect(f.tried("e3"), "m1", "hello none") }, "false ambiguous"},
		{"a seen that isn't there", func(f *forger) { f.truth.Applied = slices.Delete(f.truth.Applied, 2, 3) }, "false seen"},
		{"seen and not_applied", func(f *forger) { f.look("e2", audit.NotApplied, "fetched", "m1") }, "contradicting verdicts"},
		{"a verdict on an applied", func(f *forger) { f.look("e1", audit.Seen, "marker", "m1") }, "verdict on what needs none"},
		{"an unchanged that wasn't shown", func(f *forger) {
			a := f.try("edit", "e5", "hello you", "m1")
			f.end(a, outcome.Applied, "", "m1")
			f.row("e5").Code = audit.CodeUnchanged
			f.answer("e5").unchanged = true
		}, "false unchanged"},
		{"an already-gone that is there", func(f *forger) {
			a := f.try("retract", "x1", "", "m1")
			f.receive(a)
			f.end(a, outcome.Applied, "", "m1")
			f.row("x1").Code = audit.CodeAlreadyGone
		}, "false applied: x1 found"},
		{"a request without an attempt", func(f *forger) { f.receive(&tried{marker: "e9", verb: "edit", org: "o", channel: "c"}) }, "request without attempt"},
		{"two requests of one attempt", func(f *forger) { f.receive(f.tried("e1")) }, "doubled request"},
		{"a request before its attempt", func(f *forger) { f.truth.Received[1].At = forgedAt }, "request before attempt"},
		{"a request of a dry run", func(f *forger) { f.tried("e1").dry = true }, "request of a dry run"},
		{"two effects of one attempt", func(f *forger) { f.effect(f.tried("e1"), "m1", "hello you") }, "doubled effect"},
		{"two effects of one key", func(f *forger) {
			f.trail.attempts = append(f.trail.attempts, tried{id: "e9", verb: "edit", org: "o", channel: "c", target: "m1", marker: "e9", opened: forgedAt})
			f.arrive(f.tried("e9"), "m1", "hello all")
			f.end(f.tried("e9"), outcome.Ambiguous, outcome.Interrupted, "m1")
		}, "one key, two effects"},
		{"an answer that says another outcome", func(f *forger) { f.answer("r2").outcome = "ambiguous" }, "contradicting answer"},
		{"an answer that says another reason", func(f *forger) { f.answer("r2").reason = "rate-limited" }, "contradicting answer"},
		{"an answer that says another failure", func(f *forger) { f.answer("r2").failure = "" }, "contradicting answer"},
		{"an answer that says another id", func(f *forger) { f.answer("e1").id = "m2" }, "contradicting answer"},
		{"a success whose row is a refusal", func(f *forger) { *f.answer("e4") = told{asked: f.answer("e4").asked, attempt: "e4", applied: true} }, "contradicting answer"},
		{"a success nobody has seen", func(f *forger) { a := f.answer("e1"); a.attempt, a.asked = "e3", f.asked[3] }, "contradicting answer"},
		{"an answer before its row", func(f *forger) { f.drop("e1"); f.trail.open["e1"] = true; f.live = "b" }, "answer before its row"},
		{"an answer about nothing", func(f *forger) { f.answer("e1").attempt = "e9" }, "answer without attempt"},
		{"an answer about another text", func(f *forger) { f.answer("e1").asked = f.asked[2] }, "answer about another text"},
		{"an answer about another verb", func(f *forger) { f.answer("e1").asked = f.asked[0] }, "answer about another request"},
		{"a definite answer that is unrecorded", func(f *forger) { f.answer("r2").unrecorded = true }, "contradicting answer"},
		{"an outcome without an attempt", func(f *forger) { f.answer("e4").attempt = "" }, "answer about no attempt"},
		{"two attempts of one key", func(f *forger) {
			f.told = append(f.told, told{asked: f.asked[1], attempt: "e2", applied: true, id: "m1"})
		}, "one key, two attempts"},
		{"a text that an older write shows", func(f *forger) { f.truth.Messages[0].Text = "hello you" }, "wrong text"},
		{"a message that nobody retracted and is gone", func(f *forger) { f.truth.Messages[0].Deleted = true }, "wrong text"},
		{"a retracted message that is there", func(f *forger) {
			a := f.try("retract", "x1", "", "m1")
			f.arrive(a, "m1", "")
			f.truth.Applied[3].Verb = room.VerbRetract
			f.end(a, outcome.Applied, "", "m1")
		}, "wrong text: m1 was retracted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := forge()
			tt.forge(f)
			found := f.violations()
			if !slices.ContainsFunc(found, func(v string) bool { return strings.HasPrefix(v, tt.want) }) {
				t.Errorf("found %q, want one that begins with %q", found, tt.want)
			}
		})
	}
}
