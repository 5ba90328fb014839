package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"stet/gateway/wire"
)

// Filter selects rows of the trail; all that is set must hold.
type Filter struct {
	// Equal holds a column's allowed values, such as "outcome": {"applied"}.
	Equal map[string][]string
	// Since is inclusive, Until exclusive; zero: no bound.
	Since, Until time.Time
}

func (f Filter) query() url.Values {
	q := url.Values{}
	for column, values := range f.Equal {
		q[column] = values
	}
	if !f.Since.IsZero() {
		q.Set("since", f.Since.UTC().Format(time.RFC3339Nano))
	}
	if !f.Until.IsZero() {
		q.Set("until", f.Until.UTC().Format(time.RFC3339Nano))
	}
	return q
}

// Rows is a page of rows, newest first, of at most limit (0: the gateway's
// default) before the row named by before (empty: from the newest on). It
// needs an ops key, as all methods of this file but Health.
func (c *Client) Rows(ctx context.Context, f Filter, limit int, before string) (wire.RowPage, error) {
	q := f.query()
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	if before != "" {
		q.Set("before", before)
	}
	var out wire.RowPage
	err := c.do(ctx, call{method: http.MethodGet, path: "/v1/audit", query: q}, &out)
	return out, err
}

// EachRow yields every matching row, oldest first, as a stream. An error is
// the last thing yielded: a stream that ends without one is complete.
func (c *Client) EachRow(ctx context.Context, f Filter) iter.Seq2[wire.Row, error] {
	return func(yield func(wire.Row, error) bool) {
		k := call{method: http.MethodGet, path: "/v1/audit", query: f.query(), accept: "application/x-ndjson"}
		resp, err := c.send(ctx, k)
		if err != nil {
			yield(wire.Row{}, err)
			return
		}
		defer resp.Body.Close()
		dec := json.NewDecoder(resp.Body)
		for {
			var row wire.Row
			err := dec.Decode(&row)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(wire.Row{}, &Unreachable{fmt.Errorf("the stream broke: %w", err)})
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Export copies every matching row, oldest first, to w in a format: "csv" or
// "ndjson".
func (c *Client) Export(ctx context.Context, f Filter, format string, w io.Writer) error {
	q := f.query()
	q.Set("format", format)
	resp, err := c.send(ctx, call{method: http.MethodGet, path: "/v1/audit", query: q})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	dst := &writeErr{w: w}
	_, err = io.Copy(dst, resp.Body)
	switch {
	case dst.err != nil:
		return dst.err
	case err != nil:
		return &Unreachable{fmt.Errorf("the export broke: %w", err)}
	}
	return nil
}

// writeErr tells the writer's errors from the reader's.
type writeErr struct {
	w   io.Writer
	err error
}

func (w *writeErr) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	w.err = err
	return n, err
}

// CountRows counts matching rows by columns, largest group first.
func (c *Client) CountRows(ctx context.Context, f Filter, by ...string) (wire.Count, error) {
	q := f.query()
	if len(by) > 0 {
		q.Set("by", strings.Join(by, ","))
	}
	var out wire.Count
	err := c.do(ctx, call{method: http.MethodGet, path: "/v1/audit/count", query: q}, &out)
	return out, err
}

// Row is one row of the trail.
func (c *Client) Row(ctx context.Context, id string) (wire.Row, error) {
	var out wire.Row
	err := c.do(ctx, call{method: http.MethodGet, path: "/v1/audit/" + segment(id)}, &out)
	return out, err
}

// CreateKey makes a key and answers its secret, this once.
func (c *Client) CreateKey(ctx context.Context, r wire.KeyRequest) (wire.NewKey, error) {
	var out wire.NewKey
	err := c.do(ctx, call{method: http.MethodPost, path: "/v1/keys", body: r}, &out)
	return out, err
}

// Keys lists the keys that the caller may see.
func (c *Client) Keys(ctx context.Context) ([]wire.Key, error) {
	var out wire.KeyList
	err := c.do(ctx, call{method: http.MethodGet, path: "/v1/keys"}, &out)
	return out.Keys, err
}

// RevokeKey revokes a key at once.
func (c *Client) RevokeKey(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: "/v1/keys/" + segment(id)}, nil)
}

// Health asks whether the process answers. It needs no key.
func (c *Client) Health(ctx context.Context) (wire.Health, error) {
	var out wire.Health
	err := c.do(ctx, call{method: http.MethodGet, path: "/healthz"}, &out)
	return out, err
}

// Ready asks whether the gateway can do its work; an unready gateway is an
// answer, not an error.
func (c *Client) Ready(ctx context.Context) (wire.Ready, error) {
	req, err := c.request(ctx, call{method: http.MethodGet, path: "/readyz"})
	if err != nil {
		return wire.Ready{}, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return wire.Ready{}, &Unreachable{err}
	}
	defer drain(resp.Body)
	var out wire.Ready
	unready := resp.StatusCode == http.StatusServiceUnavailable &&
		strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json")
	if resp.StatusCode != http.StatusOK && !unready {
		return out, readError(resp)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&out); err != nil {
		return out, &Unreachable{fmt.Errorf("the answer could not be read: %w", err)}
	}
	return out, nil
}
