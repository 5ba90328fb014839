package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stet/cmd/internal/app"
	"stet/gateway/wire"
)

func TestARestartKeepsKeysTokensAndTheLedger(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	here := func(o *app.Options) { o.Settings.Data = data }
	b := boot(t, here)
	if !b.app.MintedKeys() {
		t.Error("a first start mints no keys")
	}
	host, ops := b.app.HostKey(), b.app.OpsKey()
	a := b.turn()
	id := b.post(a, "before")
	b.stop()

	again := boot(t, here)
	if again.app.MintedKeys() || again.app.HostKey() != host || again.app.OpsKey() != ops {
		t.Error("a second start has other keys")
	}
	if _, err := again.host.With(a.token).Edit(t.Context(), id, wire.EditRequest{Text: "by the old token"}); err != nil {
		t.Errorf("the old token: %v", err)
	}
	if _, err := again.turn().Edit(t.Context(), id, wire.EditRequest{Text: "by a new turn"}); err != nil {
		t.Errorf("the ledger: %v", err)
	}
	if got := again.truth().Messages[0].Text; got != "by a new turn" {
		t.Errorf("the room shows %q", got)
	}
	if n := len(again.trail().attempts); n != 3 {
		t.Errorf("%d attempts, want 3", n)
	}
}

func TestASecondProcessOnOneFolderIsRefused(t *testing.T) {
	p := newProgram(t, "")
	p.start(t)
	second := &program{data: t.TempDir(), host: p.host, ops: p.ops, args: p.args}
	must(t, second.launch())
	t.Cleanup(second.kill)
	exits(t, second, 20*time.Second, 1)
	if said := second.stderr.String(); !strings.Contains(said, "another stet uses the data folder "+p.data) {
		t.Errorf("it says %q", said)
	}
	if _, err := dial(t, p.base, p.host).Health(t.Context()); err != nil {
		t.Errorf("the first one: %v", err)
	}
}

// TestAKilledFirstStartIsNoTrouble kills the program at random moments of its
// very first start, in the middle of minting keys and making tables.
func TestAKilledFirstStartIsNoTrouble(t *testing.T) {
	p := newProgram(t, "")
	for n := range 6 {
		must(t, os.RemoveAll(p.data))
		must(t, p.launch())
		pause(t.Context(), time.Duration(n*25)*time.Millisecond)
		p.kill()
		p.start(t)
		agent, _ := openTurn(t, p)
		if _, err := agent.Reply(t.Context(), wire.ReplyRequest{Text: "hello"}); err != nil {
			t.Errorf("after a kill at %d ms: %v", n*25, err)
		}
		p.kill()
	}
}

func TestStopMayBeCalledAgain(t *testing.T) {
	b := boot(t)
	b.stop()
	must(t, b.app.Stop(context.Background()))
	if err := b.app.Start(); err == nil {
		t.Error("a stopped app starts")
	}
}
