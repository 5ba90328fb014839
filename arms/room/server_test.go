package room_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/arms"
	"stet/arms/armhttp"
	"stet/arms/room"
)

func TestStopComesBackHoweverOftenAndWheneverItIsCalled(t *testing.T) {
	for name, run := range map[string]func(*testing.T, *room.Server){
		"never started": func(*testing.T, *room.Server) {},
		"started twice": func(t *testing.T, s *room.Server) {
			if err := s.Start(); err != nil {
				t.Error(err)
			}
			first, _ := s.Endpoint()
			if err := s.Start(); err != nil {
				t.Error(err)
			}
			if second, _ := s.Endpoint(); second != first {
				t.Errorf("a second start moved the server from %s to %s", first, second)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := room.NewServer(t.Context(), room.ServerOptions{Path: filepath.Join(t.TempDir(), "room.db")})
			if err != nil {
				t.Fatal(err)
			}
			run(t, s)
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() { stop(t, s) })
			}
			wg.Wait()
			stop(t, s)
			if err := s.Start(); err == nil {
				t.Error("a stopped server was started again")
			}
		})
	}
}

func TestStartAndStopRace(t *testing.T) {
	s, err := room.NewServer(t.Context(), room.ServerOptions{Path: filepath.Join(t.TempDir(), "room.db")})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { _ = s.Start() })
		wg.Go(func() { stop(t, s) })
	}
	wg.Wait()
	stop(t, s)
}

func TestStopEndsWhatHangsAndDropsWhatIsLate(t *testing.T) {
	s, path := startedAt(t, room.Config{SettleTime: time.Hour})
	if err := s.Script(
		room.Fault{Kind: room.FaultHangAfter, Times: 1},
		room.Fault{Kind: room.FaultLateError, Times: 1, Wait: 30 * time.Minute},
	); err != nil {
		t.Fatal(err)
	}
	a := armOf(t, s)
	hung := make(chan error, 1)
	go func() {
		_, err := a.Post(context.Background(), arms.PostRequest{Place: lobby, Text: "hangs", Marker: "hung"})
		hung <- err
	}()
	waitFor(t, s, func(truth room.Truth) bool { return len(truth.Applied) == 1 })
	_, err := a.Post(t.Context(), arms.PostRequest{Place: lobby, Text: "late", Marker: "late"})
	if f := arms.AsFault(err); f == nil || f.Certainty != arms.Ambiguous {
		t.Errorf("the late one: %v", err)
	}
	stop(t, s)
	if f := arms.AsFault(<-hung); f == nil || f.Certainty != arms.Ambiguous {
		t.Errorf("the hanging one: %v", f)
	}
	truth, err := room.ReadTruth(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if len(truth.Received) != 2 || len(truth.Applied) != 1 || truth.Applied[0].Marker != "hung" {
		t.Errorf("after the stop: %+v", truth)
	}
}

// waitFor looks at the truth until it is as wanted.
func waitFor(t *testing.T, s *room.Server, ok func(room.Truth) bool) room.Truth {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		truth := mustTruth(t, s)
		if ok(truth) {
			return truth
		}
		if time.Now().After(deadline) {
			t.Fatalf("it never came: %+v", truth)
		}
	}
}

func TestTheTokenIsNeeded(t *testing.T) {
	s := started(t, room.Config{})
	base, token := s.Endpoint()
	for _, given := range []string{"", "x", token.Reveal() + "x", token.Reveal()[1:]} {
		a := room.NewArm(room.ArmOptions{BaseURL: base, Token: armhttp.Secret(given)})
		err := a.Probe(t.Context())
		a.CloseIdle()
		if f := arms.AsFault(err); f == nil || f.Code != arms.CodeUnauthorized || f.Certainty != arms.Rejected {
			t.Errorf("token %q: %v", given, err)
		}
	}
	for _, path := range []string{"/api/post", "/control/script", "/"} {
		resp, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d", path, resp.StatusCode)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	if err := armOf(t, s).Probe(t.Context()); err != nil {
		t.Errorf("with the token: %v", err)
	}
}

func TestAnArmShowsNoTokenWhenPrinted(t *testing.T) {
	a := room.NewArm(room.ArmOptions{BaseURL: "http://127.0.0.1:1", Token: "canary-token"})
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if strings.Contains(fmt.Sprintf(format, a)+fmt.Sprintf(format, *a), "canary-token") {
			t.Errorf("%s shows the token", format)
		}
	}
}

func TestAFileThatCantBeWrittenIsAmbiguousAndLoggedWithoutText(t *testing.T) {
	var log strings.Builder
	s, err := room.NewServer(t.Context(), room.ServerOptions{
		Path: filepath.Join(t.TempDir(), "room.db"), Logger: slog.New(slog.NewJSONHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	if err := s.BreakFile(); err != nil {
		t.Fatal(err)
	}
	_, err = armOf(t, s).Post(t.Context(), arms.PostRequest{Place: lobby, Text: "canary-text", Marker: "m"})
	if f := arms.AsFault(err); f == nil || f.Certainty != arms.Ambiguous || f.Code != arms.CodeServer {
		t.Errorf("got %v", err)
	}
	stop(t, s)
	_, token := s.Endpoint()
	if got := log.String(); got == "" || strings.Contains(got, "canary-text") || strings.Contains(got, token.Reveal()) {
		t.Errorf("the log: %q", got)
	}
}

func TestNewServerSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "junk.db"), []byte(strings.Repeat("junk", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]room.ServerOptions{
		"not a database": {Path: filepath.Join(dir, "junk.db")},
		"no such folder": {Path: filepath.Join(dir, "none", "room.db")},
		"a bad config":   {Path: filepath.Join(dir, "room.db"), Config: room.Config{TextLimit: -1}},
	} {
		if s, err := room.NewServer(t.Context(), o); err == nil {
			stop(t, s)
			t.Errorf("%s: no error", name)
		}
	}
	s, err := room.NewServer(t.Context(), room.ServerOptions{Path: filepath.Join(dir, "ok.db"), Listen: "127.0.0.1:-1"})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, s)
	if err := s.Start(); err == nil {
		t.Error("started on no port")
	}
}
