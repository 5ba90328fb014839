package armtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stet/arms"
)

var errUnnamed = errors.New("a success without an id")

// want is the fault that has to come out; empty fields are not looked at.
type want struct {
	certainty arms.Certainty
	codes     []arms.Code
	status    int
}

// faultOf reads an arm's error as the contract allows it: a *arms.Fault, of a
// known certainty and code, that tells no secret.
func faultOf(err error, secrets []string) (*arms.Fault, []string) {
	f, ok := err.(*arms.Fault) //nolint:errorlint // the contract says that it is one, not that it wraps one
	if !ok || f == nil {
		return nil, []string{fmt.Sprintf("the error is a %T, not a fault", err)}
	}
	var wrong []string
	if !slices.Contains([]arms.Certainty{arms.NotSent, arms.Rejected, arms.Ambiguous}, f.Certainty) {
		wrong = append(wrong, fmt.Sprintf("the certainty %q is none", f.Certainty))
	}
	if !slices.Contains(arms.Codes(), f.Code) {
		wrong = append(wrong, fmt.Sprintf("the code %q is not in the vocabulary", f.Code))
	}
	return f, append(wrong, tells(err, secrets)...)
}

// tells finds the secrets in every way of printing an error.
func tells(err error, secrets []string) []string {
	var wrong []string
	for _, format := range []string{"%v", "%+v", "%#v", "%q", "%s"} {
		text := fmt.Sprintf(format, err)
		for i, s := range secrets {
			if s != "" && strings.Contains(text, s) {
				wrong = append(wrong, fmt.Sprintf("the error tells secret %d when printed with %s", i, format))
			}
		}
	}
	return wrong
}

func (w want) judge(f *arms.Fault) []string {
	var wrong []string
	if f.Certainty != w.certainty {
		wrong = append(wrong, fmt.Sprintf("certainty %s, want %s", f.Certainty, w.certainty))
	}
	if len(w.codes) > 0 && !slices.Contains(w.codes, f.Code) {
		wrong = append(wrong, fmt.Sprintf("code %s, want one of %v", f.Code, w.codes))
	}
	if w.status != 0 && f.Status != w.status {
		wrong = append(wrong, fmt.Sprintf("status %d, want %d", f.Status, w.status))
	}
	return wrong
}

// check fails the test unless err is the wanted fault and at most one request
// was made for it.
func (b *bench) check(t *testing.T, err error, w want) *arms.Fault {
	t.Helper()
	f, wrong := faultOf(err, b.h.Secrets)
	if f != nil {
		wrong = append(wrong, w.judge(f)...)
	}
	for _, s := range wrong {
		t.Error(s)
	}
	if n := b.wire.count(); n > 1 {
		t.Errorf("%d requests for one call", n)
	}
	return f
}
