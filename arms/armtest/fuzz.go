package armtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
)

// Fuzz gives an arm any answer to any verb. Nothing may panic, every failure
// is a fault, and a write succeeds only on a 2xx answer that names the message.
func Fuzz(f *testing.F, h Harness) {
	b := h.bench(f)
	id := string(b.ref.ID)
	for _, c := range foreign() {
		f.Add(c.Status, []byte(c.Body), 0)
	}
	for _, r := range h.Refusals {
		f.Add(r.Status, []byte(r.Body), 1)
	}
	verbs := append(b.writes(), b.reads()...)
	for i, v := range verbs {
		body, err := b.answerOf(v)
		if err != nil {
			f.Fatalf("%s on a working platform: %v", v.name, err)
		}
		f.Add(http.StatusOK, body, i)
		f.Add(http.StatusForbidden, body, i)
	}
	f.Fuzz(func(t *testing.T, status int, body []byte, which int) {
		if status < 100 || status > 999 {
			return
		}
		v := verbs[uint(which)%uint(len(verbs))]
		err := b.call(v, canned(status, body), h.marker())
		if err != nil {
			if _, wrong := faultOf(err, h.Secrets); len(wrong) > 0 {
				t.Error(wrong)
			}
			return
		}
		if status/100 != 2 {
			t.Errorf("%s: success on status %d", v.name, status)
		}
		if (v.name == "edit" || v.name == "retract" || v.name == "fetch") && !names(body, id) {
			t.Errorf("%s: success on an answer that doesn't name the message", v.name)
		}
	})
}

func canned(status int, body []byte) route {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, Header: http.Header{}, Request: r,
			Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		}, nil
	}
}

// answerOf is the platform's real answer to a verb.
func (b *bench) answerOf(v verb) (body []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	b.wire.reset(func(r *http.Request) (*http.Response, error) {
		resp, err := b.wire.real.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		if body, err = io.ReadAll(resp.Body); err != nil {
			return nil, err
		}
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return resp, nil
	})
	err = v.do(ctx, b, b.h.marker())
	return body, err
}

// names says whether a body holds an id, in whatever escapes.
func names(body []byte, id string) bool {
	var any any
	if json.Unmarshal(body, &any) != nil {
		return false
	}
	plain, err := json.Marshal(any)
	return err == nil && bytes.Contains(plain, []byte(id))
}
