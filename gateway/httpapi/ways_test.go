package httpapi

import (
	"context"
	"errors"
	"testing"
	"time"

	"stet/arms"
	"stet/gateway"
	"stet/gateway/locus"
	"stet/gateway/outcome"
	"stet/gateway/wire"
	"stet/ledger"
)

func TestAReplyGoesThroughAsItWasSaid(t *testing.T) {
	d := open(t)
	token := d.turn("acme").Token
	d.verbs.answer = gateway.Answer{
		ID: "m1", Parts: []string{"m1", "m2"}, Attempt: "a1",
		Withheld: []gateway.Withheld{{Guard: "memory", Cause: "no-evidence", Start: 1, End: 4}},
	}
	var got wire.Replied
	d.ask("POST", "/v1/replies", token, `{"text":"hé <b>","format":"plain","overflow":"split","done":true}`, "Idempotency-Key", "k 1").want(201).into(&got)
	if got.ID != "m1" || len(got.Parts) != 2 || got.Attempt != "a1" || len(got.Withheld) != 1 || got.Withheld[0].End != 4 {
		t.Errorf("answered %+v", got)
	}
	want := gateway.ReplyRequest{Text: gateway.Text{Body: "hé <b>"}, Format: arms.Plain, Split: true, Done: true, Key: "k 1"}
	if r := d.verbs.replies[0]; r != want {
		t.Errorf("asked %+v, want %+v", r, want)
	}
	d.ask("POST", "/v1/replies", token, `{"text":"x"}`).want(201)
	if r, want := d.verbs.replies[1], (gateway.ReplyRequest{Text: gateway.Text{Body: "x"}, Format: arms.Markdown}); r != want {
		t.Errorf("with the least said, asked %+v, want %+v", r, want)
	}
}

func TestAnEditAndARetractGoThrough(t *testing.T) {
	d := open(t)
	token := d.turn("acme").Token
	d.verbs.answer.Unchanged = true
	resp := d.ask("PATCH", "/v1/replies/m1", token, `{"text":"x","overflow":"refuse"}`, "Idempotency-Key", "k").want(200)
	if resp.body != `{"id":"m1","parts":["m1"],"attempt":"a1","unchanged":true,"withheld":[]}`+"\n" {
		t.Errorf("answered %s", resp.body)
	}
	if e, want := d.verbs.edits[0], (gateway.EditRequest{ID: "m1", Text: gateway.Text{Body: "x"}, Format: arms.Markdown, Key: "k"}); e != want {
		t.Errorf("asked %+v, want %+v", e, want)
	}
	for _, body := range []string{"", "{}"} {
		resp = d.ask("DELETE", "/v1/replies/m1", token, body, "Idempotency-Key", "k").want(200)
		if resp.body != `{"id":"m1","parts":["m1"],"attempt":"a1"}`+"\n" {
			t.Errorf("answered %s", resp.body)
		}
	}
	if r, want := d.verbs.retract[0], (gateway.RetractRequest{ID: "m1", Key: "k"}); r != want {
		t.Errorf("asked %+v, want %+v", r, want)
	}
}

func TestATurnFromItsBindingToItsClose(t *testing.T) {
	d := open(t)
	var bound wire.Session
	d.ask("PUT", "/v1/sessions/a%2Fb", d.acmeHost, `{"workspace":"main","surface":"room","principal":"bot","locus":{"platform":"room","channel":"lobby","thread":"t"}}`).want(200).into(&bound)
	if bound.Session != "a/b" || bound.Org != "acme" || bound.Locus == nil || bound.Locus.Thread != "t" {
		t.Errorf("bound %+v", bound)
	}
	var opened wire.OpenedTurn
	d.ask("POST", "/v1/turns", d.acmeHost, `{"session":"a/b","wake":{"id":"w","refs":{"message_id":"m"}},"ttl":"10m"}`).want(201).into(&opened)
	if !opened.ExpiresAt.Equal(d.clock.Now().Add(10 * time.Minute)) {
		t.Errorf("it lives until %s", opened.ExpiresAt)
	}
	path := "/v1/turns/" + opened.Turn
	var e wire.Evidence
	d.ask("POST", path+"/evidence", d.acmeHost, `{"kind":"memory.write","ref":"r"}`).want(201).into(&e)
	if e.ID == "" || !e.ExpiresAt.IsZero() {
		t.Errorf("evidence %+v", e)
	}
	d.ask("POST", path+"/evidence", d.acmeHost, `{"kind":"approval.granted","ttl":"1h"}`).want(201).into(&e)
	if !e.ExpiresAt.Equal(d.clock.Now().Add(time.Hour)) {
		t.Errorf("evidence %+v", e)
	}
	d.ask("POST", path+"/transcript", d.acmeHost, `{"call":"c","name":"n","args":{"a":1}}`).want(204)
	d.ask("POST", path+"/activity", d.acmeHost, `{"message":"m9"}`).want(204)
	calls, err := d.store.Calls(t.Context(), "acme", "a/b")
	d.must(err)
	if len(calls) != 1 || string(calls[0].Args) != `{"a":1}` {
		t.Errorf("the transcript is %v", calls)
	}
	d.ask("POST", "/v1/turn/decline", opened.Token, "").want(200)
	var end wire.TurnEnd
	for range 2 {
		d.ask("POST", path+"/close", d.acmeHost, "").want(200).into(&end)
		if end.Turn != opened.Turn || !end.Marks.Declined || !end.MayEnd {
			t.Errorf("ended as %+v", end)
		}
	}
	d.ask("GET", "/v1/turn", opened.Token, "").problem(401, "unauthorized")
}

func TestATurnShowsWhatItHolds(t *testing.T) {
	d := open(t)
	at := d.clock.Now()
	entry := func(id, reply string, part int) ledger.Entry {
		return ledger.Entry{Key: ledger.Key{ID: arms.MessageID(id)}, Reply: arms.MessageID(reply), Part: part, PostedAt: at, EditableUntil: at.Add(time.Hour)}
	}
	d.posts.entries = []ledger.Entry{entry("m9", "m9", 0), entry("m2", "m1", 1), entry("m1", "m1", 0)}
	var got wire.Turn
	resp := d.ask("GET", "/v1/turn", d.turn("acme").Token, "").want(200)
	resp.into(&got)
	if got.Platform != "room" || got.Principal != "bot" || got.MayEnd || got.Refs == nil || got.Instructions == nil {
		t.Errorf("got %s", resp.body)
	}
	if want := (wire.Can{Reply: true, Edit: true, TextLimit: 100, TextUnit: "code points"}); got.Can != want {
		t.Errorf("can %+v, want %+v", got.Can, want)
	}
	if len(got.Editable) != 2 || got.Editable[0].ID != "m9" || got.Editable[1].ID != "m1" ||
		len(got.Editable[1].Parts) != 2 || got.Editable[1].Parts[0] != "m1" {
		t.Errorf("editable %+v", got.Editable)
	}
	d.posts.err = errors.New("down")
	d.ask("GET", "/v1/turn", d.turn("acme").Token, "").problem(503, "ledger-unavailable")
}

func TestATurnWithoutALocusCanDoNothing(t *testing.T) {
	d := open(t)
	d.posts.err = errors.New("must not be asked")
	var opened wire.OpenedTurn
	d.ask("POST", "/v1/turns", d.acmeHost, `{"session":"none","wake":{"id":"w"},"workspace":"m","surface":"r","principal":"p"}`).want(201).into(&opened)
	var got wire.Turn
	d.ask("GET", "/v1/turn", opened.Token, "").want(200).into(&got)
	if got.Platform != "" || got.Can != (wire.Can{}) || len(got.Editable) != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestTheFrozenLocusReachesTheVerb(t *testing.T) {
	d := open(t)
	d.ask("POST", "/v1/replies", d.turn("acme").Token, `{"text":"x"}`).want(201)
	want := locus.Locus{Platform: "room", Workspace: "main", Channel: "lobby"}
	if got := d.verbs.turns[0]; got.Locus != want || got.Route != locus.Wake {
		t.Errorf("got %+v by %s", got.Locus, got.Route)
	}
}

// TestALostClientChangesNothing: the verb's context outlives its client.
func TestALostClientChangesNothing(t *testing.T) {
	d := open(t)
	token := d.turn("acme").Token
	entered, leave, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	d.verbs.hook = func(ctx context.Context) {
		close(entered)
		<-leave
		ended <- ctx.Err()
	}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan struct{})
	go func() {
		defer close(failed)
		in := *d
		if _, err := in.asking(ctx, "POST", "/v1/replies", token, `{"text":"x"}`); err == nil {
			t.Error("the client got an answer")
		}
	}()
	<-entered
	cancel()
	<-failed
	close(leave)
	if err := <-ended; err != nil {
		t.Errorf("the verb was told %v", err)
	}
}

func TestAVerbThatFailsOtherwiseIsAMistakeOfOurs(t *testing.T) {
	p, ok := asProblem(errors.New("secret of a store"))
	if ok || p.Reason != string(outcome.AuditUnavailable) || p.Status != 503 {
		t.Errorf("got %+v, %v", p, ok)
	}
}
