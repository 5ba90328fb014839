package armtest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"stet/arms"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAnErrorHasToBeAFaultOfTheVocabulary(t *testing.T) {
	good := &arms.Fault{Certainty: arms.Ambiguous, Code: arms.CodeCut}
	for name, c := range map[string]struct {
		err   error
		wrong string
	}{
		"a fault":           {good, ""},
		"nothing":           {nil, "not a fault"},
		"a nil fault":       {(*arms.Fault)(nil), "not a fault"},
		"another error":     {errors.New("x"), "not a fault"},
		"a wrapped fault":   {fmt.Errorf("x: %w", good), "not a fault"},
		"a new certainty":   {&arms.Fault{Certainty: "maybe", Code: arms.CodeCut}, "certainty"},
		"a new code":        {&arms.Fault{Certainty: arms.Ambiguous, Code: "odd"}, "vocabulary"},
		"a secret as code":  {&arms.Fault{Certainty: arms.Ambiguous, Code: "tok-1"}, "secret 1"},
		"a quoted secret":   {&arms.Fault{Certainty: "tok-1", Code: arms.CodeCut}, "secret 1"},
		"no secret, though": {&arms.Fault{Certainty: arms.Rejected, Code: arms.CodeGone, Status: 404}, ""},
	} {
		_, wrong := faultOf(c.err, []string{"", "tok-1"})
		if got := strings.Join(wrong, "; "); (c.wrong == "") != (got == "") || !strings.Contains(got, c.wrong) {
			t.Errorf("%s: %q, want %q", name, got, c.wrong)
		}
	}
}

func TestJudgeComparesWhatIsWanted(t *testing.T) {
	f := &arms.Fault{Certainty: arms.Rejected, Code: arms.CodeGone, Status: 404}
	for name, c := range map[string]struct {
		w     want
		wrong int
	}{
		"the same":          {want{arms.Rejected, []arms.Code{arms.CodeCut, arms.CodeGone}, 404}, 0},
		"only certainty":    {want{certainty: arms.Rejected}, 0},
		"another certainty": {want{certainty: arms.Ambiguous}, 1},
		"another code":      {want{certainty: arms.Rejected, codes: []arms.Code{arms.CodeCut}}, 1},
		"another status":    {want{certainty: arms.Rejected, status: 410}, 1},
		"all of it":         {want{arms.NotSent, []arms.Code{arms.CodeCut}, 410}, 3},
	} {
		if got := c.w.judge(f); len(got) != c.wrong {
			t.Errorf("%s: %v, want %d complaints", name, got, c.wrong)
		}
	}
}

func TestMeasuredTextHasItsLength(t *testing.T) {
	for _, unit := range []arms.Unit{arms.Bytes, arms.CodePoints, arms.UTF16Units} {
		for name, letters := range alphabets {
			for _, n := range []int{9, 10, 11, 3999, 4000, 4001} {
				if got := unit.Measure(measured(letters, n, unit)); got != n {
					t.Errorf("%s of %d %s: %d", name, n, unit, got)
				}
			}
		}
	}
}

func TestNamesLooksThroughEscapes(t *testing.T) {
	for body, want := range map[string]bool{
		`{"id":"m1"}`: true, `{"id":"\u006d1"}`: true, `{"a":[{"b":"m1"}]}`: true,
		`{"id":"m2"}`: false, `m1`: false, ``: false,
	} {
		if got := names([]byte(body), "m1"); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}

func TestCannedAnswersArriveAsTheyWereWritten(t *testing.T) {
	c := Canned{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"7"}}, Body: "slow down"}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://nowhere.invalid/x", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.route(t)(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body := make([]byte, 20)
	n, _ := resp.Body.Read(body)
	if resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "7" || string(body[:n]) != "slow down" {
		t.Errorf("%d %v %q", resp.StatusCode, resp.Header, body[:n])
	}
}

func TestMarkersDiffer(t *testing.T) {
	var h Harness
	if a, b := h.marker(), h.marker(); a == b || a == "" {
		t.Errorf("markers %q and %q", a, b)
	}
	h.Marker = func() arms.Marker { return "own" }
	if h.marker() != "own" {
		t.Error("the harness's own marker is passed over")
	}
}
