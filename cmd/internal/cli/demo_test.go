package cli_test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"stet/cmd/internal/cli"
	"stet/gateway/wire"
)

func TestTheTourComesOutAsItShouldInUnderFiveSeconds(t *testing.T) {
	start := time.Now()
	got := shell{}.run(t, "demo", "--once").want(t, 0)
	if took := time.Since(start); took > 5*time.Second && !raceDetector {
		t.Errorf("it took %s", took)
	}
	if !strings.Contains(got.out, "All 11 steps came out as they should") || strings.Contains(got.out, "✗") {
		t.Errorf("out:\n%s", got.out)
	}
	for _, line := range strings.Split(got.out, "\n") {
		if n := len([]rune(line)); n > 100 {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
}

func TestTheToursJSONHasStepsAndExactlyItsRows(t *testing.T) {
	tour := decode[struct {
		OK    bool
		Steps []struct {
			Title string
			OK    bool
		}
		Rows []wire.Row
	}](t, shell{}.run(t, "demo", "--once", "--json").want(t, 0))
	var rows []string
	for _, r := range tour.Rows {
		rows = append(rows, strings.TrimSpace(r.Action+" "+r.Outcome+" "+r.Code))
	}
	want := []string{
		"reply.post applied", "reply.edit applied", "reply.edit applied unchanged", "reply.edit.refused refused unknown",
		"reply.post applied", "reply.edit.refused refused window-closed", "reply.edit.refused rejected forbidden",
		"reply.edit.refused ambiguous connection-cut", "reply.resolved", "reply.retract applied",
	}
	if strings.Join(rows, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows:\n%s", strings.Join(rows, "\n"))
	}
	if !tour.OK || len(tour.Steps) != 11 {
		t.Errorf("ok %t, %d steps", tour.OK, len(tour.Steps))
	}
}

func TestTheTourStaysUntilItIsInterruptedAndLeavesNothing(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	ctx, cancel := context.WithCancel(t.Context())
	out, code := newWatcher(), make(chan int, 1)
	go func() {
		code <- cli.Run(ctx, []string{"demo"}, cli.IO{In: strings.NewReader(""), Out: out, Err: out, Version: "v-test"})
	}()
	base := out.await(t, `the numbers +(http://\S+)/metrics`)
	for _, path := range []string{"/room/lobby?org=demo", "/docs", "/metrics"} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s answers %d, %v", path, resp.StatusCode, err)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	out.await(t, `once it is built\)\n()`)
	cancel()
	if c := <-code; c != 0 {
		t.Errorf("exit code %d:\n%s", c, out)
	}
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestATourThatIsInterruptedIsNoSuccess(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := (shell{ctx: ctx}).run(t, "demo", "--once"); got.code == 0 {
		t.Errorf("code 0:\n%s", got.out)
	}
}
