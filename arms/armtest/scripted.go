package armtest

import (
	"context"
	"testing"
	"time"

	"stet/arms"
)

// testScripted: what the arm claims about a fault that the platform really
// plays is held against what the platform really did.
func (h Harness) testScripted(t *testing.T) {
	if len(h.Scripted) == 0 {
		t.Log("NOT RUN: this platform can't play faults; only the suite's own are covered")
		return
	}
	if h.Applied == nil {
		t.Fatal("a harness that scripts faults has to tell the truth as well")
	}
	h.eachWrite(t, func(t *testing.T, b *bench, v verb) {
		for _, s := range h.Scripted {
			t.Run(s.Name, func(t *testing.T) {
				b.ref = b.post(t, "armtest: to be faulted")
				b.scripted(t, v, s)
			})
		}
	})
}

func (b *bench) scripted(t *testing.T, v verb, s Scripted) {
	s.Set(t, v.name)
	limit := patience
	if s.Silent {
		limit = 200 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	b.wire.reset(nil)
	m := b.h.marker()
	w := want{certainty: s.Want}
	if s.Code != "" {
		w.codes = []arms.Code{s.Code}
	}
	f := b.check(t, v.do(ctx, b, m), w)
	applied := b.h.Applied(t, m)
	if (applied > 0) != s.Applied {
		t.Errorf("applied %d times, the script says %v", applied, s.Applied)
	}
	if f != nil && f.Certainty != arms.Ambiguous && applied > 0 {
		t.Errorf("the arm says %s, and the platform applied it", f.Certainty)
	}
}
