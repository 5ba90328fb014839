package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"stet/cmd/internal/app"
	"stet/gateway/outcome"
	"stet/gateway/wire"
)

// backWithin is how soon service has to return by itself.
const backWithin = 5 * time.Second

// gate stops attempts at one point until it is opened.
type gate struct {
	point         atomic.Value
	reached, open chan struct{}
}

func newGate(point string) *gate {
	g := &gate{reached: make(chan struct{}, 2048), open: make(chan struct{})}
	g.at(point)
	return g
}

// at moves the gate; "" is nowhere.
func (g *gate) at(point string) { g.point.Store(point) }

func (g *gate) probe(point string) {
	switch g.point.Load() {
	case point:
	case "panic at " + point:
		panic("a canary that must not be logged")
	default:
		return
	}
	g.reached <- struct{}{}
	<-g.open
}

// outage is an audit store that can't be written for a while.
type outage struct {
	*booted
	gate  *gate
	agent agentOf
	// id is a message that is there; flying is what becomes of an edit of it
	// that was on its way when the store failed.
	id     string
	flying chan error
	before size
}

// takeOff has an edit opened and on its way to the room.
func takeOff(t *testing.T, change ...func(*app.Options)) *outage {
	t.Helper()
	o := &outage{gate: newGate("edit/open"), flying: make(chan error, 1)}
	o.booted = boot(t, append(change, func(a *app.Options) {
		a.Probe = o.gate.probe
		a.Settings.PlatformTimeout = 30 * time.Second
	})...)
	o.agent = o.turn()
	o.id = o.post(o.agent, "before")
	go func() {
		_, err := o.agent.Edit(t.Context(), o.id, wire.EditRequest{Text: "in flight"})
		o.flying <- err
	}()
	<-o.gate.reached
	o.before = o.size()
	return o
}

// holds checks everything that has to hold while the store can't be written.
func (o *outage) holds() {
	o.Helper()
	for range 3 {
		_, err := o.agent.Reply(o.Context(), wire.ReplyRequest{Text: "during"})
		p := refusal(o, err)
		want(o, p, outcome.AuditUnavailable, "")
		if p.Attempt != "" || p.RetryAfter == 0 {
			o.Errorf("attempt %q, retry after %d: without a record there is no attempt", p.Attempt, p.RetryAfter)
		}
	}
	ready, err := o.host.Ready(o.Context())
	must(o, err)
	if got := o.call("GET", "/readyz", "", "").status; ready.Ready || got != 503 {
		o.Errorf("ready %t, status %d", ready.Ready, got)
	}
	if got := o.call("GET", "/room/lobby?org=acme", "", ""); got.status != 200 || !strings.Contains(got.body, "before") {
		o.Errorf("the room's page answers %d", got.status)
	}
	if n := o.received(); n != o.before.received {
		o.Errorf("%d requests left", n-o.before.received)
	}
}

// returns checks that service is back by itself, with everything recorded.
func (o *outage) returns(flew string) {
	o.Helper()
	eventually(o, backWithin, "a reply goes out again", func() bool {
		_, err := o.agent.Reply(o.Context(), wire.ReplyRequest{Text: "after"})
		return err == nil
	})
	eventually(o, backWithin, "the program is ready", func() bool {
		ready, err := o.host.Ready(o.Context())
		return err == nil && ready.Ready
	})
	eventually(o, backWithin, "what was in flight is recorded", func() bool { return len(o.trail().open) == 0 })
	if row := o.row(flew); row.Outcome != outcome.Applied {
		o.Errorf("the edit in flight is recorded as %s, %s", row.Outcome, row.Reason)
	}
	if got := o.truth().Messages[0].Text; got != "in flight" {
		o.Errorf("the room shows %q", got)
	}
	for _, r := range o.truth().Applied {
		if r.Text == "during" {
			o.Error("a reply of the outage is in the room")
		}
	}
	o.balanced()
}

// TestI2WhileAnotherProcessLocksTheTrailNothingLeaves: the database is locked
// from outside, as by a shell or a backup.
func TestI2WhileAnotherProcessLocksTheTrailNothingLeaves(t *testing.T) {
	o := takeOff(t)
	unlock := lock(t, filepath.Join(o.data, "stet.db"))
	o.holds()
	close(o.gate.open)
	p := refusal(t, <-o.flying)
	want(t, p, outcome.AuditUnavailable, outcome.Ambiguous)
	if p.Recorded == nil || *p.Recorded {
		t.Error("the answer doesn't say that nothing is recorded yet")
	}
	if n := o.received(); n != o.before.received+1 {
		t.Errorf("%d requests left, want the one in flight", n-o.before.received)
	}
	unlock()
	o.returns(p.Attempt)
}

// lock takes the write lock of a database until it is undone.
func lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	db, err := openFile(path, "_txlock=immediate")
	must(t, err)
	tx, err := db.BeginTx(context.WithoutCancel(t.Context()), nil)
	must(t, err)
	undone := false
	unlock = func() {
		if !undone {
			undone = true
			must(t, errors.Join(tx.Rollback(), db.Close()))
		}
	}
	t.Cleanup(unlock)
	return unlock
}

// TestI2WhileTheDiskIsFullNothingLeaves fills the file system of the audit
// store, and of nothing else.
func TestI2WhileTheDiskIsFullNothingLeaves(t *testing.T) {
	disk := smallDisk(t)
	elsewhere := filepath.Join(t.TempDir(), "room.db")
	must(t, os.Mkdir(filepath.Join(disk, "data"), 0o700))
	must(t, os.Symlink(elsewhere, filepath.Join(disk, "data", "room.db")))
	o := takeOff(t, func(a *app.Options) { a.Settings.Data = filepath.Join(disk, "data") })
	filler := fill(t, disk)
	o.untilClosed()
	o.holds()
	close(o.gate.open)
	flew := o.landed()
	must(t, os.Remove(filler))
	o.returns(flew)
}

// untilClosed waits until the program has seen for itself that its disk is
// full: the space in reserve lets it record a little longer than it opens.
func (o *outage) untilClosed() {
	o.Helper()
	eventually(o, backWithin, "the trail is closed", func() bool {
		ready, err := o.host.Ready(o.Context())
		return err == nil && !ready.Ready
	})
	o.before = o.size()
}

// landed is the attempt of the edit in flight, however its caller was told.
func (o *outage) landed() string {
	o.Helper()
	err := <-o.flying
	if err != nil {
		p := refusal(o, err)
		want(o, p, outcome.AuditUnavailable, outcome.Ambiguous)
		return p.Attempt
	}
	for _, a := range o.trail().attempts {
		if a.verb == string(outcome.Edit) {
			return a.id
		}
	}
	o.Fatal("the edit has no attempt")
	return ""
}

// smallDisk mounts a file system of a few megabytes, where that is allowed.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=24m"); err != nil {
		if os.Getenv("CI") == "true" && os.Geteuid() == 0 {
			t.Fatalf("no file system can be mounted: %v", err)
		}
		t.Skipf("SKIPPED: the disk that fills up needs a mount, which is not allowed here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

// fill takes all the space that is left.
func fill(t *testing.T, dir string) (filler string) {
	t.Helper()
	filler = filepath.Join(dir, "filler")
	f, err := os.Create(filler)
	must(t, err)
	defer f.Close()
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	return filler
}
