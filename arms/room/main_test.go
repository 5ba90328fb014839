package room_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"stet/arms"
	"stet/arms/room"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// started is a running room in a folder of its own.
func started(t testing.TB, c room.Config) *room.Server {
	t.Helper()
	s, _ := startedAt(t, c)
	return s
}

func startedAt(t testing.TB, c room.Config) (*room.Server, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "room.db")
	s, err := room.NewServer(context.Background(), room.ServerOptions{Path: path, Config: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s, path
}

func stop(t testing.TB, s *room.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// armOf is an arm that talks to s.
func armOf(t testing.TB, s *room.Server) *room.Arm {
	t.Helper()
	base, token := s.Endpoint()
	a := room.NewArm(room.ArmOptions{BaseURL: base, Token: token})
	t.Cleanup(a.CloseIdle)
	return a
}

var lobby = arms.Place{Org: "acme", Workspace: "w", Channel: "lobby"}

func mustPost(t testing.TB, a *room.Arm, p arms.Place, text string, m arms.Marker) arms.Ref {
	t.Helper()
	posted, err := a.Post(context.Background(), arms.PostRequest{Place: p, Text: arms.Rendered(text), Marker: m})
	if err != nil {
		t.Fatal(err)
	}
	return arms.Ref{Place: p, ID: posted.ID}
}

func mustTruth(t testing.TB, s *room.Server) room.Truth {
	t.Helper()
	truth, err := s.Truth(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return truth
}
