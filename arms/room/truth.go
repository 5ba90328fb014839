package room

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"
)

// Truth is what really happened in a room, oldest first.
type Truth struct {
	// Received has every write request that a bot sent and that could be read,
	// whether or not anything came of it.
	Received []Received
	// Applied has every effect, those of people included.
	Applied []Applied
	// Messages has every message as it is now.
	Messages []Standing
}

// Received is one write request.
type Received struct {
	At                         time.Time
	Marker, Verb, Org, Channel string
	// Target is the message id that was asked for, empty for a post.
	Target string
}

// Applied is one effect. Rev counts all effects of the room.
type Applied struct {
	Rev                              int64
	At                               time.Time
	Marker, Verb, Kind, Org, Channel string
	Message, Text                    string
}

// Standing is one message as it is now.
type Standing struct {
	ID, Org, Channel, Thread string
	Kind, Author             string
	Text, Marker             string
	At                       time.Time
	Edits                    int
	Deleted                  bool
}

// Truth reads what happened, as of one moment.
func (s *Server) Truth(ctx context.Context) (Truth, error) {
	return readTruth(ctx, s.db.Read)
}

// ReadTruth reads what happened from a room's file, from outside. The file may
// be in use, or have been left by a process that was killed.
func ReadTruth(ctx context.Context, path string) (t Truth, err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Truth{}, fmt.Errorf("room: %w", err)
	}
	u := url.URL{Scheme: "file", Path: abs, RawQuery: "mode=ro&_pragma=busy_timeout(2000)"}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return Truth{}, fmt.Errorf("room: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return readTruth(ctx, db)
}

func readTruth(ctx context.Context, db *sql.DB) (Truth, error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Truth{}, fmt.Errorf("room: read the truth: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	var t Truth
	err = errors.Join(t.readReceived(ctx, tx), t.readApplied(ctx, tx), t.readMessages(ctx, tx))
	if err != nil {
		return Truth{}, fmt.Errorf("room: read the truth: %w", err)
	}
	return t, nil
}

func (t *Truth) readReceived(ctx context.Context, tx *sql.Tx) error {
	return each(ctx, tx, `select at, marker, verb, org, channel, target from received order by n`,
		func(rows *sql.Rows) error {
			var r Received
			var at int64
			err := rows.Scan(&at, &r.Marker, &r.Verb, &r.Org, &r.Channel, &r.Target)
			r.At = time.UnixMicro(at).UTC()
			t.Received = append(t.Received, r)
			return err
		})
}

func (t *Truth) readApplied(ctx context.Context, tx *sql.Tx) error {
	return each(ctx, tx, `select rev, at, marker, verb, kind, org, channel, message, text from effect order by rev`,
		func(rows *sql.Rows) error {
			var a Applied
			var at int64
			err := rows.Scan(&a.Rev, &at, &a.Marker, &a.Verb, &a.Kind, &a.Org, &a.Channel, &a.Message, &a.Text)
			a.At = time.UnixMicro(at).UTC()
			t.Applied = append(t.Applied, a)
			return err
		})
}

func (t *Truth) readMessages(ctx context.Context, tx *sql.Tx) error {
	return each(ctx, tx, `select id, org, channel, thread, kind, author, text, marker, at, edits, deleted from message order by seq`,
		func(rows *sql.Rows) error {
			var m Standing
			var at int64
			err := rows.Scan(&m.ID, &m.Org, &m.Channel, &m.Thread, &m.Kind, &m.Author, &m.Text, &m.Marker, &at, &m.Edits, &m.Deleted)
			m.At = time.UnixMicro(at).UTC()
			t.Messages = append(t.Messages, m)
			return err
		})
}

func each(ctx context.Context, tx *sql.Tx, query string, scan func(*sql.Rows) error) error {
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
