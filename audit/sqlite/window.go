package sqlite

import (
	"context"
	"math"

	"stet/ledger"
)

// The index on editable_until leads both past everything whose window has
// closed: entries stay in the table for days after that.
const (
	sqlWindow = `select ` + entryColumns + ` from own_post
		where (editable_until, org, platform, workspace, channel, message_id) < (?, ?, ?, ?, ?, ?)
		and editable_until > ? and closed_at is null
		order by editable_until desc, org desc, platform desc, workspace desc, channel desc, message_id desc
		limit ?`
	sqlWindowCount = `select count(*) from own_post where editable_until > ? and closed_at is null`
)

var _ ledger.WindowSource = (*Store)(nil)

// Window answers a page of the entries that may be changed now.
func (s *Store) Window(ctx context.Context, after ledger.Entry, limit int) ([]ledger.Entry, error) {
	u := s.reading(ctx)
	until := int64(math.MaxInt64)
	if !after.EditableUntil.IsZero() {
		until = after.EditableUntil.UnixMicro()
	}
	rows, err := u.rows(sqlWindow, until, after.Org, string(after.Platform), after.Workspace,
		string(after.Channel), string(after.ID), u.now.UnixMicro(), limit)
	page, err := collect(rows, err, scanEntry)
	return page, asAudit(err)
}

// WindowCount counts the entries that may be changed now.
func (s *Store) WindowCount(ctx context.Context) (int, error) {
	u := s.reading(ctx)
	var n int
	_, err := one(u.row(sqlWindowCount, u.now.UnixMicro()), &n)
	return n, asAudit(err)
}
