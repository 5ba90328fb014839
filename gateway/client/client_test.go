package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"stet/gateway/client"
	"stet/gateway/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seen is a request as a server got it.
type seen struct {
	method, uri, body string
	header            http.Header
}

// serve answers every request the same and remembers the last one.
func serve(t *testing.T, status int, kind, body string) (*client.Client, *seen) {
	t.Helper()
	last := &seen{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*last = seen{r.Method, r.RequestURI, string(b), r.Header}
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(srv.Close)
	own := srv.Client()
	c, err := client.New(srv.URL+"/", client.WithKey("secret"), client.WithHTTPClient(own))
	if err != nil {
		t.Fatal(err)
	}
	return c, last
}

func TestEveryCallIsTheOneThatItsNameSays(t *testing.T) {
	ctx := context.Background()
	tests := []struct {
		name string
		call func(*client.Client) error
		want string
		body string
	}{
		{"bind", func(c *client.Client) error { _, err := c.BindSession(ctx, "a/b", wire.BindRequest{}); return err },
			"PUT /v1/sessions/a%2Fb", `{"workspace":"","surface":"","principal":""}`},
		{"open", func(c *client.Client) error {
			_, err := c.OpenTurn(ctx, wire.OpenTurnRequest{Session: "s", Wake: wire.Wake{ID: "w"}})
			return err
		}, "POST /v1/turns", `{"session":"s","wake":{"id":"w"}}`},
		{"close", func(c *client.Client) error { _, err := c.CloseTurn(ctx, "t"); return err }, "POST /v1/turns/t/close", ""},
		{"evidence", func(c *client.Client) error {
			_, err := c.AddEvidence(ctx, "t", wire.EvidenceRequest{Kind: "k"})
			return err
		},
			"POST /v1/turns/t/evidence", `{"kind":"k"}`},
		{"transcript", func(c *client.Client) error {
			return c.AddTranscript(ctx, "t", wire.TranscriptRequest{Call: "c", Name: "n", Args: json.RawMessage(`{"a":1}`)})
		}, "POST /v1/turns/t/transcript", `{"call":"c","name":"n","args":{"a":1}}`},
		{"activity", func(c *client.Client) error { return c.SawMessage(ctx, "t", "m") }, "POST /v1/turns/t/activity", `{"message":"m"}`},
		{"reply", func(c *client.Client) error { _, err := c.Reply(ctx, wire.ReplyRequest{Text: "<x>"}); return err },
			"POST /v1/replies", `{"text":"\u003cx\u003e"}`},
		{"edit", func(c *client.Client) error { _, err := c.Edit(ctx, "..", wire.EditRequest{Text: "x"}); return err },
			"PATCH /v1/replies/%2E%2E", `{"text":"x"}`},
		{"retract", func(c *client.Client) error { _, err := c.Retract(ctx, "a?b#c%d"); return err }, "DELETE /v1/replies/a%3Fb%23c%25d", ""},
		{"turn", func(c *client.Client) error { _, err := c.Turn(ctx); return err }, "GET /v1/turn", ""},
		{"decline", func(c *client.Client) error { _, err := c.Decline(ctx); return err }, "POST /v1/turn/decline", ""},
		{"rows", func(c *client.Client) error {
			_, err := c.Rows(ctx, client.Filter{Equal: map[string][]string{"org": {"a", "b"}}, Since: time.Unix(0, 0)}, 5, "r")
			return err
		}, "GET /v1/audit?before=r&limit=5&org=a&org=b&since=1970-01-01T00%3A00%3A00Z", ""},
		{"count", func(c *client.Client) error {
			_, err := c.CountRows(ctx, client.Filter{}, "org", "outcome")
			return err
		},
			"GET /v1/audit/count?by=org%2Coutcome", ""},
		{"row", func(c *client.Client) error { _, err := c.Row(ctx, "r"); return err }, "GET /v1/audit/r", ""},
		{"export", func(c *client.Client) error { return c.Export(ctx, client.Filter{}, "csv", io.Discard) }, "GET /v1/audit?format=csv", ""},
		{"create key", func(c *client.Client) error {
			_, err := c.CreateKey(ctx, wire.KeyRequest{Name: "n", Scopes: []string{"ops"}, AllOrgs: true})
			return err
		}, "POST /v1/keys", `{"name":"n","scopes":["ops"],"all_orgs":true}`},
		{"keys", func(c *client.Client) error { _, err := c.Keys(ctx); return err }, "GET /v1/keys", ""},
		{"revoke", func(c *client.Client) error { return c.RevokeKey(ctx, "k") }, "DELETE /v1/keys/k", ""},
		{"health", func(c *client.Client) error { _, err := c.Health(ctx); return err }, "GET /healthz", ""},
		{"ready", func(c *client.Client) error { _, err := c.Ready(ctx); return err }, "GET /readyz", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, last := serve(t, 200, "application/json", "{}")
			if err := tt.call(c); err != nil {
				t.Fatal(err)
			}
			if got := last.method + " " + last.uri; got != tt.want || last.body != tt.body {
				t.Errorf("asked %s with %s, want %s with %s", got, last.body, tt.want, tt.body)
			}
			if last.header.Get("Authorization") != "Bearer secret" {
				t.Error("without its credential")
			}
			if (last.header.Get("Content-Type") == "application/json") != (tt.body != "") {
				t.Errorf("content type %q", last.header.Get("Content-Type"))
			}
		})
	}
}

func TestARefusalIsAnErrorWithTheProblemsFields(t *testing.T) {
	c, _ := serve(t, 429, wire.ProblemType,
		`{"type":"/docs#rate-limited","title":"Rate limited","status":429,"reason":"rate-limited","outcome":"rejected","failure":"definitive","attempt":"a","retry_after":3,"detail":"wait","new":"field"}`)
	_, err := c.Reply(t.Context(), wire.ReplyRequest{Text: "x"})
	var e *client.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	if e.Reason != "rate-limited" || e.Outcome != "rejected" || e.Failure != "definitive" || e.Attempt != "a" || e.Wait() != 3*time.Second || e.Foreign {
		t.Errorf("got %+v", e)
	}
	if err.Error() != "rate-limited: wait" || client.Reason(err) != "rate-limited" || client.IsUnreachable(err) {
		t.Errorf("reads as %q", err)
	}
}

func TestAnAnswerOfSomethingBetweenIsToldApart(t *testing.T) {
	for name, tt := range map[string]struct {
		status     int
		kind, body string
	}{
		"a page":              {502, "text/html", "<h1>Bad gateway</h1>"},
		"another's problem":   {404, wire.ProblemType, `{"title":"no"}`},
		"a redirect":          {307, "text/plain", ""},
		"a problem cut short": {500, wire.ProblemType, `{"reason":`},
	} {
		c, _ := serve(t, tt.status, tt.kind, tt.body)
		_, err := c.Turn(t.Context())
		var e *client.Error
		if !errors.As(err, &e) || !e.Foreign || e.Status != tt.status || client.Reason(err) != "" || client.IsUnreachable(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNoAnswerIsUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := client.New("http://"+address, client.WithKey("secret"))
	if err != nil {
		t.Fatal(err)
	}
	_, ready := c.Ready(t.Context())
	_, reply := c.Reply(t.Context(), wire.ReplyRequest{Text: "x"})
	garbled, _ := serve(t, 200, "application/json", `{"id":`)
	_, half := garbled.Reply(t.Context(), wire.ReplyRequest{Text: "x"})
	for name, err := range map[string]error{"ready": ready, "reply": reply, "half an answer": half} {
		if !client.IsUnreachable(err) || client.Reason(err) != "" || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestACancelledCallIsUnreachableAndSaysWhy(t *testing.T) {
	c, _ := serve(t, 200, "application/json", "{}")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Turn(ctx); !client.IsUnreachable(err) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAnUnreadyGatewayIsAnAnswer(t *testing.T) {
	c, _ := serve(t, 503, "application/json", `{"ready":false,"checks":[{"name":"store","ok":false,"needed":true}]}`)
	if got, err := c.Ready(t.Context()); err != nil || got.Ready || len(got.Checks) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	c, _ = serve(t, 503, wire.ProblemType, `{"reason":"audit-unavailable","detail":"d"}`)
	if _, err := c.Ready(t.Context()); client.Reason(err) != "audit-unavailable" {
		t.Errorf("got %v", err)
	}
}

func TestAStreamOfRowsSaysWhenItBroke(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		rows       int
		broken     bool
	}{
		{"whole", "{\"id\":\"1\"}\n{\"id\":\"2\"}\n", 2, false},
		{"empty", "", 0, false},
		{"cut in a row", "{\"id\":\"1\"}\n{\"id\":", 1, true},
	} {
		c, last := serve(t, 200, "application/x-ndjson", tt.body)
		rows, broken := 0, false
		for row, err := range c.EachRow(t.Context(), client.Filter{}) {
			if err != nil {
				broken = client.IsUnreachable(err)
			} else if row.ID != "" {
				rows++
			}
		}
		if rows != tt.rows || broken != tt.broken || last.header.Get("Accept") != "application/x-ndjson" {
			t.Errorf("%s: %d rows, broken %v", tt.name, rows, broken)
		}
	}
	c, _ := serve(t, 403, wire.ProblemType, `{"reason":"forbidden","detail":"d"}`)
	for _, err := range c.EachRow(t.Context(), client.Filter{}) {
		if client.Reason(err) != "forbidden" {
			t.Errorf("got %v", err)
		}
	}
}

func TestEventsAreReadAsTheStandardSays(t *testing.T) {
	c, last := serve(t, 200, "text/event-stream",
		": alive\n\nid: 1\nevent: resolved\ndata: {\"id\":\"1\",\ndata: \"verdict\":\"seen\"}\n\nretry: 5\n\ndata:{\"id\":\"2\"}\n\ndata: {\"id\":\"unfinished\"}\n")
	var got []string
	for e, err := range c.Events(t.Context(), "t", "0") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.ID+e.Verdict)
	}
	if strings.Join(got, " ") != "1seen 2" || last.header.Get("Last-Event-Id") != "0" || last.uri != "/v1/turns/t/events" {
		t.Errorf("got %v after asking %s", got, last.uri)
	}
	c, _ = serve(t, 200, "text/event-stream", "data: nonsense\n\ndata: {}\n\n")
	n := 0
	for _, err := range c.Events(t.Context(), "t", "") {
		if n++; !client.IsUnreachable(err) {
			t.Errorf("got %v", err)
		}
	}
	if n != 1 {
		t.Errorf("%d things after a broken event", n)
	}
}

func TestALoopOverRowsMayEndEarly(t *testing.T) {
	c, _ := serve(t, 200, "application/x-ndjson", strings.Repeat("{\"id\":\"1\"}\n", 10000))
	for range c.EachRow(t.Context(), client.Filter{}) {
		break
	}
	// The leak check of TestMain is what this test is about.
}

func TestExportTellsTheWritersErrorsFromTheGateways(t *testing.T) {
	c, _ := serve(t, 200, "text/csv", "id\n1\n")
	var b bytes.Buffer
	if err := c.Export(t.Context(), client.Filter{}, "csv", &b); err != nil || b.String() != "id\n1\n" {
		t.Errorf("got %q, %v", b.String(), err)
	}
	full := errors.New("disk full")
	if err := c.Export(t.Context(), client.Filter{}, "csv", failing{full}); !errors.Is(err, full) || client.IsUnreachable(err) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestAddressesThatAreNone(t *testing.T) {
	for _, u := range []string{"", "127.0.0.1:8484", "ftp://x", "http://", "http://x?y=z", "http://x#y", "://"} {
		if _, err := client.New(u); err == nil {
			t.Errorf("%q was taken", u)
		}
	}
}

func TestACredentialGoesToItsGatewayAlone(t *testing.T) {
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(other.Close)
	srv := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(srv.Close)
	c, err := client.New(srv.URL, client.WithKey("secret"), client.WithHTTPClient(srv.Client()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Turn(t.Context()); err == nil || asked {
		t.Errorf("followed: %v, error %v", asked, err)
	}
}
