package room_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/arms"
	"stet/arms/room"
)

func wantRefusal(t *testing.T, err error, code arms.Code) {
	t.Helper()
	if f := arms.AsFault(err); f == nil || f.Certainty != arms.Rejected || f.Code != code {
		t.Errorf("got %v, want a rejection with %s", err, code)
	}
}

func TestWhatABotMayNotChange(t *testing.T) {
	s := started(t, room.Config{})
	a := armOf(t, s)
	ours := mustPost(t, a, lobby, "ours", "m1")
	person := say(t, s, "acme", "lobby", "hello")
	elsewhere, otherOrg := ours, ours
	elsewhere.Place.Channel = "other"
	otherOrg.Place.Org = "globex"
	gone := mustPost(t, a, lobby, "to go", "m2")
	if err := a.Retract(t.Context(), arms.RetractRequest{Ref: gone, Marker: "m3"}); err != nil {
		t.Fatal(err)
	}
	before := len(mustTruth(t, s).Applied)
	for name, c := range map[string]struct {
		ref  arms.Ref
		code arms.Code
	}{
		"a person's":              {arms.Ref{Place: lobby, ID: arms.MessageID(person)}, arms.CodeForbidden},
		"in another channel":      {elsewhere, arms.CodeGone},
		"in another organization": {otherOrg, arms.CodeGone},
		"retracted":               {gone, arms.CodeGone},
		"unknown":                 {arms.Ref{Place: lobby, ID: "m00000000zabcd"}, arms.CodeGone},
	} {
		t.Run(name, func(t *testing.T) {
			wantRefusal(t, a.Edit(t.Context(), arms.EditRequest{Ref: c.ref, Text: "x", Marker: "e"}), c.code)
			wantRefusal(t, a.Retract(t.Context(), arms.RetractRequest{Ref: c.ref, Marker: "r"}), c.code)
		})
	}
	if after := len(mustTruth(t, s).Applied); after != before {
		t.Errorf("%d effects of refused writes", after-before)
	}
}

func TestWhatABotMayNotPost(t *testing.T) {
	s := started(t, room.Config{TextLimit: 10})
	a := armOf(t, s)
	reply := mustPost(t, a, lobby, "root", "m1")
	inside := lobby
	inside.Thread = arms.ThreadID(reply.ID)
	leaf := mustPost(t, a, inside, "leaf", "m2")
	for name, c := range map[string]struct {
		change func(*arms.PostRequest)
		code   arms.Code
	}{
		"nothing":                {func(r *arms.PostRequest) { r.Text = "" }, arms.CodeInvalid},
		"too much":               {func(r *arms.PostRequest) { r.Text = "12345678901" }, arms.CodeTooLong},
		"into an unknown thread": {func(r *arms.PostRequest) { r.Place.Thread = "m00000000zabcd" }, arms.CodeNoChannel},
		"below a reply":          {func(r *arms.PostRequest) { r.Place.Thread = arms.ThreadID(leaf.ID) }, arms.CodeNoChannel},
		"without a channel":      {func(r *arms.PostRequest) { r.Place.Channel = "" }, arms.CodeInvalid},
		"without an org":         {func(r *arms.PostRequest) { r.Place.Org = "" }, arms.CodeInvalid},
		"a newline in a channel": {func(r *arms.PostRequest) { r.Place.Channel = "a\nb" }, arms.CodeInvalid},
		"a very long marker":     {func(r *arms.PostRequest) { r.Marker = arms.Marker(strings.Repeat("m", 201)) }, arms.CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			r := arms.PostRequest{Place: lobby, Text: "fine", Marker: "no"}
			c.change(&r)
			_, err := a.Post(t.Context(), r)
			wantRefusal(t, err, c.code)
		})
	}
	if n := len(mustTruth(t, s).Messages); n != 2 {
		t.Errorf("%d messages, want the two that were allowed", n)
	}
}

func TestTruthTellsRequestsAndEffectsInOrder(t *testing.T) {
	clock := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)
	path := filepath.Join(t.TempDir(), "room.db")
	s, err := room.NewServer(t.Context(), room.ServerOptions{Path: path, Now: func() time.Time { return clock }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	a := armOf(t, s)
	ref := mustPost(t, a, lobby, "one", "m1")
	if err := a.Edit(t.Context(), arms.EditRequest{Ref: ref, Text: "two", Marker: "m2"}); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, a.Edit(t.Context(), arms.EditRequest{Ref: ref, Text: "", Marker: "m3"}), arms.CodeInvalid)
	if err := a.Retract(t.Context(), arms.RetractRequest{Ref: ref, Marker: "m4"}); err != nil {
		t.Fatal(err)
	}
	running, err := room.ReadTruth(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	stopped, err := room.ReadTruth(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for name, truth := range map[string]room.Truth{"running": running, "stopped": stopped} {
		if got := marks(truth); got != "post m1, edit m2, edit m3, retract m4 | 1 post m1 one, 2 edit m2 two, 3 retract m4 " {
			t.Errorf("%s: %s", name, got)
		}
		m := truth.Messages[0]
		if len(truth.Messages) != 1 || !m.Deleted || m.Edits != 1 || m.Text != "" || m.Marker != "m4" || m.ID != string(ref.ID) ||
			m.Org != "acme" || m.Channel != "lobby" || m.Kind != room.KindBot || !m.At.Equal(clock.Truncate(time.Microsecond)) {
			t.Errorf("%s: %+v", name, truth.Messages)
		}
		if r := truth.Received[1]; r.Target != string(ref.ID) || r.Org != "acme" || !r.At.Equal(clock.Truncate(time.Microsecond)) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if _, err := room.ReadTruth(t.Context(), filepath.Join(t.TempDir(), "none.db")); err == nil {
		t.Error("read a room that isn't there")
	}
}

func marks(truth room.Truth) string {
	var received, applied []string
	for _, r := range truth.Received {
		received = append(received, r.Verb+" "+r.Marker)
	}
	for _, a := range truth.Applied {
		applied = append(applied, fmt.Sprintf("%d %s %s %s", a.Rev, a.Verb, a.Marker, a.Text))
	}
	return strings.Join(received, ", ") + " | " + strings.Join(applied, ", ")
}

func TestARoomGoesOnWhereItStopped(t *testing.T) {
	s, path := startedAt(t, room.Config{})
	first := mustPost(t, armOf(t, s), lobby, "before", "m1")
	stop(t, s)
	again, err := room.NewServer(t.Context(), room.ServerOptions{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, again)
	if err := again.Start(); err != nil {
		t.Fatal(err)
	}
	a := armOf(t, again)
	second := mustPost(t, a, lobby, "after", "m2")
	page, err := a.ReadChannel(t.Context(), arms.ReadRequest{Place: lobby, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Messages) != 2 || page.Messages[0].ID != first.ID || page.Messages[1].ID != second.ID || second.ID <= first.ID {
		t.Errorf("after a restart: %+v", page.Messages)
	}
}

func TestSixtyFourCallersEachGetTheirOwnWrite(t *testing.T) {
	s := started(t, room.Config{})
	a := armOf(t, s)
	const callers, each = 64, 5
	ids := make([]string, callers*each)
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := range each {
				n := c*each + i
				text := fmt.Sprint("text ", n)
				posted, err := a.Post(context.Background(), arms.PostRequest{Place: lobby, Text: arms.Rendered(text), Marker: arms.Marker(fmt.Sprint("m", n))})
				if err != nil {
					t.Errorf("caller %d: %v", c, err)
					return
				}
				ids[n] = string(posted.ID)
			}
		})
	}
	wg.Wait()
	truth := mustTruth(t, s)
	for _, m := range truth.Messages {
		n := slices.Index(ids, m.ID)
		if n < 0 || m.Text != fmt.Sprint("text ", n) || m.Marker != fmt.Sprint("m", n) {
			t.Errorf("message %+v belongs to caller of %d", m, n)
		}
	}
	if len(truth.Messages) != len(ids) || len(truth.Received) != len(ids) {
		t.Errorf("%d messages, %d requests, want %d", len(truth.Messages), len(truth.Received), len(ids))
	}
}

func TestIDsSortByAgeAndKeepTheirForm(t *testing.T) {
	last := ""
	for _, seq := range []int64{1, 35, 36, 1 << 20, 1 << 31, 1 << 40} {
		id := room.MakeID(seq)
		if !room.ValidID(id) || id <= last {
			t.Errorf("id %q of %d after %q", id, seq, last)
		}
		last = id
	}
	if one, again := room.MakeID(1), room.MakeID(1); one == again {
		t.Error("the same number gave the same id twice")
	}
	for _, bad := range []string{"", "m", last + "a", last[1:] + "a", strings.ToUpper(last), "m0000-0000abcd", "m00000000\x00abcd"} {
		if room.ValidID(bad) {
			t.Errorf("%q passes for an id", bad)
		}
	}
}
