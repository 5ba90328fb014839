// Package redistest starts private Redis servers for tests.
package redistest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Binary is the server's program.
const Binary = "redis-server"

// Server is one Redis server of a test's own, in a folder of its own. Without
// other words it keeps nothing over a restart.
type Server struct {
	// URL is where it listens.
	URL string

	t     testing.TB
	dir   string
	args  []string
	ready string // what it prints once it serves
	cmd   *exec.Cmd
	raw   *redis.Client
}

// Need skips the test where there is no Redis to start, loudly; where CI=true
// it fails it.
func Need(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath(Binary); err == nil {
		return
	}
	const text = Binary + " isn't installed, so nothing about Redis is tested: apt-get install redis-server"
	if os.Getenv("CI") == "true" {
		t.Fatal(text)
	}
	t.Skip("SKIPPED: " + text)
}

// Start starts a server with further arguments, as of its configuration file,
// and stops it with the test.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, "accept connections at", func(dir string) []string {
		base := []string{"--port", "0", "--save", "", "--appendonly", "no"}
		return append(base, args...)
	})
}

// start starts a server in a folder of its own.
func start(t testing.TB, ready string, args func(dir string) []string) *Server {
	t.Helper()
	Need(t)
	// A test's own folder can be too deep for the name of a socket.
	dir, err := os.MkdirTemp("", "stet-redis-")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "redis.sock")
	s := &Server{t: t, dir: dir, ready: ready, URL: "unix://" + socket}
	s.args = append(args(dir), "--unixsocket", socket, "--dir", dir, "--daemonize", "no")
	s.raw = redis.NewClient(&redis.Options{
		Network: "unix", Addr: socket, DisableIdentity: true, Protocol: 2,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(s.cleanup)
	s.Up()
	return s
}

// StartCluster starts a server that is a whole cluster by itself.
func StartCluster(t testing.TB) *Server {
	t.Helper()
	port, bus := freePort(t), freePort(t)
	s := Start(t, "--port", port, "--bind", "127.0.0.1", "--cluster-enabled", "yes", "--cluster-port", bus)
	s.Do("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
	s.Await("cluster_state:ok", "CLUSTER", "INFO")
	s.URL = "redis+cluster://127.0.0.1:" + port
	return s
}

// freePort is a port on which nobody listened a moment ago.
func freePort(t testing.TB) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// Up starts the server, if it was taken down, and waits until it serves.
func (s *Server) Up() {
	s.t.Helper()
	s.cmd = exec.CommandContext(context.Background(), Binary, s.args...)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.cmd.Stderr = s.cmd.Stdout
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(io.TeeReader(out, &said)); lines.Scan(); {
		if strings.Contains(lines.Text(), s.ready) {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return
		}
	}
	s.t.Fatalf("%s ended: %s", Binary, said.String())
}

// Down kills the server at once, as a crash does.
func (s *Server) Down() {
	s.t.Helper()
	if s.cmd == nil {
		return
	}
	if err := s.cmd.Process.Kill(); err != nil {
		s.t.Error(err)
	}
	_ = s.cmd.Wait() // it says that it was killed
	s.cmd = nil
}

// Do sends a command past every store and fails the test on an error.
func (s *Server) Do(args ...any) any {
	s.t.Helper()
	v, err := s.raw.Do(context.Background(), args...).Result()
	if err != nil {
		s.t.Fatalf("%v: %v", args[0], err)
	}
	return v
}

// Raw is a client that nothing tunes.
func (s *Server) Raw() *redis.Client { return s.raw }

func (s *Server) cleanup() {
	s.t.Helper()
	if err := s.raw.Close(); err != nil {
		s.t.Error(err)
	}
	s.Down()
	if err := os.RemoveAll(s.dir); err != nil {
		s.t.Error(err)
	}
}

// Sentinels is a primary with a replica, watched by one Sentinel.
type Sentinels struct {
	URL              string
	Primary, Replica *Server
	Sentinel         *Server
}

// StartSentinels starts them and waits until a failover is possible.
func StartSentinels(t testing.TB) *Sentinels {
	t.Helper()
	port := freePort(t)
	s := &Sentinels{Primary: Start(t, "--port", port, "--bind", "127.0.0.1")}
	s.Replica = Start(t, "--port", freePort(t), "--bind", "127.0.0.1", "--replicaof", "127.0.0.1 "+port, "--repl-diskless-sync-delay", "0")
	s.Primary.Await("connected_slaves:1", "INFO", "replication")
	s.Replica.Await("master_link_status:up", "INFO", "replication")
	watch := freePort(t)
	s.Sentinel = start(t, "Sentinel ID is", func(dir string) []string {
		conf := filepath.Join(dir, "sentinel.conf")
		if err := os.WriteFile(conf, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{conf, "--sentinel", "--port", watch, "--bind", "127.0.0.1"}
	})
	s.Sentinel.Do("SENTINEL", "MONITOR", "mymaster", "127.0.0.1", port, 1)
	s.Sentinel.Await("num-slaves 1", "SENTINEL", "MASTERS")
	s.URL = "redis+sentinel://127.0.0.1:" + watch + "?master=mymaster"
	return s
}

// Await repeats a command until its answer holds the text.
func (s *Server) Await(text string, args ...any) {
	s.t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for range 1000 {
		<-again.C
		if strings.Contains(fmt.Sprintln(s.Do(args...)), text) {
			return
		}
	}
	s.t.Fatalf("%v never answered %q", args, text)
}
