package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"stet/gateway"
	"stet/gateway/outcome"
	"stet/gateway/wire"
)

func TestAPanicIsAnAnswerAndItsValueIsNotLogged(t *testing.T) {
	d := open(t)
	token := d.turn("acme").Token
	d.verbs.hook = func(context.Context) { panic("canary-panic") }
	d.ask("POST", "/v1/replies", token, `{"text":"x"}`).problem(500, "internal")
	d.verbs.hook = nil
	d.ask("POST", "/v1/replies", token, `{"text":"x"}`).want(201)
	d.stop()
	log := d.log.String()
	if strings.Contains(log, "canary-panic") || !strings.Contains(log, "a handler panicked") {
		t.Errorf("the log is %s", log)
	}
}

// TestI6NoSecretAndNoInputIsEverLogged sends canaries in every place that a
// caller fills, on ways that end well and badly.
func TestI6NoSecretAndNoInputIsEverLogged(t *testing.T) {
	d := open(t)
	opened := d.turn("acme")
	secrets := []string{"canary", opened.Token, d.host, d.ops, d.acmeOps, d.reviewer}
	for _, key := range []string{opened.Token, d.host, d.ops, "canary-key-canary-key-canary-key-canary-key"} {
		for _, c := range []struct{ method, path, body string }{
			{"POST", "/v1/replies", `{"text":"canary-text"}`},
			{"POST", "/v1/replies", `{"text":"canary-text","canary-field":1}`},
			{"PATCH", "/v1/replies/canary-id", `{"text":"canary-text"}`},
			{"DELETE", "/v1/replies/canary-id%0A", ""},
			{"PUT", "/v1/sessions/canary-session", `{"org":"canary-org","workspace":"w","surface":"s","principal":"p"}`},
			{"POST", "/v1/turns", `{"session":"canary-session","wake":{"id":"canary-wake"}}`},
			{"POST", "/v1/turns/canary-turn/evidence", `{"kind":"canary"}`},
			{"POST", "/v1/turns/" + opened.Turn + "/transcript", `{"call":"canary","name":"canary","args":"canary"}`},
			{"GET", "/v1/audit?session=canary&canary=canary", ""},
			{"GET", "/v1/audit/canary", ""},
			{"GET", "/v1/canary", ""},
			{"CANARY", "/v1/turn", ""},
			{"POST", "/v1/keys", `{"name":"canary","scopes":["ops"],"all_orgs":true}`},
		} {
			d.verbs.problem = nil
			if strings.HasSuffix(c.body, `text"}`) {
				d.verbs.problem = &gateway.Problem{Reason: outcome.PlatformError, Outcome: outcome.Ambiguous, Detail: "canary-detail", Attempt: "attempt-9"}
			}
			d.ask(c.method, c.path, key, c.body, "Idempotency-Key", "canary-idempotency", "User-Agent", "canary-agent")
		}
	}
	d.stop()
	log := strings.ToLower(d.log.String())
	for _, s := range secrets {
		if strings.Contains(log, strings.ToLower(s)) {
			t.Errorf("the log holds %q", s)
		}
	}
	if !strings.Contains(log, `"route":"patch /v1/replies/{id}"`) || !strings.Contains(log, `"attempt":"attempt-9"`) {
		t.Errorf("the log does not say what happened: %s", log)
	}
	var b strings.Builder
	families, err := d.metrics.Gather()
	d.must(err)
	for _, f := range families {
		fmt.Fprintln(&b, f)
	}
	if strings.Contains(strings.ToLower(b.String()), "canary") {
		t.Error("a metric's label holds what a caller sent")
	}
}

func TestEveryRequestIsOneLogLine(t *testing.T) {
	d := open(t)
	opened := d.turn("acme")
	d.ask("POST", "/v1/replies", opened.Token, `{"text":"x"}`).want(201)
	d.ask("GET", "/nothing", "", "").want(404)
	d.stop()
	lines := strings.Split(strings.TrimSpace(d.log.String()), "\n")
	want := []string{"POST POST /v1/turns 201 ", "POST POST /v1/replies 201 a1", "GET none 404 "}
	var got []string
	for _, l := range lines {
		var e struct {
			Method, Route, Attempt string
			Status                 int
		}
		d.must(json.Unmarshal([]byte(l), &e))
		got = append(got, fmt.Sprintf("%s %s %d %s", e.Method, e.Route, e.Status, e.Attempt))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMetricsOfTheDoorAreThereFromTheStart(t *testing.T) {
	d := open(t)
	n, err := testutil.GatherAndCount(d.metrics, "stet_http_requests_total")
	d.must(err)
	if want := 4 * (len(routesOf(t)) + 1); n != want {
		t.Errorf("%d series at the start, want %d", n, want)
	}
	d.ask("GET", "/v1/turn", "", "").want(401)
	d.ask("GET", "/v1/nothing", "", "").want(404)
	d.stop()
	err = testutil.GatherAndCompare(d.metrics, strings.NewReader(`
# HELP stet_http_requests_in_flight Requests that are being answered.
# TYPE stet_http_requests_in_flight gauge
stet_http_requests_in_flight 0
`), "stet_http_requests_in_flight")
	if err != nil {
		t.Error(err)
	}
	families, err := d.metrics.Gather()
	d.must(err)
	counted := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "stet_http_requests_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			counted[m.GetLabel()[0].GetValue()+" "+m.GetLabel()[1].GetValue()] = m.GetCounter().GetValue()
		}
	}
	if counted["GET /v1/turn 4xx"] != 1 || counted["none 4xx"] != 1 {
		t.Errorf("counted %v", counted)
	}
	if problems, err := testutil.GatherAndLint(d.metrics); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

func TestEveryAnswerHasItsSecurityHeaders(t *testing.T) {
	d := open(t)
	for _, path := range []string{"/v1/turn", "/v1/audit", "/nothing", "/healthz", "/docs", "/openapi.json"} {
		h := d.ask("GET", path, d.ops, "").header
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") == "" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", path, h)
		}
		if strings.HasPrefix(path, "/v1/") && h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s may be kept: %q", path, h.Get("Cache-Control"))
		}
	}
}

func TestAnAddressSaysWhichMethodsItTakes(t *testing.T) {
	d := open(t)
	for path, want := range map[string]string{
		"/v1/replies/x": "PATCH, DELETE", "/v1/turns": "POST", "/v1/audit/x": "GET", "/v1/keys": "GET, POST", "/healthz": "GET",
	} {
		for _, m := range []string{"PUT", "OPTIONS", "MADEUP"} {
			r := d.ask(m, path, "", "")
			r.problem(405, "not-found")
			if got := r.header.Get("Allow"); got != want {
				t.Errorf("%s %s: allows %q, want %q", m, path, got, want)
			}
		}
	}
}

func TestNoCredentialIsSentOnByARedirect(t *testing.T) {
	d := open(t)
	for _, path := range []string{"/v1/turn/", "/v1/./turn", "//v1/turn", "/v1/turns/../turn", "/v1/replies/.", "/v1/replies/.."} {
		d.ask("GET", path, d.ops, "").problem(404, "not-found")
	}
	if r := d.ask("GET", "/", "", ""); r.status != http.StatusSeeOther || r.header.Get("Location") != "/docs" {
		t.Errorf("the front door answers %d to %q", r.status, r.header.Get("Location"))
	}
}

func TestReadyTellsWhatItWasTold(t *testing.T) {
	state := wire.Ready{Ready: false, Checks: []wire.Check{{Name: "audit store", Needed: true, Detail: "locked"}}}
	d := open(t, func(o *Options) { o.Ready = func(context.Context) wire.Ready { return state } })
	var got wire.Ready
	d.ask("GET", "/readyz", "", "").want(503).into(&got)
	if got.Ready || len(got.Checks) != 1 || got.Checks[0].Detail != "locked" {
		t.Errorf("got %+v", got)
	}
	state = wire.Ready{Ready: true}
	if r := d.ask("GET", "/readyz", "", "").want(200); r.body != `{"ready":true,"checks":[]}`+"\n" {
		t.Errorf("got %s", r.body)
	}
}

func TestADoorWithoutItsPartsIsNotMade(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("it was made")
	}
}
