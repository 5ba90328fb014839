package armtest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"stet/arms"
)

const html = "<!doctype html><html><body><h1>Error</h1></body></html>"

type answerCase struct {
	name string
	Canned
	codes []arms.Code
}

// foreign are answers in nobody's schema; each is ambiguous.
func foreign() []answerCase {
	var all []answerCase
	add := func(status int, body string, codes ...arms.Code) {
		name := fmt.Sprintf("%d %.20q", status, body)
		all = append(all, answerCase{name, Canned{Status: status, Body: body}, codes})
	}
	for _, status := range []int{500, 502, 503, 504, 520, 599} {
		add(status, html, arms.CodeServer)
		add(status, "", arms.CodeServer)
	}
	add(408, "", arms.CodeTimeout)
	add(408, html, arms.CodeTimeout)
	for _, status := range []int{400, 401, 403, 404, 407, 409, 410, 413, 418, 422, 429, 431, 451} {
		add(status, html, arms.CodeUnexpected)
		add(status, "", arms.CodeUnexpected)
		add(status, "{}", arms.CodeUnexpected)
	}
	unread := []arms.Code{arms.CodeGarbage, arms.CodeMismatch, arms.CodeUnexpected}
	for _, body := range []string{
		"", " ", html, "null", "true", "[]", "{}", `""`, `{"`, `{"ok":tr`, "{}{}", `{"a":1}x`,
		"\x00\x01\x02", "{\"a\":\"\xff\xfe\"}", `{"id":1,"id":2}`, strings.Repeat("[", 20000),
	} {
		add(http.StatusOK, body, unread...)
	}
	return all
}

// testAnswers: an answer that the platform can't have meant is ambiguous.
func (h Harness) testAnswers(t *testing.T) {
	h.eachWrite(t, func(t *testing.T, b *bench, v verb) {
		for _, c := range foreign() {
			t.Run(c.name, func(t *testing.T) {
				b.check(t, b.call(v, c.route(t), b.h.marker()),
					want{certainty: arms.Ambiguous, codes: c.codes, status: c.Status})
			})
		}
		t.Run("more than can be read", func(t *testing.T) {
			huge := Canned{Status: http.StatusOK, Body: "{}" + strings.Repeat(" ", 1<<20)}
			b.check(t, b.call(v, huge.route(t), b.h.marker()),
				want{certainty: arms.Ambiguous, codes: []arms.Code{arms.CodeOversize}})
		})
	})
}

// testRefusals: the platform's own noes mean what the harness says.
func (h Harness) testRefusals(t *testing.T) {
	if len(h.Refusals) == 0 {
		t.Fatal("the harness names no refusal of the platform")
	}
	h.eachWrite(t, func(t *testing.T, b *bench, v verb) {
		for _, r := range h.Refusals {
			t.Run(r.Name, func(t *testing.T) {
				f := b.check(t, b.call(v, r.route(t), b.h.marker()),
					want{certainty: r.Want.Certainty, codes: []arms.Code{r.Want.Code}, status: r.Status})
				if f != nil && f.RetryAfter != r.Want.RetryAfter {
					t.Errorf("retry after %s, want %s", f.RetryAfter, r.Want.RetryAfter)
				}
			})
		}
	})
}

// testWaits: a 429 is a rejection that says how long to wait.
func (h Harness) testWaits(t *testing.T) {
	h.eachWrite(t, func(t *testing.T, b *bench, v verb) {
		for _, wait := range []time.Duration{time.Second, 30 * time.Second, 20 * time.Minute} {
			t.Run(wait.String(), func(t *testing.T) {
				f := b.check(t, b.call(v, b.h.Limited(wait).route(t), b.h.marker()),
					want{certainty: arms.Rejected, codes: []arms.Code{arms.CodeRateLimited}})
				if f != nil && f.RetryAfter != wait {
					t.Errorf("retry after %s, want %s", f.RetryAfter, wait)
				}
			})
		}
	})
}
