package wire

// ProblemType is the media type of a [Problem].
const ProblemType = "application/problem+json"

// Problem is every answer that isn't a success: problem details (RFC 9457).
type Problem struct {
	Type   string `json:"type" format:"uri-reference" doc:"Where to read about this reason." example:"/docs#not-own-post"`
	Title  string `json:"title" doc:"The reason in a few words." example:"Not own post"`
	Status int    `json:"status" doc:"The HTTP status, repeated." example:"403"`
	Detail string `json:"detail" doc:"What happened and what to do now, written for the model that reads it."`
	Reason string `json:"reason" doc:"The reason, of a closed set." example:"not-own-post"`
	// Outcome is empty where no attempt was made.
	Outcome string `json:"outcome,omitempty" doc:"How the attempt ended, where there was one." example:"refused"`
	Failure string `json:"failure,omitempty" doc:"definitive: nothing is there, trying again is safe. ambiguous: it may be there. partial: some parts are there." example:"definitive"`
	Attempt string `json:"attempt,omitempty" doc:"The attempt's id; the trail has one row under it."`
	// RetryAfter is in seconds.
	RetryAfter int   `json:"retry_after,omitempty" doc:"Seconds to wait before trying again."`
	Recorded   *bool `json:"recorded,omitempty" doc:"False when the outcome could not be written down in time."`
}
