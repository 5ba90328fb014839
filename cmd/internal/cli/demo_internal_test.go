package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"stet/gateway/outcome"
	"stet/gateway/wire"
)

func TestTheTourHoldsTheTrailAgainstTheAnswers(t *testing.T) {
	row := func(attempt, o, code string) wire.Row {
		return wire.Row{Kind: "outcome", Attempt: attempt, Outcome: o, Code: code}
	}
	resolved := wire.Row{Kind: "note", Attempt: "a2", Action: "reply.resolved"}
	good := []wire.Row{row("a1", "applied", ""), row("a2", "ambiguous", "connection-cut"), resolved}
	for _, c := range []struct {
		name string
		rows []wire.Row
		want string // part of what is wrong; empty: nothing
	}{
		{"all as it was answered", good, ""},
		{"a row is missing", good[1:], "attempt …a1 has to have"},
		{"a row is there twice", append(good[:1:1], good...), "attempt …a1 has to have"},
		{"a row says something else", append([]wire.Row{row("a1", "refused", "")}, good[1:]...), "attempt …a1 has to have"},
		{"a row has another code", append([]wire.Row{row("a1", "applied", "unchanged")}, good[1:]...), "attempt …a1 has to have"},
		{"a row of an attempt that nobody made", append(good[:3:3], row("a3", "applied", "")), "2 attempts were made, 3 have rows"},
		{"no resolution", good[:2], "no resolution"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := &tour{doubtful: "a2", expected: map[string]ending{"a1": {outcome: outcome.Applied}, "a2": {outcome.Ambiguous, "connection-cut"}}}
			err := tr.holds(c.rows)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error: %v, want %q", err, c.want)
			}
		})
	}
}

func TestAStepThatIsNotAsItShouldBeIsShownAndCounted(t *testing.T) {
	var out bytes.Buffer
	tr := &tour{run: &run{IO: IO{Out: &out, Err: &out}, ctx: t.Context()}}
	s := step{title: "Edit", call: "PATCH", means: "It means this.", text: "new", do: func(context.Context) (string, error) {
		return "200  id x", errors.New("want id y")
	}}
	answer, wrong := s.do(t.Context())
	d := stepDone{Step: 1, Title: s.title, Answer: answer, Wrong: wrong.Error()}
	tr.done = append(tr.done, d)
	if err := tr.show(s, d); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "✗ 200  id x") || !strings.Contains(got, "not as it should be: want id y") {
		t.Errorf("out:\n%s", got)
	}
	if tr.wrong() != 1 {
		t.Errorf("%d steps are wrong", tr.wrong())
	}
}

func TestTextIsWrappedAtSpacesAlone(t *testing.T) {
	got := wrap("one two  three\nlonglonglonglong four", 9)
	want := []string{"one two", "three", "longlonglonglong", "four"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %q, want %q", got, want)
	}
	if wrap("", 9) != nil {
		t.Error("nothing has lines")
	}
}

func TestLongTextsAreCutByCharacters(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"short", 8, "short"}, {"exactly8", 8, "exactly8"}, {"größer als", 5, "größ…"}} {
		if got := cut(c.in, c.n); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}
