package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"stet/arms"
	"stet/arms/room"
	"stet/audit"
	"stet/gateway/client"
	"stet/gateway/outcome"
	"stet/gateway/wire"
	"stet/ledger"
)

// What the tour says.
const (
	started  wire.Text = "Deploy: started."
	halfway  wire.Text = "Deploy: 60 % done."
	finished wire.Text = "Deploy: finished."
)

// steps is the tour. The list is its documentation.
func (t *tour) steps() []step {
	const edit = "PATCH /v1/replies/{id}"
	return []step{
		{title: "Open a turn", call: "POST /v1/turns", do: t.openTurn,
			means: "The host says where this turn speaks. The agent gets a token, and no way to name a place."},
		{title: "Reply", call: "POST /v1/replies", text: started, do: t.reply,
			means: "The message is in the room. Its id is what edit and retract take."},
		{title: "Edit", call: edit, text: halfway, do: t.edit,
			means: "The same message shows the new text. Nothing was posted anew."},
		{title: "Edit to the same text", call: edit, text: halfway, do: t.same,
			means: "The room shows this text already, so nothing was sent."},
		{title: "Edit somebody else's message", call: edit, text: finished, do: t.foreign,
			means: "Refused before a byte left, in the same words for every message that isn't ours."},
		{title: "Edit after the window closed", call: edit, text: finished, do: t.late,
			means: "Messages of this channel may be changed for " + briefWindow.String() +
				". The caller reads the same refusal as before; only the trail knows why."},
		{title: "Edit while the platform says no", call: edit, text: finished, do: t.refusedByPlatform,
			means: "Definitive: there is no effect. The turn stays open, trying again is safe."},
		{title: "Edit while the connection is cut", call: edit, text: finished, do: t.cut,
			means: "Ambiguous: it may have happened. The gateway doesn't guess, and tells the agent not to post anew."},
		{title: "What the read-back finds", call: "GET /v1/turns/{turn}/events", do: t.resolved,
			means: "The gateway looked: the edit is there. That is a further row, never a changed one."},
		{title: "Retract", call: "DELETE /v1/replies/{id}", do: t.retract,
			means: "The message is gone from the room."},
	}
}

func (t *tour) open(ctx context.Context, session string, channel arms.ChannelID) (wire.OpenedTurn, error) {
	return t.host.OpenTurn(ctx, wire.OpenTurnRequest{
		Session: session, Org: demoOrg, Workspace: "main", Surface: "tour", Principal: "helper", TTL: "10m",
		Wake: wire.Wake{ID: "tour-" + session, Origin: &wire.Locus{Platform: string(room.Platform), Channel: string(channel)}},
	})
}

func (t *tour) openTurn(ctx context.Context) (string, error) {
	opened, err := t.open(ctx, "tour", demoChannel)
	if err != nil {
		return "", err
	}
	t.turn, t.agent = opened, t.host.With(opened.Token)
	return "201  turn …" + tail(opened.Turn) + ", token " + cut(opened.Token, 14) + " (shown once)", nil
}

// post posts in a turn and keeps what the trail has to say about it.
func (t *tour) post(ctx context.Context, agent *client.Client, body wire.Text) (wire.Replied, error) {
	if agent == nil {
		return wire.Replied{}, errors.New("there is no turn")
	}
	got, err := agent.Reply(ctx, wire.ReplyRequest{Text: body})
	if err == nil {
		t.expected[got.Attempt] = ending{outcome: outcome.Applied}
	}
	return got, err
}

func (t *tour) reply(ctx context.Context) (string, error) {
	got, err := t.post(ctx, t.agent, started)
	if err != nil {
		return "", err
	}
	t.first = got.ID
	return "201  id " + got.ID + ", attempt …" + tail(got.Attempt), nil
}

func (t *tour) edit(ctx context.Context) (string, error) { return t.editTo(ctx, halfway, "") }

func (t *tour) same(ctx context.Context) (string, error) {
	return t.editTo(ctx, halfway, audit.CodeUnchanged)
}

// editTo edits the first message; code is what its row has to say.
func (t *tour) editTo(ctx context.Context, body wire.Text, code string) (string, error) {
	if t.agent == nil {
		return "", errors.New("there is no turn")
	}
	got, err := t.agent.Edit(ctx, t.first, wire.EditRequest{Text: body})
	if err != nil {
		return "", err
	}
	t.expected[got.Attempt] = ending{outcome.Applied, code}
	answer := "200  id " + got.ID + ", attempt …" + tail(got.Attempt)
	if got.Unchanged {
		answer += ", unchanged"
	}
	if unchanged := code == audit.CodeUnchanged; got.ID != t.first || got.Unchanged != unchanged {
		return answer, fmt.Errorf("want id %s, unchanged %t", t.first, unchanged)
	}
	return answer, nil
}

// foreign lets a person write on the room's page, then tries to change that.
func (t *tour) foreign(ctx context.Context) (string, error) {
	id, err := t.personSays(ctx, "Ada", "How far is the deploy?")
	if err != nil {
		return "", err
	}
	return t.refusal(ctx, t.agent, id, notOurs(ledger.Unknown))
}

// personSays posts as a person does, through the room's page.
func (t *tour) personSays(ctx context.Context, name, body string) (string, error) {
	raw, err := json.Marshal(map[string]string{"name": name, "text": body})
	if err != nil {
		return "", err
	}
	url := t.app.Addr() + "/room/" + string(demoChannel) + "/messages?org=" + demoOrg
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(raw))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var said struct {
		ID string `json:"id"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil || said.ID == "" {
		return "", fmt.Errorf("the room's page answered %d", resp.StatusCode)
	}
	return said.ID, nil
}

// late posts where the window is short, waits for its end, and edits.
func (t *tour) late(ctx context.Context) (string, error) {
	opened, err := t.open(ctx, "tour-brief", briefChannel)
	if err != nil {
		return "", err
	}
	agent := t.host.With(opened.Token)
	got, err := t.post(ctx, agent, "Too late to change soon.")
	if err != nil {
		return "", err
	}
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(briefWindow + 50*time.Millisecond):
	}
	return t.refusal(ctx, agent, got.ID, notOurs(ledger.WindowClosed))
}

func (t *tour) refusedByPlatform(ctx context.Context) (string, error) {
	if err := t.app.Room().Script(room.Fault{Kind: room.FaultRefused, Verb: room.VerbEdit, Org: demoOrg, Times: 1}); err != nil {
		return "", err
	}
	return t.refusal(ctx, t.agent, t.first, refusalOf{outcome.PlatformError, ending{outcome.Rejected, string(arms.CodeForbidden)}})
}

func (t *tour) cut(ctx context.Context) (string, error) {
	if err := t.app.Room().Script(room.Fault{Kind: room.FaultCutAfter, Verb: room.VerbEdit, Org: demoOrg, Times: 1}); err != nil {
		return "", err
	}
	return t.refusal(ctx, t.agent, t.first, refusalOf{outcome.PlatformError, ending{outcome.Ambiguous, string(arms.CodeCut)}})
}

// refusalOf is what a refused edit has to say, to its caller and in its row.
type refusalOf struct {
	reason outcome.Reason
	ending
}

func notOurs(code ledger.Code) refusalOf {
	return refusalOf{outcome.NotOwnPost, ending{outcome.Refused, string(code)}}
}

// refusal edits a message and wants exactly this refusal.
func (t *tour) refusal(ctx context.Context, agent *client.Client, id string, want refusalOf) (string, error) {
	if agent == nil {
		return "", errors.New("there is no turn")
	}
	_, err := agent.Edit(ctx, id, wire.EditRequest{Text: finished})
	var p *client.Error
	if !errors.As(err, &p) {
		return "", fmt.Errorf("want %s, got: %w", want.reason, orNot(err))
	}
	t.expected[p.Attempt] = want.ending
	if want.outcome == outcome.Ambiguous {
		t.doubtful = p.Attempt
	}
	answer := fmt.Sprintf("%d  %s, outcome %s", p.Status, p.Reason, p.Outcome)
	if p.Failure != "" && p.Failure != p.Outcome {
		answer += ", failure " + p.Failure
	}
	failure := want.outcome.Failure()
	if p.Reason != string(want.reason) || p.Outcome != string(want.outcome) || p.Failure != string(failure) ||
		p.Status != outcome.Status(want.reason, want.outcome) {
		return answer, fmt.Errorf("want %s, outcome %s, failure %q", want.reason, want.outcome, failure)
	}
	return answer, nil
}

func orNot(err error) error {
	if err == nil {
		return errors.New("a success")
	}
	return err
}

// resolved waits for what the gateway finds out about the ambiguous edit.
func (t *tour) resolved(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for e, err := range t.host.Events(ctx, t.turn.Turn, "") {
		if err != nil {
			return "", err
		}
		if e.Attempt != t.doubtful {
			continue
		}
		answer := "event  " + e.Kind + ", verdict " + e.Verdict + ", attempt …" + tail(e.Attempt)
		if e.Verdict != string(audit.Seen) {
			return answer, fmt.Errorf("want verdict %s", audit.Seen)
		}
		return answer, nil
	}
	return "", errors.New("nothing was found out")
}

func (t *tour) retract(ctx context.Context) (string, error) {
	if t.agent == nil {
		return "", errors.New("there is no turn")
	}
	got, err := t.agent.Retract(ctx, t.first)
	if err != nil {
		return "", err
	}
	t.expected[got.Attempt] = ending{outcome: outcome.Applied}
	return "200  id " + got.ID + ", attempt …" + tail(got.Attempt), nil
}
