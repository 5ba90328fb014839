package sqldb

import (
	"context"
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ofDatabase reports that an error is the database's as a whole, not that of
// the write which met it.
func ofDatabase(err error) bool {
	switch Class(err) {
	case "locked", "full", "io", "corrupt", "not-writable":
		return true
	default:
		return false
	}
}

// Class names what kind of failure an error is, in a word of a closed set that
// holds nothing of the statement or its values.
func Class(err error) string {
	switch {
	case err == nil:
		return "none"
	case errors.Is(err, ErrOverloaded):
		return "overloaded"
	case errors.Is(err, ErrClosed):
		return "stopped"
	case errors.Is(err, ErrPanicked):
		return "panicked"
	case errors.Is(err, ErrNotCommitted), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "gave-up-waiting"
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return "unknown"
	}
	const primary = 0xff // the rest of a result code is its subtype
	switch e.Code() & primary {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return "locked"
	case sqlite3.SQLITE_FULL:
		return "full"
	case sqlite3.SQLITE_IOERR:
		return "io"
	case sqlite3.SQLITE_CONSTRAINT:
		return "constraint"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return "corrupt"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return "not-writable"
	default:
		return "unknown"
	}
}
