package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"stet/arms"
	"stet/audit/postgres"
	"stet/ledger"
)

func TestWindowPagesThroughWhatMayBeChanged(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	p := poster{t, openStore(t, postgres.Options{Now: func() time.Time { return at }}), func() time.Time { return at }}
	windowEntry := func(org, channel, id string, window time.Duration) ledger.Entry {
		return ledger.Entry{
			Key:   ledger.Key{Org: org, Platform: "room", Workspace: "w1", Channel: arms.ChannelID(channel), ID: arms.MessageID(id)},
			Reply: arms.MessageID(id), Thread: "th", ServiceURL: "https://service.example/", Organization: "lin", Session: "s1",
			PostedAt: at, EditableUntil: at.Add(window),
		}
	}
	longest := windowEntry("b", "general", "m1", 5*time.Hour)
	p.post(longest)
	// Many that end at one moment: a page's end must not lose any of them.
	for _, org := range []string{"a", "b"} {
		for _, channel := range []string{"general", "private"} {
			for id := range 3 {
				p.post(windowEntry(org, channel, fmt.Sprint("m", id+2), time.Hour))
			}
		}
	}
	closed := windowEntry("a", "general", "closed", time.Hour)
	p.post(closed)
	p.close(closed)
	p.post(windowEntry("a", "general", "over", time.Minute))
	at = at.Add(time.Minute)

	for _, size := range []int{1, 2, 5, 13, 100} {
		var got []string
		var last ledger.Entry
		for {
			page, err := p.s.Window(context.Background(), last, size)
			if err != nil || len(page) > size {
				t.Fatalf("a page of %d, %v", len(page), err)
			}
			for _, e := range page {
				got = append(got, fmt.Sprintf("%s/%s/%s", e.Org, e.Channel, e.ID))
				last = e
			}
			if len(page) < size {
				break
			}
		}
		want := "b/general/m1 b/private/m4 b/private/m3 b/private/m2 b/general/m4 b/general/m3 b/general/m2 " +
			"a/private/m4 a/private/m3 a/private/m2 a/general/m4 a/general/m3 a/general/m2"
		if strings.Join(got, " ") != want {
			t.Errorf("pages of %d: %v", size, got)
		}
	}
	if n, err := p.s.WindowCount(context.Background()); n != 13 || err != nil {
		t.Errorf("counted %d, %v", n, err)
	}
	if page, err := p.s.Window(context.Background(), ledger.Entry{}, 1); err != nil || page[0] != longest {
		t.Errorf("first is %+v, %v, want %+v", page, err, longest)
	}
}

func TestWindowEndsWithItsContext(t *testing.T) {
	s := openStore(t, postgres.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Window(ctx, ledger.Entry{}, 1); err == nil {
		t.Error("a page in spite of an ended context")
	}
	if _, err := s.WindowCount(ctx); err == nil {
		t.Error("a count in spite of an ended context")
	}
}
