package room_test

import (
	"fmt"
	"testing"

	"stet/arms"
	"stet/arms/room"
)

func TestPagesOfAChannelMeetWithoutGapOrOverlap(t *testing.T) {
	s := started(t, room.Config{})
	a := armOf(t, s)
	var want []arms.MessageID
	for i := range 7 {
		ref := mustPost(t, a, lobby, fmt.Sprint("n", i), arms.Marker(fmt.Sprint("m", i)))
		want = append(want, ref.ID)
		below := lobby
		below.Thread = arms.ThreadID(ref.ID)
		mustPost(t, a, below, "in a thread, so not on the page", "below")
	}
	for limit := 1; limit <= 8; limit++ {
		var got []arms.MessageID
		before := ""
		for {
			page, err := a.ReadChannel(t.Context(), arms.ReadRequest{Place: lobby, Limit: limit, Before: before})
			if err != nil {
				t.Fatal(err)
			}
			var ids []arms.MessageID
			for _, m := range page.Messages {
				ids = append(ids, m.ID)
			}
			got = append(ids, got...)
			if page.Complete {
				break
			}
			before = page.Next
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("limit %d: %v, want %v", limit, got, want)
		}
	}
}

func TestAPageOfWhatIsNotThereIsNotAnEmptyOne(t *testing.T) {
	s := started(t, room.Config{})
	a := armOf(t, s)
	ref := mustPost(t, a, lobby, "x", "m")
	nowhere, otherOrg, noThread := lobby, lobby, lobby
	nowhere.Channel, otherOrg.Org, noThread.Thread = "nowhere", "globex", "m00000000zabcd"
	for name, c := range map[string]struct {
		req  arms.ReadRequest
		code arms.Code
	}{
		"unknown channel":      {arms.ReadRequest{Place: nowhere}, arms.CodeNoChannel},
		"another organization": {arms.ReadRequest{Place: otherOrg}, arms.CodeNoChannel},
		"unknown cursor":       {arms.ReadRequest{Place: lobby, Before: "m00000000zabcd"}, arms.CodeInvalid},
	} {
		_, err := a.ReadChannel(t.Context(), c.req)
		t.Run(name, func(t *testing.T) { wantRefusal(t, err, c.code) })
	}
	_, err := a.ReadThread(t.Context(), arms.ReadRequest{Place: noThread})
	wantRefusal(t, err, arms.CodeNoChannel)
	_, err = a.Fetch(t.Context(), arms.Ref{Place: otherOrg, ID: ref.ID})
	wantRefusal(t, err, arms.CodeGone)
	if _, err := a.ReadThread(t.Context(), arms.ReadRequest{Place: lobby}); arms.AsFault(err).Certainty != arms.NotSent {
		t.Errorf("a thread without a name: %v", err)
	}
}

func TestFindKnowsAPostAfterItWasEditedAndRetracted(t *testing.T) {
	s := started(t, room.Config{})
	a := armOf(t, s)
	ref := mustPost(t, a, lobby, "one", "planted")
	find := func(p arms.Place, m arms.Marker) arms.Found {
		t.Helper()
		found, err := a.Find(t.Context(), arms.FindRequest{Place: p, Marker: m})
		if err != nil {
			t.Fatal(err)
		}
		if !found.Complete || !found.Readable {
			t.Errorf("a look at the whole room is neither partial nor blind: %+v", found)
		}
		return found
	}
	if err := a.Edit(t.Context(), arms.EditRequest{Ref: ref, Text: "two", Marker: "e1"}); err != nil {
		t.Fatal(err)
	}
	if m := find(lobby, "planted").Message; m == nil || m.ID != ref.ID || m.Text != "two" || m.Marker != "e1" {
		t.Errorf("after an edit: %+v", m)
	}
	if err := a.Retract(t.Context(), arms.RetractRequest{Ref: ref, Marker: "r1"}); err != nil {
		t.Fatal(err)
	}
	if m := find(lobby, "planted").Message; m == nil || !m.Deleted || m.Text != "" || m.Marker != "r1" {
		t.Errorf("after a retract: %+v", m)
	}
	if m := find(lobby, "e1").Message; m != nil {
		t.Errorf("an edit's marker found a post: %+v", m)
	}
	other := lobby
	other.Org = "globex"
	if m := find(other, "planted").Message; m != nil {
		t.Errorf("another organization found it: %+v", m)
	}
	_, err := a.Find(t.Context(), arms.FindRequest{Place: lobby})
	wantRefusal(t, err, arms.CodeInvalid)
}

func TestRenderOnlyNormalisesLineEnds(t *testing.T) {
	a := room.NewArm(room.ArmOptions{})
	for in, want := range map[string]string{
		"a\r\nb\rc\n\r\n": "a\nb\nc\n\n",
		"  *x* <b> & é ":  "  *x* <b> & é ",
		"":                "",
	} {
		for _, f := range []arms.Format{arms.Plain, arms.Markdown} {
			got, err := a.Render(arms.Text{Body: in, Format: f})
			if err != nil || string(got) != want {
				t.Errorf("%q as %s: %q, %v", in, f, got, err)
			}
			if again, _ := a.Render(arms.Text{Body: string(got), Format: f}); again != got {
				t.Errorf("%q changes when rendered again", got)
			}
		}
	}
}
