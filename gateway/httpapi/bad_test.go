package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"stet/gateway/wire"
)

// TestBadRequestsSayWhatIsWrongAndChangeNothing has a bad request of each
// kind; none of them reaches a verb, and the trail has no row of theirs.
func TestBadRequestsSayWhatIsWrongAndChangeNothing(t *testing.T) {
	d := open(t)
	opened := d.turn("acme")
	expired := d.expired()
	before := d.rows()
	big := `{"text":"` + strings.Repeat("a", maxBody) + `"}`
	tests := []struct {
		name, method, path, key, body string
		header                        []string
		status                        int
		reason, detail                string
	}{
		{"an unknown field", "POST", "/v1/replies", opened.Token, `{"text":"x","channel":"c"}`, nil, 400, "bad-request", "channel is not a field"},
		{"a place in an edit", "PATCH", "/v1/replies/m", opened.Token, `{"text":"x","thread":"c"}`, nil, 400, "bad-request", "thread is not a field"},
		{"a place in a retract", "DELETE", "/v1/replies/m", opened.Token, `{"workspace":"c"}`, nil, 400, "bad-request", "workspace is not a field"},
		{"a place in a query", "POST", "/v1/replies?channel=c", opened.Token, `{"text":"x"}`, nil, 400, "bad-request", "channel"},
		{"a field in other letters", "POST", "/v1/replies", opened.Token, `{"TEXT":"x"}`, nil, 400, "bad-request", "TEXT is not a field of this request; text is"},
		{"a field twice", "POST", "/v1/replies", opened.Token, `{"text":"x","text":"y"}`, nil, 400, "bad-request", "text is there twice"},
		{"a wrong type", "POST", "/v1/replies", opened.Token, `{"text":7}`, nil, 400, "bad-request", "text must be a string"},
		{"a value outside of its set", "POST", "/v1/replies", opened.Token, `{"text":"x","overflow":"cut"}`, nil, 400, "bad-request", "overflow must be one of refuse, split"},
		{"no text", "POST", "/v1/replies", opened.Token, `{}`, nil, 400, "bad-request", "text is required"},
		{"no body", "POST", "/v1/replies", opened.Token, "", nil, 400, "bad-request", "the body is missing"},
		{"no JSON", "POST", "/v1/replies", opened.Token, "hello", nil, 400, "bad-request", "not JSON"},
		{"something after the JSON", "POST", "/v1/replies", opened.Token, `{"text":"x"} {}`, nil, 400, "bad-request", "after the JSON object"},
		{"another content type", "POST", "/v1/replies", opened.Token, `{"text":"x"}`, []string{"Content-Type", "text/plain"}, 400, "bad-request", "application/json"},
		{"another charset", "POST", "/v1/replies", opened.Token, `{"text":"x"}`, []string{"Content-Type", "application/json; charset=latin1"}, 400, "bad-request", "UTF-8"},
		{"a packed body", "POST", "/v1/replies", opened.Token, `{"text":"x"}`, []string{"Content-Encoding", "gzip"}, 400, "bad-request", "application/json"},
		{"a huge body", "POST", "/v1/replies", opened.Token, big, nil, 413, "too-large", "1 MiB"},
		{"a huge body where none belongs", "POST", "/v1/turn/decline", opened.Token, big, nil, 413, "too-large", "1 MiB"},
		{"invalid UTF-8 outside of the text", "POST", "/v1/replies", opened.Token, "{\"text\":\"x\",\"format\":\"\xff\"}", nil, 400, "bad-request", "format must be valid UTF-8"},
		{"a newline in an id", "PATCH", "/v1/replies/a%0Ab", opened.Token, `{"text":"x"}`, nil, 400, "bad-request", "control characters"},
		{"NUL in an id", "DELETE", "/v1/replies/%00", opened.Token, "", nil, 400, "bad-request", "control characters"},
		{"a late control character in an id", "DELETE", "/v1/replies/%C2%85", opened.Token, "", nil, 400, "bad-request", "control characters"},
		{"an endless id", "PATCH", "/v1/replies/" + strings.Repeat("a", 513), opened.Token, `{"text":"x"}`, nil, 400, "bad-request", "512 bytes"},
		{"an endless key", "POST", "/v1/replies", opened.Token, `{"text":"x"}`, []string{"Idempotency-Key", strings.Repeat("k", 256)}, 400, "bad-request", "Idempotency-Key"},
		{"a key that can't be printed", "POST", "/v1/replies", opened.Token, `{"text":"x"}`, []string{"Idempotency-Key", "é"}, 400, "bad-request", "Idempotency-Key"},
		{"an expired token", "POST", "/v1/replies", expired, `{"text":"x"}`, nil, 401, "unauthorized", "Bearer"},
		{"a bad token and a bad body", "POST", "/v1/replies", "nobody", `{`, nil, 401, "unauthorized", "Bearer"},
		{"no token", "GET", "/v1/turn", "", "", nil, 401, "unauthorized", "Bearer"},
		{"a wrong plane", "POST", "/v1/replies", d.host, `{"text":"x"}`, nil, 403, "forbidden", "turn token"},
		{"another organization's turn", "POST", "/v1/turns/" + opened.Turn + "/close", d.key("umbrella", "host"), "", nil, 404, "not-found", "no such thing"},
		{"an unknown turn", "POST", "/v1/turns/none/close", d.host, "", nil, 404, "not-found", "no such thing"},
		{"an unknown evidence kind", "POST", "/v1/turns/" + opened.Turn + "/evidence", d.host, `{"kind":"rumour"}`, nil, 400, "bad-request", "kind must be one of memory.write"},
		{"a control character in a session", "PUT", "/v1/sessions/a%07", d.host, `{"org":"o","workspace":"w","surface":"s","principal":"p"}`, nil, 400, "bad-request", "control characters"},
		{"a long session", "PUT", "/v1/sessions/" + strings.Repeat("s", 201), d.host, `{"org":"o","workspace":"w","surface":"s","principal":"p"}`, nil, 400, "bad-request", "session must be at most 200"},
		{"a control character in a body's id", "POST", "/v1/turns", d.acmeHost, `{"session":"a\u0000","wake":{"id":"w"}}`, nil, 400, "bad-request", "session must not hold control characters"},
		{"no organization", "POST", "/v1/turns", d.host, `{"session":"new","wake":{"id":"w"}}`, nil, 400, "bad-request", "org is needed"},
		{"a key's other organization", "POST", "/v1/turns", d.acmeHost, `{"session":"s","wake":{"id":"w"},"org":"umbrella"}`, nil, 403, "forbidden", "another organization"},
		{"a life of no length", "POST", "/v1/turns", d.acmeHost, `{"session":"s","wake":{"id":"w"},"ttl":"0s"}`, nil, 400, "bad-request", "ttl must be a duration"},
		{"too long a life", "POST", "/v1/turns", d.acmeHost, `{"session":"s","wake":{"id":"w"},"ttl":"25h"}`, nil, 400, "bad-request", "ttl must be"},
		{"an untrusted service URL", "POST", "/v1/turns", d.acmeHost, `{"session":"s","wake":{"id":"w","origin":{"platform":"x","channel":"c","service_url":"https://evil"}},"workspace":"w","surface":"s","principal":"p"}`, nil, 422, "untrusted-service-url", "service_url"},
		{"a filter that isn't one", "GET", "/v1/audit?colour=red", d.ops, "", nil, 400, "bad-request", "colour"},
		{"a time that isn't one", "GET", "/v1/audit?since=yesterday", d.ops, "", nil, 400, "bad-request", "since"},
		{"too large a page", "GET", "/v1/audit?limit=501", d.ops, "", nil, 400, "bad-request", "limit"},
		{"a page that isn't one", "GET", "/v1/audit?before=x", d.ops, "", nil, 400, "bad-request", "before"},
		{"a body where none is read", "GET", "/v1/turn", opened.Token, `{"channel":"c"}`, nil, 400, "bad-request", "channel is not a field"},
		{"a column that isn't one", "GET", "/v1/audit/count?by=colour", d.ops, "", nil, 400, "bad-request", "by"},
		{"an unknown row", "GET", "/v1/audit/none", d.ops, "", nil, 404, "not-found", "no such thing"},
		{"an unknown address", "GET", "/v1/nothing", d.ops, "", nil, 404, "not-found", "/docs"},
		{"an address with a way up", "GET", "/v1/../v1/turn", opened.Token, "", nil, 404, "not-found", "/docs"},
		{"an address with an empty part", "GET", "/v1//turn", opened.Token, "", nil, 404, "not-found", "/docs"},
		{"an address with a slash too many", "GET", "/v1/turn/", opened.Token, "", nil, 404, "not-found", "/docs"},
		{"a read that comes later", "GET", "/v1/channel", opened.Token, "", nil, 404, "not-found", "/docs"},
		{"another method", "PUT", "/v1/turn", opened.Token, "", nil, 405, "not-found", "takes GET"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := *d
			in.T = t
			p := in.ask(tt.method, tt.path, tt.key, tt.body, tt.header...).problem(tt.status, tt.reason)
			if !strings.Contains(p.Detail, tt.detail) {
				t.Errorf("detail %q, want it to hold %q", p.Detail, tt.detail)
			}
			if p.Outcome != "" || p.Attempt != "" {
				t.Errorf("it counts as an attempt: %+v", p)
			}
		})
	}
	if d.verbs.calls() != 0 {
		t.Errorf("%d of them reached a verb", d.verbs.calls())
	}
	if after := d.rows(); after != before {
		t.Errorf("the trail grew from %d to %d rows", before, after)
	}
}

// expired makes a turn token and lets its time pass; nothing else ends.
func (d *door) expired() string {
	d.Helper()
	var opened wire.OpenedTurn
	d.ask("POST", "/v1/turns", d.host, `{"session":"s","wake":{"id":"w"},"org":"acme","workspace":"m","surface":"r","principal":"p","ttl":"1s"}`).want(201).into(&opened)
	d.clock.Advance(2 * time.Second)
	return opened.Token
}

// rows counts the trail, but for the keys that the tests make.
func (d *door) rows() int64 {
	d.Helper()
	var c wire.Count
	d.ask("GET", "/v1/audit/count?by=action", d.ops, "").want(200).into(&c)
	n := int64(0)
	for _, g := range c.Groups {
		if g.By["action"] != "key.created" {
			n += g.Count
		}
	}
	return n
}

func TestABodyAtTheLimitIsTaken(t *testing.T) {
	d := open(t)
	body := `{"text":"` + strings.Repeat("a", maxBody-len(`{"text":""}`)) + `"}`
	d.ask("POST", "/v1/replies", d.turn("acme").Token, body).want(201)
	if got := len(d.verbs.replies[0].Text.Body); got != maxBody-11 {
		t.Errorf("%d bytes of text arrived", got)
	}
}

func TestABodyWithoutALengthHasTheSameLimit(t *testing.T) {
	d := open(t)
	for _, tt := range []struct{ size, status int }{{maxBody - 11, 201}, {maxBody - 10, 413}} {
		req, err := http.NewRequestWithContext(t.Context(), "POST", d.url+"/v1/replies",
			io.MultiReader(strings.NewReader(`{"text":"`), strings.NewReader(strings.Repeat("a", tt.size)+`"}`)))
		d.must(err)
		req.Header.Set("Authorization", "Bearer "+d.turn("acme").Token)
		resp, err := http.DefaultClient.Do(req)
		d.must(err)
		d.must(resp.Body.Close())
		if resp.StatusCode != tt.status {
			t.Errorf("%d bytes: status %d, want %d", tt.size, resp.StatusCode, tt.status)
		}
	}
}

func TestABodyThatDoesNotArriveIsGivenUp(t *testing.T) {
	d := open(t, func(o *Options) { o.BodyTime = 100 * time.Millisecond })
	token := d.turn("acme").Token
	for _, tt := range []struct{ line, key, status string }{
		{"POST /v1/replies", token, "400"}, {"POST /v1/replies", "nobody", "401"}, {"GET /v1/turn", token, "400"},
		{"POST /v1/nothing", token, "404"}, {"PUT /v1/turn", token, "405"}, {"POST /v1/turn/decline", token, "400"},
	} {
		got := d.raw(tt.line + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + tt.key + "\r\nContent-Length: 20\r\n\r\n{\"text\":")
		if !strings.HasPrefix(got, "HTTP/1.1 "+tt.status) || d.verbs.calls() != 0 {
			t.Errorf("%s as %s: got %q, and %d verbs ran", tt.line, tt.key, got, d.verbs.calls())
		}
	}
}

// deadlines is a connection that remembers what it was told.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

// TestTheBodysDeadlineEndsWithTheBody: one that stayed would end the request's
// context in the middle of a slow verb.
func TestTheBodysDeadlineEndsWithTheBody(t *testing.T) {
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequest(http.MethodPost, "/v1/replies", strings.NewReader("{}"))
	serverOf(t).outer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, p := slurp(w, r); p != nil {
			t.Error(p)
		}
	})).ServeHTTP(w, r)
	if len(w.set) != 2 || w.set[0].IsZero() || !w.set[1].IsZero() {
		t.Errorf("the deadlines were %v", w.set)
	}
}

func TestBrokenTextReachesTheGatewayToBeRefusedWithARow(t *testing.T) {
	d := open(t)
	token := d.turn("acme").Token
	for _, body := range []string{"{\"text\":\"a\xffb\"}", `{"text":"a\ud800b"}`} {
		d.ask("POST", "/v1/replies", token, body).want(201)
		d.ask("PATCH", "/v1/replies/m", token, body).want(200)
	}
	for _, r := range d.verbs.replies {
		if !r.Text.Broken || r.Text.Body != "" {
			t.Errorf("arrived as %+v", r.Text)
		}
	}
	for _, r := range d.verbs.edits {
		if !r.Text.Broken {
			t.Errorf("arrived as %+v", r.Text)
		}
	}
}

func TestAnyOtherIDIsPassedOnAsItIs(t *testing.T) {
	d := open(t)
	token := d.turn("acme").Token
	ids := []string{
		"1718.0001", "a/b", "a//b", "../../x", ".", "..", "%2F", "%00", " ", "?", "#", "+", "é✓", "\xff\xfe", `"'<>&;|`,
		strings.Repeat("a", 512), "a:b", "{id}", "\u202e", "m\u2028n",
	}
	for _, id := range ids {
		escaped := url.PathEscape(id)
		if strings.Trim(id, ".") == "" {
			escaped = strings.ReplaceAll(id, ".", "%2E")
		}
		d.ask("PATCH", "/v1/replies/"+escaped, token, `{"text":"x"}`).want(200)
		if got := string(d.verbs.edits[len(d.verbs.edits)-1].ID); got != id {
			t.Errorf("sent %q, the gateway got %q", id, got)
		}
	}
}

func TestTwoCredentialsAreNone(t *testing.T) {
	d := open(t)
	token := d.turn("acme").Token
	for name, lines := range map[string]string{
		"two headers":    fmt.Sprintf("Authorization: Bearer %s\r\nAuthorization: Bearer %s\r\n", token, token),
		"another scheme": fmt.Sprintf("Authorization: Basic %s\r\n", token),
		"no scheme":      fmt.Sprintf("Authorization: %s\r\n", token),
		"nothing more":   "Authorization: Bearer \r\n",
	} {
		if got := d.raw("GET /v1/turn HTTP/1.1\r\nHost: x\r\n" + lines + "\r\n"); !strings.HasPrefix(got, "HTTP/1.1 401") {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := d.raw("GET /v1/turn HTTP/1.1\r\nHost: x\r\nAuthorization: bearer " + token + "\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 200") {
		t.Errorf("a scheme in small letters: %q", got)
	}
	twice := "POST /v1/replies HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token +
		"\r\nContent-Length: 12\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\n\r\n{\"text\":\"x\"}"
	if got := d.raw(twice); !strings.HasPrefix(got, "HTTP/1.1 400") {
		t.Errorf("two idempotency keys: %q", got)
	}
}

// raw sends bytes and answers the first line.
func (d *door) raw(request string) string {
	d.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
	d.must(err)
	defer conn.Close()
	_, err = io.WriteString(conn, request)
	d.must(err)
	line, err := bufio.NewReader(conn).ReadString('\n')
	d.must(err)
	return strings.TrimSpace(line)
}
