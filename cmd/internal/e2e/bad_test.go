package e2e

import (
	"strings"
	"testing"
	"time"

	"stet/gateway/outcome"
)

// TestABadRequestOfEachKindChangesNothing: a clear error, no row, no attempt,
// no request to the room.
func TestABadRequestOfEachKindChangesNothing(t *testing.T) {
	c := &clock{}
	b := boot(t, c.set)
	expired := b.turn(in{ttl: "1m"})
	a := b.turn()
	id := b.post(a, "hello")
	umbrella := b.turn(in{org: "umbrella"})
	c.forward(time.Minute)
	tests := []struct {
		what, method, path, key, body string
		reason                        outcome.Reason
		detail                        string
	}{
		{"an unknown field", "PATCH", "/v1/replies/" + id, a.token, `{"text":"x","colour":"red"}`, outcome.BadRequest, "colour is not a field"},
		{"a wrong type", "PATCH", "/v1/replies/" + id, a.token, `{"text":["x"]}`, outcome.BadRequest, "text must be a string"},
		{"a field twice", "PATCH", "/v1/replies/" + id, a.token, `{"text":"x","text":"y"}`, outcome.BadRequest, "twice"},
		{"no JSON", "PATCH", "/v1/replies/" + id, a.token, `text=x`, outcome.BadRequest, "JSON"},
		{"a huge body", "PATCH", "/v1/replies/" + id, a.token, `{"text":"` + strings.Repeat("a", 1<<20) + `"}`, outcome.TooLarge, "1 MiB"},
		{"invalid UTF-8", "POST", "/v1/replies", a.token, "{\"text\":\"x\",\"format\":\"\xff\"}", outcome.BadRequest, "UTF-8"},
		{"a control character in an id", "PATCH", "/v1/replies/m%0a1", a.token, `{"text":"x"}`, outcome.BadRequest, "control characters"},
		{"an endless id", "DELETE", "/v1/replies/" + strings.Repeat("m", 513), a.token, "", outcome.BadRequest, "512 bytes"},
		{"a control character in a session", "PUT", "/v1/sessions/s%00", b.app.HostKey(), `{"org":"o","workspace":"w","surface":"s","principal":"p"}`, outcome.BadRequest, "control characters"},
		{"an expired token", "PATCH", "/v1/replies/" + id, expired.token, `{"text":"x"}`, outcome.Unauthorized, "expired"},
		{"no token", "PATCH", "/v1/replies/" + id, "", `{"text":"x"}`, outcome.Unauthorized, "Bearer"},
		{"a wrong plane", "PATCH", "/v1/replies/" + id, b.app.HostKey(), `{"text":"x"}`, outcome.Forbidden, "turn token"},
		{"another wrong plane", "POST", "/v1/turns", a.token, `{"session":"s","wake":{"id":"w"}}`, outcome.Forbidden, "host key"},
		{"an unknown turn", "POST", "/v1/turns/" + id + "/close", b.app.HostKey(), "", outcome.NotFound, "no such thing"},
		{"no such address", "POST", "/v1/reply", a.token, `{"text":"x"}`, outcome.NotFound, "/docs"},
	}
	before := b.size()
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			got := b.call(tt.method, tt.path, tt.key, tt.body)
			p := got.problem()
			want(t, p, tt.reason, "")
			if !strings.Contains(p.Detail, tt.detail) || p.Attempt != "" || got.header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%d %s", got.status, got.body)
			}
			if after := b.size(); after != before {
				t.Errorf("something changed: %+v, before %+v", after, before)
			}
		})
	}
	// Another organization's turn is a good token that finds nothing: an attempt
	// with its own row, and nothing else.
	want(t, refusal(t, umbrella.do(t, "edit", id)), outcome.NotOwnPost, outcome.Refused)
	if after := b.size(); after.received != before.received || after.rows != before.rows+1 {
		t.Errorf("%+v, before %+v", after, before)
	}
	if m := b.truth().Messages[0]; m.Text != "hello" || m.Deleted {
		t.Errorf("the room shows %+v", m)
	}
}
