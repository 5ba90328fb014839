package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"stet/gateway/wire"
)

// maxProblem bounds the answer of a refusal.
const maxProblem = 1 << 20

// Error is a call that the gateway answered with something else than success.
type Error struct {
	wire.Problem
	// Foreign: the answer is not one of the gateway's own, so something
	// between gave it; only Status is known.
	Foreign bool
}

// Error says the reason and the detail.
func (e *Error) Error() string {
	if e.Foreign {
		return fmt.Sprintf("status %d, not in the gateway's own form", e.Status)
	}
	return e.Reason + ": " + e.Detail
}

// Wait is how long to wait before trying again; 0: no advice.
func (e *Error) Wait() time.Duration { return time.Duration(e.RetryAfter) * time.Second }

// Unreachable is a call that got no answer that could be read. Whether it had
// an effect is unknown.
type Unreachable struct{ err error }

// Error says what went wrong on the way.
func (u *Unreachable) Error() string { return "the gateway could not be reached: " + u.err.Error() }

// Unwrap is the transport's own error.
func (u *Unreachable) Unwrap() error { return u.err }

// Reason is the reason of a refusal, empty for any other error.
func Reason(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

// IsUnreachable reports that the gateway gave no answer.
func IsUnreachable(err error) bool {
	var u *Unreachable
	return errors.As(err, &u)
}

func readError(resp *http.Response) error {
	e := &Error{Problem: wire.Problem{Status: resp.StatusCode}, Foreign: true}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || kind != wire.ProblemType {
		return e
	}
	var p wire.Problem
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxProblem)).Decode(&p); err != nil || p.Reason == "" {
		return e
	}
	p.Status = resp.StatusCode
	if p.RetryAfter == 0 {
		p.RetryAfter, _ = strconv.Atoi(strings.TrimSpace(resp.Header.Get("Retry-After")))
	}
	return &Error{Problem: p}
}
