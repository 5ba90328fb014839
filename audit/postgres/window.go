package postgres

import (
	"context"
	"math"

	"stet/ledger"
)

// The index on editable_until leads both past everything whose window has
// closed: entries stay in the table for days after that.
const (
	sqlWindow = `select ` + entryColumns + ` from own_post
		where (editable_until, org, platform, workspace, channel, message_id) < ($2, $3, $4, $5, $6, $7)
		and editable_until > ` + sqlNowToRead + ` and closed_at is null
		order by editable_until desc, org desc, platform desc, workspace desc, channel desc, message_id desc
		limit $8`
	sqlWindowCount = `select count(*) from own_post where editable_until > ` + sqlNowToRead + ` and closed_at is null`
)

// Window answers a page of the entries that may be changed now.
func (s *Store) Window(ctx context.Context, after ledger.Entry, limit int) ([]ledger.Entry, error) {
	until := int64(math.MaxInt64)
	if !after.EditableUntil.IsZero() {
		until = after.EditableUntil.UnixMicro()
	}
	rows, err := s.pool.Query(ctx, sqlWindow, s.clock(), until, stored(after.Org), stored(after.Platform),
		stored(after.Workspace), stored(after.Channel), stored(after.ID), limit)
	page, err := collect(rows, err, scanEntry)
	return page, asAudit(err)
}

// WindowCount counts the entries that may be changed now.
func (s *Store) WindowCount(ctx context.Context) (int, error) {
	var n int
	err := s.pool.QueryRow(ctx, sqlWindowCount, s.clock()).Scan(&n)
	return n, asAudit(err)
}
