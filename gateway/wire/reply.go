package wire

// ReplyRequest posts a message.
type ReplyRequest struct {
	Text     Text   `json:"text" doc:"What to say." example:"On it."`
	Format   string `json:"format,omitempty" enum:"markdown,plain" doc:"The markup of text; markdown if left out."`
	Overflow string `json:"overflow,omitempty" enum:"refuse,split" doc:"What to do with a text over the limit; refuse if left out."`
	Done     bool   `json:"done,omitempty" doc:"This is the turn's last reply."`
}

// EditRequest replaces the text of an own message.
type EditRequest struct {
	Text     Text   `json:"text" doc:"The whole new text." example:"Done."`
	Format   string `json:"format,omitempty" enum:"markdown,plain" doc:"The markup of text; markdown if left out."`
	Overflow string `json:"overflow,omitempty" enum:"refuse,split" doc:"What to do with a text over the limit; refuse if left out."`
}

// Withheld is a claim that a guard took out of the text.
type Withheld struct {
	Guard string `json:"guard" enum:"memory,approval,request" doc:"Which guard."`
	Cause string `json:"cause" doc:"Why."`
	Start int    `json:"start" doc:"Where it began, in bytes of what was sent in."`
	End   int    `json:"end" doc:"Where it ended."`
}

// Replied is a message that is there.
type Replied struct {
	ID       string     `json:"id" doc:"The platform's own id of the (first) message; edit and retract take it." example:"m-41"`
	Parts    []string   `json:"parts" doc:"The ids of all parts." example:"[\"m-41\"]"`
	Attempt  string     `json:"attempt" doc:"The attempt's id; the trail has one row under it." example:"01985c0e-7b1a-7c3e-9d2f-4a5b6c7d8e9f"`
	Withheld []Withheld `json:"withheld" doc:"Claims that a guard took out." example:"[]"`
}

// Edited is a message that shows the new text.
type Edited struct {
	ID        string     `json:"id" doc:"The platform's own id of the (first) message." example:"m-41"`
	Parts     []string   `json:"parts" doc:"The ids of all parts." example:"[\"m-41\"]"`
	Attempt   string     `json:"attempt" doc:"The attempt's id; the trail has one row under it." example:"01985c0e-7b1a-7c3e-9d2f-4a5b6c7d8e9f"`
	Unchanged bool       `json:"unchanged" doc:"It showed this text already; nothing was sent."`
	Withheld  []Withheld `json:"withheld" doc:"Claims that a guard took out." example:"[]"`
}

// Retracted is a message that is gone.
type Retracted struct {
	ID      string   `json:"id" doc:"The platform's own id of the (first) message." example:"m-41"`
	Parts   []string `json:"parts" doc:"The ids of all parts." example:"[\"m-41\"]"`
	Attempt string   `json:"attempt" doc:"The attempt's id; the trail has one row under it." example:"01985c0e-7b1a-7c3e-9d2f-4a5b6c7d8e9f"`
}
