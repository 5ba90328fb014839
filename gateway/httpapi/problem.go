package httpapi

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"stet/audit"
	"stet/gateway"
	"stet/gateway/bind"
	"stet/gateway/outcome"
	"stet/gateway/wire"
)

// problem is a [wire.Problem] as an error of a handler.
type problem struct {
	wire.Problem
	allow string
}

var (
	_ huma.StatusError       = (*problem)(nil)
	_ huma.HeadersError      = (*problem)(nil)
	_ huma.ContentTypeFilter = (*problem)(nil)
)

// The library makes its own errors and has this one place, global to the
// process, to have them made otherwise. No other package here uses it.
func init() {
	huma.NewError = libraryProblem
	huma.DefaultArrayNullable = false
}

func (p *problem) Error() string             { return p.Reason }
func (p *problem) GetStatus() int            { return p.Status }
func (p *problem) ContentType(string) string { return wire.ProblemType }

// GetHeaders answers the headers that go with the problem.
func (p *problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="stet"`)
	}
	if p.allow != "" {
		h.Set("Allow", p.allow)
	}
	return h
}

// newProblem makes a problem that no attempt stands behind.
func newProblem(r outcome.Reason, detail string) *problem {
	return &problem{Problem: wire.Problem{
		Type: "/docs#" + string(r), Title: title(r), Status: outcome.Status(r, ""),
		Reason: string(r), Detail: detail,
	}}
}

func badRequest(detail string) *problem { return newProblem(outcome.BadRequest, detail) }

// title is a reason in words.
func title(r outcome.Reason) string {
	words := strings.ReplaceAll(string(r), "-", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// verdict is the pipeline's problem as the caller reads it.
func verdict(g *gateway.Problem) *problem {
	p := newProblem(g.Reason, g.Detail)
	p.Status = g.Status()
	p.Outcome, p.Failure, p.Attempt = string(g.Outcome), string(g.Failure), g.Attempt
	p.RetryAfter = seconds(g.RetryAfter)
	if g.Unrecorded {
		no := false
		p.Recorded = &no
	}
	return p
}

// seconds rounds up: who comes back too early is refused again.
func seconds(d time.Duration) int {
	if d <= 0 {
		return 0
	}
	return int(math.Ceil(d.Seconds()))
}

// Details that more than one place gives.
const (
	detailUnauthorized = "this credential doesn't work: it is unknown, expired, closed, revoked or malformed; send a live one as 'Authorization: Bearer ...'"
	detailNotFound     = "there is no such thing here"
	detailInternal     = "the gateway made a mistake handling this request; it is logged"
	detailStore        = "the gateway can't reach its store right now, so it did nothing; try again in a moment"
	detailUnconfirmed  = "the gateway can't tell whether this was written down; making the same call again does no harm"
	detailOverloaded   = "too much is waiting to be written down, so nothing was done; try again in a moment"
	detailDraining     = "this gateway is shutting down and takes nothing new; nothing was done, try again in a moment"
)

// retrySoon is the advice where nobody knows better.
const retrySoon = 2 * time.Second

// asProblem makes the answer to any error of what stands behind the door; ok
// is false for one that an operator should hear of.
func asProblem(err error) (p *problem, ok bool) {
	var own *problem
	var g *gateway.Problem
	var invalid *bind.InvalidError
	switch {
	case errors.As(err, &own):
		return own, true
	case errors.As(err, &g) && g != nil:
		return verdict(g), true
	case errors.As(err, &invalid):
		return badRequest(invalid.Field + " " + invalid.Rule), true
	case errors.Is(err, bind.ErrUnauthorized):
		return newProblem(outcome.Unauthorized, detailUnauthorized), true
	case errors.Is(err, bind.ErrForbidden):
		return newProblem(outcome.Forbidden, "this key belongs to another organization"), true
	case errors.Is(err, bind.ErrNotFound), errors.Is(err, audit.ErrNotFound):
		return newProblem(outcome.NotFound, detailNotFound), true
	case errors.Is(err, bind.ErrAmbiguousSession):
		return badRequest("org is required: several organizations have a session of this name"), true
	case errors.Is(err, bind.ErrUntrustedURL):
		return newProblem(outcome.UntrustedServiceURL, "service_url is not one of the addresses that this gateway trusts; nothing was opened or bound"), true
	case errors.Is(err, audit.ErrOverloaded):
		return later(outcome.Overloaded, detailOverloaded), true
	case errors.Is(err, audit.ErrUnconfirmed):
		return later(outcome.AuditUnavailable, detailUnconfirmed), false
	default:
		return later(outcome.AuditUnavailable, detailStore), false
	}
}

// later is a problem that passes.
func later(r outcome.Reason, detail string) *problem {
	p := newProblem(r, detail)
	p.RetryAfter = seconds(retrySoon)
	return p
}

// libraryProblem makes the library's own errors ours. Those about a value name
// its place and the rule, and never repeat the value.
func libraryProblem(status int, msg string, errs ...error) huma.StatusError {
	switch {
	case status == http.StatusRequestEntityTooLarge:
		return newProblem(outcome.TooLarge, detailTooLarge)
	case status >= http.StatusInternalServerError:
		return newProblem(outcome.Internal, detailInternal)
	}
	parts := make([]string, 0, len(errs))
	for _, err := range errs {
		var d huma.ErrorDetailer
		if errors.As(err, &d) {
			parts = append(parts, place(d.ErrorDetail()))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, msg)
	}
	return badRequest(strings.Join(parts, "; "))
}

// place words a broken rule of a parameter; a body's rule says its own place.
func place(d *huma.ErrorDetail) string {
	where, name, _ := strings.Cut(d.Location, ".")
	switch where {
	case "body", "":
		return d.Message
	case "query":
		return "the query parameter " + safeName(name) + ": " + d.Message
	default:
		return "the " + where + " " + safeName(name) + ": " + d.Message
	}
}

// safeName makes a stranger's name fit to be repeated to the same stranger.
func safeName(name string) string {
	name = strconv.QuoteToASCII(name)
	name = name[1 : len(name)-1]
	if len(name) > 64 {
		name = name[:64] + "..."
	}
	return name
}
