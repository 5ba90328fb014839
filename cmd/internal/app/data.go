package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// takeData makes the data folder and holds it: whoever holds it knows that no
// other process of this deployment is alive.
func (a *App) takeData(context.Context) error {
	dir := a.o.Settings.Data
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open the data folder's lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errors.Join(fmt.Errorf("another stet uses the data folder %s: stop it, or name another folder with --data", dir), f.Close())
	}
	a.onStop("data folder", func(context.Context) error { return f.Close() })
	return nil
}

const (
	// mostReserve is the free space that is kept for outcomes, mostShare the
	// part of a small disk that it may be at most.
	mostReserve = 64 << 20
	mostShare   = 20
)

// shortOfSpace reports that the disk under the data folder has so little left
// that it is needed for the outcomes of what is under way.
func (a *App) shortOfSpace() bool {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(a.o.Settings.Data, &fs); err != nil {
		return false // the store's own writes will tell
	}
	unit := uint64(fs.Bsize) //nolint:gosec // a block size is positive
	reserve := min(mostReserve, fs.Blocks*unit/mostShare)
	return fs.Bavail*unit < reserve
}
