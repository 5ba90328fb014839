package armhttp

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"stet/arms"
)

// DefaultMaxAnswer is the largest answer body that is read, in bytes.
const DefaultMaxAnswer = 256 << 10

// Options says how a [Client] sends. The zero value is what production uses.
type Options struct {
	// Transport sends the requests; nil means [NewTransport]. The package
	// comment says what an injected one can prove.
	Transport http.RoundTripper
	// Version goes into the user agent, "stet/<version>"; empty means "dev".
	Version string
	// MaxAnswer is the largest body in bytes; 0 means [DefaultMaxAnswer].
	MaxAnswer int64
	// Now is the clock that HTTP dates are held against; nil means time.Now.
	Now func() time.Time
}

// Client sends single requests. It is safe for concurrent use.
type Client struct {
	transport http.RoundTripper
	agent     string
	maxAnswer int64
	now       func() time.Time
}

// New makes a client.
func New(o Options) *Client {
	c := &Client{transport: o.Transport, agent: "stet/dev", maxAnswer: o.MaxAnswer, now: o.Now}
	if c.transport == nil {
		c.transport = NewTransport(TransportOptions{})
	}
	if o.Version != "" {
		c.agent = "stet/" + o.Version
	}
	if c.maxAnswer <= 0 {
		c.maxAnswer = DefaultMaxAnswer
	}
	if c.now == nil {
		c.now = time.Now
	}
	return c
}

// CloseIdle closes the connections that no request is using.
func (c *Client) CloseIdle() {
	if t, ok := c.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// Request is one request to a platform.
type Request struct {
	Method string
	// URL is absolute. It appears in no fault.
	URL    string
	Header http.Header
	// Bearer, when set, is sent as the Authorization header.
	Bearer Secret
	Body   []byte
}

// Answer is a complete answer of any status.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	// RetryAfter is how long the platform asked to wait; 0: it did not say.
	RetryAfter time.Duration
}

// Do sends exactly one request and reads its answer. The fault is NotSent only
// when no byte can have left. Do returns when the context is over, as far as
// the transport honours it.
func (c *Client) Do(ctx context.Context, r Request) (Answer, *arms.Fault) {
	if f := spent(ctx); f != nil {
		return Answer{}, f
	}
	seen := &evidence{}
	req, err := c.build(httptrace.WithClientTrace(ctx, seen.trace()), r)
	if err != nil {
		return Answer{}, notSent(arms.CodeUnsupported)
	}
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return Answer{}, seen.fault(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return c.read(resp)
}

func (c *Client) build(ctx context.Context, r Request) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, nil)
	if err != nil {
		return nil, err
	}
	if len(r.Body) > 0 {
		// Set by hand: http.NewRequest would also set GetBody, and with it
		// the transport may send the request a second time.
		req.Body = io.NopCloser(bytes.NewReader(r.Body))
		req.ContentLength = int64(len(r.Body))
	}
	req.Header = outward(r.Header)
	req.Header.Set("User-Agent", c.agent)
	if r.Bearer != "" {
		req.Header.Set("Authorization", "Bearer "+r.Bearer.Reveal())
	}
	return req, nil
}

// outward copies h without the headers that make Go's transport repeat a
// request that failed.
func outward(h http.Header) http.Header {
	out := h.Clone()
	if out == nil {
		return http.Header{}
	}
	maps.DeleteFunc(out, func(name string, _ []string) bool {
		return strings.EqualFold(name, "Idempotency-Key") || strings.EqualFold(name, "X-Idempotency-Key")
	})
	return out
}

func (c *Client) read(resp *http.Response) (Answer, *arms.Fault) {
	a := Answer{Status: resp.StatusCode, Header: resp.Header, RetryAfter: RetryAfter(resp.Header, c.now())}
	if a.Status < 200 {
		// A switched protocol has a body that never ends.
		return a, a.Unexpected()
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.maxAnswer+1))
	switch {
	case err != nil:
		return a, a.ambiguous(brokenCode(err, true))
	case int64(len(body)) > c.maxAnswer:
		return a, a.ambiguous(arms.CodeOversize)
	}
	a.Body = body
	return a, nil
}
