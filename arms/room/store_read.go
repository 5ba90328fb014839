package room

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"
)

const messageColumns = `id, channel, thread, kind, author, text, marker, at, edits > 0, deleted`

// reader answers from committed rows. Every query names the organization.
type reader struct{ db *sql.DB }

func scanMessage(row interface{ Scan(...any) error }) (*message, error) {
	var m message
	var at int64
	err := row.Scan(&m.ID, &m.Channel, &m.Thread, &m.Kind, &m.Author, &m.Text, &m.Marker, &at, &m.Edited, &m.Deleted)
	m.At = time.UnixMicro(at).UTC()
	return &m, err
}

func (r reader) one(ctx context.Context, query string, args ...any) (*message, error) {
	m, err := scanMessage(r.db.QueryRowContext(ctx, query, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return m, err
}

// fetch finds a message by id; nil when it isn't in that channel.
func (r reader) fetch(ctx context.Context, q request) (*message, error) {
	return r.one(ctx, `select `+messageColumns+` from message where id = ? and org = ? and channel = ?`, q.ID, q.Org, q.Channel)
}

// find looks for the first post that was applied with a marker.
func (r reader) find(ctx context.Context, q request) (*message, error) {
	return r.one(ctx, `select `+messageColumns+` from message where id =
		(select message from effect where marker = ? and verb = 'post' and org = ? and channel = ? order by rev limit 1)`,
		q.Marker, q.Org, q.Channel)
}

func (r reader) hasChannel(ctx context.Context, org, channel string) (bool, error) {
	var n int
	err := r.db.QueryRowContext(ctx, `select count(*) from channel where org = ? and channel = ?`, org, channel).Scan(&n)
	return n > 0, err
}

// page reads the newest messages before a cursor, oldest first: of the top
// level, or of a thread with its root. The cursor is the id of the oldest
// message of the page behind it.
func (r reader) page(ctx context.Context, q request) (answer, error) {
	limit := q.Limit
	if limit <= 0 || limit > maxPage {
		limit = maxPage
	}
	rows, err := r.db.QueryContext(ctx, `select `+messageColumns+` from message
		where org = ?1 and channel = ?2 and (thread = ?3 or (?3 <> '' and id = ?3))
		and (?4 = '' or seq < (select seq from message where id = ?4 and org = ?1 and channel = ?2))
		order by seq desc limit ?5`, q.Org, q.Channel, q.Thread, q.Before, limit+1)
	if err != nil {
		return answer{}, err
	}
	all, err := messages(rows)
	if err != nil {
		return answer{}, err
	}
	a := answer{Complete: len(all) <= limit}
	if !a.Complete {
		all = all[:limit]
		a.Next = all[limit-1].ID
	}
	slices.Reverse(all)
	a.Messages = all
	return a, nil
}

func messages(rows *sql.Rows) ([]message, error) {
	defer func() { _ = rows.Close() }()
	var all []message
	for rows.Next() {
		m, err := scanMessage(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, *m)
	}
	return all, rows.Err()
}
