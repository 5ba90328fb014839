package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"stet/cmd/internal/config"
	"stet/gateway/client"
)

// usage is a command that was called wrongly.
type usage struct{ err error }

func (u usage) Error() string { return u.err.Error() }
func (u usage) Unwrap() error { return u.err }

func usagef(format string, args ...any) error { return usage{fmt.Errorf(format, args...)} }

// failed is a command that has said everything already.
type failed struct{}

func (failed) Error() string { return "failed" }

// fail says what went wrong and answers the exit code that goes with it.
func (r *run) fail(err error) int {
	var (
		wrong   usage
		said    failed
		problem *client.Error
	)
	switch {
	case errors.As(err, &said):
		return exitRefused
	case errors.As(err, &wrong):
		r.complain("stet: %s\n", wrong)
		r.complain("  `stet --help` and `stet <command> --help` say how it is called\n")
		return exitUsage
	case errors.As(err, &problem):
		r.refused(problem)
		return exitRefused
	case client.IsUnreachable(err):
		r.unreachable(err)
		return exitUnreachable
	case errors.Is(err, context.Canceled) && r.ctx.Err() != nil:
		r.complain("stet: interrupted\n")
		return exitRefused
	}
	for _, e := range config.Each(err) {
		r.complain("stet: %s\n", e)
	}
	return exitRefused
}

// refused shows a refusal: for scripts the problem itself on standard output,
// for people reason, detail and attempt.
func (r *run) refused(e *client.Error) {
	if r.json {
		_ = r.printJSON(e.Problem) // the exit code says the rest
		return
	}
	if e.Foreign {
		r.complain("stet: %s\n", e)
		return
	}
	head := e.Reason
	if e.Outcome != "" {
		head += ", outcome " + e.Outcome
	}
	if e.Failure != "" && e.Failure != e.Outcome {
		head += " (" + e.Failure + ")"
	}
	r.complain("stet: %s\n", r.paintErr(red, head))
	for _, line := range wrap(e.Detail, width-2) {
		r.complain("  %s\n", line)
	}
	if e.RetryAfter > 0 {
		r.complain("  try again in %d s\n", e.RetryAfter)
	}
	if e.Recorded != nil && !*e.Recorded {
		r.complain("  this outcome could not be written to the trail in time\n")
	}
	if e.Attempt != "" {
		r.complain("  attempt %s\n", e.Attempt)
	}
}

func (r *run) unreachable(err error) {
	if r.json {
		_ = r.printJSON(map[string]string{"error": "unreachable", "detail": err.Error()}) // the exit code says the rest
		return
	}
	r.complain("stet: %s\n", err)
	r.complain("  is it running? `stet serve` starts it, STET_URL or --url says where it is\n")
}

// complain writes to standard error; there is nobody to tell if that fails.
func (r *run) complain(format string, args ...any) { _, _ = fmt.Fprintf(r.Err, format, args...) }

// wrap breaks a text into lines of at most n characters, at spaces.
func wrap(s string, n int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		switch {
		case line == "":
			line = word
		case len([]rune(line))+1+len([]rune(word)) > n:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
