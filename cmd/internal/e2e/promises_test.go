package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"stet/arms/room"
	"stet/audit"
	"stet/cmd/internal/app"
	"stet/gateway/client"
	"stet/gateway/outcome"
	"stet/gateway/wire"
)

// TestI1APanicAtAnyStageLeavesOneRowThatTheAnswerAgreesWith throws at every
// stage of every way; the answer may know less than the row, never otherwise.
func TestI1APanicAtAnyStageLeavesOneRowThatTheAnswerAgreesWith(t *testing.T) {
	g := newGate("")
	b := boot(t, func(o *app.Options) { o.Probe = g.probe })
	ways := map[string][]string{
		"reply":   {"admit", "locate", "arm", "guard", "measure", "approve", "open", "dispatch", "settle"},
		"edit":    {"admit", "locate", "arm", "own", "guard", "measure", "approve", "open", "dispatch", "settle"},
		"retract": {"admit", "locate", "arm", "own", "approve", "open", "dispatch", "settle"},
	}
	for verb, stages := range ways {
		for _, stage := range stages {
			a := b.turn()
			id := b.post(a, "hello")
			g.at("panic at " + verb + "/" + stage)
			p := refusal(t, a.do(t, verb, id))
			g.at("")
			row := b.row(p.Attempt)
			if p.Status != 500 || p.Reason != string(outcome.Internal) {
				t.Errorf("%s at %s: status %d, %s", verb, stage, p.Status, p.Reason)
			}
			if p.Outcome != "" && p.Outcome != string(row.Outcome) {
				t.Errorf("%s at %s: the answer says %s, the row %s", verb, stage, p.Outcome, row.Outcome)
			}
		}
	}
	eventually(t, 20*time.Second, "what is in doubt is resolved", func() bool { return b.count("pending") == 0 })
	b.balanced()
	if strings.Contains(b.logs.String(), "a canary that must not be logged") {
		t.Error("the log holds what was thrown")
	}
}

// do makes a call of a verb with a text of no interest.
func (a agentOf) do(t testing.TB, verb, id string, opts ...client.CallOption) (err error) {
	switch verb {
	case "reply":
		_, err = a.Reply(t.Context(), wire.ReplyRequest{Text: "x"}, opts...)
	case "edit":
		_, err = a.Edit(t.Context(), id, wire.EditRequest{Text: "x"}, opts...)
	default:
		_, err = a.Retract(t.Context(), id, opts...)
	}
	return err
}

// placeLike are the names that somebody might give to a place.
var placeLike = []string{
	"platform", "workspace", "team", "channel", "channel_id", "thread", "thread_id", "thread_ts", "service_url", "serviceUrl",
	"organization", "org", "tenant", "conversation", "locus", "place", "to", "target", "room", "session", "principal", "turn",
	"wake", "origin", "surface", "message", "message_id", "parent", "reply_to", "as", "Channel", "text ", "dry_run",
}

// TestI3NoFieldOfAWriteNamesAPlace: every such name, and any other that isn't
// a field, is refused by name, in the body and in the query, and changes nothing.
func TestI3NoFieldOfAWriteNamesAPlace(t *testing.T) {
	b := boot(t)
	a := b.turn()
	id := b.post(a, "hello")
	before := b.size()
	rng := rand.New(rand.NewPCG(3, 3))
	names := placeLike
	for range 40 {
		names = append(names, fmt.Sprintf("f%x", rng.Uint32()))
	}
	writes := []struct{ method, path, body string }{
		{"POST", "/v1/replies", `{"text":"x",%s}`}, {"PATCH", "/v1/replies/" + id, `{"text":"x",%s}`},
		{"DELETE", "/v1/replies/" + id, `{%s}`}, {"POST", "/v1/turn/decline", `{%s}`},
	}
	for _, w := range writes {
		for _, name := range names {
			for _, value := range []string{`"elsewhere"`, `null`, `{"channel":"elsewhere"}`} {
				key, err := json.Marshal(name)
				must(t, err)
				got := b.call(w.method, w.path, a.token, fmt.Sprintf(w.body, string(key)+":"+value))
				if p := got.problem(); got.status != 400 || p.Reason != string(outcome.BadRequest) || !strings.Contains(p.Detail, name) {
					t.Errorf("%s %s with %q: %d %s", w.method, w.path, name, got.status, got.body)
				}
			}
		}
		for _, name := range placeLike[:20] {
			body := strings.NewReplacer(",%s", "", "%s", "").Replace(w.body)
			got := b.call(w.method, w.path+"?"+name+"=elsewhere", a.token, body)
			if got.status != 400 || !strings.Contains(got.problem().Detail, name) {
				t.Errorf("%s %s?%s: %d %s", w.method, w.path, name, got.status, got.body)
			}
		}
	}
	if after := b.size(); after != before {
		t.Errorf("something changed: %+v, before %+v", after, before)
	}
}

func TestI4OnlyOwnPostsAndOnlyInsideTheWindow(t *testing.T) {
	c := &clock{}
	b := boot(t, c.set)
	a := b.turn(in{ttl: "24h"})
	id, gone := b.post(a, "hello"), b.post(a, "gone")
	_, err := a.Retract(t.Context(), gone)
	must(t, err)
	sent := b.received()
	want(t, refusal(t, a.do(t, "edit", gone)), outcome.NotOwnPost, outcome.Refused)
	want(t, refusal(t, b.turn(in{org: "umbrella"}).do(t, "edit", id)), outcome.NotOwnPost, outcome.Refused)
	c.forward(4*time.Hour - 10*time.Second)
	must(t, a.do(t, "edit", id))
	c.forward(11 * time.Second)
	want(t, refusal(t, a.do(t, "edit", id)), outcome.NotOwnPost, outcome.Refused)
	want(t, refusal(t, a.do(t, "retract", id)), outcome.NotOwnPost, outcome.Refused)
	if n := b.received() - sent; n != 1 {
		t.Errorf("%d requests left, want that of the edit inside the window", n)
	}
	b.balanced()
}

// TestI5ARefusalIsNoProbe: the whole answer to every id that isn't ours to
// change is the same, byte for byte, but for the attempt's own id.
func TestI5ARefusalIsNoProbe(t *testing.T) {
	c := &clock{}
	b := boot(t, c.set)
	a := b.turn(in{ttl: "24h"})
	old := b.post(a, "old")
	c.forward(5 * time.Hour)
	retracted := b.post(a, "retracted")
	_, err := a.Retract(t.Context(), retracted)
	must(t, err)
	person := b.call("POST", "/room/lobby/messages?org=acme", "", `{"name":"Ada","text":"hello"}`)
	var said struct{ ID string }
	must(t, json.Unmarshal([]byte(person.body), &said))
	ids := map[string]string{
		"too old": old, "retracted": retracted, "a person's": said.ID,
		"of another channel":      b.post(b.turn(in{channel: "elsewhere"}), "x"),
		"of another organization": b.post(b.turn(in{org: "umbrella"}), "x"),
		"of nobody":               "m000000000none", "of no form": "'; drop table own_post; --",
		"dry": b.post(b.turn(in{session: "other", dry: true}), "x"),
	}
	for _, verb := range []struct{ method, body string }{{"PATCH", `{"text":"x"}`}, {"DELETE", ""}} {
		first := ""
		for what, id := range ids {
			got := b.call(verb.method, "/v1/replies/"+escape(id), a.token, verb.body)
			p := got.problem()
			want(t, p, outcome.NotOwnPost, outcome.Refused)
			got.header.Del("Date")
			whole := fmt.Sprint(got.status, got.header, strings.ReplaceAll(got.body, p.Attempt, "ATTEMPT"))
			if first == "" {
				first = whole
			}
			if whole != first {
				t.Errorf("%s %s:\n%s\nother:\n%s", verb.method, what, whole, first)
			}
		}
	}
}

func TestI7AfterAnAmbiguousReplyNothingIsPostedUntilItIsFound(t *testing.T) {
	b := boot(t, func(o *app.Options) { o.Settings.Resolve.FirstLook = 400 * time.Millisecond })
	a := b.turn()
	b.script(room.Fault{Kind: room.FaultCutAfter, Verb: room.VerbPost, Times: 1})
	_, err := a.Reply(t.Context(), wire.ReplyRequest{Text: "hello"}, client.IdempotencyKey("k"))
	want(t, refusal(t, err), outcome.PlatformError, outcome.Ambiguous)
	want(t, refusal(t, a.do(t, "reply", "")), outcome.TurnAmbiguous, outcome.Refused)
	_, err = a.Reply(t.Context(), wire.ReplyRequest{Text: "hello"}, client.IdempotencyKey("k"))
	if p := refusal(t, err); p.Outcome != "ambiguous" {
		t.Errorf("the same key again: %+v", p)
	}
	turn, err := a.Turn(t.Context())
	must(t, err)
	if !turn.Marks.Ambiguous || !turn.MayEnd {
		t.Errorf("marks %+v, may end %t", turn.Marks, turn.MayEnd)
	}
	eventually(t, 10*time.Second, "the reply is found", func() bool { return b.count("pending") == 0 })
	got, err := a.Reply(t.Context(), wire.ReplyRequest{Text: "hello"}, client.IdempotencyKey("k"))
	must(t, err)
	if m := b.truth().Messages[0]; got.ID != m.ID {
		t.Errorf("the key answers %s, the room has %s", got.ID, m.ID)
	}
	must(t, a.do(t, "edit", got.ID))
	must(t, a.do(t, "reply", ""))
	if n := len(b.truth().Messages); n != 2 {
		t.Errorf("%d messages, want 2", n)
	}
	b.balanced()
}

func TestI7AfterAnAmbiguousEditAnEditMayBeRepeatedAndAReplyMayNot(t *testing.T) {
	b := boot(t, func(o *app.Options) { o.Settings.Resolve.FirstLook = time.Hour })
	a := b.turn()
	id := b.post(a, "hello")
	b.script(room.Fault{Kind: room.FaultErrorBefore, Verb: room.VerbEdit, Times: 1})
	want(t, refusal(t, a.do(t, "edit", id)), outcome.PlatformError, outcome.Ambiguous)
	want(t, refusal(t, a.do(t, "reply", "")), outcome.TurnAmbiguous, outcome.Refused)
	must(t, a.do(t, "edit", id))
	must(t, a.do(t, "reply", ""))
}

func TestI8ADryRunLeavesRowsAndSendsNothing(t *testing.T) {
	b := boot(t)
	real := b.post(b.turn(), "hello")
	before := b.size()
	a := b.turn(in{dry: true})
	got, err := a.Reply(t.Context(), wire.ReplyRequest{Text: "dry"})
	must(t, err)
	if got.ID != "dry-"+got.Attempt {
		t.Errorf("id %s of attempt %s", got.ID, got.Attempt)
	}
	must(t, a.do(t, "edit", got.ID))
	must(t, a.do(t, "edit", real))
	must(t, a.do(t, "retract", real))
	must(t, a.do(t, "retract", got.ID))
	want(t, refusal(t, b.turn().do(t, "edit", got.ID)), outcome.NotOwnPost, outcome.Refused)
	want(t, refusal(t, b.turn(in{dry: true, session: "other"}).do(t, "edit", got.ID)), outcome.NotOwnPost, outcome.Refused)
	after := b.size()
	if after.received != before.received || after.rows != before.rows+7 {
		t.Errorf("%+v, before %+v", after, before)
	}
	for _, r := range b.trail().rows {
		if r.Session == "session" && r.Turn == a.turn && !r.DryRun {
			t.Errorf("a row of the dry turn isn't dry: %+v", r)
		}
	}
	if m := b.truth().Messages[0]; m.Text != "hello" || m.Deleted {
		t.Errorf("the room shows %+v", m)
	}
	must(t, b.turn().do(t, "edit", real))
	b.balanced()
}

// TestI11ALateNoIsNeverReadAsAYes: an owner that was overtaken by the sweeper
// is told what the row says, and so is everybody who asks with its key, also
// once its own late result is known.
func TestI11ALateNoIsNeverReadAsAYes(t *testing.T) {
	for _, tt := range []struct {
		fault room.FaultKind
		there bool
	}{{room.FaultRefused, false}, {"", true}} {
		g, c := newGate("edit/dispatch"), &clock{}
		b := boot(t, c.set, func(o *app.Options) { o.Probe = g.probe })
		a := b.turn()
		id := b.post(a, "hello")
		if tt.fault != "" {
			b.script(room.Fault{Kind: tt.fault, Verb: room.VerbEdit, Times: 1})
		}
		done := make(chan error, 1)
		go func() { done <- a.do(t, "edit", id, client.IdempotencyKey("k")) }()
		<-g.reached
		c.forward(time.Minute)
		eventually(t, 10*time.Second, "the attempt is swept", func() bool { return len(b.trail().open) == 0 })
		close(g.open)
		p := refusal(t, <-done)
		want(t, p, outcome.PlatformError, outcome.Ambiguous)
		if row := b.row(p.Attempt); row.Reason != outcome.Interrupted || row.Outcome != outcome.Ambiguous {
			t.Errorf("the row says %s, %s", row.Outcome, row.Reason)
		}
		notes := b.notes(p.Attempt)
		if len(notes) == 0 || tt.there != (notes[len(notes)-1].Evidence == "applied" || notes[len(notes)-1].Verdict == audit.Seen) {
			t.Errorf("%q: the notes say %+v", tt.fault, notes)
		}
		again := a.do(t, "edit", id, client.IdempotencyKey("k"))
		if (again == nil) != tt.there {
			t.Errorf("%q: the key answers %v, and the effect is there: %t", tt.fault, again, tt.there)
		}
		b.balanced()
	}
}
