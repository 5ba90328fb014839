package armtest

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"stet/arms"
)

// testRedirects: a redirect is an answer. Nobody goes where it points, with a
// token or without.
func (h Harness) testRedirects(t *testing.T) {
	h.eachWrite(t, func(t *testing.T, b *bench, v verb) {
		trap := newPeer(t, raw(Canned{Status: 200, Body: "{}"}.bytes()))
		for _, status := range []int{300, 301, 302, 303, 304, 307, 308} {
			t.Run(strconv.Itoa(status), func(t *testing.T) {
				away := Canned{Status: status, Header: http.Header{"Location": {"http://" + trap.address() + "/"}}}
				b.check(t, b.call(v, away.route(t), b.h.marker()),
					want{certainty: arms.Ambiguous, codes: []arms.Code{arms.CodeRedirect}, status: status})
			})
		}
		if n := trap.connections(); n != 0 {
			t.Errorf("%d connections to where the redirects pointed", n)
		}
	})
}

// testWrongID: a success that names another message than the one asked for is
// ambiguous. The answers are the platform's, with the id changed on the way.
func (h Harness) testWrongID(t *testing.T) {
	h.eachWrite(t, func(t *testing.T, b *bench, v verb) {
		if v.name == "post" {
			return // nobody asked for an id; the arm's own test knows what else ties the answer
		}
		id := string(b.ref.ID)
		other := id[:len(id)-1] + string('a'+(id[len(id)-1]+1)%26)
		err := b.call(v, func(r *http.Request) (*http.Response, error) {
			resp, err := b.wire.real.RoundTrip(r)
			if err != nil {
				return nil, err
			}
			return swapped(resp, id, other)
		}, b.h.marker())
		b.check(t, err, want{certainty: arms.Ambiguous, codes: []arms.Code{arms.CodeMismatch}})
	})
}

func swapped(resp *http.Response, from, to string) (*http.Response, error) {
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader([]byte(strings.ReplaceAll(string(body), from, to))))
	resp.ContentLength = -1
	return resp, nil
}
