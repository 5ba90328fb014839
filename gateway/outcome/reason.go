package outcome

import "net/http"

// Reason is why a request did not simply succeed.
type Reason string

// The reasons of the contract.
const (
	BadRequest   Reason = "bad-request"
	Unauthorized Reason = "unauthorized"
	Forbidden    Reason = "forbidden"
	NotFound     Reason = "not-found"
	TooLarge     Reason = "too-large"

	InProgress          Reason = "in-progress"
	IdempotencyMismatch Reason = "idempotency-mismatch"

	Overloaded Reason = "overloaded"
	Draining   Reason = "draining"
	Internal   Reason = "internal"

	NotOwnPost   Reason = "not-own-post"
	NoEditArm    Reason = "no-edit-arm"
	NoRetractArm Reason = "no-retract-arm"
	NoReadArm    Reason = "no-read-arm"
	NoArm        Reason = "no-arm"
	NoLocus      Reason = "no-locus"

	UntrustedServiceURL Reason = "untrusted-service-url"

	TurnAmbiguous Reason = "turn-ambiguous"
	TurnPartial   Reason = "turn-partial"
	TurnAnswered  Reason = "turn-answered"
	TurnDeclined  Reason = "turn-declined"
	TurnStale     Reason = "turn-stale"

	InvalidText  Reason = "invalid-text"
	TextTooLong  Reason = "text-too-long"
	NothingLeft  Reason = "nothing-left"
	ClaimRefused Reason = "claim-refused"
	Denied       Reason = "denied"

	MessageBusy Reason = "message-busy"
	Superseded  Reason = "superseded"
	RateLimited Reason = "rate-limited"

	PlatformError     Reason = "platform-error"
	LedgerUnavailable Reason = "ledger-unavailable"
	AuditUnavailable  Reason = "audit-unavailable"

	// Interrupted stands in rows only: the process died in the middle.
	Interrupted Reason = "interrupted"
)

// statuses is the one table from reason to HTTP status.
var statuses = map[Reason]int{
	BadRequest: http.StatusBadRequest, Unauthorized: http.StatusUnauthorized,
	Forbidden: http.StatusForbidden, NotFound: http.StatusNotFound,
	TooLarge:   http.StatusRequestEntityTooLarge,
	InProgress: http.StatusConflict, IdempotencyMismatch: http.StatusUnprocessableEntity,
	Overloaded: http.StatusServiceUnavailable, Draining: http.StatusServiceUnavailable,
	Internal: http.StatusInternalServerError,

	NotOwnPost: http.StatusForbidden,
	NoEditArm:  http.StatusUnprocessableEntity, NoRetractArm: http.StatusUnprocessableEntity,
	NoReadArm: http.StatusUnprocessableEntity, NoArm: http.StatusUnprocessableEntity,
	NoLocus: http.StatusConflict, UntrustedServiceURL: http.StatusUnprocessableEntity,

	TurnAmbiguous: http.StatusConflict, TurnPartial: http.StatusConflict,
	TurnAnswered: http.StatusConflict, TurnDeclined: http.StatusConflict,
	TurnStale: http.StatusConflict,

	InvalidText: http.StatusUnprocessableEntity, TextTooLong: http.StatusUnprocessableEntity,
	NothingLeft: http.StatusUnprocessableEntity, ClaimRefused: http.StatusUnprocessableEntity,
	Denied: http.StatusForbidden,

	MessageBusy: http.StatusConflict, Superseded: http.StatusConflict,
	RateLimited: http.StatusTooManyRequests,

	PlatformError:     http.StatusBadGateway,
	LedgerUnavailable: http.StatusServiceUnavailable,
	AuditUnavailable:  http.StatusServiceUnavailable,
	Interrupted:       http.StatusGatewayTimeout,
}

// Reasons lists every reason, in no order.
func Reasons() []Reason {
	all := make([]Reason, 0, len(statuses))
	for r := range statuses {
		all = append(all, r)
	}
	return all
}

// Status is the HTTP status of a reason at an outcome; the outcome matters
// only to a platform's verdict, whose ambiguous form is a gateway time-out.
func Status(r Reason, o Outcome) int {
	if o == Ambiguous && r == PlatformError {
		return http.StatusGatewayTimeout
	}
	if s, ok := statuses[r]; ok {
		return s
	}
	return http.StatusInternalServerError
}
