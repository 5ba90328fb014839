package armhttp_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"stet/arms"
	"stet/arms/armhttp"
)

func TestRetryAfter(t *testing.T) {
	date := func(d time.Duration) string { return noon.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		after, reset string
		want         time.Duration
	}{
		{"", "", 0},
		{"30", "", 30 * time.Second},
		{" 30 ", "", 30 * time.Second},
		{"0", "", 0},
		{"1.5", "", 1500 * time.Millisecond},
		{"0.0001", "", time.Millisecond},
		{"-5", "", 0},
		{"3600", "", time.Hour},
		{"3601", "", time.Hour},
		{"1e300", "", time.Hour},
		{"1e999", "", time.Hour},
		{"-1e999", "", 0},
		{"inf", "", time.Hour},
		{"NaN", "", 0},
		{"99999999999999999999999", "", time.Hour},
		{date(90 * time.Second), "", 90 * time.Second},
		{date(-time.Minute), "", 0},
		{date(48 * time.Hour), "", time.Hour},
		{"Monday, 04-May-26 12:00:10 GMT", "", 10 * time.Second},
		{"soon", "", 0},
		{"soon", "0.25", 250 * time.Millisecond},
		{"", "0.25", 250 * time.Millisecond},
		{"2", "0.25", 2 * time.Second},
		{"", "-1", 0},
		{"", "x", 0},
	} {
		h := http.Header{}
		if c.after != "" {
			h.Set("Retry-After", c.after)
		}
		if c.reset != "" {
			h.Set("X-RateLimit-Reset-After", c.reset)
		}
		if got := armhttp.RetryAfter(h, noon); got != c.want {
			t.Errorf("%q, %q: %s, want %s", c.after, c.reset, got, c.want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"30", "1.5", "-1", "1e400", "0x1p-2", noon.Format(http.TimeFormat), "nan", "\x00"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, after, reset string) {
		d := armhttp.RetryAfter(http.Header{"Retry-After": {after}, "X-Ratelimit-Reset-After": {reset}}, noon)
		if d < 0 || d > armhttp.MaxRetryAfter {
			t.Errorf("%q, %q: %s", after, reset, d)
		}
	})
}

const canary = "canary-4711"

func TestASecretIsNeverPrinted(t *testing.T) {
	s := armhttp.Secret(canary)
	if s.Reveal() != canary {
		t.Fatal("a secret that can't be had is of no use")
	}
	holder := struct{ Token armhttp.Secret }{s}
	var out bytes.Buffer
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
		fmt.Fprintf(&out, format, s)
		fmt.Fprintf(&out, format, holder)
		fmt.Fprintf(&out, format, &holder)
		fmt.Fprintf(&out, format, []armhttp.Secret{s})
	}
	js, err := json.Marshal(map[string]any{"a": s, "b": holder, "c": []armhttp.Secret{s}})
	if err != nil {
		t.Fatal(err)
	}
	ym, err := yaml.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(js)
	out.Write(ym)
	for _, h := range []slog.Handler{slog.NewJSONHandler(&out, nil), slog.NewTextHandler(&out, nil)} {
		slog.New(h).Info("x", "token", s, "holder", holder)
	}
	fmt.Fprint(&out, errors.New("e: "+s.String()))
	text := strings.ToLower(out.String())
	for _, leak := range []string{canary, fmt.Sprintf("%x", canary)} {
		if strings.Contains(text, leak) {
			t.Errorf("printed: %s", out.String())
		}
	}
	if !strings.Contains(text, "[redacted]") {
		t.Error("nothing says that something was left out")
	}
}

func TestRedactKeepsTheKindAndNothingElse(t *testing.T) {
	addr := &net.TCPAddr{IP: net.IPv4(10, 9, 8, 7), Port: 4711}
	for want, err := range map[string]error{
		"transport: context canceled":                      fmt.Errorf("%s: %w", canary, context.Canceled),
		"transport: context deadline exceeded":             &url.Error{Op: "Post", URL: "https://h/" + canary, Err: context.DeadlineExceeded},
		"transport: unexpected EOF":                        fmt.Errorf("%s: %w", canary, io.ErrUnexpectedEOF),
		"transport: EOF":                                   &url.Error{URL: canary, Err: io.EOF},
		"transport: connection refused":                    &net.OpError{Op: "dial", Addr: addr, Err: syscall.ECONNREFUSED},
		"transport: name not resolved":                     &net.DNSError{Name: canary, Err: "no such host"},
		"transport: certificate from an unknown authority": fmt.Errorf("%s: %w", canary, x509.UnknownAuthorityError{}),
		"transport: certificate for another host":          x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{canary}}, Host: canary},
		"transport: certificate not valid":                 x509.CertificateInvalidError{Reason: x509.Expired, Detail: canary},
		"transport: request failed":                        errors.New("failed to parse Location header " + canary),
	} {
		got := armhttp.Redact(err)
		if got.Error() != want {
			t.Errorf("%T: %q, want %q", err, got, want)
		}
		for e := got; e != nil; e = errors.Unwrap(e) {
			if text := fmt.Sprintf("%v %+v %#v", e, e, e); strings.Contains(text, canary) || strings.Contains(text, "10.9.8.7") {
				t.Errorf("%q tells more than its kind", text)
			}
		}
	}
	if armhttp.Redact(nil) != nil {
		t.Error("no error became one")
	}
	if err := armhttp.Redact(&net.OpError{Err: syscall.ECONNRESET}); !errors.Is(err, syscall.ECONNRESET) {
		t.Error("the system's error number is lost")
	}
}

func TestObjectReadsOneObjectAndNothingElse(t *testing.T) {
	type body struct {
		ID   string `json:"id"`
		Deep struct {
			N int `json:"n"`
		} `json:"deep"`
	}
	for _, good := range []string{`{"id":"a"}`, " \n{\"id\":\"a\"}\n ", `{"id":"a","new":[{"x":1},{"x":2}],"deep":{"n":1}}`} {
		var b body
		if f := (armhttp.Answer{Status: 200, Body: []byte(good)}).Object(&b); f != nil || b.ID != "a" {
			t.Errorf("%s: %+v, %v", good, b, f)
		}
	}
	for _, bad := range []string{
		``, ` `, `null`, `true`, `1`, `"a"`, `[]`, `[{"id":"a"}]`, `{`, `{"id":`, `{"id":"a"`, `{"id":"a"}}`, `{"id":"a"}{}`, `{"id":"a"} x`,
		`{"id":1}`, `{"id":"a","id":"b"}`, `{"id":"a","ID":"b"}`, `{"id":"a","\u0069d":"b"}`, `{"deep":{"n":1,"N":2}}`, `{"x":[{"a":1,"a":2}]}`,
		"{\"id\":\"\xff\"}", "\xef\xbb\xbf{}", `{"x":"ſ","s":1,"ſ":2}`, `<html>`, `{'id':'a'}`, strings.Repeat(`{"a":`, 20000) + `1` + strings.Repeat(`}`, 20000),
	} {
		f := (armhttp.Answer{Status: 200, Body: []byte(bad)}).Object(&body{})
		if f == nil || f.Certainty != arms.Ambiguous || f.Code != arms.CodeGarbage || f.Status != 200 {
			t.Errorf("%.40q: %v", bad, f)
		}
	}
}

func FuzzObject(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `{"a":{"a":[1,{"b":null}]}}`, `{"a":1,"A":2}`, `[`, `{"a":1}x`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var got map[string]any
		if (armhttp.Answer{Status: 200, Body: body}).Object(&got) == nil && !json.Valid(body) {
			t.Errorf("read %q", body)
		}
	})
}
