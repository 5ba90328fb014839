package armtest

import (
	"slices"
	"testing"

	"stet/arms"
)

// testIDs: the id that a post returned is the one that every other verb knows
// the message by.
func (h Harness) testIDs(t *testing.T) {
	t.Run("fetch", h.fetchKnowsThePost)
	t.Run("read channel", h.channelKnowsThePost)
	t.Run("read thread", h.threadKnowsThePost)
	t.Run("edit and retract", h.writesKnowThePost)
	t.Run("an id that names nothing", h.nothingThere)
}

func (h Harness) fetchKnowsThePost(t *testing.T) {
	b := h.bench(t)
	f, ok := b.arm.(arms.Fetcher)
	if !ok {
		return // the data sheet test holds the arm to saying so
	}
	got, err := f.Fetch(t.Context(), b.ref)
	if err != nil {
		t.Fatal(err)
	}
	if got.ID != b.ref.ID || got.Channel != b.ref.Place.Channel || got.Edited || got.Deleted {
		t.Errorf("fetched %+v for %+v", got, b.ref)
	}
	if got.At.IsZero() || got.Author.ID == "" {
		t.Errorf("a message without time or author: %+v", got)
	}
}

func (h Harness) channelKnowsThePost(t *testing.T) {
	b := h.bench(t)
	r, ok := b.arm.(arms.ChannelReader)
	if !ok {
		return
	}
	second := b.post(t, "armtest: second")
	page, err := r.ReadChannel(t.Context(), arms.ReadRequest{Place: h.Place, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Messages) != 1 || page.Messages[0].ID != second.ID || page.Complete || page.Next == "" {
		t.Fatalf("the newest page of one: %+v", page)
	}
	page, err = r.ReadChannel(t.Context(), arms.ReadRequest{Place: h.Place, Limit: 1, Before: page.Next})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Messages) != 1 || page.Messages[0].ID != b.ref.ID {
		t.Errorf("the page before: %+v", page)
	}
}

func (h Harness) threadKnowsThePost(t *testing.T) {
	b := h.bench(t)
	r, ok := b.arm.(arms.ThreadReader)
	if !ok || b.arm.Capabilities(h.Place).Threads != arms.RootThreads {
		return
	}
	inside := h.Place
	inside.Thread = arms.ThreadID(b.ref.ID)
	posted, err := b.arm.(arms.Poster).Post(t.Context(), arms.PostRequest{Place: inside, Text: "armtest: below", Marker: h.marker()})
	if err != nil {
		t.Fatal(err)
	}
	if posted.Thread != inside.Thread {
		t.Errorf("posted into thread %q, landed in %q", inside.Thread, posted.Thread)
	}
	page, err := r.ReadThread(t.Context(), arms.ReadRequest{Place: inside, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]arms.MessageID, 0, len(page.Messages))
	for _, m := range page.Messages {
		ids = append(ids, m.ID)
	}
	if !slices.Equal(ids, []arms.MessageID{b.ref.ID, posted.ID}) || !page.Complete {
		t.Errorf("the thread reads %v, complete %v", ids, page.Complete)
	}
}

func (h Harness) writesKnowThePost(t *testing.T) {
	b := h.bench(t)
	f, canFetch := b.arm.(arms.Fetcher)
	if e, ok := b.arm.(arms.Editor); ok {
		m := h.marker()
		if err := e.Edit(t.Context(), arms.EditRequest{Ref: b.ref, Text: "armtest: after", Marker: m}); err != nil {
			t.Fatal(err)
		}
		if canFetch {
			got, err := f.Fetch(t.Context(), b.ref)
			if err != nil || got.Text != "armtest: after" || !got.Edited {
				t.Errorf("after the edit: %+v, %v", got, err)
			}
		}
	}
	if r, ok := b.arm.(arms.Retractor); ok {
		if err := r.Retract(t.Context(), arms.RetractRequest{Ref: b.ref, Marker: h.marker()}); err != nil {
			t.Fatal(err)
		}
		err := r.Retract(t.Context(), arms.RetractRequest{Ref: b.ref, Marker: h.marker()})
		b.wire.reset(nil)
		b.check(t, err, want{certainty: arms.Rejected, codes: []arms.Code{arms.CodeGone}})
	}
	if canFetch {
		if got, err := f.Fetch(t.Context(), b.ref); err == nil && !got.Deleted {
			t.Errorf("a retracted message is still there: %+v", got)
		} else if err != nil && arms.AsFault(err).Code != arms.CodeGone {
			t.Errorf("a retracted message: %v", err)
		}
	}
}

// nothingThere: an edit of what isn't there is never a success and never a new
// post.
func (h Harness) nothingThere(t *testing.T) {
	b := h.bench(t)
	for _, id := range []arms.MessageID{"", "nothing", b.ref.ID + "0", "../x", "a\nb", "%2e%2e/", "'; --"} {
		b.ref.ID = id
		for _, v := range b.writes() {
			if v.name == "post" {
				continue
			}
			m := h.marker()
			f, wrong := faultOf(b.call(v, nil, m), h.Secrets)
			if len(wrong) > 0 || f.Certainty == arms.Ambiguous {
				t.Errorf("%s of id %q: %v %v", v.name, id, f, wrong)
			}
			if h.Applied != nil && h.Applied(t, m) != 0 {
				t.Errorf("%s of id %q had an effect", v.name, id)
			}
		}
	}
}
