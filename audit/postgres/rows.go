package postgres

import (
	"encoding/json"
	"time"

	"stet/audit"
)

const rowColumns = `id, at, org, platform, workspace, surface, principal, session, turn, wake, attempt, kind,
	action, outcome, reason, failure, status, code, dry_run, detail::text`

const (
	sqlOutcomeOf = `select ` + rowColumns + ` from audit_row where attempt = $1 and kind = 'outcome'`
	sqlRowByID   = `select ` + rowColumns + ` from audit_row where id = $1`
	sqlRowThere  = `select 1 from audit_row where id = $1`
	sqlAddRows   = `insert into audit_row (id, org, platform, workspace, surface, principal, session, turn, wake,
		action, outcome, reason, failure, status, code, dry_run, detail, attempt, kind, at)
		select r.*, ` + sqlNow + ` from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
			$8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::int[],
			$16::text[], $17::boolean[], $18::json[], $19::text[], $20::text[]) as r
		on conflict do nothing`
)

// addRows adds rows of either kind with the store's time. A row whose id, or
// for an outcome whose attempt, is there already changes nothing.
func (u *unit) addRows(rows ...audit.Row) error {
	q, args := addRows(u.s.clock(), rows)
	_, err := u.exec(q, args...)
	return err
}

func addRows(clock *int64, rows []audit.Row) (string, []any) {
	var c rowArrays
	attempts, kinds := make([]*string, len(rows)), make([]string, len(rows))
	for i, r := range rows {
		c.add(r)
		kinds[i] = string(r.Kind)
		if r.Attempt != "" {
			a := stored(r.Attempt)
			attempts[i] = &a
		}
	}
	return sqlAddRows, append(append([]any{clock}, c.args()...), attempts, kinds)
}

// outcomeOf finds an attempt's outcome row.
func (u *unit) outcomeOf(attempt string) (r audit.Row, found bool, err error) {
	return orMissing(scanRow(u.row(sqlOutcomeOf, stored(attempt)).Scan))
}

func (u *unit) rowThere(id string) (bool, error) {
	return one(u.row(sqlRowThere, stored(id)), new(int))
}

func scanRow(scan func(...any) error) (audit.Row, error) {
	var r audit.Row
	var at int64
	var detail string
	err := scan(into(&r.ID), &at, into(&r.Org), into(&r.Platform), into(&r.Workspace), into(&r.Surface),
		into(&r.Principal), into(&r.Session), into(&r.Turn), into(&r.Wake), into(&r.Attempt), into(&r.Kind),
		into(&r.Action), into(&r.Outcome), into(&r.Reason), into(&r.Failure), &r.Status, into(&r.Code),
		&r.DryRun, &detail)
	r.At, r.Detail = time.UnixMicro(at).UTC(), json.RawMessage(detail)
	return r, err
}

// rowArrays are rows as the statements take them: one array per column, without
// attempt, kind and time.
type rowArrays struct {
	// text holds the columns of text in the order of [rowArrays.args].
	text   [14][]string
	status []int32
	dry    []bool
	detail []string
}

func (c *rowArrays) add(r audit.Row) {
	for i, v := range [...]string{
		r.ID, r.Org, r.Platform, r.Workspace, r.Surface, r.Principal, r.Session, r.Turn, r.Wake, r.Action,
		string(r.Outcome), string(r.Reason), string(r.Failure), r.Code,
	} {
		c.text[i] = append(c.text[i], stored(v))
	}
	c.status, c.dry = append(c.status, int32(r.Status)), append(c.dry, r.DryRun)
	c.detail = append(c.detail, string(detail(r)))
}

func (c *rowArrays) args() []any {
	const beforeStatus = 13
	args := make([]any, 0, 17)
	args = append(args, anys(c.text[:beforeStatus])...)
	return append(args, c.status, c.text[beforeStatus], c.dry, c.detail)
}

// detail is a row's detail as it is stored: an object, if an empty one.
func detail(r audit.Row) json.RawMessage {
	if len(r.Detail) == 0 {
		return json.RawMessage("{}")
	}
	return r.Detail
}

// rowJSON is a row as one argument, for one that is seldom written; nil for one
// that can't be encoded, which fails as a write that is poisoned.
func rowJSON(r audit.Row) json.RawMessage {
	b, err := json.Marshal(struct {
		ID        string          `json:"id"`
		Org       string          `json:"org"`
		Platform  string          `json:"platform"`
		Workspace string          `json:"workspace"`
		Surface   string          `json:"surface"`
		Principal string          `json:"principal"`
		Session   string          `json:"session"`
		Turn      string          `json:"turn"`
		Wake      string          `json:"wake"`
		Action    string          `json:"action"`
		Outcome   string          `json:"outcome"`
		Reason    string          `json:"reason"`
		Failure   string          `json:"failure"`
		Status    int             `json:"status"`
		Code      string          `json:"code"`
		DryRun    bool            `json:"dry_run"`
		Detail    json.RawMessage `json:"detail"`
	}{
		stored(r.ID), stored(r.Org), stored(r.Platform), stored(r.Workspace), stored(r.Surface),
		stored(r.Principal), stored(r.Session), stored(r.Turn), stored(r.Wake), stored(r.Action), stored(r.Outcome), stored(r.Reason), stored(r.Failure),
		r.Status, stored(r.Code), r.DryRun, detail(r),
	})
	if err != nil { // a detail that is no JSON
		return nil
	}
	return b
}

// detailOf reads a row's detail; one that can't be read is empty.
func detailOf(r audit.Row) audit.Detail {
	var d audit.Detail
	if json.Unmarshal(r.Detail, &d) != nil {
		return audit.Detail{}
	}
	return d
}
