package armhttp_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"stet/arms"
	"stet/arms/armhttp"
)

func TestDoSendsWhatItWasGiven(t *testing.T) {
	c, url := serve(t, armhttp.Options{Version: "1.2.3"}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Saw", fmt.Sprintf("%s %s %s %s %d %v", r.Method, r.URL.Path, r.UserAgent(),
			r.Header.Get("Authorization"), r.ContentLength, r.TransferEncoding))
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write(body)
	})
	given := http.Header{"Content-Type": {"text/plain"}}
	a, f := c.Do(t.Context(), armhttp.Request{Method: http.MethodPut, URL: url + "/p", Header: given, Bearer: "tok", Body: []byte("hello")})
	if f != nil {
		t.Fatal(f)
	}
	if got := a.Header.Get("X-Saw"); got != "PUT /p stet/1.2.3 Bearer tok 5 []" {
		t.Errorf("the server saw %q", got)
	}
	if a.Status != http.StatusTeapot || string(a.Body) != "hello" || a.RetryAfter != 7*time.Second {
		t.Errorf("answer %+v", a)
	}
	if len(given) != 1 {
		t.Errorf("the caller's header was changed: %v", given)
	}
}

// once lets the test look at the request that reaches the transport.
type once func(*http.Request) (*http.Response, error)

func (f once) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNothingThatWouldMakeATransportRepeatLeaves(t *testing.T) {
	var seen *http.Request
	c := armhttp.New(armhttp.Options{Transport: once(func(r *http.Request) (*http.Response, error) {
		seen = r
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})})
	_, f := c.Do(t.Context(), armhttp.Request{Method: http.MethodPost, URL: "http://h/", Body: []byte("x"), Header: http.Header{
		"Idempotency-Key": {"1"}, "idempotency-key": {"2"}, "X-IDEMPOTENCY-KEY": {"3"}, "X-Idempotency-Key": {"4"}, "X-Kept": {"5"},
	}})
	if f != nil {
		t.Fatal(f)
	}
	if seen.GetBody != nil || len(seen.Header) != 2 || seen.Header.Get("X-Kept") != "5" {
		t.Errorf("left: GetBody set %v, header %v", seen.GetBody != nil, seen.Header)
	}
}

// A server that closes each connection after its answer makes the next request
// on it fail; each failed one has to stay one request.
func TestAConnectionThatWasClosedMeanwhileIsNotTriedAgain(t *testing.T) {
	var served, done atomic.Int64
	c, url := serve(t, armhttp.Options{}, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if served.Add(1)%2 == 0 {
			panic(http.ErrAbortHandler) // the kept connection dies under the request
		}
	})
	const calls = 100
	for i := range calls {
		_, f := c.Do(t.Context(), armhttp.Request{Method: http.MethodPost, URL: url, Body: []byte("x")})
		if (f == nil) != (i%2 == 0) {
			t.Fatalf("call %d: %v", i, f)
		}
		if f != nil {
			wantFault(t, f, arms.Ambiguous, arms.CodeCut)
		}
		done.Add(1)
	}
	if served.Load() != calls {
		t.Errorf("%d requests for %d calls", served.Load(), calls)
	}
}

func TestRedirectsAreAnswers(t *testing.T) {
	var trapped atomic.Int64
	trap := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { trapped.Add(1) }))
	defer trap.Close()
	c, url := serve(t, armhttp.Options{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "a=b")
		if r.Header.Get("Cookie") != "" {
			t.Error("a cookie came back")
		}
		http.Redirect(w, r, trap.URL, http.StatusTemporaryRedirect)
	})
	for range 2 {
		a, f := c.Do(t.Context(), armhttp.Request{Method: http.MethodPost, URL: url, Bearer: "tok", Body: []byte("x")})
		if f != nil || a.Status != http.StatusTemporaryRedirect {
			t.Errorf("got %+v, %v", a, f)
		}
		wantFault(t, a.Fault(), arms.Ambiguous, arms.CodeRedirect)
	}
	if trapped.Load() != 0 {
		t.Error("a redirect was followed")
	}
}

func TestTheEnvironmentsProxyIsIgnored(t *testing.T) {
	var proxied atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied.Add(1) }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	if armhttp.NewTransport(armhttp.TransportOptions{}).Proxy != nil {
		t.Error("the transport asks for a proxy")
	}
	c := armhttp.New(armhttp.Options{})
	defer c.CloseIdle()
	_, f := c.Do(t.Context(), armhttp.Request{Method: http.MethodGet, URL: "http://127.0.0.1:1/"})
	wantFault(t, f, arms.NotSent, arms.CodeDial)
	if proxied.Load() != 0 {
		t.Error("a proxy was used")
	}
}

func TestABodyIsReadUpToItsLimit(t *testing.T) {
	size := 0
	c, url := serve(t, armhttp.Options{MaxAnswer: 1000}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", size))
	})
	for size = range 3 {
		size += 999
		a, f := c.Do(t.Context(), armhttp.Request{Method: http.MethodPost, URL: url})
		if size <= 1000 {
			if f != nil || len(a.Body) != size {
				t.Errorf("%d bytes: %d, %v", size, len(a.Body), f)
			}
			continue
		}
		wantFault(t, f, arms.Ambiguous, arms.CodeOversize)
		if f.Status != http.StatusOK || a.Body != nil {
			t.Errorf("an oversize answer: %v, %d bytes", f, len(a.Body))
		}
	}
}

func TestACompressedBodyIsNotUnpacked(t *testing.T) {
	c, url := serve(t, armhttp.Options{}, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "" {
			t.Error("compression was asked for")
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write([]byte{0x1f, 0x8b, 1, 2})
	})
	a, f := c.Do(t.Context(), armhttp.Request{Method: http.MethodGet, URL: url})
	if f != nil || len(a.Body) != 4 {
		t.Errorf("%+v, %v", a, f)
	}
}

func TestARequestThatCantBeBuiltIsNotSent(t *testing.T) {
	c := armhttp.New(armhttp.Options{Transport: once(func(*http.Request) (*http.Response, error) {
		t.Error("something was sent")
		return nil, errors.New("no")
	})})
	for _, r := range []armhttp.Request{{URL: "http://a b/"}, {URL: "::"}, {URL: "http://h/", Method: "BAD METHOD"}} {
		_, f := c.Do(t.Context(), r)
		wantFault(t, f, arms.NotSent, arms.CodeUnsupported)
	}
}

func TestStatusesThatMeanTheSameEverywhere(t *testing.T) {
	for status, want := range map[int]arms.Code{
		100: arms.CodeUnexpected, 103: arms.CodeUnexpected, 200: "", 201: "", 204: "", 299: "",
		300: arms.CodeRedirect, 302: arms.CodeRedirect, 399: arms.CodeRedirect,
		400: "", 401: "", 404: "", 407: "", 409: "", 429: "", 499: "",
		408: arms.CodeTimeout, 500: arms.CodeServer, 503: arms.CodeServer, 599: arms.CodeServer, 999: arms.CodeServer,
	} {
		a := armhttp.Answer{Status: status, RetryAfter: time.Second}
		f := a.Fault()
		if want == "" {
			if f != nil {
				t.Errorf("%d: %v, want the arm's judgement", status, f)
			}
			continue
		}
		wantFault(t, f, arms.Ambiguous, want)
		if f.Status != status || f.RetryAfter != time.Second {
			t.Errorf("%d: %+v", status, f)
		}
	}
	wantFault(t, armhttp.Answer{Status: 404}.Unexpected(), arms.Ambiguous, arms.CodeUnexpected)
}
