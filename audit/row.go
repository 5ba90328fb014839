package audit

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"stet/gateway/outcome"
)

// Kind tells outcomes from what is noted beside them.
type Kind string

// The kinds of a row.
const (
	Outcome Kind = "outcome"
	Note    Kind = "note"
)

// Actions that are not an attempt's own.
const (
	ActionResolved      = "reply.resolved"
	ActionProvenance    = "reply.provenance"
	ActionClaimWithheld = "reply.claim.withheld"
	ActionDeclined      = "turn.declined"
	ActionKeyCreated    = "key.created"
	ActionKeyRevoked    = "key.revoked"
)

// Codes of outcome rows beside those of package arms and package ledger.
const (
	CodeAlreadyGone = "already-gone"
	CodeUnchanged   = "unchanged"
)

// Row is one row of the trail. It holds no text, no token and nothing that an
// agent could choose, but the ids that the ledger vouched for.
type Row struct {
	ID        string    `json:"id"`
	At        time.Time `json:"at"`
	Org       string    `json:"org"`
	Platform  string    `json:"platform"`
	Workspace string    `json:"workspace"`
	Surface   string    `json:"surface"`
	Principal string    `json:"principal"`
	Session   string    `json:"session"`
	Turn      string    `json:"turn"`
	Wake      string    `json:"wake"`
	// Attempt is empty for rows that no attempt made.
	Attempt string          `json:"attempt"`
	Kind    Kind            `json:"kind"`
	Action  string          `json:"action"`
	Outcome outcome.Outcome `json:"outcome"`
	Reason  outcome.Reason  `json:"reason"`
	Failure outcome.Failure `json:"failure"`
	// Status is the platform's HTTP status, 0 where there was none.
	Status int             `json:"status"`
	Code   string          `json:"code"`
	DryRun bool            `json:"dry_run"`
	Detail json.RawMessage `json:"detail"`
}

// Detail is what a row says beside its columns; empty fields stay out.
type Detail struct {
	ID        string   `json:"id,omitempty"`
	Channel   string   `json:"channel,omitempty"`
	Chars     *int     `json:"chars,omitempty"`
	Parts     []string `json:"parts,omitempty"`
	Unchanged bool     `json:"unchanged,omitempty"`
	Route     string   `json:"route,omitempty"`
	Creator   string   `json:"creator,omitempty"`
	Approval  string   `json:"approval,omitempty"`
	// Of notes.
	Verdict  Verdict `json:"verdict,omitempty"`
	Evidence string  `json:"evidence,omitempty"`
	Guard    string  `json:"guard,omitempty"`
	Cause    string  `json:"cause,omitempty"`
	Count    int     `json:"count,omitempty"`
	Who      string  `json:"who,omitempty"`
	Key      string  `json:"key,omitempty"`
}

// JSON encodes the detail for a row.
func (d Detail) JSON() json.RawMessage {
	b, err := json.Marshal(d)
	if err != nil { // plain strings and numbers always encode
		return json.RawMessage("{}")
	}
	return b
}

// NewID makes an id for a row or an attempt: time-ordered, random.
func NewID() string {
	id, err := uuid.NewV7()
	if err != nil {
		panic("audit: no randomness") // crypto/rand never fails on supported systems
	}
	return id.String()
}

// Verdict is what a later look found out about an ambiguous outcome.
type Verdict string

// The verdicts.
const (
	// Seen: it is there, as this attempt wrote it.
	Seen Verdict = "seen"
	// SeenChanged: it is there, and something later changed it.
	SeenChanged Verdict = "seen_changed"
	// LateResult: the attempt's own definite result, after somebody else had
	// recorded it as interrupted.
	LateResult Verdict = "late_result"
	// NotSeen: looked and not found; weak, the outcome stays ambiguous.
	NotSeen Verdict = "not_seen"
	// NotApplied: proven not to be there, now or later.
	NotApplied Verdict = "not_applied"
	// GaveUp: nobody will look again.
	GaveUp Verdict = "gave_up"
)

// Verdicts lists the verdicts.
func Verdicts() []Verdict {
	return []Verdict{Seen, SeenChanged, LateResult, NotSeen, NotApplied, GaveUp}
}

// Final reports that no further look follows the verdict.
func (v Verdict) Final() bool { return v != NotSeen }
