package httpapi

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"stet/audit"
	"stet/gateway"
	"stet/gateway/bind"
	"stet/gateway/client"
	"stet/gateway/outcome"
	"stet/gateway/wire"
)

func (d *door) client(key string) *client.Client {
	d.Helper()
	c, err := client.New(d.url, client.WithKey(key))
	d.must(err)
	return c
}

// TestTheClientAndTheDoorAgree makes every call of the client on a real door.
func TestTheClientAndTheDoorAgree(t *testing.T) {
	d := open(t)
	ctx := t.Context()
	host, ops := d.client(d.acmeHost), d.client(d.ops)
	if _, err := host.BindSession(ctx, "a/b?c", wire.BindRequest{
		Workspace: "main", Surface: "room", Principal: "bot", Locus: &wire.Locus{Platform: "room", Channel: "lobby"},
	}); err != nil {
		t.Fatal(err)
	}
	opened, err := host.OpenTurn(ctx, wire.OpenTurnRequest{Session: "a/b?c", Wake: wire.Wake{ID: "w"}, TTL: "5m"})
	d.must(err)
	agent := host.With(opened.Token)
	if held, err := agent.Turn(ctx); err != nil || held.Session != "a/b?c" || held.Platform != "room" {
		t.Errorf("the turn is %+v, %v", held, err)
	}
	if said, err := agent.Reply(ctx, wire.ReplyRequest{Text: "hi", Done: true}, client.IdempotencyKey("k")); err != nil || said.ID != "m1" || d.verbs.replies[0].Key != "k" {
		t.Errorf("replied %+v, %v", said, err)
	}
	if _, err := agent.Reply(ctx, wire.ReplyRequest{Text: "\xff"}); err != nil || !d.verbs.replies[1].Text.Broken {
		t.Errorf("a broken text was mended on its way: %v, %v", d.verbs.replies[1], err)
	}
	for _, id := range []string{".", "..", "...", "a/b", "%2F", "ü?#", " ", "\xff"} {
		if _, err := agent.Edit(ctx, id, wire.EditRequest{Text: "x"}); err != nil {
			t.Errorf("edit %q: %v", id, err)
		}
		if _, err := agent.Retract(ctx, id); err != nil {
			t.Errorf("retract %q: %v", id, err)
		}
		edits, retracts := d.verbs.edits, d.verbs.retract
		if string(edits[len(edits)-1].ID) != id || string(retracts[len(retracts)-1].ID) != id {
			t.Errorf("the id %q arrived as %q", id, edits[len(edits)-1].ID)
		}
	}
	_, err = host.AddEvidence(ctx, opened.Turn, wire.EvidenceRequest{Kind: "memory.write"})
	d.must(err)
	d.must(host.AddTranscript(ctx, opened.Turn, wire.TranscriptRequest{Call: "c", Name: "n"}))
	d.must(host.SawMessage(ctx, opened.Turn, "m9"))
	if end, err := agent.Decline(ctx); err != nil || !end.Marks.Declined {
		t.Errorf("declined %+v, %v", end, err)
	}
	row := d.resolve(opened.Turn, audit.Seen)
	for e, err := range host.Events(ctx, opened.Turn, "") {
		if err != nil || e.ID != row.ID || e.Verdict != "seen" {
			t.Errorf("the event is %+v, %v", e, err)
		}
		break
	}
	if end, err := host.CloseTurn(ctx, opened.Turn); err != nil || end.Turn != opened.Turn {
		t.Errorf("closed %+v, %v", end, err)
	}
	if _, err := agent.Turn(ctx); client.Reason(err) != "unauthorized" {
		t.Errorf("the closed turn's token: %v", err)
	}
	d.reads(ops)
	d.keeps(ops)
}

// reads makes the trail's calls.
func (d *door) reads(ops *client.Client) {
	d.Helper()
	ctx := d.Context()
	d.write(3, nil)
	f := client.Filter{Equal: map[string][]string{"session": {"s"}, "kind": {"note"}}, Since: d.clock.Now().Add(-time.Hour), Until: d.clock.Now().Add(time.Hour)}
	page, err := ops.Rows(ctx, f, 2, "")
	d.must(err)
	rest, err := ops.Rows(ctx, f, 2, page.Next)
	d.must(err)
	n := 0
	for _, err := range ops.EachRow(ctx, f) {
		d.must(err)
		n++
	}
	count, err := ops.CountRows(ctx, f, "action", "org")
	d.must(err)
	// Three, and the resolution that was written before.
	if len(page.Rows) != 2 || len(rest.Rows) != 2 || n != 4 || count.Total != 4 {
		d.Errorf("pages of %d and %d, a stream of %d, a count of %d", len(page.Rows), len(rest.Rows), n, count.Total)
	}
	if one, err := ops.Row(ctx, page.Rows[0].ID); err != nil || one.ID != page.Rows[0].ID {
		d.Errorf("the row is %+v, %v", one, err)
	}
	var b strings.Builder
	if err := ops.Export(ctx, f, "csv", &b); err != nil || strings.Count(b.String(), "\n") != 5 {
		d.Errorf("exported %q, %v", b.String(), err)
	}
	if err := ops.Export(ctx, f, "xls", &b); client.Reason(err) != "bad-request" {
		d.Errorf("a form that is none: %v", err)
	}
}

// keeps makes the calls about keys and health.
func (d *door) keeps(ops *client.Client) {
	d.Helper()
	ctx := d.Context()
	made, err := ops.CreateKey(ctx, wire.KeyRequest{Name: "n", Scopes: []string{string(bind.ScopeOps)}, Org: "acme"})
	d.must(err)
	keys, err := d.client(made.Secret).Keys(ctx)
	if err != nil || len(keys) != 3 {
		d.Errorf("sees %v, %v", keys, err)
	}
	d.must(ops.RevokeKey(ctx, made.Key.ID))
	if health, err := ops.Health(ctx); err != nil || health.Status != "ok" {
		d.Errorf("health %+v, %v", health, err)
	}
	if ready, err := ops.Ready(ctx); err != nil || !ready.Ready {
		d.Errorf("ready %+v, %v", ready, err)
	}
}

func TestTheClientReadsARefusalAsTheDoorMadeIt(t *testing.T) {
	d := open(t)
	d.verbs.problem = &gateway.Problem{
		Reason: outcome.RateLimited, Outcome: outcome.NotSent, Failure: outcome.Definitive,
		Attempt: "a", Detail: "wait", RetryAfter: 90 * time.Second,
	}
	_, err := d.client(d.turn("acme").Token).Reply(t.Context(), wire.ReplyRequest{Text: "x"})
	e, ok := err.(*client.Error) //nolint:errorlint // the documented type
	if !ok || e.Reason != "rate-limited" || e.Outcome != "not_sent" || e.Attempt != "a" || e.Wait() != 90*time.Second || e.Status != 429 {
		t.Errorf("got %+v", err)
	}
	if u, err := url.Parse(e.Type); err != nil || u.Path != "/docs" || u.Fragment != "rate-limited" {
		t.Errorf("the type %q leads nowhere", e.Type)
	}
}
