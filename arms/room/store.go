package room

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// writer applies jobs inside one transaction. Only the committer makes one, so
// no two run at once.
type writer struct {
	ctx context.Context
	tx  *sql.Tx
	at  time.Time
}

func (w writer) do(j job) (result, error) {
	if j.receive {
		if err := w.received(j); err != nil {
			return result{}, err
		}
	}
	if !j.apply {
		return result{}, nil
	}
	switch j.verb {
	case VerbPost:
		return w.post(j)
	case VerbEdit:
		return w.edit(j)
	case VerbRetract:
		return w.retract(j)
	default:
		return result{}, w.visit(j.req)
	}
}

func (w writer) exec(query string, args ...any) error {
	_, err := w.tx.ExecContext(w.ctx, query, args...)
	return err
}

func (w writer) received(j job) error {
	return w.exec(`insert into received (at, marker, verb, org, channel, target) values (?, ?, ?, ?, ?, ?)`,
		w.at.UnixMicro(), j.req.Marker, j.verb, j.req.Org, j.req.Channel, j.req.ID)
}

// visit makes the channel if it isn't there.
func (w writer) visit(r request) error {
	return w.exec(`insert into channel (org, channel, at) values (?, ?, ?) on conflict do nothing`,
		r.Org, r.Channel, w.at.UnixMicro())
}

func (w writer) post(j job) (result, error) {
	r := j.req
	if r.Thread != "" {
		root, err := w.find(r, r.Thread)
		if err != nil {
			return result{}, err
		}
		if root == nil || root.Thread != "" {
			return result{refusal: refuseNoThread}, nil
		}
	}
	if err := w.visit(r); err != nil {
		return result{}, err
	}
	var seq int64
	if err := w.tx.QueryRowContext(w.ctx, `select coalesce(max(seq), 0) + 1 from message`).Scan(&seq); err != nil {
		return result{}, err
	}
	m := message{
		ID: makeID(seq), Channel: r.Channel, Thread: r.Thread, Kind: j.kind, Author: r.Author,
		Text: r.Text, Marker: r.Marker, At: w.at.Truncate(time.Microsecond),
	}
	err := w.exec(`insert into message (seq, id, org, channel, thread, kind, author, text, marker, at)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		seq, m.ID, r.Org, m.Channel, m.Thread, m.Kind, m.Author, m.Text, m.Marker, w.at.UnixMicro())
	if err != nil {
		return result{}, err
	}
	return result{message: m}, w.effect(j, m)
}

func (w writer) edit(j job) (result, error) {
	m, no, err := w.target(j)
	if no != "" || err != nil {
		return result{refusal: no}, err
	}
	m.Text, m.Marker, m.Edited = j.req.Text, j.req.Marker, true
	if err := w.exec(`update message set text = ?, marker = ?, edits = edits + 1 where id = ?`, m.Text, m.Marker, m.ID); err != nil {
		return result{}, err
	}
	return result{message: *m}, w.effect(j, *m)
}

func (w writer) retract(j job) (result, error) {
	m, no, err := w.target(j)
	if no != "" || err != nil {
		return result{refusal: no}, err
	}
	m.Text, m.Marker, m.Deleted = "", j.req.Marker, true
	if err := w.exec(`update message set text = '', marker = ?, deleted = 1 where id = ?`, m.Marker, m.ID); err != nil {
		return result{}, err
	}
	return result{message: *m}, w.effect(j, *m)
}

// target finds the message that a bot may change, or says why it may not.
func (w writer) target(j job) (m *message, no string, err error) {
	m, err = w.find(j.req, j.req.ID)
	switch {
	case err != nil:
		return nil, "", err
	case m == nil || m.Deleted:
		return nil, refuseGone, nil
	case m.Kind != KindBot:
		return nil, refuseNotYours, nil
	}
	return m, "", nil
}

func (w writer) find(r request, id string) (*message, error) {
	m, err := scanMessage(w.tx.QueryRowContext(w.ctx,
		`select `+messageColumns+` from message where id = ? and org = ? and channel = ?`, id, r.Org, r.Channel))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return m, err
}

func (w writer) effect(j job, m message) error {
	return w.exec(`insert into effect (at, marker, verb, kind, org, channel, message, text) values (?, ?, ?, ?, ?, ?, ?, ?)`,
		w.at.UnixMicro(), j.req.Marker, j.verb, j.kind, j.req.Org, m.Channel, m.ID, m.Text)
}
