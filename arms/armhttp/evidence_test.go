package armhttp_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"testing"

	"stet/arms"
	"stet/arms/armhttp"
)

func do(ctx context.Context, c *armhttp.Client, url string) *arms.Fault {
	_, f := c.Do(ctx, armhttp.Request{Method: http.MethodPost, URL: url, Body: []byte("x")})
	return f
}

func TestAnInjectedTransportProvesNothingByItself(t *testing.T) {
	failure := errors.New("connect: connection refused")
	hooks := func(f func(*httptrace.ClientTrace)) once {
		return func(r *http.Request) (*http.Response, error) {
			f(httptrace.ContextClientTrace(r.Context()))
			return nil, failure
		}
	}
	here, there := net.Pipe()
	defer func() { _, _ = here.Close(), there.Close() }()
	for name, c := range map[string]struct {
		rt   once
		want arms.Certainty
	}{
		"no hook":                   {hooks(func(*httptrace.ClientTrace) {}), arms.Ambiguous},
		"asked for a connection":    {hooks(func(h *httptrace.ClientTrace) { h.GetConn("h:1") }), arms.NotSent},
		"asked, and wrote headers":  {hooks(func(h *httptrace.ClientTrace) { h.GetConn("h:1"); h.WroteHeaders() }), arms.Ambiguous},
		"got a foreign connection":  {hooks(func(h *httptrace.ClientTrace) { h.GetConn("h:1"); h.GotConn(httptrace.GotConnInfo{Conn: here}) }), arms.Ambiguous},
		"got one without asking":    {hooks(func(h *httptrace.ClientTrace) { h.GotConn(httptrace.GotConnInfo{Conn: here}) }), arms.Ambiguous},
		"asked again after sending": {hooks(func(h *httptrace.ClientTrace) { h.GetConn(""); h.WroteHeaders(); h.GetConn("") }), arms.Ambiguous},
	} {
		t.Run(name, func(t *testing.T) {
			f := do(t.Context(), armhttp.New(armhttp.Options{Transport: c.rt}), "http://h/")
			if f == nil || f.Certainty != c.want {
				t.Errorf("got %v, want %s", f, c.want)
			}
		})
	}
}

func TestAWrappedTransportKeepsTheProof(t *testing.T) {
	inner := armhttp.NewTransport(armhttp.TransportOptions{Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("refused")
	}})
	c := armhttp.New(armhttp.Options{Transport: once(inner.RoundTrip)})
	wantFault(t, do(t.Context(), c, "http://h/"), arms.NotSent, arms.CodeDial)
}

func secure(t *testing.T, versions *tls.Config) (*httptest.Server, *x509.CertPool) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/cut" {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, r.Proto)
	}))
	s.TLS = versions
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return s, pool
}

func TestTLSIsVerifiedAndFailsBeforeAnythingIsSent(t *testing.T) {
	good, pool := secure(t, nil)
	old, oldPool := secure(t, &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10})
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for name, c := range map[string]struct {
		url  string
		tls  *tls.Config
		code arms.Code
	}{
		"unknown authority":            {good.URL, nil, arms.CodeTLS},
		"verification switched off":    {good.URL, &tls.Config{InsecureSkipVerify: true}, arms.CodeTLS},
		"another host":                 {good.URL, &tls.Config{RootCAs: pool, ServerName: "other.example"}, arms.CodeTLS},
		"an old version":               {old.URL, &tls.Config{RootCAs: oldPool}, arms.CodeTLS},
		"an old version that is asked": {old.URL, &tls.Config{RootCAs: oldPool, MinVersion: tls.VersionTLS10}, arms.CodeTLS},
		"no TLS at the other end":      {"https" + plain.URL[len("http"):], nil, arms.CodeTLS},
	} {
		t.Run(name, func(t *testing.T) {
			tr := armhttp.NewTransport(armhttp.TransportOptions{TLS: c.tls})
			defer tr.CloseIdleConnections()
			wantFault(t, do(t.Context(), armhttp.New(armhttp.Options{Transport: tr}), c.url), arms.NotSent, c.code)
		})
	}
	tr := armhttp.NewTransport(armhttp.TransportOptions{TLS: &tls.Config{RootCAs: pool}})
	defer tr.CloseIdleConnections()
	c := armhttp.New(armhttp.Options{Transport: tr})
	a, f := c.Do(t.Context(), armhttp.Request{Method: http.MethodGet, URL: good.URL})
	if f != nil || string(a.Body) != "HTTP/1.1" {
		t.Errorf("a good certificate: %q, %v", a.Body, f)
	}
	wantFault(t, do(t.Context(), c, good.URL+"/cut"), arms.Ambiguous, arms.CodeCut)
}
