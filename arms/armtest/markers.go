package armtest

import (
	"testing"
	"time"

	"stet/arms"
)

// testMarkers: a post is found by the marker that was planted with it, and by
// no other.
func (h Harness) testMarkers(t *testing.T) {
	b := h.bench(t)
	f, ok := b.arm.(arms.Finder)
	if !ok {
		return // the data sheet test holds the arm to saying so
	}
	m := h.marker()
	posted, err := b.arm.(arms.Poster).Post(t.Context(), arms.PostRequest{Place: h.Place, Text: "armtest: marked", Marker: m})
	if err != nil {
		t.Fatal(err)
	}
	since := time.Now().Add(-time.Minute)
	found, err := f.Find(t.Context(), arms.FindRequest{Place: h.Place, Marker: m, Since: since})
	if err != nil || found.Message == nil || found.Message.ID != posted.ID {
		t.Errorf("looked for a post by its marker: %+v, %v", found, err)
	}
	if found.Message != nil && found.Message.Marker != m {
		t.Errorf("the post carries marker %q, planted was %q", found.Message.Marker, m)
	}
	found, err = f.Find(t.Context(), arms.FindRequest{Place: h.Place, Marker: h.marker(), Since: since})
	if err != nil || found.Message != nil {
		t.Errorf("looked for a marker that nobody planted: %+v, %v", found, err)
	}
}
