package armhttp

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"

	"stet/arms"
)

// spent is the fault of a context that is over before anything was tried.
func spent(ctx context.Context) *arms.Fault {
	switch err := ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return notSent(arms.CodeBudgetSpent)
	default:
		return notSent(arms.CodeCanceled)
	}
}

func notSent(c arms.Code) *arms.Fault {
	return &arms.Fault{Certainty: arms.NotSent, Code: c}
}

// Ambiguous is the fault of an answer whose effect is unknown.
func Ambiguous(c arms.Code, status int) *arms.Fault {
	return &arms.Fault{Certainty: arms.Ambiguous, Code: c, Status: status}
}

// fault judges an error of the transport by what was seen of the request.
func (e *evidence) fault(err error) *arms.Fault {
	connected, inTLS, answered := e.seen()
	if e.mayHaveLeft() {
		return Ambiguous(brokenCode(err, answered), 0)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return notSent(arms.CodeCanceled)
	case connected:
		// The connection died with nothing of this request written to it.
		return notSent(arms.CodeDial)
	case inTLS:
		return notSent(arms.CodeTLS)
	default:
		return notSent(arms.CodeDial)
	}
}

// brokenCode names what ended a request after it may have left.
func brokenCode(err error, answered bool) arms.Code {
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return arms.CodeTimeout
	case errors.As(err, &network) && network.Timeout():
		return arms.CodeTimeout
	case answered && !wasCut(err):
		return arms.CodeGarbage
	default:
		return arms.CodeCut
	}
}

func wasCut(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE)
}

// Fault judges the statuses that mean the same everywhere: a redirect, 408 and
// 5xx leave the effect unknown, and so does a status that is no final answer.
// Nil means that the arm has to judge by the platform's own schema; a 4xx that
// isn't in that schema is [Answer.Unexpected].
func (a Answer) Fault() *arms.Fault {
	switch {
	case a.Status == http.StatusRequestTimeout:
		return a.ambiguous(arms.CodeTimeout)
	case a.Status >= 500:
		return a.ambiguous(arms.CodeServer)
	case a.Status >= 300 && a.Status < 400:
		return a.ambiguous(arms.CodeRedirect)
	case a.Status < 200:
		return a.Unexpected()
	}
	return nil
}

// Unexpected is the fault of an answer that is not in the platform's own form;
// it may come from a proxy before or behind the effect.
func (a Answer) Unexpected() *arms.Fault { return a.ambiguous(arms.CodeUnexpected) }

func (a Answer) ambiguous(c arms.Code) *arms.Fault {
	f := Ambiguous(c, a.Status)
	f.RetryAfter = a.RetryAfter
	return f
}
