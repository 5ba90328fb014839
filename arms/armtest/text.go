package armtest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"stet/arms"
)

// alphabets are what texts at the limit are made of.
var alphabets = map[string]string{
	"letters":        "a",
	"two bytes":      "é",
	"three bytes":    "語",
	"surrogate pair": "😀",
	"combining":      "e\u0301",
	"joined":         "👩\u200d🔬",
}

// testText: text up to the limit goes through unchanged, text above it has no
// effect, and text that isn't text is not sent.
func (h Harness) testText(t *testing.T) {
	b := h.bench(t)
	sheet := b.arm.Capabilities(h.Place)
	for name, letters := range alphabets {
		for _, d := range []int{-1, 0, 1} {
			t.Run(fmt.Sprintf("%s, limit%+d", name, d), func(t *testing.T) {
				text := measured(letters, sheet.TextLimit+d, sheet.TextUnit)
				if d > 0 {
					b.tooLong(t, text)
				} else {
					b.unchanged(t, text)
				}
			})
		}
	}
	for _, text := range []string{"<b>&amp;</b> \"q\" \\ \t/", "a\nb\n\nc", "*a* _b_ `c` ~d~ [e](f)", "\u202eabc"} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) { b.unchanged(t, text) })
	}
	t.Run("not UTF-8", func(t *testing.T) { b.notText(t) })
}

// measured makes a text of exactly n units.
func measured(letters string, n int, unit arms.Unit) string {
	text := strings.Repeat(letters, n/unit.Measure(letters))
	return text + strings.Repeat("a", n-unit.Measure(text))
}

func (b *bench) unchanged(t *testing.T, text string) {
	t.Helper()
	rendered := b.rendered(t, text)
	if again := b.rendered(t, text); again != rendered {
		t.Fatal("the same text was rendered in two ways")
	}
	ref := b.post(t, text)
	fetcher, ok := b.arm.(arms.Fetcher)
	if !ok {
		return
	}
	got, err := fetcher.Fetch(t.Context(), ref)
	if err != nil {
		t.Fatalf("fetch: %v", err)
	}
	if got.Text != string(rendered) {
		t.Errorf("the platform has another text: %d bytes, sent %d", len(got.Text), len(rendered))
	}
}

func (b *bench) tooLong(t *testing.T, text string) {
	t.Helper()
	m := b.h.marker()
	b.wire.reset(nil)
	_, err := b.arm.(arms.Poster).Post(t.Context(), arms.PostRequest{Place: b.h.Place, Text: arms.Rendered(text), Marker: m})
	f, wrong := faultOf(err, append([]string{text}, b.h.Secrets...))
	if f == nil || len(wrong) > 0 {
		t.Fatal(wrong)
	}
	if f.Certainty == arms.Ambiguous || f.Code != arms.CodeTooLong {
		t.Errorf("a text over the limit came out as %s, %s", f.Certainty, f.Code)
	}
	if b.h.Applied != nil && b.h.Applied(t, m) != 0 {
		t.Error("a text over the limit was posted")
	}
}

func (b *bench) notText(t *testing.T) {
	bad := arms.Rendered("a\xffb")
	if r, err := b.arm.Render(arms.Text{Body: string(bad), Format: arms.Plain}); err == nil && r != bad {
		t.Error("rendering mended what is not UTF-8 without a word")
	}
	calls := map[string]func(context.Context) error{"post": func(ctx context.Context) error {
		_, err := b.arm.(arms.Poster).Post(ctx, arms.PostRequest{Place: b.h.Place, Text: bad, Marker: b.h.marker()})
		return err
	}}
	if e, ok := b.arm.(arms.Editor); ok {
		calls["edit"] = func(ctx context.Context) error {
			return e.Edit(ctx, arms.EditRequest{Ref: b.ref, Text: bad, Marker: b.h.marker()})
		}
	}
	for name, call := range calls {
		b.wire.reset(nil)
		b.check(t, call(t.Context()), want{certainty: arms.NotSent, codes: []arms.Code{arms.CodeInvalid}})
		if n := b.wire.count(); n != 0 {
			t.Errorf("%s: %d requests for a refused text", name, n)
		}
	}
}
