package armhttp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"
)

// safeError is an error text of our own with, at most, a cause that names
// nothing.
type safeError struct {
	text  string
	cause error
}

func (e *safeError) Error() string { return e.text }
func (e *safeError) Unwrap() error { return e.cause }

// Redact turns any error of a transport into one that may be logged: no URL,
// query, host, header, body or certificate name is in its text or reachable
// from it. Only context errors, io.EOF, io.ErrUnexpectedEOF and system error
// numbers stay reachable. Nil stays nil.
func Redact(err error) error {
	if err == nil {
		return nil
	}
	for _, plain := range []error{context.Canceled, context.DeadlineExceeded, io.ErrUnexpectedEOF, io.EOF} {
		if errors.Is(err, plain) {
			return &safeError{text: "transport: " + plain.Error(), cause: plain}
		}
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return &safeError{text: "transport: " + errno.Error(), cause: errno}
	}
	return &safeError{text: "transport: " + kindOf(err)}
}

func kindOf(err error) string {
	var (
		dns       *net.DNSError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		verify    *tls.CertificateVerificationError
		record    tls.RecordHeaderError
		network   net.Error
	)
	switch {
	case errors.As(err, &dns):
		return "name not resolved"
	case errors.As(err, &authority):
		return "certificate from an unknown authority"
	case errors.As(err, &host):
		return "certificate for another host"
	case errors.As(err, &invalid), errors.As(err, &verify):
		return "certificate not valid"
	case errors.As(err, &record):
		return "no TLS at the other end"
	case errors.As(err, &network) && network.Timeout():
		return "timeout"
	}
	return "request failed"
}
