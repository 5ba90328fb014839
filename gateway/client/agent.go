package client

import (
	"context"
	"net/http"

	"stet/gateway/wire"
)

// Reply posts a message where the turn's locus says. It needs a turn token.
func (c *Client) Reply(ctx context.Context, r wire.ReplyRequest, opts ...CallOption) (wire.Replied, error) {
	var out wire.Replied
	err := c.do(ctx, call{method: http.MethodPost, path: "/v1/replies", body: r, opts: opts}, &out)
	return out, err
}

// Edit replaces the text of an own message. It needs a turn token.
func (c *Client) Edit(ctx context.Context, id string, r wire.EditRequest, opts ...CallOption) (wire.Edited, error) {
	var out wire.Edited
	err := c.do(ctx, call{method: http.MethodPatch, path: "/v1/replies/" + segment(id), body: r, opts: opts}, &out)
	return out, err
}

// Retract removes an own message, all its parts. It needs a turn token.
func (c *Client) Retract(ctx context.Context, id string, opts ...CallOption) (wire.Retracted, error) {
	var out wire.Retracted
	err := c.do(ctx, call{method: http.MethodDelete, path: "/v1/replies/" + segment(id), opts: opts}, &out)
	return out, err
}

// Turn is what the token's turn holds. It needs a turn token.
func (c *Client) Turn(ctx context.Context) (wire.Turn, error) {
	var out wire.Turn
	err := c.do(ctx, call{method: http.MethodGet, path: "/v1/turn"}, &out)
	return out, err
}

// Decline declines to answer in this turn. It needs a turn token.
func (c *Client) Decline(ctx context.Context) (wire.TurnEnd, error) {
	var out wire.TurnEnd
	err := c.do(ctx, call{method: http.MethodPost, path: "/v1/turn/decline"}, &out)
	return out, err
}
