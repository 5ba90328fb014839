package sqlite

import (
	"database/sql"
	"encoding/json"
	"errors"

	"stet/audit"
)

const rowColumns = `id, at, org, platform, workspace, surface, principal, session, turn, wake,
	coalesce(attempt, ''), kind, action, outcome, reason, failure, status, code, dry_run, detail`

const (
	sqlInsertRow = `insert into audit_row (id, at, org, platform, workspace, surface, principal, session, turn, wake,
		attempt, kind, action, outcome, reason, failure, status, code, dry_run, detail)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`
	sqlOutcomeOf = `select ` + rowColumns + ` from audit_row where attempt = ? and kind = 'outcome'`
	sqlRowByID   = `select ` + rowColumns + ` from audit_row where id = ?`
	sqlRowThere  = `select 1 from audit_row where id = ?`
)

// insertRow adds a row with the store's time; false when its id, or for an
// outcome its attempt, has a row already.
func (u *unit) insertRow(r *audit.Row) (bool, error) {
	r.At = u.now
	if len(r.Detail) == 0 {
		r.Detail = json.RawMessage("{}")
	}
	n, err := u.exec(sqlInsertRow, r.ID, r.At.UnixMicro(), r.Org, r.Platform, r.Workspace, r.Surface,
		r.Principal, r.Session, r.Turn, r.Wake, orNull(r.Attempt), string(r.Kind), r.Action, string(r.Outcome),
		string(r.Reason), string(r.Failure), r.Status, r.Code, flag(r.DryRun), string(r.Detail))
	return n == 1, err
}

// insertOutcome adds an attempt's outcome row, unless it has one.
func (u *unit) insertOutcome(attempt string, r *audit.Row) (bool, error) {
	r.Attempt, r.Kind = attempt, audit.Outcome
	return u.insertRow(r)
}

// insertNotes adds notes beside an attempt's outcome, in order.
func (u *unit) insertNotes(attempt string, notes []audit.Row) error {
	for _, n := range notes {
		n.Attempt, n.Kind = attempt, audit.Note
		if _, err := u.insertRow(&n); err != nil {
			return err
		}
	}
	return nil
}

// outcomeOf finds an attempt's outcome row.
func (u *unit) outcomeOf(attempt string) (r audit.Row, found bool, err error) {
	r, err = scanRow(u.row(sqlOutcomeOf, attempt).Scan)
	return orMissing(r, err)
}

func (u *unit) rowThere(id string) (bool, error) {
	var n int
	return one(u.row(sqlRowThere, id), &n)
}

func orMissing[T any](v T, err error) (T, bool, error) {
	var none T
	switch {
	case err == nil:
		return v, true, nil
	case errors.Is(err, sql.ErrNoRows):
		return none, false, nil
	default:
		return none, false, err
	}
}

func scanRow(scan func(...any) error) (audit.Row, error) {
	var r audit.Row
	var at sql.NullInt64
	var detail string
	err := scan(&r.ID, &at, &r.Org, &r.Platform, &r.Workspace, &r.Surface, &r.Principal, &r.Session, &r.Turn,
		&r.Wake, &r.Attempt, &r.Kind, &r.Action, &r.Outcome, &r.Reason, &r.Failure, &r.Status, &r.Code,
		&r.DryRun, &detail)
	r.At, r.Detail = fromMicros(at), json.RawMessage(detail)
	return r, err
}

// detailOf reads a row's detail; one that can't be read is empty.
func detailOf(r audit.Row) audit.Detail {
	var d audit.Detail
	if json.Unmarshal(r.Detail, &d) != nil {
		return audit.Detail{}
	}
	return d
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}
