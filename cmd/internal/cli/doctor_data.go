package cli

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"stet/audit/sqldb"
	"stet/audit/sqlite"
)

// The free space below which the doctor warns, and calls for mending, in bytes.
const (
	littleSpace = 1 << 30
	noSpace     = 64 << 20
)

// lookTime bounds each look at a store or a server.
const lookTime = 5 * time.Second

func (x *examination) lookAtData() {
	dir := x.settings.Data
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.missingData(dir)
		return
	case err != nil:
		x.find(mend, "data folder", err.Error())
		return
	case !info.IsDir():
		x.find(mend, "data folder", dir+" is no folder: name another one with --data")
		return
	}
	if err := writable(dir); err != nil {
		x.find(mend, "data folder", dir+" can't be written: "+err.Error())
	} else if info.Mode().Perm()&0o077 != 0 {
		x.find(mend, "data folder", dir+" is open to others: chmod 700 "+dir)
	} else {
		x.find(well, "data folder", dir+" can be written, by its owner alone")
	}
	x.lookAtSpace(dir)
}

// missingData is well if the folder can be made.
func (x *examination) missingData(dir string) {
	parent := filepath.Dir(filepath.Clean(dir))
	for {
		info, err := os.Stat(parent)
		if err == nil && info.IsDir() {
			break
		}
		if up := filepath.Dir(parent); up != parent && errors.Is(err, fs.ErrNotExist) {
			parent = up
			continue
		}
		x.find(mend, "data folder", dir+" isn't there and can't be made: "+parent+" is no folder")
		return
	}
	if err := writable(parent); err != nil {
		x.find(mend, "data folder", dir+" isn't there and can't be made: "+err.Error())
		return
	}
	x.find(note, "data folder", dir+" isn't there: the first start makes it")
	x.lookAtSpace(parent)
}

// writable proves that a file can be made in a folder, by making one.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func (x *examination) lookAtSpace(dir string) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		x.find(note, "free space", "can't be told: "+err.Error())
		return
	}
	free := s.Bavail * uint64(s.Bsize)
	text := fmt.Sprintf("%d MB free for %s", free>>20, dir)
	switch {
	case free < noSpace:
		x.find(mend, "free space", text+": make room, a full disk stops all writes")
	case free < littleSpace:
		x.find(note, "free space", text+", which is little")
	default:
		x.find(well, "free space", text)
	}
}

// lookAtStores opens the database files, if they are there, without changing
// their schema.
func (x *examination) lookAtStores() {
	newest, err := newestSchema(x.ctx)
	if err != nil {
		x.find(mend, "audit store", "this program can't open any store: "+err.Error())
		return
	}
	if x.settings.DatabaseURL == "" {
		x.lookAtFile("audit store", "stet.db", newest)
	} else {
		x.lookAtDatabase()
	}
	x.lookAtFile("room", "room.db", 0)
}

// newestSchema is the version that a new store has, learned by making one.
func newestSchema(ctx context.Context) (version int64, err error) {
	dir, err := os.MkdirTemp("", "stet-doctor-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	store, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "new.db")})
	if err != nil {
		return 0, err
	}
	return store.SchemaVersion(), store.Close()
}

// lookAtFile checks one database file; newest is 0 where versions aren't compared.
func (x *examination) lookAtFile(check, name string, newest int64) {
	path := filepath.Join(x.settings.Data, name)
	if _, err := os.Stat(path); err != nil {
		x.find(note, check, path+" isn't there: the first start makes it")
		return
	}
	version, err := openFile(x.ctx, path)
	switch {
	case err != nil:
		x.find(mend, check, path+" can't be used: "+err.Error())
	case newest != 0 && version > newest:
		x.find(mend, check, fmt.Sprintf("%s has schema version %d, this program knows %d at most: run a newer stet", path, version, newest))
	case newest != 0 && version < newest:
		x.find(note, check, fmt.Sprintf("%s has schema version %d: the next start brings it to %d", path, version, newest))
	default:
		x.find(well, check, fmt.Sprintf("%s can be written, schema version %d", path, version))
	}
}

// openFile takes a database's write lock once and reads its schema version.
func openFile(ctx context.Context, path string) (version int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	db, err := sqldb.Open(ctx, path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.InTx(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `select coalesce(max(version_id), 0) from goose_db_version where is_applied`).Scan(&version)
	})
	return version, err
}
