package arms

import (
	"errors"
	"fmt"
	"time"
)

// Certainty is what a fault proves about the effect.
type Certainty string

// The three certainties. The zero value is not one of them; [AsFault] reads it
// as Ambiguous.
const (
	// NotSent: provably no byte of the request left.
	NotSent Certainty = "not_sent"
	// Rejected: the platform answered, and there is no effect.
	Rejected Certainty = "rejected"
	// Ambiguous: there may be an effect.
	Ambiguous Certainty = "ambiguous"
)

// Code is the closed vocabulary of what went wrong at a platform. It is a
// column of the trail and a key of the sentences that agents read, so codes
// are added, never renamed.
type Code string

// The codes, by the certainty that usually goes with them.
const (
	// Nothing left.
	CodeDial        Code = "dial-failed"
	CodeTLS         Code = "tls-failed"
	CodeBudgetSpent Code = "budget-spent"
	CodeQuarantined Code = "quarantined"
	CodeCanceled    Code = "canceled"
	CodeUnsupported Code = "unsupported"

	// The platform said no.
	CodeRateLimited  Code = "rate-limited"
	CodeUnauthorized Code = "unauthorized"
	CodeForbidden    Code = "forbidden"
	CodeNoChannel    Code = "no-channel"
	CodeGone         Code = "gone"
	CodeClosed       Code = "closed"
	CodeWindowClosed Code = "platform-window-closed"
	CodeEditBudget   Code = "edit-budget"
	CodeTooLong      Code = "too-long"
	CodeInvalid      Code = "invalid"
	CodeConflict     Code = "conflict"

	// It may have happened.
	CodeTimeout    Code = "timeout"
	CodeCut        Code = "connection-cut"
	CodeServer     Code = "server-error"
	CodeRedirect   Code = "redirect"
	CodeGarbage    Code = "unreadable-answer"
	CodeOversize   Code = "oversize-answer"
	CodeMismatch   Code = "mismatched-answer"
	CodeUnexpected Code = "unexpected-answer"
	CodeUnknown    Code = "unknown"
)

// sentences is what an agent reads about a code. None names an id, a host or
// anything that came from the platform.
var sentences = map[Code]string{
	CodeDial:         "the platform could not be reached, nothing was sent",
	CodeTLS:          "no secure connection to the platform could be made, nothing was sent",
	CodeBudgetSpent:  "the time for this request was spent before it could be sent",
	CodeQuarantined:  "the credentials for this workspace were refused before and are set aside until an operator renews them; nothing was sent",
	CodeCanceled:     "the request was given up before it was sent",
	CodeUnsupported:  "the platform's adapter cannot do this here, nothing was sent",
	CodeRateLimited:  "the platform is limiting requests and did not take this one",
	CodeUnauthorized: "the platform did not accept the gateway's credentials",
	CodeForbidden:    "the platform does not let this bot do that here",
	CodeNoChannel:    "the platform does not know this conversation, or the bot is not in it",
	CodeGone:         "the platform says that the message is no longer there",
	CodeClosed:       "the conversation is closed, archived or locked",
	CodeWindowClosed: "the platform's own time for changing this message is over",
	CodeEditBudget:   "the platform allows no further edits of this message for now",
	CodeTooLong:      "the platform found the text too long",
	CodeInvalid:      "the platform found the request invalid",
	CodeConflict:     "the platform refused the request because of a conflicting change",
	CodeTimeout:      "the platform did not answer in time",
	CodeCut:          "the connection to the platform was cut before it answered",
	CodeServer:       "the platform failed while handling the request",
	CodeRedirect:     "the platform pointed to another address, which is never followed",
	CodeGarbage:      "the platform's answer could not be read",
	CodeOversize:     "the platform's answer was too large to read",
	CodeMismatch:     "the platform's answer was about something else",
	CodeUnexpected:   "the answer did not come in the platform's own form",
	CodeUnknown:      "the platform's answer is not one that the gateway knows",
}

// Codes lists the whole vocabulary.
func Codes() []Code {
	all := make([]Code, 0, len(sentences))
	for c := range sentences {
		all = append(all, c)
	}
	return all
}

// Sentence says the code in words that may be shown to anybody.
func (c Code) Sentence() string {
	if s, ok := sentences[c]; ok {
		return s
	}
	return sentences[CodeUnknown]
}

// Fault is why a request to a platform did not end in a confirmed success. It
// carries nothing that the platform or an agent wrote.
type Fault struct {
	Certainty Certainty
	Code      Code
	// Status is the platform's HTTP status, 0 where there was none.
	Status int
	// RetryAfter is how long the platform asked to wait; 0: it did not say.
	RetryAfter time.Duration
}

func (f *Fault) Error() string {
	if f.Status != 0 {
		return fmt.Sprintf("platform fault: %s (%s, status %d)", f.Code, f.Certainty, f.Status)
	}
	return fmt.Sprintf("platform fault: %s (%s)", f.Code, f.Certainty)
}

// AsFault reads any error of an arm as a fault; one that isn't a fault, or
// whose certainty is unknown, is ambiguous.
func AsFault(err error) *Fault {
	if err == nil {
		return nil
	}
	var f *Fault
	if !errors.As(err, &f) {
		return &Fault{Certainty: Ambiguous, Code: CodeUnknown}
	}
	switch f.Certainty {
	case NotSent, Rejected, Ambiguous:
		return f
	}
	g := *f
	g.Certainty = Ambiguous
	return &g
}
