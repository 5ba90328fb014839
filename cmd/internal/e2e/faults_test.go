package e2e

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"stet/arms/room"
	"stet/audit"
	"stet/cmd/internal/app"
	"stet/gateway/outcome"
	"stet/gateway/wire"
)

// escape makes an id one segment of a path.
func escape(id string) string { return url.PathEscape(id) }

// TestI12EveryFaultOfTheRoomIsClassedAsWhatItIs plays each fault on each verb:
// answer, row, truth and the later verdict tell one story.
func TestI12EveryFaultOfTheRoomIsClassedAsWhatItIs(t *testing.T) {
	t.Parallel()
	b := boot(t, misbehave(room.Config{SettleTime: 400 * time.Millisecond}), func(o *app.Options) {
		o.Settings.PlatformTimeout = time.Second
	})
	definite := map[room.FaultKind]outcome.Outcome{
		room.FaultRateLimited: outcome.Rejected, room.FaultRefused: outcome.Rejected,
	}
	type played struct {
		what, attempt string
		kind          room.FaultKind
	}
	var all []played
	for _, kind := range room.FaultKinds() {
		for wireVerb, verb := range map[string]string{room.VerbPost: "reply", room.VerbEdit: "edit", room.VerbRetract: "retract"} {
			a := b.turn(in{session: string(kind) + verb})
			id := b.post(a, fmt.Sprint("hello ", kind, verb))
			b.script(room.Fault{Kind: kind, Verb: wireVerb, Times: 1})
			p := refusal(t, a.do(t, verb, id))
			what := fmt.Sprint(kind, " on ", verb)
			expect, ok := definite[kind]
			if !ok {
				expect = outcome.Ambiguous
			}
			if row := b.row(p.Attempt); p.Outcome != string(expect) || row.Outcome != expect || row.Code == "" || row.Reason != outcome.Reason(p.Reason) {
				t.Errorf("%s: answer %s, row %s %s %q; want %s", what, p.Outcome, row.Outcome, row.Reason, row.Code, expect)
			}
			all = append(all, played{what, p.Attempt, kind})
		}
	}
	eventually(t, 40*time.Second, "everything in doubt is resolved", func() bool { return b.count("pending") == 0 })
	applied := map[string]bool{}
	for _, e := range b.truth().Applied {
		applied[e.Marker] = true
	}
	for _, p := range all {
		notes := b.notes(p.attempt)
		if _, ok := definite[p.kind]; ok {
			if len(notes) != 0 || applied[p.attempt] {
				t.Errorf("%s: notes %+v, there %t", p.what, notes, applied[p.attempt])
			}
			continue
		}
		verdict := audit.NotApplied
		if applied[p.attempt] {
			verdict = audit.Seen
		}
		if n := len(notes); n == 0 || notes[n-1].Verdict != verdict {
			t.Errorf("%s: the last look says %+v, want %s", p.what, notes, verdict)
		}
	}
	b.balanced()
}

// TestI6NoSecretIsAnywhere plants canaries in everything that must not be
// recorded, makes calls of all kinds, and looks for them everywhere.
func TestI6NoSecretIsAnywhere(t *testing.T) {
	b := boot(t, func(o *app.Options) { o.Settings.PlatformTimeout = time.Second })
	a := b.turn()
	_, platform := b.app.Room().Endpoint()
	canaries := map[string]string{
		"the turn token": a.token, "the host key": b.app.HostKey(), "the ops key": b.app.OpsKey(),
		"the platform's token": platform.Reveal(),
		"a message's text":     "canary-text", "an idempotency key": "canary-key", "an id that isn't ours": "canary-id",
		"a bad field": "canary-value", "what a person wrote": "canary-person", "a query": "canary-query",
	}
	key := []string{"Idempotency-Key", "canary-key"}
	bodies := []string{
		b.call("POST", "/room/lobby/messages?org=acme", "", `{"name":"Ada","text":"canary-person"}`).problem().Detail,
		b.call("POST", "/v1/replies", a.token, `{"text":"canary-text one"}`, key...).problem().Detail,
		b.call("POST", "/v1/replies", a.token, `{"text":"canary-text other"}`, key...).body,
		b.call("PATCH", "/v1/replies/canary-id", a.token, `{"text":"canary-text two"}`).body,
		b.call("DELETE", "/v1/replies/canary-id", a.token, ``).body,
		b.call("POST", "/v1/replies", a.token, `{"text":"x","format":"canary-value"}`).body,
		b.call("POST", "/v1/replies?x=canary-query", a.token, `{"text":"canary-text"}`).body,
		b.call("POST", "/v1/replies", a.token+"x", `{"text":"canary-text"}`).body,
		b.call("POST", "/v1/replies", b.app.OpsKey(), `{"text":"canary-text"}`).body,
		b.call("POST", "/v1/replies", a.token, `{"text":"`+strings.Repeat("canary-text", 1000)+`"}`).body,
		b.call("GET", "/v1/audit?session=canary-query&colour=canary-query", b.app.OpsKey(), "").body,
		b.call("GET", "/canary-query/canary-id", a.token, "").body,
	}
	id := b.post(a, "canary-text three")
	for _, kind := range room.FaultKinds() {
		b.script(room.Fault{Kind: kind, Verb: room.VerbEdit, Times: 1})
		bodies = append(bodies, b.call("PATCH", "/v1/replies/"+id, a.token, `{"text":"canary-text `+string(kind)+`"}`, "Idempotency-Key", "canary-key "+string(kind)).body)
	}
	undo := b.without("own_post")
	bodies = append(bodies, b.call("PATCH", "/v1/replies/"+id, a.token, `{"text":"canary-text"}`).body)
	undo()
	undo = b.without("pending")
	bodies = append(bodies, b.call("PATCH", "/v1/replies/"+id, a.token, `{"text":"canary-text"}`).body)
	undo()
	places := map[string]string{
		"the answers": strings.Join(bodies, "\n"), "the log": b.logs.String(),
		"the metrics":  b.call("GET", "/metrics", "", "").body,
		"the trail":    b.call("GET", "/v1/audit?limit=1000", b.app.OpsKey(), "").body,
		"the attempts": fmt.Sprintf("%+v", b.trail().attempts),
		"the export":   b.call("GET", "/v1/audit?format=csv", b.app.OpsKey(), "").body,
	}
	for place, text := range places {
		if len(text) < 100 {
			t.Errorf("%s is all but empty: %q", place, text)
		}
		for what, canary := range canaries {
			if strings.Contains(text, canary) {
				t.Errorf("%s is in %s", what, place)
			}
		}
	}
}

// TestI12AnEditThatSurfacesLateIsNotPassedOver: an ambiguous edit surfaces over
// a later one that was applied. Asked for the later text once more, the program
// must not say that the room shows it already.
func TestI12AnEditThatSurfacesLateIsNotPassedOver(t *testing.T) {
	b := boot(t)
	a := b.turn()
	id := b.post(a, "first")
	edit := func(text string) (wire.Edited, error) {
		return a.Edit(t.Context(), id, wire.EditRequest{Text: wire.Text(text)})
	}
	b.script(room.Fault{Kind: room.FaultLateError, Verb: room.VerbEdit, Times: 1, Wait: 500 * time.Millisecond})
	_, err := edit("late")
	want(t, refusal(t, err), outcome.PlatformError, outcome.Ambiguous)
	_, err = edit("later")
	must(t, err)
	eventually(t, 10*time.Second, "the late edit surfaces", func() bool { return b.truth().Messages[0].Text == "late" })
	got, err := edit("later")
	must(t, err)
	if shown := b.truth().Messages[0].Text; got.Unchanged || shown != "later" {
		t.Errorf("unchanged %t, the room shows %q", got.Unchanged, shown)
	}
	b.balanced()
}
