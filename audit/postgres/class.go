package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"stet/audit"
	"stet/gateway/bind"
)

var (
	// errStopped: the store was closed; nothing was written.
	errStopped = errors.New("postgres: stopped")
	// errGaveUp: the caller's context ended before the write's turn came.
	errGaveUp = errors.New("postgres: gave up waiting, nothing was written")
	// errUnknown: the connection failed, or the caller left, while the write was
	// being committed.
	errUnknown = errors.New("postgres: the commit was not confirmed, it may be there")
	// errPanicked: a caller's own function panicked; nothing was written.
	errPanicked = errors.New("postgres: a write panicked")
	// errTaken: an id that was to be new belongs to something else.
	errTaken = errors.New("postgres: the id is taken")
)

// Classes of failure that callers act on.
const (
	classConflict   = "conflict"
	classLocked     = "locked"
	classConstraint = "constraint"
	classUnknown    = "unknown"
)

// codes maps SQLSTATEs, whole or by their class, to what kind of failure they
// are.
var codes = map[string]string{
	"40001": classConflict, "40P01": classConflict, "0A000": classConflict, "26000": classConflict,
	"55P03": classLocked, "57014": "timeout", "53100": "full", "53": "overloaded", "25006": "read-only",
	"08": "down", "57": "down", "58": "io", "XX": "corrupt", "42": "not-permitted",
	"23": classConstraint, "22": "invalid",
}

// Class names what kind of failure an error is, in a word of a closed set that
// holds nothing of the statement or its values.
func Class(err error) string {
	var e *pgconn.PgError
	switch {
	case err == nil:
		return "none"
	case errors.Is(err, audit.ErrOverloaded):
		return "overloaded"
	case errors.Is(err, errStopped):
		return "stopped"
	case errors.Is(err, errPanicked):
		return "panicked"
	case errors.Is(err, errTaken):
		return "taken"
	case errors.As(err, &e):
		return classOfCode(e.Code)
	case errors.As(err, new(*pgconn.ConnectError)):
		return "unreachable"
	case errors.Is(err, errGaveUp), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "gave-up-waiting"
	case pgconn.SafeToRetry(err):
		return "unreachable"
	default:
		return classUnknown
	}
}

func classOfCode(code string) string {
	if c, ok := codes[code]; ok {
		return c
	}
	if len(code) == 5 {
		if c, ok := codes[code[:2]]; ok {
			return c
		}
	}
	return classUnknown
}

// answered reports that the server itself said no to a statement, so that
// nothing of its transaction is there or will be. A server that ends the
// session while it says so may have committed before.
func answered(err error) bool {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		severity := e.SeverityUnlocalized
		if severity == "" {
			severity = e.Severity
		}
		return !slices.Contains([]string{"FATAL", "PANIC"}, severity)
	}
	return errors.Is(err, pgx.ErrTxCommitRollback)
}

// ofWrite reports that an error is that of one write, not the database's as a
// whole, so that those beside it may be tried without it.
func ofWrite(err error) bool {
	return answered(err) && slices.Contains([]string{classConstraint, "invalid", classLocked, classUnknown}, Class(err))
}

// asAudit translates an error into the contract's closed set. Nothing of a
// statement, whose values are other people's, goes along.
func asAudit(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, audit.ErrNotFound), errors.Is(err, bind.ErrNotFound):
		return err
	case errors.Is(err, audit.ErrOverloaded):
		return audit.ErrOverloaded
	case errors.Is(err, errUnknown):
		return fmt.Errorf("%w: %s", audit.ErrUnconfirmed, Class(err))
	default:
		return fmt.Errorf("%w: %s", audit.ErrUnavailable, Class(err))
	}
}

// isDuplicate reports that a row with a key is there already.
func isDuplicate(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "23505"
}
