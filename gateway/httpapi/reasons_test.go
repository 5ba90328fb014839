package httpapi

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"stet/gateway"
	"stet/gateway/outcome"
)

// TestEveryReasonHasItsStatusThroughHTTP holds every reason and outcome that
// the pipeline can give to the contract's table.
func TestEveryReasonHasItsStatusThroughHTTP(t *testing.T) {
	want := map[outcome.Reason]int{
		"bad-request": 400, "unauthorized": 401, "forbidden": 403, "not-found": 404, "too-large": 413,
		"in-progress": 409, "idempotency-mismatch": 422, "overloaded": 503, "draining": 503, "internal": 500,
		"not-own-post": 403, "no-edit-arm": 422, "no-retract-arm": 422, "no-read-arm": 422, "no-arm": 422,
		"no-locus": 409, "untrusted-service-url": 422, "turn-ambiguous": 409, "turn-partial": 409,
		"turn-answered": 409, "turn-declined": 409, "turn-stale": 409, "invalid-text": 422, "text-too-long": 422,
		"nothing-left": 422, "claim-refused": 422, "denied": 403, "message-busy": 409, "superseded": 409,
		"rate-limited": 429, "platform-error": 502, "ledger-unavailable": 503, "audit-unavailable": 503,
		"interrupted": 504,
	}
	d := open(t)
	token := d.turn("acme").Token
	for _, r := range outcome.Reasons() {
		status, ok := want[r]
		if !ok {
			t.Errorf("%s has no status in the contract", r)
		}
		for _, o := range append(outcome.Outcomes(), "") {
			expect := status
			if r == outcome.PlatformError && o == outcome.Ambiguous {
				expect = http.StatusGatewayTimeout
			}
			d.verbs.problem = &gateway.Problem{
				Reason: r, Outcome: o, Failure: o.Failure(), Attempt: "a-7", Detail: "what to do now",
				RetryAfter: 1500 * time.Millisecond,
			}
			resp := d.ask(http.MethodPatch, "/v1/replies/m1", token, `{"text":"x"}`)
			p := resp.problem(expect, string(r))
			if p.Outcome != string(o) || p.Failure != string(o.Failure()) || p.Attempt != "a-7" || p.Detail != "what to do now" {
				t.Errorf("%s, %s: %s", r, o, resp.body)
			}
			if p.RetryAfter != 2 || resp.header.Get("Retry-After") != "2" {
				t.Errorf("%s: to wait %d s, header %q; want 2, rounded up", r, p.RetryAfter, resp.header.Get("Retry-After"))
			}
			if p.Recorded != nil {
				t.Errorf("%s: recorded is %v, want it left out", r, *p.Recorded)
			}
		}
	}
}

func TestAnUnrecordedOutcomeSaysSo(t *testing.T) {
	d := open(t)
	d.verbs.problem = &gateway.Problem{
		Reason: outcome.AuditUnavailable, Outcome: outcome.Ambiguous, Failure: outcome.AmbiguousFailure,
		Attempt: "a-7", Detail: "x", Unrecorded: true,
	}
	p := d.ask(http.MethodPost, "/v1/replies", d.turn("acme").Token, `{"text":"x"}`).problem(503, "audit-unavailable")
	if p.Recorded == nil || *p.Recorded || p.Outcome != "ambiguous" {
		t.Errorf("got %+v", p)
	}
}

func TestEveryVerbAnswersItsProblem(t *testing.T) {
	d := open(t)
	token := d.turn("acme").Token
	d.verbs.problem = &gateway.Problem{Reason: outcome.NotOwnPost, Outcome: outcome.Refused, Attempt: "a", Detail: "x"}
	d.ask(http.MethodPost, "/v1/replies", token, `{"text":"x"}`).problem(403, "not-own-post")
	d.ask(http.MethodPatch, "/v1/replies/m", token, `{"text":"x"}`).problem(403, "not-own-post")
	d.ask(http.MethodDelete, "/v1/replies/m", token, "").problem(403, "not-own-post")
}

func TestStoreFailureIsAuditUnavailableAndNothingIsDone(t *testing.T) {
	d := open(t)
	opened := d.turn("acme")
	d.must(d.store.Close())
	calls := []struct{ method, path, key, body string }{
		{"POST", "/v1/turns", d.host, `{"session":"s","wake":{"id":"w"}}`},
		{"PUT", "/v1/sessions/s", d.host, `{"org":"o","workspace":"w","surface":"s","principal":"p"}`},
		{"POST", "/v1/replies", opened.Token, `{"text":"x"}`},
		{"GET", "/v1/turn", opened.Token, ""},
		{"GET", "/v1/audit", d.ops, ""},
		{"GET", "/v1/keys", d.ops, ""},
	}
	for _, c := range calls {
		p := d.ask(c.method, c.path, c.key, c.body).problem(503, "audit-unavailable")
		if p.Outcome != "" || p.RetryAfter == 0 {
			t.Errorf("%s %s: %+v", c.method, c.path, p)
		}
	}
	if d.verbs.calls() != 0 {
		t.Error("a verb ran")
	}
}

func TestWhileDrainingNothingNewIsTakenAndTheRestGoesOn(t *testing.T) {
	draining := false
	d := open(t, func(o *Options) { o.Draining = func() bool { return draining } })
	opened := d.turn("acme")
	draining = true
	for _, c := range []struct{ method, path, key, body string }{
		{"POST", "/v1/turns", d.host, `{"session":"s","wake":{"id":"w"}}`},
		{"POST", "/v1/replies", opened.Token, `{"text":"x"}`},
		{"PATCH", "/v1/replies/m", opened.Token, `{"text":"x"}`},
		{"DELETE", "/v1/replies/m", opened.Token, ""},
	} {
		p := d.ask(c.method, c.path, c.key, c.body).problem(503, "draining")
		if p.RetryAfter == 0 {
			t.Errorf("%s %s gives no advice", c.method, c.path)
		}
	}
	if d.verbs.calls() != 0 {
		t.Error("a verb ran")
	}
	d.ask("POST", "/v1/replies", "nobody", `{"text":"x"}`).problem(401, "unauthorized")
	d.ask("GET", "/v1/turn", opened.Token, "").want(200)
	d.ask("POST", "/v1/turns/"+opened.Turn+"/close", d.host, "").want(200)
	d.ask("GET", "/healthz", "", "").want(200)
	d.ask("GET", "/readyz", "", "").want(503)
}

func TestSecondsToWaitAreRoundedUp(t *testing.T) {
	for d, want := range map[time.Duration]int{
		0: 0, -1: 0, 1: 1, time.Second: 1, time.Second + 1: 2, time.Minute: 60,
	} {
		if got := seconds(d); got != want {
			t.Errorf("%s: %s s, want %d", d, strconv.Itoa(got), want)
		}
	}
}
