package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"stet/arms/room"
	"stet/gateway/bind"
	"stet/gateway/client"
)

var binaryDir string

// binary builds the program once and answers its path. It is built without the
// race detector, which would leave the crash tests next to no load; what races
// is seen by the tests that boot the program in their own process.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "stet-e2e-")
	if err != nil {
		return "", err
	}
	binaryDir = dir
	path := filepath.Join(dir, "stet")
	out, err := exec.Command("go", "build", "-o", path, "stet/cmd/stet").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
})

// program is the real binary in a process of its own, over one data folder that
// outlives the process.
type program struct {
	data string
	// host and ops are the first keys, the same for every start.
	host, ops string
	args      []string

	cmd    *exec.Cmd
	base   string
	stderr bytes.Buffer
	exited chan struct{}
	code   int
}

func newProgram(t *testing.T, config string, args ...string) *program {
	t.Helper()
	if _, err := binary(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := &program{data: filepath.Join(dir, "data")}
	p.host, _ = bind.Mint(bind.HostKey)
	p.ops, _ = bind.Mint(bind.OpsKey)
	p.args = append([]string{"serve", "--listen", "127.0.0.1:0", "--data", p.data}, args...)
	if config != "" {
		path := filepath.Join(dir, "stet.yaml")
		must(t, os.WriteFile(path, []byte(config), 0o600))
		p.args = append(p.args, "--config", path)
	}
	t.Cleanup(p.kill)
	return p
}

func (p *program) addressFile() string { return filepath.Join(p.data, "address") }

// launch starts the process without waiting for anything.
func (p *program) launch() error {
	path, err := binary()
	if err != nil {
		return err
	}
	if err := os.Remove(p.addressFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	p.stderr.Reset()
	p.base, p.code, p.exited = "", -1, make(chan struct{})
	p.cmd = exec.Command(path, p.args...)
	p.cmd.Env = append(os.Environ(), "STET_HOST_KEY="+p.host, "STET_OPS_KEY="+p.ops)
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = 10 * time.Second
	if err := p.cmd.Start(); err != nil {
		return err
	}
	go func(cmd *exec.Cmd, exited chan struct{}) {
		_ = cmd.Wait()
		p.code = cmd.ProcessState.ExitCode()
		close(exited)
	}(p.cmd, p.exited)
	return nil
}

// start starts the process and waits until it serves.
func (p *program) start(t *testing.T) {
	t.Helper()
	must(t, p.launch())
	p.ready(t)
}

func (p *program) ready(t *testing.T) {
	t.Helper()
	ok := poll(t.Context(), time.Minute, func() bool {
		raw, err := os.ReadFile(p.addressFile())
		if err == nil && strings.HasSuffix(string(raw), "\n") {
			p.base = "http://" + strings.TrimSpace(string(raw))
			return true
		}
		return p.gone()
	})
	if !ok || p.base == "" {
		p.kill()
		t.Fatalf("the program did not start:\n%s", p.stderr.String())
	}
}

func (p *program) gone() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

func (p *program) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// kill ends the process as nothing can prevent, and waits for its end.
func (p *program) kill() {
	if p.cmd == nil || p.cmd.Process == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// wait waits for the process's own end and answers its exit code.
func (p *program) wait(ctx context.Context) (int, error) {
	select {
	case <-p.exited:
		return p.code, nil
	case <-ctx.Done():
		return 0, errors.New("the program did not end")
	}
}

// history is the trail and the truth as they are in the files now.
func (p *program) history(t *testing.T) history {
	t.Helper()
	tr, err := readTrail(t.Context(), filepath.Join(p.data, "stet.db"))
	must(t, err)
	truth, err := room.ReadTruth(t.Context(), filepath.Join(p.data, "room.db"))
	must(t, err)
	return history{trail: tr, truth: truth}
}

// dial makes a client of a started program with a transport of its own.
func dial(t testing.TB, base, key string) *client.Client {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 256}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := client.New(base, client.WithKey(key), client.WithHTTPClient(&http.Client{Transport: transport, Timeout: 30 * time.Second}))
	must(t, err)
	return c
}
