package armtest

import (
	"net/http"
	"strings"
	"testing"

	"stet/arms"
)

// testSheet: what the data sheet offers is implemented, and what it denies is
// not there to be called.
func (h Harness) testSheet(t *testing.T) {
	b := h.bench(t)
	sheet := b.arm.Capabilities(h.Place)
	_, edit := b.arm.(arms.Editor)
	_, retract := b.arm.(arms.Retractor)
	_, fetch := b.arm.(arms.Fetcher)
	_, find := b.arm.(arms.Finder)
	_, channel := b.arm.(arms.ChannelReader)
	_, thread := b.arm.(arms.ThreadReader)
	for _, c := range []struct {
		name               string
		offered, installed bool
	}{
		{"edit", sheet.Edit, edit},
		{"retract", sheet.Retract, retract},
		{"fetch", sheet.Fetch, fetch},
		{"find by marker", sheet.FindByMarker, find},
		{"read channel", sheet.ReadChannel, channel},
		{"read thread", sheet.ReadThread, thread},
	} {
		if c.offered != c.installed {
			t.Errorf("%s: the data sheet says %v, the interfaces say %v", c.name, c.offered, c.installed)
		}
	}
	if sheet.TextLimit <= 0 || sheet.TextUnit == "" || sheet.Dialect == "" || sheet.Threads == "" {
		t.Errorf("the data sheet leaves something open: %+v", sheet)
	}
	if sheet.SettleTime < 0 || sheet.EditMaxAge < 0 || sheet.EditMaxCount < 0 {
		t.Errorf("the data sheet has a negative number: %+v", sheet)
	}
	if b.arm.Platform() == "" {
		t.Error("the arm has no name")
	}
	if n := b.wire.count(); n != 0 {
		t.Errorf("%d requests for a look at the data sheet", n)
	}
}

// testOneRequest: a call that works makes one request, no more and no less.
func (h Harness) testOneRequest(t *testing.T) {
	b := h.bench(t)
	// The reads first: the last write leaves a tombstone behind.
	for _, v := range append(b.reads(), b.writes()...) {
		t.Run(v.name, func(t *testing.T) {
			m := b.h.marker()
			if err := b.call(v, nil, m); err != nil {
				t.Errorf("on a working platform: %v", err)
			}
			if n := b.wire.count(); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
			if isWrite := v.name == "post" || v.name == "edit" || v.name == "retract"; isWrite && h.Applied != nil {
				if n := h.Applied(t, m); n != 1 {
					t.Errorf("applied %d times, want once", n)
				}
			}
		})
	}
}

// testHeaders: no request can be repeated behind the arm's back, and each says
// who it comes from.
func (h Harness) testHeaders(t *testing.T) {
	h.eachWrite(t, func(t *testing.T, b *bench, v verb) {
		if err := b.call(v, nil, b.h.marker()); err != nil {
			t.Fatal(err)
		}
		for _, r := range b.wire.requests() {
			checkOutward(t, r)
		}
	})
}

func checkOutward(t *testing.T, r *http.Request) {
	t.Helper()
	for name := range r.Header {
		if strings.EqualFold(name, "Idempotency-Key") || strings.EqualFold(name, "X-Idempotency-Key") {
			t.Errorf("the request has a header %s", name)
		}
	}
	if r.GetBody != nil {
		t.Error("the request's body can be had twice")
	}
	if !strings.HasPrefix(r.Header.Get("User-Agent"), "stet/") {
		t.Errorf("user agent %q", r.Header.Get("User-Agent"))
	}
	if r.URL.User != nil || strings.Contains(strings.ToLower(r.URL.RawQuery), "token") {
		t.Error("the request's URL has a credential in it")
	}
}
