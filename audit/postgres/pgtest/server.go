package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	superuser = "postgres"
	// startLimit is how long a server may take until it answers.
	startLimit = time.Minute
)

// Server is a running Postgres, or one that was stopped.
type Server struct {
	bin, dir string
	as       *syscall.Credential // nil: the test's own user
	process  *exec.Cmd           // nil: not running
}

func start(bin string) (*Server, error) {
	dir, err := os.MkdirTemp("", "stet-pg-")
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, dir: dir}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.launch(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// prepare makes the data folder, for a user that the server agrees to run as:
// it refuses to run as root.
func (s *Server) prepare() error {
	if os.Getuid() == 0 {
		var err error
		if s.as, err = otherUser(); err != nil {
			return err
		}
		if err := os.Chown(s.dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
			return err
		}
	}
	c := s.command("initdb", "--pgdata", s.data(), "--username", superuser, "--auth", "trust",
		"--encoding", "UTF8", "--no-locale", "--no-sync")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

func otherUser() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("no user to run a server as")
}

// command runs one of the server's programs, which ends with this process
// however that ends.
func (s *Server) command(program string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, program), args...) //nolint:noctx // it ends with its test or its process
	c.Dir = s.dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT, Credential: s.as}
	return c
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }
func (s *Server) log() string  { return filepath.Join(s.dir, "log") }

// Socket is the folder of the server's socket.
func (s *Server) Socket() string { return s.dir }

func (s *Server) running() bool { return s.process != nil }

func (s *Server) launch() error {
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	c := s.command("postgres", "-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "fsync=on",
		"-c", "max_connections=200", "-c", "log_min_messages=fatal")
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		return err
	}
	s.process = c
	return s.await()
}

// await returns when the server answers.
func (s *Server) await() error {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		c, err := pgx.Connect(ctx, s.URL("public"))
		if err == nil {
			return c.Close(ctx)
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			out, _ := os.ReadFile(s.log())
			return fmt.Errorf("the server doesn't answer: %w\n%s", err, out)
		}
	}
}

// Stop stops the server: it ends what is under way and keeps what was committed.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.end(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
}

// Crash ends the server at once, as a crash would.
func (s *Server) Crash(t testing.TB) {
	t.Helper()
	if err := s.end(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
}

// Start starts a server that was stopped and returns when it answers.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.launch(); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) end(with syscall.Signal) error {
	if s.process == nil {
		return nil
	}
	c := s.process
	s.process = nil
	if err := c.Process.Signal(with); err != nil {
		return err
	}
	var exit *exec.ExitError // how it exits is the signal's business
	if err := c.Wait(); err != nil && !errors.As(err, &exit) {
		return err
	}
	return nil
}

func (s *Server) remove() {
	_ = s.end(syscall.SIGQUIT)
	if err := os.RemoveAll(s.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		panic(err)
	}
}
