package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"stet/gateway/outcome"
)

const levelError = slog.LevelError

func errAttr(err error) slog.Attr { return slog.String("error", err.Error()) }

// traceKey holds what a handler adds to the request's log line.
type traceKey struct{}

type trace struct{ attempt string }

// note keeps the attempt for the request's log line.
func note(ctx context.Context, attempt string) {
	if t, ok := ctx.Value(traceKey{}).(*trace); ok && attempt != "" {
		t.attempt = attempt
	}
}

// outer is around everything: security headers, the log line, the metrics, and
// the answer to a panic.
func (s *server) outer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		t := &trace{}
		r = r.WithContext(context.WithValue(r.Context(), traceKey{}, t))
		rec := &recorder{ResponseWriter: w}
		s.metrics.inFlight.Inc()
		defer func() {
			s.metrics.inFlight.Dec()
			s.done(r, rec, t, time.Since(start))
		}()
		defer s.survive(r, rec)
		securityHeaders(rec.Header())
		if r.ContentLength != 0 {
			// For every route, also those that don't read it: before it answers
			// the library reads what a client has yet to send.
			setReadDeadline(rec, start.Add(s.BodyTime))
		}
		if !canonical(r.URL.EscapedPath()) {
			writeProblem(rec, noAddress())
			return
		}
		next.ServeHTTP(rec, r)
	})
}

// canonical reports a path that the mux would not answer with a redirect: a
// credential has no business at another address than the one that was asked.
func canonical(escaped string) bool {
	clean := path.Clean(escaped)
	return escaped == clean || escaped == clean+"/" || !strings.HasPrefix(escaped, "/")
}

func securityHeaders(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
}

// survive answers a panic. What was thrown may hold anything, so only its type
// is logged; the stack names functions and no values.
func (s *server) survive(r *http.Request, rec *recorder) {
	thrown := recover()
	if thrown == nil {
		return
	}
	if thrown == http.ErrAbortHandler { //nolint:errorlint // the very value is the convention
		rec.aborted = true
		panic(thrown)
	}
	s.Logger.LogAttrs(r.Context(), levelError, "a handler panicked",
		slog.String("type", fmt.Sprintf("%T", thrown)), slog.String("stack", string(debug.Stack())))
	if rec.status == 0 {
		writeProblem(rec, newProblem(outcome.Internal, detailInternal))
		return
	}
	rec.aborted = true
	panic(http.ErrAbortHandler)
}

// done writes the log line and counts. Neither names more than the route: a
// path holds ids, and a query may hold anything.
func (s *server) done(r *http.Request, rec *recorder, t *trace, took time.Duration) {
	pattern := r.Pattern
	if pattern == "" || pattern == "/" {
		pattern = noPattern
	}
	s.metrics.done(pattern, rec.code(), took)
	level := slog.LevelInfo
	if rec.code() >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{
		slog.String("method", knownMethod(r.Method)), slog.String("route", pattern),
		slog.Int("status", rec.code()), slog.Duration("took", took),
	}
	if t.attempt != "" {
		attrs = append(attrs, slog.String("attempt", t.attempt))
	}
	s.Logger.LogAttrs(r.Context(), level, "request", attrs...)
}

// knownMethod keeps a method that somebody made up out of the log.
func knownMethod(m string) string {
	switch m {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return m
	}
	return "other"
}

// recorder remembers the status of an answer.
type recorder struct {
	http.ResponseWriter
	status  int
	aborted bool
}

// WriteHeader remembers the first status; a second one is nothing.
func (r *recorder) WriteHeader(status int) {
	if r.status != 0 {
		return
	}
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(b)
}

// Flush sends what was written so far.
func (r *recorder) Flush() {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	_ = http.NewResponseController(r.ResponseWriter).Flush()
}

// Unwrap lets a response controller reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// code is the status that a log line shows; an answer that was broken off
// counts as a mistake of ours.
func (r *recorder) code() int {
	switch {
	case r.aborted:
		return http.StatusInternalServerError
	case r.status == 0:
		return http.StatusOK
	}
	return r.status
}
