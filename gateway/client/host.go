package client

import (
	"context"
	"iter"
	"net/http"

	"stet/gateway/wire"
)

// BindSession binds a session, replacing an earlier binding. It needs a host
// key, as all methods of this file.
func (c *Client) BindSession(ctx context.Context, session string, r wire.BindRequest) (wire.Session, error) {
	var out wire.Session
	err := c.do(ctx, call{method: http.MethodPut, path: "/v1/sessions/" + segment(session), body: r}, &out)
	return out, err
}

// OpenTurn opens a turn and answers its token.
func (c *Client) OpenTurn(ctx context.Context, r wire.OpenTurnRequest) (wire.OpenedTurn, error) {
	var out wire.OpenedTurn
	err := c.do(ctx, call{method: http.MethodPost, path: "/v1/turns", body: r}, &out)
	return out, err
}

// CloseTurn makes the turn's token dead.
func (c *Client) CloseTurn(ctx context.Context, turn string) (wire.TurnEnd, error) {
	var out wire.TurnEnd
	err := c.do(ctx, call{method: http.MethodPost, path: turnPath(turn, "close")}, &out)
	return out, err
}

// AddEvidence reports an event that the host saw.
func (c *Client) AddEvidence(ctx context.Context, turn string, r wire.EvidenceRequest) (wire.Evidence, error) {
	var out wire.Evidence
	err := c.do(ctx, call{method: http.MethodPost, path: turnPath(turn, "evidence"), body: r}, &out)
	return out, err
}

// AddTranscript reports a tool call that the agent made elsewhere.
func (c *Client) AddTranscript(ctx context.Context, turn string, r wire.TranscriptRequest) error {
	return c.do(ctx, call{method: http.MethodPost, path: turnPath(turn, "transcript"), body: r}, nil)
}

// SawMessage reports a newer inbound message, by the platform's id of it.
func (c *Client) SawMessage(ctx context.Context, turn, message string) error {
	body := wire.ActivityRequest{Message: message}
	return c.do(ctx, call{method: http.MethodPost, path: turnPath(turn, "activity"), body: body}, nil)
}

// Events yields what happened to the turn after its answers were given: first
// what is known already, then, until ctx ends, what is found out. After is the
// id of the last event seen, empty for all. An error is the last thing yielded.
func (c *Client) Events(ctx context.Context, turn, after string) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) {
		k := call{method: http.MethodGet, path: turnPath(turn, "events"), accept: "text/event-stream"}
		if after != "" {
			k.header = http.Header{"Last-Event-Id": {after}}
		}
		resp, err := c.send(ctx, k)
		if err != nil {
			yield(wire.Event{}, err)
			return
		}
		defer resp.Body.Close()
		readEvents(resp.Body, yield)
	}
}

func turnPath(turn, what string) string { return "/v1/turns/" + segment(turn) + "/" + what }
