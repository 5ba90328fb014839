package turn_test

import (
	"testing"
	"time"

	"stet/gateway/locus"
	"stet/gateway/turn"
)

func TestATurnIsOpenUntilItIsClosedOrExpires(t *testing.T) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		expires time.Time
		closed  time.Time
		want    bool
	}{
		{"before its end", now.Add(time.Nanosecond), time.Time{}, true},
		{"at its end", now, time.Time{}, false},
		{"closed", now.Add(time.Hour), now.Add(-time.Hour), false},
	} {
		if got := (turn.Turn{ExpiresAt: c.expires, ClosedAt: c.closed}).Open(now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestARowAboutNothingThatLandedNamesTheBoundPlatformElseTheWakes(t *testing.T) {
	wake := locus.Locus{Platform: "b", Channel: "c"}
	for _, c := range []struct {
		turn turn.Turn
		want string
	}{
		{turn.Turn{Bound: "a", Locus: wake}, "a"}, {turn.Turn{Locus: wake}, "b"}, {turn.Turn{}, ""},
	} {
		if got := c.turn.Surfaced(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestALocusIsZeroWithoutPlatformAndChannel(t *testing.T) {
	if !(locus.Locus{Workspace: "w"}).Zero() || (locus.Locus{Platform: "p"}).Zero() || (locus.Locus{Channel: "c"}).Zero() {
		t.Error("zero is not told from set")
	}
	p := locus.Locus{Platform: "p", Workspace: "w", Channel: "c", Thread: "t", ServiceURL: "u", Organization: "o"}.Place("org")
	if p.Org != "org" || p.Workspace != "w" || p.Channel != "c" || p.Thread != "t" || p.ServiceURL != "u" || p.Organization != "o" {
		t.Errorf("%+v", p)
	}
}
