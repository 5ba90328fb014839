package gateway

import (
	"time"

	"stet/arms"
	"stet/gateway/outcome"
)

// ReplyRequest is a new message as the agent wrote it.
type ReplyRequest struct {
	Text   Text
	Format arms.Format
	// Split allows the text to become several messages.
	Split bool
	// Done says that this is the turn's last reply.
	Done bool
	// Key is the idempotency key, empty for none.
	Key string
}

// EditRequest is a new text for one own message.
type EditRequest struct {
	ID     arms.MessageID
	Text   Text
	Format arms.Format
	Split  bool
	Key    string
}

// RetractRequest removes one own message, all its parts.
type RetractRequest struct {
	ID  arms.MessageID
	Key string
}

// Text is what the agent wrote. Broken says that it didn't arrive as UTF-8, so
// Body is not what was meant.
type Text struct {
	Body   string
	Broken bool
}

// Answer is what the agent reads about a write that was applied.
type Answer struct {
	ID        string     `json:"id"`
	Parts     []string   `json:"parts"`
	Attempt   string     `json:"attempt"`
	Unchanged bool       `json:"unchanged,omitempty"`
	Withheld  []Withheld `json:"withheld,omitempty"`
}

// Withheld is a claim that a guard took out of the text: a span of byte
// offsets in what was sent in.
type Withheld struct {
	Guard string `json:"guard"`
	Cause string `json:"cause"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// Problem is why a write was not simply applied. It is the error of every verb,
// and carries nothing that an agent or a platform wrote.
type Problem struct {
	Reason  outcome.Reason
	Outcome outcome.Outcome
	Failure outcome.Failure
	// Attempt is empty where there was none.
	Attempt string
	// RetryAfter is how long to wait before trying again; 0: no advice.
	RetryAfter time.Duration
	// Detail is written for the model that reads it.
	Detail string
	// Unrecorded: the outcome could not be written down in time.
	Unrecorded bool
}

func (p *Problem) Error() string { return string(p.Reason) }

// Status is the problem's HTTP status.
func (p *Problem) Status() int { return outcome.Status(p.Reason, p.Outcome) }
