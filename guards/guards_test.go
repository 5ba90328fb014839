package guards_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"stet/arms"
	"stet/gateway/outcome"
	"stet/guards"
)

type guard func(guards.Draft) (guards.Verdict, error)

func (g guard) Check(_ context.Context, d guards.Draft) (guards.Verdict, error) { return g(d) }

func without(word string) guard {
	return func(d guards.Draft) (guards.Verdict, error) {
		v := guards.Verdict{Text: d.Text}
		if i := strings.Index(d.Text.Body, word); i >= 0 {
			v.Text.Body = strings.Replace(d.Text.Body, word, "", 1)
			v.Withheld = []guards.Withheld{{Guard: word, Start: i, End: i + len(word)}}
		}
		return v, nil
	}
}

func draft(text string) guards.Draft {
	return guards.Draft{Text: arms.Text{Body: text, Format: arms.Plain}}
}

func TestTheEmptyChainPassesEveryTextUnchanged(t *testing.T) {
	v, err := guards.Chain{}.Check(t.Context(), draft("as it is"))
	if err != nil || v.Text.Body != "as it is" || v.Text.Format != arms.Plain || v.Refuse != "" || v.Withheld != nil {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestEachGuardSeesWhatTheOneBeforeLeft(t *testing.T) {
	c := guards.Chain{without("a"), without("b"), without("a")}
	v, err := c.Check(t.Context(), draft("abc"))
	if err != nil || v.Text.Body != "c" || len(v.Withheld) != 2 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestTheFirstRefusalEndsTheChain(t *testing.T) {
	refuse := guard(func(d guards.Draft) (guards.Verdict, error) {
		return guards.Verdict{Text: d.Text, Refuse: outcome.NothingLeft, Detail: "why"}, nil
	})
	never := guard(func(guards.Draft) (guards.Verdict, error) { t.Error("it was asked"); return guards.Verdict{}, nil })
	v, err := guards.Chain{without("a"), refuse, never}.Check(t.Context(), draft("ab"))
	if err != nil || v.Refuse != outcome.NothingLeft || v.Detail != "why" || len(v.Withheld) != 1 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestAGuardThatFailsPassesNothing(t *testing.T) {
	broken := guard(func(guards.Draft) (guards.Verdict, error) { return guards.Verdict{}, errors.New("broken") })
	if v, err := (guards.Chain{broken}).Check(t.Context(), draft("a")); err == nil || v.Text.Body != "" {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestWithoutAPolicyTheLadderSaysYes(t *testing.T) {
	d, err := guards.Open{}.Decide(t.Context(), guards.Action{})
	if err != nil || !d.Allow || d.By != "open" {
		t.Errorf("%+v, %v", d, err)
	}
}
