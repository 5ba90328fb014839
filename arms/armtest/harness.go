package armtest

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"stet/arms"
)

// Harness is what an arm gives to the suite. Optional fields say so.
type Harness struct {
	// New makes a fresh arm against a working platform. Every request of the
	// arm goes through rt. It may be called many times.
	New func(t testing.TB, rt http.RoundTripper) arms.Arm
	// Place is where the suite may post, edit and retract.
	Place arms.Place
	// Secrets may appear in no error: tokens, and the host and path of the
	// platform's address.
	Secrets []string
	// Limited is a 429 in the platform's own form that asks to wait.
	Limited func(wait time.Duration) Canned
	// Refusals are noes in the platform's own form, and what they mean.
	Refusals []Refusal

	// IsMessage says whether a request goes to the message interface; token
	// requests don't. Optional: all do.
	IsMessage func(*http.Request) bool
	// Marker makes a marker in the platform's form. Optional.
	Marker func() arms.Marker
	// Applied counts the effects that the platform applied with a marker.
	// Optional; without it claims aren't held against the truth.
	Applied func(t testing.TB, m arms.Marker) int
	// Scripted are faults that the platform itself can play. Optional.
	Scripted []Scripted
}

// Canned is an answer that the suite gives in the platform's place.
type Canned struct {
	Status int
	Header http.Header
	Body   string
}

// Refusal is a canned no and the fault that it means.
type Refusal struct {
	Name string
	Canned
	Want arms.Fault
}

// Scripted is one fault that the platform plays on the next request.
type Scripted struct {
	Name string
	// Set arms the fault for one request of a verb: post, edit or retract.
	Set func(t testing.TB, verb string)
	// Want is the certainty that has to come out.
	Want arms.Certainty
	// Code, when set, has to come out as well.
	Code arms.Code
	// Applied says whether the platform applies the write all the same.
	Applied bool
	// Silent faults never answer, so the call needs a short deadline.
	Silent bool
}

var markers atomic.Int64

func (h Harness) marker() arms.Marker {
	if h.Marker != nil {
		return h.Marker()
	}
	return arms.Marker(fmt.Sprintf("at-%d", markers.Add(1)))
}

// Run is the suite.
func Run(t *testing.T, h Harness) {
	t.Run("the data sheet and the interfaces agree", h.testSheet)
	t.Run("one verb call is one request", h.testOneRequest)
	t.Run("outward headers", h.testHeaders)
	t.Run("connection faults", h.testConnections)
	t.Run("answers of nobody's schema", h.testAnswers)
	t.Run("refusals of the platform", h.testRefusals)
	t.Run("waits", h.testWaits)
	t.Run("a success about something else", h.testWrongID)
	t.Run("redirects", h.testRedirects)
	t.Run("contexts", h.testContexts)
	t.Run("text", h.testText)
	t.Run("ids", h.testIDs)
	t.Run("markers", h.testMarkers)
	t.Run("many at once", h.testConcurrent)
	t.Run("faults of the platform", h.testScripted)
}
