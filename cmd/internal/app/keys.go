package app

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stet/gateway/bind"
)

// The names that the first keys have in the environment and in keys.env.
const (
	hostKeyName = "STET_HOST_KEY"
	opsKeyName  = "STET_OPS_KEY"
)

// firstKeys are the two keys that every deployment starts with, in clear text.
type firstKeys struct {
	host, ops string
	minted    bool
}

// HostKey is the first host key in clear text.
func (a *App) HostKey() string { return a.keys.host }

// OpsKey is the first ops key in clear text.
func (a *App) OpsKey() string { return a.keys.ops }

// MintedKeys reports that this start made the first keys, so that they have to
// be shown, this once.
func (a *App) MintedKeys() bool { return a.keys.minted }

// openKeys takes the first keys from the settings, else from the file that an
// earlier start left, else mints them and leaves the file.
func (a *App) openKeys(ctx context.Context) error {
	a.bind = bind.NewService(bind.ServiceOptions{
		Sessions: a.store, Turns: a.store, Keys: a.store, Now: bind.Clock(a.o.Now), CheckPlace: a.checkPlace,
		DryRun: a.o.Settings.DryRun,
	})
	path := filepath.Join(a.o.Settings.Data, "keys.env")
	left, err := readKeys(path)
	if err != nil {
		return err
	}
	given := firstKeys{host: a.o.Settings.HostKey.Reveal(), ops: a.o.Settings.OpsKey.Reveal()}
	a.keys = firstKeys{host: pick(given.host, left.host), ops: pick(given.ops, left.ops)}
	mint := left
	if a.keys.host == "" {
		a.keys.host, _ = bind.Mint(bind.HostKey)
		mint.host, mint.minted = a.keys.host, true
	}
	if a.keys.ops == "" {
		a.keys.ops, _ = bind.Mint(bind.OpsKey)
		mint.ops, mint.minted = a.keys.ops, true
	}
	if mint.minted {
		// The file comes first: keys that are stored and shown nowhere would
		// lock everybody out.
		if err := writeKeys(path, mint); err != nil {
			return err
		}
		a.keys.minted = true
	}
	return a.ensureKeys(ctx)
}

func (a *App) ensureKeys(ctx context.Context) error {
	if err := a.bind.EnsureKey(ctx, a.keys.host, "first host key", bind.ScopeHost); err != nil {
		return fmt.Errorf("use the key %s: %w", hostKeyName, err)
	}
	if err := a.bind.EnsureKey(ctx, a.keys.ops, "first ops key", bind.ScopeOps, bind.ScopeReviewer); err != nil {
		return fmt.Errorf("use the key %s: %w", opsKeyName, err)
	}
	return nil
}

func pick(first, second string) string {
	if first != "" {
		return first
	}
	return second
}

func readKeys(path string) (firstKeys, error) {
	var k firstKeys
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return k, fmt.Errorf("read the first keys: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(b))
	for lines.Scan() {
		name, value, _ := strings.Cut(strings.TrimSpace(lines.Text()), "=")
		switch name {
		case hostKeyName:
			k.host = value
		case opsKeyName:
			k.ops = value
		}
	}
	return k, lines.Err()
}

// writeKeys leaves what was minted, whole or not at all.
func writeKeys(path string, k firstKeys) error {
	var b strings.Builder
	for _, line := range []struct{ name, value string }{{hostKeyName, k.host}, {opsKeyName, k.ops}} {
		if line.value != "" {
			fmt.Fprintf(&b, "%s=%s\n", line.name, line.value)
		}
	}
	next := path + ".new"
	if err := os.WriteFile(next, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("write the first keys: %w", err)
	}
	if err := os.Rename(next, path); err != nil {
		return fmt.Errorf("write the first keys: %w", err)
	}
	return nil
}
