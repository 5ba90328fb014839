package armhttp

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// DialFunc makes one connection; it has the shape of [net.Dialer.DialContext].
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// TransportOptions changes what [NewTransport] builds. The zero value is what
// production uses.
type TransportOptions struct {
	// Dial makes the connections; nil means a plain dialer. An arm that takes
	// addresses from elsewhere checks them here, at connect time.
	Dial DialFunc
	// TLS is copied. A version below 1.2 and a switched-off verification in
	// it are overruled.
	TLS *tls.Config
}

const (
	// idleTimeout is below what servers commonly allow an idle connection, so
	// that it is this side that closes.
	idleTimeout = 30 * time.Second
	// leftoverTimeout ends a dial whose request has long been given up; the
	// request's own time is its context's.
	leftoverTimeout   = 30 * time.Second
	idlePerHost       = 256
	idleTotal         = 1024
	headerBytes       = 64 << 10
	keepAliveInterval = 15 * time.Second
)

// NewTransport makes a transport whose connections count what is written to
// them, which is the proof that [Client.Do] needs to say that nothing left.
func NewTransport(o TransportOptions) *http.Transport {
	dial := o.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: leftoverTimeout, KeepAlive: keepAliveInterval}).DialContext
	}
	var http1 http.Protocols
	http1.SetHTTP1(true)
	return &http.Transport{
		DialContext:            counting(dial),
		TLSClientConfig:        safeTLS(o.TLS),
		TLSHandshakeTimeout:    leftoverTimeout,
		Protocols:              &http1,
		DisableCompression:     true,
		MaxIdleConns:           idleTotal,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: headerBytes,
	}
}

func safeTLS(given *tls.Config) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if given != nil {
		c = given.Clone()
	}
	c.InsecureSkipVerify = false
	c.MinVersion = max(c.MinVersion, tls.VersionTLS12)
	return c
}
