package room_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/arms"
	"stet/arms/room"
)

// follower reads a feed over a real connection.
type follower struct {
	t     *testing.T
	lines *bufio.Scanner
	end   context.CancelFunc
}

func follow(t *testing.T, s *room.Server, target, lastID string) *follower {
	t.Helper()
	web := httptest.NewServer(s.Pages(inOrg("acme")))
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, web.URL+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	resp, err := web.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = resp.Body.Close()
		web.Close()
	})
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %v", resp.StatusCode, resp.Header)
	}
	f := &follower{t: t, lines: bufio.NewScanner(resp.Body), end: cancel}
	if got := f.next(); got != ": here" {
		t.Fatalf("the feed begins with %q", got)
	}
	return f
}

// next is the next block of lines, joined by spaces; empty at the end.
func (f *follower) next() string {
	var block []string
	for f.lines.Scan() {
		if f.lines.Text() == "" {
			break
		}
		block = append(block, f.lines.Text())
	}
	return strings.Join(block, " ")
}

func (f *follower) want(id int, name string, parts ...string) {
	f.t.Helper()
	got := f.next()
	if !strings.HasPrefix(got, fmt.Sprintf("id: %d event: %s data: {", id, name)) {
		f.t.Fatalf("got %q, want event %d %s", got, id, name)
	}
	for _, p := range parts {
		if !strings.Contains(got, p) {
			f.t.Errorf("%q lacks %s", got, p)
		}
	}
	if strings.Contains(got, "marker") {
		f.t.Errorf("%q shows a marker", got)
	}
}

func TestAFeedTellsPostsEditsAndRetracts(t *testing.T) {
	s := started(t, room.Config{})
	a := armOf(t, s)
	f := follow(t, s, "/room/lobby/events", "")
	elsewhere, otherOrg := lobby, lobby
	elsewhere.Channel, otherOrg.Org = "other", "globex"
	mustPost(t, a, elsewhere, "not here", "x1")
	mustPost(t, a, otherOrg, "not here", "x2")
	ref := mustPost(t, a, lobby, "one\n\ntwo", "m1")
	f.want(3, "new", `"text":"one\n\ntwo"`, `"kind":"bot"`, string(ref.ID))
	if err := a.Edit(t.Context(), arms.EditRequest{Ref: ref, Text: "three", Marker: "m2"}); err != nil {
		t.Fatal(err)
	}
	f.want(4, "edit", `"text":"three"`, `"edited":true`)
	if err := a.Retract(t.Context(), arms.RetractRequest{Ref: ref, Marker: "m3"}); err != nil {
		t.Fatal(err)
	}
	f.want(5, "retract", `"text":""`, `"deleted":true`)
	say(t, s, "acme", "lobby", "hello")
	f.want(6, "new", `"kind":"person"`, `"author":"Mara"`)
}

func TestAFeedGoesOnWhereItWasCut(t *testing.T) {
	s := started(t, room.Config{})
	a := armOf(t, s)
	var wg sync.WaitGroup
	for range 60 {
		wg.Go(func() {
			for range 10 {
				if _, err := a.Post(context.Background(), arms.PostRequest{Place: lobby, Text: "x", Marker: "m"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	f := follow(t, s, "/room/lobby/events?after=0", "598")
	f.want(599, "new")
	f.want(600, "new")
	all := follow(t, s, "/room/lobby/events?after=0", "")
	for i := range 600 {
		all.want(i+1, "new")
	}
	mustPost(t, a, lobby, "live", "m")
	all.want(601, "new", "live")
	f.want(601, "new", "live")
	for _, bad := range []string{"x", "1.5", "9999999999999999999999"} {
		if w := get(s.Pages(inOrg("acme")), "/room/lobby/events?after="+bad); w.Code != http.StatusBadRequest {
			t.Errorf("after=%s: %d", bad, w.Code)
		}
	}
}

func TestAnIdleFeedBeats(t *testing.T) {
	s := started(t, room.Config{})
	s.SetHeartbeat(time.Millisecond)
	f := follow(t, s, "/room/lobby/events", "")
	for range 3 {
		if got := f.next(); got != ": still here" {
			t.Fatalf("got %q", got)
		}
	}
}

func TestFeedsEndWhenTheyAreClosed(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *room.Server){
		"by closing the feeds": func(_ *testing.T, s *room.Server) { s.CloseFeeds(); s.CloseFeeds() },
		"by stopping the room": stopIt,
	} {
		t.Run(name, func(t *testing.T) {
			s := started(t, room.Config{})
			f := follow(t, s, "/room/lobby/events", "")
			end(t, s)
			if got := f.next(); got != "" {
				t.Errorf("after the end: %q", got)
			}
		})
	}
	s := started(t, room.Config{})
	s.CloseFeeds()
	mustPost(t, armOf(t, s), lobby, "the rest goes on", "m")
}

func stopIt(t *testing.T, s *room.Server) { stop(t, s) }

func TestStopDoesNotWaitForAReader(t *testing.T) {
	s := started(t, room.Config{})
	f := follow(t, s, "/room/lobby/events", "")
	f.end()
	stop(t, s)
}
