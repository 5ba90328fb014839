package e2e

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the "sqlite" driver

	"stet/audit"
)

// tried is an attempt as the file has it.
type tried struct {
	id, verb, org, channel string
	// target is the message of an edit or retract, reply its first part.
	target, reply string
	marker, boot  string
	digest        string
	seq           int64
	dry           bool
	opened        time.Time
}

// trail is what the program wrote down, read past its own code.
type trail struct {
	attempts []tried
	rows     []audit.Row
	// open are the attempts that no outcome has ended, as the program sees it.
	open map[string]bool
}

// readTrail reads a stet.db that may be in use or have been left by a process
// that was killed.
func readTrail(ctx context.Context, path string) (tr trail, err error) {
	db, err := openFile(path, "mode=ro")
	if err != nil {
		return trail{}, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return trailOf(ctx, db)
}

// openFile opens a database past the program.
func openFile(path, options string) (*sql.DB, error) {
	u := url.URL{Scheme: "file", Path: path, RawQuery: options + "&_pragma=busy_timeout(5000)"}
	return sql.Open("sqlite", u.String())
}

func trailOf(ctx context.Context, db *sql.DB) (tr trail, err error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return trail{}, err
	}
	defer func() { _ = tx.Rollback() }()
	tr.open = map[string]bool{}
	err = errors.Join(tr.readAttempts(ctx, tx), tr.readRows(ctx, tx), tr.readOpen(ctx, tx))
	return tr, err
}

func scanAll(ctx context.Context, tx *sql.Tx, query string, scan func(*sql.Rows) error) error {
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (tr *trail) readAttempts(ctx context.Context, tx *sql.Tx) error {
	return scanAll(ctx, tx, `select id, verb, org, place_channel, target, reply, marker, boot, digest, seq, dry_run, opened_at
		from attempt order by id`, func(rows *sql.Rows) error {
		var a tried
		var digest []byte
		var opened int64
		err := rows.Scan(&a.id, &a.verb, &a.org, &a.channel, &a.target, &a.reply, &a.marker, &a.boot, &digest, &a.seq, &a.dry, &opened)
		a.digest, a.opened = string(digest), time.UnixMicro(opened)
		tr.attempts = append(tr.attempts, a)
		return err
	})
}

func (tr *trail) readRows(ctx context.Context, tx *sql.Tx) error {
	return scanAll(ctx, tx, `select id, at, org, platform, workspace, surface, principal, session, turn, wake,
		coalesce(attempt, ''), kind, action, outcome, reason, failure, status, code, dry_run, detail
		from audit_row order by id`, func(rows *sql.Rows) error {
		var r audit.Row
		var at int64
		var detail string
		err := rows.Scan(&r.ID, &at, &r.Org, &r.Platform, &r.Workspace, &r.Surface, &r.Principal, &r.Session,
			&r.Turn, &r.Wake, &r.Attempt, &r.Kind, &r.Action, &r.Outcome, &r.Reason, &r.Failure, &r.Status,
			&r.Code, &r.DryRun, &detail)
		r.At, r.Detail = time.UnixMicro(at), json.RawMessage(detail)
		tr.rows = append(tr.rows, r)
		return err
	})
}

func (tr *trail) readOpen(ctx context.Context, tx *sql.Tx) error {
	return scanAll(ctx, tx, `select attempt from pending where state = 'open'`, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		tr.open[id] = true
		return err
	})
}

// detail reads a row's detail; a row that has none of that form is a mistake
// that the checker sees as an empty one.
func detail(r audit.Row) audit.Detail {
	var d audit.Detail
	_ = json.Unmarshal(r.Detail, &d)
	return d
}

// doubts says which attempts are open or in doubt, by kind.
func doubts(t testing.TB, path string) string {
	t.Helper()
	db, err := openFile(path, "mode=ro")
	must(t, err)
	defer func() { _ = db.Close() }()
	rows, err := db.Query(`select verb, state, overwritten, looks, first_miss is null, count(*),
		min(next_look - unixepoch() * 1000000) / 1000000, max(next_look - unixepoch() * 1000000) / 1000000
		from pending group by 1, 2, 3, 4, 5 order by 6 desc limit 20`)
	must(t, err)
	defer func() { _ = rows.Close() }()
	var all strings.Builder
	for rows.Next() {
		var verb, state string
		var overwritten, looks, unmissed, n int
		var soonest, latest sql.NullInt64
		must(t, rows.Scan(&verb, &state, &overwritten, &looks, &unmissed, &n, &soonest, &latest))
		fmt.Fprintf(&all, "\n%d × %s %s, overwritten %d, %d looks, no miss %d, next in %d to %d s",
			n, verb, state, overwritten, looks, unmissed, soonest.Int64, latest.Int64)
	}
	must(t, rows.Err())
	return all.String()
}
