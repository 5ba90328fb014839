package room_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"stet/arms"
	"stet/arms/room"
)

func TestAFaultHitsOnlyWhatItIsLimitedTo(t *testing.T) {
	s := started(t, room.Config{})
	a := armOf(t, s)
	ref := mustPost(t, a, lobby, "x", "m")
	other := lobby
	other.Channel = "other"
	if err := s.Script(
		room.Fault{Kind: room.FaultRefused, Verb: room.VerbEdit, Channel: "lobby", Org: "acme", Times: 2, Code: "conflict"},
		room.Fault{Kind: room.FaultRateLimited, Verb: room.VerbEdit, Wait: 1500 * time.Millisecond},
	); err != nil {
		t.Fatal(err)
	}
	edit := func() *arms.Fault {
		return arms.AsFault(a.Edit(t.Context(), arms.EditRequest{Ref: ref, Text: "y", Marker: "e"}))
	}
	mustPost(t, a, lobby, "another verb", "m2")
	mustPost(t, a, other, "another channel", "m3")
	for i := range 2 {
		if f := edit(); f == nil || f.Code != arms.CodeConflict || f.Certainty != arms.Rejected {
			t.Errorf("edit %d: %v", i, f)
		}
	}
	for i := range 3 {
		f := edit()
		if f == nil || f.Code != arms.CodeRateLimited || f.RetryAfter != 2*time.Second {
			t.Errorf("edit %d after the first script line was used up: %v", i, f)
		}
	}
	if left := s.Scripted(); len(left) != 1 || left[0].Kind != room.FaultRateLimited {
		t.Errorf("still to be played: %+v", left)
	}
	s.ClearScript()
	if f := edit(); f != nil {
		t.Errorf("after the script was cleared: %v", f)
	}
}

func TestReadsCanBeFaultedToo(t *testing.T) {
	s := started(t, room.Config{})
	a := armOf(t, s)
	ref := mustPost(t, a, lobby, "x", "m")
	if err := s.Script(room.Fault{Kind: room.FaultCutBefore, Verb: room.VerbFetch, Times: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Fetch(t.Context(), ref); arms.AsFault(err) == nil || arms.AsFault(err).Code != arms.CodeCut {
		t.Errorf("got %v", err)
	}
	if _, err := a.Fetch(t.Context(), ref); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

func TestALateEffectComesAfterItsAnswer(t *testing.T) {
	for _, kind := range []room.FaultKind{room.FaultLateError, room.FaultLateHang} {
		t.Run(string(kind), func(t *testing.T) {
			s := started(t, room.Config{})
			a := armOf(t, s)
			ref := mustPost(t, a, lobby, "before", "m")
			if err := s.Script(room.Fault{Kind: kind, Times: 1, Wait: 300 * time.Millisecond}); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			err := a.Edit(ctx, arms.EditRequest{Ref: ref, Text: "after", Marker: "late"})
			if f := arms.AsFault(err); f == nil || f.Certainty != arms.Ambiguous {
				t.Errorf("got %v", err)
			}
			truth := waitFor(t, s, func(truth room.Truth) bool { return len(truth.Applied) == 2 })
			wait := truth.Applied[1].At.Sub(truth.Received[1].At)
			if truth.Applied[1].Marker != "late" || wait < 300*time.Millisecond || wait > room.DefaultSettleTime {
				t.Errorf("the effect %+v came after %s", truth.Applied[1], wait)
			}
			if len(truth.Received) != 2 {
				t.Errorf("%d requests noted for two", len(truth.Received))
			}
		})
	}
}

func TestTheSameSeedPlaysTheSameFaults(t *testing.T) {
	run := func(seed uint64) (played string) {
		s := started(t, room.Config{Faults: room.FaultMix{Seed: seed, Rate: 0.5, Kinds: []room.FaultKind{
			room.FaultErrorBefore, room.FaultErrorAfter, room.FaultRateLimited, room.FaultCutAfter,
		}}})
		a := armOf(t, s)
		for i := range 40 {
			_, err := a.Post(t.Context(), arms.PostRequest{Place: lobby, Text: "x", Marker: arms.Marker(fmt.Sprint(i))})
			if f := arms.AsFault(err); f != nil {
				played += string(f.Code[0])
			} else {
				played += "."
			}
		}
		played += fmt.Sprint(len(mustTruth(t, s).Applied))
		return played
	}
	one, again, two := run(1), run(1), run(2)
	if one != again {
		t.Errorf("seed 1 played %s and then %s", one, again)
	}
	if one == two {
		t.Errorf("seeds 1 and 2 both played %s", one)
	}
	if clean := strings.Count(one, "."); clean < 8 || clean > 32 {
		t.Errorf("half of 40 should be faulted: %s", one)
	}
}

func TestTheMixLeavesReadsAlone(t *testing.T) {
	s := started(t, room.Config{Faults: room.FaultMix{Rate: 1, Kinds: []room.FaultKind{room.FaultErrorAfter}}})
	a := armOf(t, s)
	_, err := a.Post(t.Context(), arms.PostRequest{Place: lobby, Text: "x", Marker: "m"})
	if err == nil {
		t.Fatal("a rate of one left a write alone")
	}
	found, err := a.Find(t.Context(), arms.FindRequest{Place: lobby, Marker: "m"})
	if err != nil || found.Message == nil {
		t.Errorf("the read-back: %+v, %v", found, err)
	}
}

func TestConfigSaysWhatIsWrong(t *testing.T) {
	good := `
text_limit: 2000
settle_time: 2s
faults: {seed: 7, rate: 0.25, wait: 500ms, kinds: [cut-after, late-error]}
script:
  - {kind: rate-limited, verb: edit, channel: flaky, times: 3, wait: 10s}
  - {kind: refused, code: not_yours}
`
	var c room.Config
	d := yaml.NewDecoder(strings.NewReader(good))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Errorf("a good config: %v", err)
	}
	if c.SettleTime != 2*time.Second || c.Script[0].Wait != 10*time.Second || c.Faults.Seed != 7 || c.Script[1].Code != "not_yours" {
		t.Errorf("read %+v", c)
	}
	for want, bad := range map[string]room.Config{
		"text_limit":            {TextLimit: -1},
		"settle_time":           {SettleTime: -1},
		"rate 1.5":              {Faults: room.FaultMix{Rate: 1.5}},
		`faults: kind: "x"`:     {Faults: room.FaultMix{Kinds: []room.FaultKind{"x"}}},
		"below the settle time": {Script: []room.Fault{{Kind: room.FaultLateError, Wait: 5 * time.Second}}},
		"script[1]: kind":       {Script: []room.Fault{{Kind: room.FaultProxy}, {Kind: "no"}}},
		`verb: "delete"`:        {Script: []room.Fault{{Kind: room.FaultProxy, Verb: "delete"}}},
		"negative":              {Script: []room.Fault{{Kind: room.FaultProxy, Times: -1}}},
		`code: "odd"`:           {Script: []room.Fault{{Kind: room.FaultRefused, Code: "odd"}}},
	} {
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", bad, err, want)
		}
	}
}

func TestTheScriptOverHTTP(t *testing.T) {
	s := started(t, room.Config{})
	control := func(method, body string) (int, string) {
		t.Helper()
		base, token := s.Endpoint()
		r, err := http.NewRequestWithContext(t.Context(), method, base+"/control/script", bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token.Reveal())
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer http.DefaultClient.CloseIdleConnections()
		defer func() { _ = resp.Body.Close() }()
		got, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, strings.TrimSpace(string(got))
	}
	script := `[{"kind":"rate-limited","verb":"edit","channel":"lobby","times":2,"wait":"1.5s"},{"kind":"cut-after"}]`
	if status, got := control(http.MethodPut, script); status != 200 || got != script {
		t.Errorf("put: %d %s", status, got)
	}
	if left := s.Scripted(); len(left) != 2 || left[0].Wait != 1500*time.Millisecond {
		t.Errorf("the server has %+v", left)
	}
	for _, bad := range []string{`[{"kind":"no"}]`, `[{"kind":"cut-after","wait":"soon"}]`, `[{"kinds":"x"}]`, `{}`, ``, `[] []`} {
		if status, got := control(http.MethodPut, bad); status != 400 || !json.Valid([]byte(got)) {
			t.Errorf("put %s: %d %s", bad, status, got)
		}
	}
	if status, got := control(http.MethodGet, ""); status != 200 || got != script {
		t.Errorf("after bad scripts: %d %s", status, got)
	}
	if status, got := control(http.MethodPut, "[]"); status != 200 || got != "[]" {
		t.Errorf("clear: %d %s", status, got)
	}
}
