package room

import (
	"time"
	"unicode"
	"unicode/utf8"
)

// The verbs of the message interface, as they stand in paths, scripts and the
// truth log.
const (
	VerbPost    = "post"
	VerbEdit    = "edit"
	VerbRetract = "retract"
	VerbFetch   = "fetch"
	VerbFind    = "find"
	VerbRead    = "read"
	VerbProbe   = "probe"
)

func isWrite(verb string) bool {
	return verb == VerbPost || verb == VerbEdit || verb == VerbRetract
}

// The kinds of author.
const (
	KindBot    = "bot"
	KindPerson = "person"
)

// The platform's own refusals.
const (
	refuseInvalid   = "invalid"
	refuseAuth      = "unauthorized"
	refuseForbidden = "forbidden"
	refuseNotYours  = "not_yours"
	refuseNoChannel = "no_channel"
	refuseNoThread  = "no_thread"
	refuseGone      = "no_message"
	refuseTooLong   = "too_long"
	refuseConflict  = "conflict"
	refuseLimited   = "rate_limited"
	refuseInternal  = "internal"
)

// request is the body of every call; each verb reads its own fields.
type request struct {
	Org     string `json:"org"`
	Channel string `json:"channel"`
	Thread  string `json:"thread,omitempty"`
	ID      string `json:"id,omitempty"`
	Author  string `json:"author,omitempty"`
	Text    string `json:"text,omitempty"`
	Marker  string `json:"marker,omitempty"`
	Limit   int    `json:"limit,omitempty"`
	Before  string `json:"before,omitempty"`
}

// message is a message as the interface and the page show it.
type message struct {
	ID      string    `json:"id"`
	Channel string    `json:"channel"`
	Thread  string    `json:"thread,omitempty"`
	Kind    string    `json:"kind"`
	Author  string    `json:"author"`
	Text    string    `json:"text"`
	Marker  string    `json:"marker,omitempty"`
	At      time.Time `json:"at"`
	Edited  bool      `json:"edited,omitempty"`
	Deleted bool      `json:"deleted,omitempty"`
}

// answer is the body of every success; each verb fills its own fields.
type answer struct {
	Message  *message  `json:"message,omitempty"`
	Messages []message `json:"messages,omitempty"`
	// Marker repeats the marker that a find looked for.
	Marker   string `json:"marker,omitempty"`
	Next     string `json:"next,omitempty"`
	Complete bool   `json:"complete,omitempty"`
	OK       bool   `json:"ok,omitempty"`
}

// refusal is the body of every error.
type refusal struct {
	Error struct {
		Code string `json:"code"`
		// RetryAfter is in seconds.
		RetryAfter float64 `json:"retry_after,omitempty"`
	} `json:"error"`
}

const (
	maxName = 200
	maxPage = 200
)

// goodName says whether s may name an organization, a channel or a person.
func goodName(s string) bool {
	if s == "" || len(s) > maxName || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			return false
		}
	}
	return true
}
