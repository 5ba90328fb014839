package gateway_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"stet/arms"
	"stet/audit"
	"stet/gateway"
	"stet/gateway/locus"
	"stet/gateway/outcome"
	"stet/gateway/turn"
)

func detail(t *testing.T, r audit.Row) audit.Detail {
	t.Helper()
	var d audit.Detail
	if err := json.Unmarshal(r.Detail, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAReplyAnEditAndARetractEachLeaveOneRowAndOneRequest(t *testing.T) {
	h := build(t)
	tn := h.turn()
	first := h.post(tn, "hello")
	edited, err := h.gw.Edit(t.Context(), tn, change1(first.ID, "hello again"))
	if err != nil {
		t.Fatal(err)
	}
	gone, err := h.gw.Retract(t.Context(), tn, gateway.RetractRequest{ID: arms.MessageID(first.ID)})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		answer gateway.Answer
		action string
		chars  int
	}{{first, "reply.post", 5}, {edited, "reply.edit", 11}, {gone, "reply.retract", -1}} {
		row := h.outcomeOf(want.answer.Attempt)
		d := detail(t, row)
		if row.Action != want.action || row.Outcome != outcome.Applied || row.Platform != string(place) ||
			row.Org != "acme" || row.Principal != "bot-1" || row.Turn != tn.ID || row.Wake != "wake-1" {
			t.Errorf("row %d: %+v", i, row)
		}
		if d.ID != first.ID || d.Channel != "c1" || d.Route != "wake" || d.Creator != "ann" || d.Approval != "open" {
			t.Errorf("detail %d: %+v", i, d)
		}
		if (d.Chars == nil) != (want.chars < 0) || (d.Chars != nil && *d.Chars != want.chars) {
			t.Errorf("chars %d: %v, want %d", i, d.Chars, want.chars)
		}
		if calls := h.arm.wire(); string(calls[i].marker) != want.answer.Attempt {
			t.Errorf("request %d carries marker %q, want the attempt's id", i, calls[i].marker)
		}
	}
	if n := len(h.arm.wire()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
	if _, there := h.arm.text("m1"); there {
		t.Error("the message is still there")
	}
}

// Every kind of answer that a platform can give, for every verb.
func TestAPlatformsAnswerIsClassedOnceForRowAnswerAndMark(t *testing.T) {
	type expect struct {
		name    string
		fault   error
		outcome outcome.Outcome
		reason  outcome.Reason
		status  int
		code    string
	}
	f := func(c arms.Certainty, code arms.Code, status int) error {
		return &arms.Fault{Certainty: c, Code: code, Status: status}
	}
	cases := []expect{
		{"nothing left", f(arms.NotSent, arms.CodeDial, 0), outcome.NotSent, outcome.PlatformError, 502, "dial-failed"},
		{"forbidden", f(arms.Rejected, arms.CodeForbidden, 403), outcome.Rejected, outcome.PlatformError, 502, "forbidden"},
		{"unauthorized", f(arms.Rejected, arms.CodeUnauthorized, 401), outcome.Rejected, outcome.PlatformError, 502, "unauthorized"},
		{"limited", f(arms.Rejected, arms.CodeRateLimited, 429), outcome.Rejected, outcome.RateLimited, 429, "rate-limited"},
		{"server error", f(arms.Ambiguous, arms.CodeServer, 503), outcome.Ambiguous, outcome.PlatformError, 504, "server-error"},
		{"timeout", f(arms.Ambiguous, arms.CodeTimeout, 0), outcome.Ambiguous, outcome.PlatformError, 504, "timeout"},
		{"an error that isn't a fault", errors.New("secret text of somebody"), outcome.Ambiguous, outcome.PlatformError, 504, "unknown"},
		{"a fault without certainty", &arms.Fault{Code: arms.CodeGarbage}, outcome.Ambiguous, outcome.PlatformError, 504, "unreadable-answer"},
	}
	for _, v := range outcome.Verbs() {
		for _, c := range cases {
			t.Run(string(v)+" "+c.name, func(t *testing.T) {
				h := build(t)
				tn := h.turn()
				first := h.post(tn, "hello")
				h.arm.script(func(string, arms.Marker) (error, bool) { return c.fault, false })
				_, err := h.act(v, tn, first.ID)
				p := problem(t, err)
				row := h.outcomeOf(p.Attempt)
				if p.Outcome != c.outcome || p.Reason != c.reason || p.Status() != c.status || p.Failure != c.outcome.Failure() {
					t.Errorf("answer %+v (status %d)", p, p.Status())
				}
				if row.Outcome != c.outcome || row.Reason != c.reason || row.Code != c.code || row.Failure != p.Failure {
					t.Errorf("row %+v", row)
				}
				if !strings.HasSuffix(row.Action, ".refused") {
					t.Errorf("action %q", row.Action)
				}
				marks := h.fresh(tn).Marks
				if marks.Ambiguous != (c.outcome == outcome.Ambiguous) || !marks.MayEnd {
					t.Errorf("marks %+v", marks)
				}
				if strings.Contains(p.Detail, "secret") || strings.Contains(string(row.Detail), "secret") {
					t.Error("an arm's own words got out")
				}
				if n := len(h.arm.wire()); n != 2 {
					t.Errorf("%d requests, want 2: nothing is retried", n)
				}
			})
		}
	}
}

func TestI12ASuccessThatNamesNoMessageIsNoSuccess(t *testing.T) {
	h := build(t)
	h.arm.script(func(string, arms.Marker) (error, bool) { return nil, false })
	_, err := h.gw.Reply(t.Context(), h.turn(), say("hello"))
	if p := problem(t, err); p.Outcome != outcome.Ambiguous {
		t.Errorf("got %+v", p)
	}
}

func TestGoneMeansDoneForARetractAndNoForAnEdit(t *testing.T) {
	for _, c := range []struct {
		verb    outcome.Verb
		certain bool
		closed  bool
	}{{outcome.Retract, true, true}, {outcome.Edit, true, true}, {outcome.Edit, false, false}} {
		h := build(t)
		h.arm.caps.GoneIsCertain = c.certain
		tn := h.turn()
		first := h.post(tn, "hello")
		h.arm.script(func(string, arms.Marker) (error, bool) { return gone(), false })
		ans, err := h.act(c.verb, tn, first.ID)
		if c.verb == outcome.Retract {
			if err != nil {
				t.Fatal(err)
			}
			if row := h.outcomeOf(ans.Attempt); row.Outcome != outcome.Applied || row.Code != audit.CodeAlreadyGone {
				t.Errorf("row %+v", row)
			}
		} else if p := problem(t, err); p.Outcome != outcome.Rejected || h.outcomeOf(p.Attempt).Code != "gone" {
			t.Errorf("problem %+v", p)
		}
		h.arm.script(nil)
		_, err = h.act(outcome.Edit, tn, first.ID)
		if c.closed {
			if p := problem(t, err); p.Reason != outcome.NotOwnPost {
				t.Errorf("after gone: %+v", p)
			}
		} else if err != nil {
			t.Errorf("a platform whose gone can't be trusted closed the entry: %v", err)
		}
	}
}

func TestHostVerdictsLeaveOneRowAndNoRequest(t *testing.T) {
	elsewhere := func(tn *turn.Turn) { tn.Locus.Channel = "c2" }
	cases := []struct {
		name   string
		turn   func(*turn.Turn)
		act    func(h *house, tn turn.Turn, id string) error
		reason outcome.Reason
		status int
		code   string
	}{
		{"no locus", func(tn *turn.Turn) { tn.Locus, tn.Route = locus.Locus{}, "" }, reply("x"), outcome.NoLocus, 409, ""},
		{"no arm", func(tn *turn.Turn) { tn.Locus.Platform = "nowhere" }, reply("x"), outcome.NoArm, 422, ""},
		{"no edit arm", func(tn *turn.Turn) { tn.Locus.Platform = "mute" }, verb(outcome.Edit), outcome.NoEditArm, 422, ""},
		{"no retract arm", func(tn *turn.Turn) { tn.Locus.Platform = "mute" }, verb(outcome.Retract), outcome.NoRetractArm, 422, ""},
		{"edit elsewhere", elsewhere, verb(outcome.Edit), outcome.NotOwnPost, 403, "other-place"},
		{"retract elsewhere", elsewhere, verb(outcome.Retract), outcome.NotOwnPost, 403, "other-place"},
		{"edit of another organization's", func(tn *turn.Turn) { tn.Org = "rival" }, verb(outcome.Edit), outcome.NotOwnPost, 403, "unknown"},
		{"edit of nothing", nil, func(h *house, tn turn.Turn, _ string) error {
			_, err := h.gw.Edit(h.t.Context(), tn, change1("not-there", "x"))
			return err
		}, outcome.NotOwnPost, 403, "unknown"},
		{"edit too late", nil, func(h *house, tn turn.Turn, id string) error {
			h.advance(4*60*60*1e9 + 1)
			late := h.turn()
			_, err := h.gw.Edit(h.t.Context(), late, change1(id, "x"))
			return err
		}, outcome.NotOwnPost, 403, "window-closed"},
		{"empty", nil, reply(" \n\t"), outcome.InvalidText, 422, ""},
		{"broken", nil, func(h *house, tn turn.Turn, _ string) error {
			_, err := h.gw.Reply(h.t.Context(), tn, gateway.ReplyRequest{Text: gateway.Text{Body: "x", Broken: true}})
			return err
		}, outcome.InvalidText, 422, ""},
		{"too long", nil, reply(strings.Repeat("é", 41)), outcome.TextTooLong, 422, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := build(t)
			id := h.post(h.turn(), "hello").ID
			var changes []func(*turn.Turn)
			if c.turn != nil {
				changes = append(changes, c.turn)
			}
			err := c.act(h, h.turn(changes...), id)
			p := problem(t, err)
			if p.Reason != c.reason || p.Outcome != outcome.Refused || p.Status() != c.status || p.Failure != "" {
				t.Errorf("problem %+v, status %d", p, p.Status())
			}
			row := h.outcomeOf(p.Attempt)
			if row.Reason != c.reason || row.Outcome != outcome.Refused || row.Code != c.code || row.Status != 0 {
				t.Errorf("row %+v", row)
			}
			if n := len(h.arm.wire()); n != 1 {
				t.Errorf("%d requests, want the first post alone", n)
			}
			if c.reason == outcome.NotOwnPost && detail(t, row).ID != "" {
				t.Error("the row holds an id that the agent chose")
			}
		})
	}
}

func reply(text string) func(*house, turn.Turn, string) error {
	return func(h *house, tn turn.Turn, _ string) error {
		_, err := h.gw.Reply(h.t.Context(), tn, say(text))
		return err
	}
}

func verb(v outcome.Verb) func(*house, turn.Turn, string) error {
	return func(h *house, tn turn.Turn, id string) error {
		_, err := h.act(v, tn, id)
		return err
	}
}

func TestI5TheAnswersToEveryForeignMessageAreTheSame(t *testing.T) {
	h := build(t)
	tn := h.turn()
	old := h.post(tn, "old").ID
	h.advance(5 * 60 * 60 * 1e9)
	tn = h.turn()
	other := h.post(h.turn(func(o *turn.Turn) { o.Locus.Channel = "c2" }), "elsewhere").ID
	var first *gateway.Problem
	for _, id := range []string{old, other, "never", strings.Repeat("x", 512)} {
		_, err := h.gw.Edit(t.Context(), tn, change1(id, "x"))
		p := problem(t, err)
		p.Attempt = ""
		if first == nil {
			first = p
		}
		if *p != *first {
			t.Errorf("%q: %+v differs from %+v", id, p, first)
		}
		for _, leak := range []string{old, other, "c1", "c2", string(place)} {
			if len(leak) > 2 && strings.Contains(p.Detail, leak) {
				t.Errorf("the copy names %q", leak)
			}
		}
	}
}

func TestTheCopySaysWhatToDo(t *testing.T) {
	h := build(t)
	tn := h.turn()
	id := h.post(tn, "hello").ID
	_, err := h.gw.Edit(t.Context(), tn, change1("nope", "x"))
	holds(t, problem(t, err).Detail, "isn't one of your own recent posts", "new reply", "replaces", "two versions")
	onMute := h.turn(func(tn *turn.Turn) { tn.Locus.Platform = "mute" })
	_, err = h.gw.Edit(t.Context(), onMute, change1(id, "x"))
	holds(t, problem(t, err).Detail, "mute", "new reply", "replaces", "two versions")
	_, err = h.gw.Reply(t.Context(), tn, say(strings.Repeat("x", 41)))
	holds(t, problem(t, err).Detail, "41", "40", "code points")
	h.arm.script(func(string, arms.Marker) (error, bool) {
		return &arms.Fault{Certainty: arms.Ambiguous, Code: arms.CodeCut}, true
	})
	_, err = h.gw.Edit(t.Context(), tn, change1(id, "y"))
	holds(t, problem(t, err).Detail, "not confirmed", "may or may not", "do NOT post a new reply", "same id", "new idempotency key", "safe")
}

func holds(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q lacks %q", text, p)
		}
	}
}

func TestTheSameTextIsAppliedWithoutARequest(t *testing.T) {
	h := build(t)
	tn := h.turn()
	first := h.post(tn, "hello")
	ans, err := h.gw.Edit(t.Context(), tn, change1(first.ID, "hello"))
	if err != nil || !ans.Unchanged {
		t.Fatalf("%+v, %v", ans, err)
	}
	row := h.outcomeOf(ans.Attempt)
	if row.Outcome != outcome.Applied || !detail(t, row).Unchanged || len(h.arm.wire()) != 1 {
		t.Errorf("row %+v, %d requests", row, len(h.arm.wire()))
	}
	// After an ambiguous edit nobody knows what is shown, so the same text goes out.
	h.arm.script(func(string, arms.Marker) (error, bool) {
		return &arms.Fault{Certainty: arms.Ambiguous, Code: arms.CodeCut}, true
	})
	_, err = h.gw.Edit(t.Context(), tn, change1(first.ID, "other"))
	_ = problem(t, err)
	h.arm.script(nil)
	ans, err = h.gw.Edit(t.Context(), tn, change1(first.ID, "hello"))
	if err != nil || ans.Unchanged || len(h.arm.wire()) != 3 {
		t.Errorf("%+v, %v, %d requests", ans, err, len(h.arm.wire()))
	}
}

func TestStatusOfEveryProblemIsAnError(t *testing.T) {
	for _, r := range outcome.Reasons() {
		if s := (&gateway.Problem{Reason: r}).Status(); s < http.StatusBadRequest || s > 599 {
			t.Errorf("%s has status %d", r, s)
		}
	}
}
