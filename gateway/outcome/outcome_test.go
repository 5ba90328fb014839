package outcome_test

import (
	"net/http"
	"testing"

	"stet/gateway/outcome"
)

func TestAnOutcomeHasTheFailureClassOfTheContract(t *testing.T) {
	want := map[outcome.Outcome]outcome.Failure{
		outcome.Applied: "", outcome.Refused: "", outcome.Staged: "",
		outcome.NotSent: "definitive", outcome.Rejected: "definitive",
		outcome.Ambiguous: "ambiguous", outcome.Partial: "partial",
	}
	if len(want) != len(outcome.Outcomes()) {
		t.Fatalf("%d outcomes, the contract has %d", len(outcome.Outcomes()), len(want))
	}
	for _, o := range outcome.Outcomes() {
		if o.Failure() != want[o] {
			t.Errorf("%s has class %q, want %q", o, o.Failure(), want[o])
		}
	}
}

func TestAnActionNamesTheVerbAndWhetherItLanded(t *testing.T) {
	for _, v := range outcome.Verbs() {
		for _, o := range outcome.Outcomes() {
			action := outcome.Action(v, o)
			if back, ok := outcome.VerbOf(action); !ok || back != v {
				t.Errorf("%s reads back as %s, %v", action, back, ok)
			}
		}
	}
	for action, want := range map[string]string{
		outcome.Action(outcome.Reply, outcome.Applied):     "reply.post",
		outcome.Action(outcome.Reply, outcome.Partial):     "reply.post",
		outcome.Action(outcome.Edit, outcome.Ambiguous):    "reply.edit.refused",
		outcome.Action(outcome.Retract, outcome.Refused):   "reply.retract.refused",
		outcome.Action(outcome.Edit, outcome.Applied):      "reply.edit",
		outcome.Action(outcome.Retract, outcome.Applied):   "reply.retract",
		outcome.Action(outcome.Reply, outcome.NotSent):     "reply.post.refused",
		outcome.Action(outcome.Retract, outcome.Ambiguous): "reply.retract.refused",
	} {
		if action != want {
			t.Errorf("got %q, want %q", action, want)
		}
	}
	for _, other := range []string{"reply.resolved", "turn.declined", "", "reply", ".refused"} {
		if v, ok := outcome.VerbOf(other); ok {
			t.Errorf("%q reads as %s", other, v)
		}
	}
}

func TestReasonsHaveTheStatusOfTheContract(t *testing.T) {
	want := map[outcome.Reason]int{
		"bad-request": 400, "unauthorized": 401, "forbidden": 403, "not-found": 404, "too-large": 413,
		"in-progress": 409, "idempotency-mismatch": 422, "overloaded": 503, "draining": 503, "internal": 500,
		"not-own-post": 403, "no-edit-arm": 422, "no-retract-arm": 422, "no-read-arm": 422, "no-arm": 422,
		"no-locus": 409, "untrusted-service-url": 422, "turn-ambiguous": 409, "turn-partial": 409,
		"turn-answered": 409, "turn-declined": 409, "turn-stale": 409, "invalid-text": 422, "text-too-long": 422,
		"nothing-left": 422, "claim-refused": 422, "denied": 403, "message-busy": 409, "superseded": 409,
		"rate-limited": 429, "platform-error": 502, "ledger-unavailable": 503, "audit-unavailable": 503,
		"interrupted": 504,
	}
	if len(want) != len(outcome.Reasons()) {
		t.Errorf("%d reasons, the contract has %d", len(outcome.Reasons()), len(want))
	}
	for _, r := range outcome.Reasons() {
		if got := outcome.Status(r, outcome.Refused); got != want[r] {
			t.Errorf("%s has status %d, want %d", r, got, want[r])
		}
	}
	if got := outcome.Status(outcome.PlatformError, outcome.Ambiguous); got != http.StatusGatewayTimeout {
		t.Errorf("an ambiguous platform error has status %d", got)
	}
	if got := outcome.Status("no such reason", ""); got != http.StatusInternalServerError {
		t.Errorf("an unknown reason has status %d", got)
	}
}

func TestEveryEndIsOneOfTheVocabulary(t *testing.T) {
	known := map[outcome.Reason]bool{"": true}
	for _, r := range outcome.Reasons() {
		known[r] = true
	}
	for _, v := range outcome.Verbs() {
		seen := map[outcome.End]bool{}
		for _, e := range outcome.Ends(v) {
			if seen[e] || !known[e.Reason] {
				t.Errorf("%s: %+v is doubled or unknown", v, e)
			}
			seen[e] = true
		}
	}
}
