package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxAnswer bounds an answer that is read whole.
const maxAnswer = 32 << 20

// Client talks to one gateway with one credential. It is safe for concurrent
// use.
type Client struct {
	base string
	key  string
	http *http.Client
}

// Option changes a client.
type Option func(*Client)

// WithKey sets the credential: a host key, a turn token or an ops key.
func WithKey(key string) Option { return func(c *Client) { c.key = key } }

// WithHTTPClient sets the HTTP client to use; its redirect policy is replaced,
// since a credential must not travel to another address.
func WithHTTPClient(h *http.Client) Option {
	return func(c *Client) {
		own := *h
		c.http = &own
	}
}

// New makes a client for the gateway at baseURL, such as http://127.0.0.1:8484.
func New(baseURL string, opts ...Option) (*Client, error) {
	u, err := url.Parse(baseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("client: the gateway's address must be an http or https URL")
	}
	c := &Client{base: strings.TrimRight(u.String(), "/"), http: &http.Client{}}
	for _, o := range opts {
		o(c)
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// With makes a client for the same gateway that uses another credential.
func (c *Client) With(key string) *Client {
	other := *c
	other.key = key
	return &other
}

// CallOption changes one call.
type CallOption func(*http.Request)

// IdempotencyKey names the call, so that making it again has no second effect.
func IdempotencyKey(key string) CallOption {
	return func(r *http.Request) { r.Header.Set("Idempotency-Key", key) }
}

// call is one request as the methods describe it.
type call struct {
	method, path string
	query        url.Values
	body         any
	accept       string
	header       http.Header
	opts         []CallOption
}

// do makes a call and reads its answer into out, which may be nil.
func (c *Client) do(ctx context.Context, k call, out any) error {
	resp, err := c.send(ctx, k)
	if err != nil {
		return err
	}
	defer drain(resp.Body)
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(out); err != nil {
		return &Unreachable{fmt.Errorf("the answer could not be read: %w", err)}
	}
	return nil
}

// send makes a call and answers the response of a success, body unread.
func (c *Client) send(ctx context.Context, k call) (*http.Response, error) {
	req, err := c.request(ctx, k)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, &Unreachable{err}
	}
	if resp.StatusCode/100 != 2 {
		defer drain(resp.Body)
		return nil, readError(resp)
	}
	return resp, nil
}

func (c *Client) request(ctx context.Context, k call) (*http.Request, error) {
	var body io.Reader
	if k.body != nil {
		b, err := json.Marshal(k.body)
		if err != nil {
			return nil, fmt.Errorf("client: encode the request: %w", err)
		}
		body = bytes.NewReader(b)
	}
	target := c.base + k.path
	if len(k.query) > 0 {
		target += "?" + k.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, k.method, target, body)
	if err != nil {
		return nil, errors.New("client: the request has no valid address")
	}
	req.Header.Set("Accept", "application/json")
	if k.accept != "" {
		req.Header.Set("Accept", k.accept)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	for name, values := range k.header {
		req.Header[name] = values
	}
	for _, o := range k.opts {
		o(req)
	}
	return req, nil
}

// segment escapes an id so that it stays one path segment, whatever it holds:
// a client or a proxy would take a bare dot segment for a way up.
func segment(id string) string {
	if strings.Trim(id, ".") == "" {
		return strings.ReplaceAll(id, ".", "%2E")
	}
	return url.PathEscape(id)
}

// drain lets the connection be used again.
func drain(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 64<<10)
	_ = body.Close()
}
