package room

import (
	"net/http"

	"stet/arms"
	"stet/arms/armhttp"
)

// own is the room's error schema: each code with the one status it comes with
// and what it means. All of them say that there is no effect.
var own = map[string]struct {
	status int
	code   arms.Code
}{
	refuseInvalid:   {http.StatusBadRequest, arms.CodeInvalid},
	refuseAuth:      {http.StatusUnauthorized, arms.CodeUnauthorized},
	refuseForbidden: {http.StatusForbidden, arms.CodeForbidden},
	refuseNotYours:  {http.StatusForbidden, arms.CodeForbidden},
	refuseNoChannel: {http.StatusNotFound, arms.CodeNoChannel},
	refuseNoThread:  {http.StatusNotFound, arms.CodeNoChannel},
	refuseGone:      {http.StatusNotFound, arms.CodeGone},
	refuseConflict:  {http.StatusConflict, arms.CodeConflict},
	refuseTooLong:   {http.StatusUnprocessableEntity, arms.CodeTooLong},
	refuseLimited:   {http.StatusTooManyRequests, arms.CodeRateLimited},
}

// classify judges a complete answer: nil means that it claims success, which
// the verb still has to check.
func classify(a armhttp.Answer) *arms.Fault {
	if f := a.Fault(); f != nil {
		return f
	}
	if a.Status == http.StatusOK {
		return nil
	}
	var r refusal
	if a.Object(&r) != nil {
		return a.Unexpected()
	}
	known, ok := own[r.Error.Code]
	if !ok || known.status != a.Status {
		return a.Unexpected()
	}
	wait := a.RetryAfter
	if wait == 0 {
		wait = armhttp.Seconds(r.Error.RetryAfter)
	}
	return &arms.Fault{Certainty: arms.Rejected, Code: known.code, Status: a.Status, RetryAfter: wait}
}
