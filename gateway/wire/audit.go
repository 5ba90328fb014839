package wire

import (
	"encoding/json"
	"time"
)

// Row is one row of the trail.
type Row struct {
	ID        string          `json:"id" doc:"The row's id, ordered by time." example:"01985c0e-7b1a-7c3e-9d2f-4a5b6c7d8e9f"`
	At        time.Time       `json:"at" doc:"When it was written."`
	Org       string          `json:"org" doc:"The organization." example:"acme"`
	Platform  string          `json:"platform" doc:"Where it landed; where nothing landed, the session's platform." example:"room"`
	Workspace string          `json:"workspace" doc:"The workspace." example:"main"`
	Surface   string          `json:"surface" doc:"The host's word for where." example:"room"`
	Principal string          `json:"principal" doc:"Who spoke." example:"helper-bot"`
	Session   string          `json:"session" doc:"The session." example:"s-1"`
	Turn      string          `json:"turn" doc:"The turn." example:"01985c0e-6f00-7a11-8b22-9c33ad44be55"`
	Wake      string          `json:"wake" doc:"The wake." example:"evt-1"`
	Attempt   string          `json:"attempt" doc:"The attempt; empty for rows that none made." example:"01985c0e-7b1a-7c3e-9d2f-4a5b6c7d8e9f"`
	Kind      string          `json:"kind" enum:"outcome,note" doc:"An attempt has one outcome and any number of notes."`
	Action    string          `json:"action" doc:"What was done." example:"reply.edit"`
	Outcome   string          `json:"outcome" doc:"How it ended." example:"applied"`
	Reason    string          `json:"reason" doc:"Why it was not simply applied." example:""`
	Failure   string          `json:"failure" doc:"definitive, ambiguous, partial or empty." example:""`
	Status    int             `json:"status" doc:"The platform's HTTP status; 0 where there was none." example:"200"`
	Code      string          `json:"code" doc:"More about the reason, of a closed set." example:""`
	DryRun    bool            `json:"dry_run" doc:"Nothing reached the platform."`
	Detail    json.RawMessage `json:"detail" doc:"What the row says beside its columns." example:"{\"id\":\"m-41\",\"chars\":5}"`
}

// RowPage is a page of rows, newest first.
type RowPage struct {
	Rows []Row `json:"rows" doc:"The rows, newest first."`
	// Next is empty on the last page.
	Next string `json:"next" doc:"Give it as before for the next page; empty on the last one." example:""`
}

// Group is a count of rows that share their values.
type Group struct {
	By    map[string]string `json:"by" doc:"The values of the columns counted by." example:"{\"outcome\":\"applied\"}"`
	Count int64             `json:"count" doc:"How many rows." example:"3"`
}

// Count is the answer to a count.
type Count struct {
	Groups []Group `json:"groups" doc:"The groups, largest first."`
	Total  int64   `json:"total" doc:"All matching rows." example:"3"`
}
