package armtest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"stet/arms"
	"stet/arms/armtest"
	"stet/arms/room"
)

// bad is the room's arm with one mistake in its edits.
type bad struct {
	*room.Arm
	mistake func(*room.Arm, context.Context, arms.EditRequest) error
}

func (b bad) Edit(ctx context.Context, r arms.EditRequest) error { return b.mistake(b.Arm, ctx, r) }

// mistakes are what arms get wrong, with the part of the suite that has to
// notice.
var mistakes = map[string]struct {
	part string
	edit func(*room.Arm, context.Context, arms.EditRequest) error
}{
	"retries": {"connection faults", func(a *room.Arm, ctx context.Context, r arms.EditRequest) error {
		if err := a.Edit(ctx, r); err == nil {
			return nil
		}
		return a.Edit(ctx, r)
	}},
	"asks first": {"one verb call", func(a *room.Arm, ctx context.Context, r arms.EditRequest) error {
		if _, err := a.Fetch(ctx, r.Ref); err != nil {
			return err
		}
		return a.Edit(ctx, r)
	}},
	"takes every failure for a no": {"answers of nobody", func(a *room.Arm, ctx context.Context, r arms.EditRequest) error {
		if f := arms.AsFault(a.Edit(ctx, r)); f != nil {
			return &arms.Fault{Certainty: arms.Rejected, Code: f.Code, Status: f.Status}
		}
		return nil
	}},
	"takes every answer for a yes": {"a success about something else", func(a *room.Arm, ctx context.Context, r arms.EditRequest) error {
		if f := arms.AsFault(a.Edit(ctx, r)); f != nil && f.Status != http.StatusOK {
			return f
		}
		return nil
	}},
	"tells the address": {"refusals", func(a *room.Arm, ctx context.Context, r arms.EditRequest) error {
		if err := a.Edit(ctx, r); err != nil {
			return fmt.Errorf("post http://127.0.0.1/: %w", err)
		}
		return nil
	}},
	"forgets the context": {"contexts/edit/canceled before", func(a *room.Arm, _ context.Context, r arms.EditRequest) error {
		return a.Edit(context.Background(), r)
	}},
	"posts instead": {"ids", func(a *room.Arm, ctx context.Context, r arms.EditRequest) error {
		_, err := a.Post(ctx, arms.PostRequest{Place: r.Ref.Place, Text: r.Text, Marker: r.Marker})
		return err
	}},
	"mends the text": {"^text$", func(a *room.Arm, ctx context.Context, r arms.EditRequest) error {
		r.Text = arms.Rendered([]rune(r.Text))
		return a.Edit(ctx, r)
	}},
	"none": {"", (*room.Arm).Edit},
}

const mistakeEnv = "ARMTEST_MISTAKE"

// TestSuiteOnABadArm is the child of the test below, which expects it to fail.
func TestSuiteOnABadArm(t *testing.T) {
	m, ok := mistakes[os.Getenv(mistakeEnv)]
	if !ok {
		return // only the child has anything to do
	}
	s, err := room.NewServer(t.Context(), room.ServerOptions{Path: filepath.Join(t.TempDir(), "room.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Stop(context.Background()) }()
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	base, token := s.Endpoint()
	armtest.Run(t, armtest.Harness{
		New: func(_ testing.TB, rt http.RoundTripper) arms.Arm {
			return bad{room.NewArm(room.ArmOptions{BaseURL: base, Token: token, Transport: rt}), m.edit}
		},
		Place: arms.Place{Org: "acme", Channel: "lobby"},
		Limited: func(wait time.Duration) armtest.Canned {
			return armtest.Canned{Status: 429, Body: fmt.Sprintf(`{"error":{"code":"rate_limited","retry_after":%g}}`, wait.Seconds())}
		},
		Refusals: []armtest.Refusal{{
			Name: "forbidden", Canned: armtest.Canned{Status: 403, Body: `{"error":{"code":"forbidden"}}`},
			Want: arms.Fault{Certainty: arms.Rejected, Code: arms.CodeForbidden},
		}},
	})
}

func TestTheSuiteNoticesAMistake(t *testing.T) {
	for name, m := range mistakes {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			child := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestSuiteOnABadArm$/"+m.part, "-test.count=1")
			child.Env = append(os.Environ(), mistakeEnv+"="+name)
			out, err := child.CombinedOutput()
			var exit *exec.ExitError
			switch {
			case name == "none" && err != nil:
				t.Errorf("an arm without a mistake failed: %s", out)
			case name != "none" && !errors.As(err, &exit):
				t.Errorf("the suite passed an arm that %s: %v", name, err)
			}
		})
	}
}
