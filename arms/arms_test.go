package arms_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"stet/arms"
)

func TestALengthIsCountedInTheDeclaredUnit(t *testing.T) {
	for _, c := range []struct {
		text                 string
		bytes, points, utf16 int
	}{
		{"", 0, 0, 0}, {"abc", 3, 3, 3}, {"é", 2, 1, 1}, {"e\u0301", 3, 2, 2}, {"😀", 4, 1, 2},
		{"👩‍👩‍👧", 18, 5, 8},
	} {
		for u, want := range map[arms.Unit]int{arms.Bytes: c.bytes, arms.CodePoints: c.points, arms.UTF16Units: c.utf16} {
			if got := u.Measure(c.text); got != want {
				t.Errorf("%q in %s: %d, want %d", c.text, u, got, want)
			}
		}
	}
}

func TestAnErrorThatProvesNothingIsAmbiguous(t *testing.T) {
	real := &arms.Fault{Certainty: arms.Rejected, Code: arms.CodeForbidden, Status: 403}
	for _, c := range []struct {
		err  error
		want arms.Certainty
	}{
		{errors.New("anything"), arms.Ambiguous},
		{&arms.Fault{Code: arms.CodeDial}, arms.Ambiguous},
		{&arms.Fault{Certainty: "made up", Code: arms.CodeDial}, arms.Ambiguous},
		{real, arms.Rejected},
		{fmt.Errorf("wrapped: %w", real), arms.Rejected},
	} {
		if got := arms.AsFault(c.err); got.Certainty != c.want {
			t.Errorf("%v is %s, want %s", c.err, got.Certainty, c.want)
		}
	}
	if arms.AsFault(nil) != nil {
		t.Error("no error became a fault")
	}
}

func TestEveryCodeHasASentenceThatNamesNothing(t *testing.T) {
	if len(arms.Codes()) < 20 {
		t.Fatalf("only %d codes", len(arms.Codes()))
	}
	for _, c := range arms.Codes() {
		s := c.Sentence()
		if len(s) < 20 || strings.ContainsAny(s, "%{}<>") || strings.Contains(s, "http") {
			t.Errorf("%s: %q", c, s)
		}
	}
	if arms.Code("made up").Sentence() != arms.CodeUnknown.Sentence() {
		t.Error("an unknown code has a sentence of its own")
	}
}

type named string

func (n named) Platform() arms.Platform                 { return arms.Platform(n) }
func (named) Capabilities(arms.Place) arms.Capabilities { return arms.Capabilities{} }
func (named) Render(t arms.Text) (arms.Rendered, error) { return arms.Rendered(t.Body), nil }

func TestARegistryKnowsEachPlatformOnce(t *testing.T) {
	if _, err := arms.NewRegistry(named("a"), named("a")); err == nil {
		t.Error("two arms of one platform were taken")
	}
	r, err := arms.NewRegistry(named("b"), named("a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Arm("c"); ok {
		t.Error("an arm that isn't there was found")
	}
	if ps := r.Platforms(); len(ps) != 2 || ps[0] != "a" {
		t.Errorf("platforms %v", ps)
	}
}
