package wire

import (
	"encoding/json"
	"time"
)

// Wake is what woke the agent.
type Wake struct {
	ID     string            `json:"id,omitempty" maxLength:"200" doc:"The host's id of the wake." example:"evt-1"`
	Origin *Locus            `json:"origin,omitempty" doc:"Where the wake came from; replies of this turn land there."`
	Refs   map[string]string `json:"refs,omitempty" maxProperties:"32" doc:"The ids of what this wake answers, by the tools' own key names." example:"{\"message_id\":\"m-40\"}"`
}

// OpenTurnRequest opens a turn.
type OpenTurnRequest struct {
	Session   string `json:"session" maxLength:"200" doc:"The session." example:"s-1"`
	Wake      Wake   `json:"wake,omitzero" doc:"What woke the agent."`
	Creator   string `json:"creator,omitempty" maxLength:"200" doc:"Who caused the wake."`
	TTL       string `json:"ttl,omitempty" maxLength:"64" doc:"How long the token works; 1h if left out, 24h at most." example:"1h"`
	DryRun    bool   `json:"dry_run,omitempty" doc:"Everything happens but the request to the platform."`
	Org       string `json:"org,omitempty" maxLength:"200" doc:"The organization; needed for an unbound session where the key spans all."`
	Workspace string `json:"workspace,omitempty" maxLength:"200" doc:"Needed for an unbound session."`
	Surface   string `json:"surface,omitempty" maxLength:"200" doc:"Needed for an unbound session."`
	Principal string `json:"principal,omitempty" maxLength:"200" doc:"Needed for an unbound session."`
}

// OpenedTurn is a new turn with its token, which is shown this once.
type OpenedTurn struct {
	Turn      string    `json:"turn" doc:"The turn's id." example:"01985c0e-6f00-7a11-8b22-9c33ad44be55"`
	Token     string    `json:"token" doc:"The turn token, for the agent and nobody else. It is shown this once." example:"stet_turn_..."`
	ExpiresAt time.Time `json:"expires_at" doc:"When the token stops working."`
}

// EvidenceRequest reports an event that the host saw.
type EvidenceRequest struct {
	Kind    string `json:"kind" enum:"memory.write,approval.granted,approval.not_required,request.submitted,delegation.opened,delegation.reported" doc:"What happened."`
	Ref     string `json:"ref,omitempty" maxLength:"512" doc:"The event's id at the host." example:"mem-17"`
	Subject string `json:"subject,omitempty" maxLength:"512" doc:"What it was about."`
	TTL     string `json:"ttl,omitempty" maxLength:"64" doc:"Left out: it counts in this turn. Given: in the session, that long." example:"10m"`
}

// Evidence is a stored event.
type Evidence struct {
	ID string    `json:"id" doc:"The evidence's id." example:"01985c0e-7b1a-7c3e-9d2f-4a5b6c7d8e9f"`
	At time.Time `json:"at" doc:"When it was reported."`
	// ExpiresAt is zero for evidence of one turn.
	ExpiresAt time.Time `json:"expires_at,omitzero" doc:"Until when it counts in the session."`
}

// TranscriptRequest reports a tool call that the agent made elsewhere. A later
// entry of the same call adds its result.
type TranscriptRequest struct {
	Call    string          `json:"call" maxLength:"200" doc:"The call's id." example:"call-3"`
	Name    string          `json:"name" maxLength:"200" doc:"The tool's name." example:"search"`
	Args    json.RawMessage `json:"args,omitempty" doc:"The arguments, any JSON."`
	Result  json.RawMessage `json:"result,omitempty" doc:"The result, any JSON."`
	IsError bool            `json:"is_error,omitempty" doc:"The result is an error."`
}

// ActivityRequest reports a newer inbound message.
type ActivityRequest struct {
	Message string `json:"message" maxLength:"512" doc:"The platform's id of the message." example:"m-42"`
}

// Marks is what has become of a turn so far.
type Marks struct {
	Answered  bool `json:"answered" doc:"A reply said that it was the last one."`
	Declined  bool `json:"declined" doc:"The agent declined to answer."`
	Ambiguous bool `json:"ambiguous" doc:"What became of a write is unknown."`
	Partial   bool `json:"partial" doc:"Of a split reply only some parts are there."`
	Stale     bool `json:"stale" doc:"A newer message came in that the agent has not read."`
}

// TurnEnd is a turn's marks when it was closed or declined.
type TurnEnd struct {
	Turn   string `json:"turn" doc:"The turn's id." example:"01985c0e-6f00-7a11-8b22-9c33ad44be55"`
	Marks  Marks  `json:"marks" doc:"What has become of the turn."`
	MayEnd bool   `json:"may_end" doc:"Enough was done for the turn to end."`
}

// OwnPost is a reply of one's own that may still be changed.
type OwnPost struct {
	ID            string    `json:"id" doc:"The id to edit or retract it by." example:"m-41"`
	Parts         []string  `json:"parts" doc:"The ids of its parts." example:"[\"m-41\"]"`
	PostedAt      time.Time `json:"posted_at" doc:"When it was posted."`
	EditableUntil time.Time `json:"editable_until" doc:"It may be changed before this time."`
}

// Can is what can be done in the turn's conversation.
type Can struct {
	Reply       bool `json:"reply" doc:"Post a message."`
	Edit        bool `json:"edit" doc:"Change an own message."`
	Retract     bool `json:"retract" doc:"Remove an own message."`
	ReadChannel bool `json:"read_channel" doc:"Read the conversation."`
	ReadThread  bool `json:"read_thread" doc:"Read a thread in it."`
	// TextLimit is counted in TextUnit; 0 where nothing can be posted.
	TextLimit int    `json:"text_limit" doc:"The longest text." example:"4000"`
	TextUnit  string `json:"text_unit" doc:"What the limit counts." example:"code points"`
	Dialect   string `json:"dialect" doc:"The markup that the platform shows." example:"markdown"`
}

// Turn is what a turn holds, as its agent sees it.
type Turn struct {
	Turn      string            `json:"turn" doc:"The turn's id." example:"01985c0e-6f00-7a11-8b22-9c33ad44be55"`
	Session   string            `json:"session" doc:"The session." example:"s-1"`
	Principal string            `json:"principal" doc:"Who speaks." example:"helper-bot"`
	Platform  string            `json:"platform" doc:"Where replies land; empty for nowhere." example:"room"`
	DryRun    bool              `json:"dry_run" doc:"Nothing reaches the platform."`
	ExpiresAt time.Time         `json:"expires_at" doc:"When the token stops working."`
	Refs      map[string]string `json:"refs" doc:"The ids of what this turn answers." example:"{\"message_id\":\"m-40\"}"`
	Marks     Marks             `json:"marks" doc:"What has become of the turn."`
	MayEnd    bool              `json:"may_end" doc:"Enough was done for the turn to end."`
	Editable  []OwnPost         `json:"editable" doc:"Own posts that may still be changed, newest first."`
	Can       Can               `json:"can" doc:"What can be done here."`
	// Instructions are the deployment's standing instructions.
	Instructions []string `json:"instructions" doc:"Standing instructions." example:"[]"`
}

// EventResolved is the name of an event about an ambiguous outcome.
const EventResolved = "resolved"

// Event is something that happened to a turn after its answer was given.
type Event struct {
	// ID is the row's, and the event stream's own id.
	ID      string    `json:"id" doc:"The id of its row in the trail." example:"01985c0e-7b1a-7c3e-9d2f-4a5b6c7d8e9f"`
	Kind    string    `json:"kind" enum:"resolved" doc:"What kind of event."`
	At      time.Time `json:"at" doc:"When it was found out."`
	Turn    string    `json:"turn" doc:"The turn." example:"01985c0e-6f00-7a11-8b22-9c33ad44be55"`
	Attempt string    `json:"attempt" doc:"The attempt that was ambiguous." example:"01985c0e-7b1a-7c3e-9d2f-4a5b6c7d8e9f"`
	Verdict string    `json:"verdict" doc:"What was found out." example:"seen"`
	Message string    `json:"message,omitempty" doc:"The message that was seen." example:"m-41"`
}
