package sqlite

import (
	"context"
	"database/sql"
	"time"

	"stet/audit"
	"stet/gateway/turn"
)

const (
	sqlAddEvidence = `insert into evidence (id, org, session, turn, kind, ref, subject, at, expires_at)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`
	sqlEvidence = `select id, kind, ref, subject, at, expires_at from evidence
		where (turn = ? or (org = ? and session = ? and expires_at is not null))
		and (expires_at is null or expires_at > ?) order by at, id`
	sqlAddCall = `insert into transcript (id, org, session, turn, call_id, name, args, result, is_error, at)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlCalls = `select call_id, name, args, result, is_error, at from transcript
		where org = ? and session = ? order by id`
	sqlAddActivity = `insert into activity (id, turn, message, at) values (?, ?, ?, ?)`
)

// AddEvidence stores an event with the turn, or, where it has an end of its
// own, with the turn's session. The same event id twice is one event.
func (s *Store) AddEvidence(ctx context.Context, t turn.Turn, e turn.Evidence) error {
	if e.ID == "" {
		e.ID = audit.NewID()
	}
	return s.commit(ctx, later, func(u *unit) error {
		var until any
		if e.Session {
			until = e.ExpiresAt.UnixMicro()
		}
		_, err := u.exec(sqlAddEvidence, e.ID, t.Org, t.Session, t.ID, e.Kind, e.Ref, e.Subject,
			orNow(e.At, u.now).UnixMicro(), until)
		return err
	})
}

// Evidence answers what counts for a turn now, oldest first: its own events
// and those of its session that have not expired.
func (s *Store) Evidence(ctx context.Context, t turn.Turn) ([]turn.Evidence, error) {
	u := s.reading(ctx)
	rows, err := u.rows(sqlEvidence, t.ID, t.Org, t.Session, u.now.UnixMicro())
	all, err := collect(rows, err, func(scan func(...any) error) (turn.Evidence, error) {
		var e turn.Evidence
		var at, until sql.NullInt64
		err := scan(&e.ID, &e.Kind, &e.Ref, &e.Subject, &at, &until)
		e.At, e.ExpiresAt, e.Session = fromMicros(at), fromMicros(until), until.Valid
		return e, err
	})
	return all, asAudit(err)
}

// AddCall appends a tool call. A call's later result is a further entry: what
// was reported first stays as it was.
func (s *Store) AddCall(ctx context.Context, t turn.Turn, c turn.Call) error {
	id := audit.NewID()
	return s.commit(ctx, later, func(u *unit) error {
		_, err := u.exec(sqlAddCall, id, t.Org, t.Session, t.ID, c.ID, c.Name, c.Args, c.Result,
			flag(c.IsError), orNow(c.At, u.now).UnixMicro())
		return err
	})
}

// Calls answers a session's tool calls in the order of their reports.
func (s *Store) Calls(ctx context.Context, org, session string) ([]turn.Call, error) {
	rows, err := s.reading(ctx).rows(sqlCalls, org, session)
	all, err := collect(rows, err, func(scan func(...any) error) (turn.Call, error) {
		var c turn.Call
		var at sql.NullInt64
		err := scan(&c.ID, &c.Name, &c.Args, &c.Result, &c.IsError, &at)
		c.At = fromMicros(at)
		return c, err
	})
	return all, asAudit(err)
}

// SawMessage notes that the host saw a newer inbound message.
func (s *Store) SawMessage(ctx context.Context, t turn.Turn, message string) error {
	id := audit.NewID()
	return s.commit(ctx, later, func(u *unit) error {
		_, err := u.exec(sqlAddActivity, id, t.ID, message, u.now.UnixMicro())
		return err
	})
}

func orNow(at, now time.Time) time.Time {
	if at.IsZero() {
		return now
	}
	return at
}
