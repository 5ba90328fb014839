package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"stet/arms"
	"stet/ledger"
)

const entryColumns = `org, platform, workspace, channel, message_id, reply, part, thread, service_url,
	organization, session, dry_run, posted_at, editable_until, closed_at`

const (
	sqlEntries  = `select ` + entryColumns + ` from own_post where org = $1 and message_id = $2`
	sqlTime     = `select ` + sqlNow
	sqlEditable = `select ` + entryColumns + ` from own_post where org = $2 and channel = $3
		and platform = $4 and workspace = $5 and editable_until > ` + sqlNowToRead + ` and closed_at is null
		and (not dry_run or ($6 and session = $7)) order by posted_at desc, part limit $8`
)

// Entries answers from the authority, with the database's time.
func (s *Store) Entries(ctx context.Context, org string, id arms.MessageID) ([]ledger.Entry, time.Time, error) {
	var q pgx.Batch
	var at int64
	var all []ledger.Entry
	q.Queue(sqlTime, s.clock()).QueryRow(func(r pgx.Row) error { return r.Scan(&at) })
	q.Queue(sqlEntries, stored(org), stored(id)).Query(func(rows pgx.Rows) (err error) {
		all, err = collect(rows, nil, scanEntry)
		return err
	})
	if err := s.pool.SendBatch(ctx, &q).Close(); err != nil {
		return nil, time.Time{}, asAudit(err)
	}
	return all, time.UnixMicro(at).UTC(), nil
}

// Editable lists own posts of a conversation that may still be changed.
func (s *Store) Editable(ctx context.Context, q ledger.Query, limit int) ([]ledger.Entry, error) {
	rows, err := s.pool.Query(ctx, sqlEditable, s.clock(), stored(q.Org), stored(q.At.Channel),
		stored(q.At.Platform), stored(q.At.Workspace), q.DryRun, stored(q.Session), limit)
	all, err := collect(rows, err, scanEntry)
	return all, asAudit(err)
}

// entryOf finds the own post that a recorded edit or retract is about.
func (u *unit) entryOf(a record) (ledger.Entry, error) {
	if isReply(a.Verb) {
		return ledger.Entry{}, nil
	}
	rows, err := u.q.Query(u.ctx, sqlEntries, stored(a.Turn.Org), stored(a.Target))
	entries, err := collect(rows, err, scanEntry)
	for _, e := range entries {
		if e.Platform == a.Place.Platform && e.Workspace == a.Place.Workspace && e.Channel == a.Place.Channel {
			return e, err
		}
	}
	return ledger.Entry{}, err
}

func scanEntry(scan func(...any) error) (ledger.Entry, error) {
	var e ledger.Entry
	var posted, until, closed *int64
	err := scan(into(&e.Org), into(&e.Platform), into(&e.Workspace), into(&e.Channel), into(&e.ID), into(&e.Reply),
		&e.Part, into(&e.Thread), into(&e.ServiceURL), into(&e.Organization), into(&e.Session), &e.DryRun,
		&posted, &until, &closed)
	e.PostedAt, e.EditableUntil, e.ClosedAt = fromMicros(posted), fromMicros(until), fromMicros(closed)
	return e, err
}

// postJSON is what an arm says of a message, as one argument. For whom it is
// there and for how long the store knows itself.
func postJSON(e ledger.Entry) json.RawMessage {
	if e.Reply == "" {
		e.Reply = e.ID
	}
	b, err := json.Marshal(map[string]any{
		"org": stored(e.Org), "platform": stored(e.Platform), "workspace": stored(e.Workspace),
		"channel": stored(e.Channel), "message_id": stored(e.ID), "reply": stored(e.Reply), "part": e.Part,
		"thread": stored(e.Thread), "service_url": stored(e.ServiceURL), "organization": stored(e.Organization),
	})
	if err != nil { // plain strings and numbers always encode
		return nil
	}
	return b
}
