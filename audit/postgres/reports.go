package postgres

import (
	"context"

	"stet/audit"
	"stet/gateway/turn"
)

const (
	sqlAddEvidence = `insert into evidence (at, id, org, session, turn, kind, ref, subject, expires_at)
		values (coalesce($2, ` + sqlNow + `), $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing`
	sqlEvidence = `select id, kind, ref, subject, at, expires_at from evidence
		where (turn = $2 or (org = $3 and session = $4 and expires_at is not null))
		and (expires_at is null or expires_at > ` + sqlNowToRead + `) order by at, id`
	sqlAddCall = `insert into transcript (at, id, org, session, turn, call_id, name, args, result, is_error)
		values (coalesce($2, ` + sqlNow + `), $3, $4, $5, $6, $7, $8, $9, $10, $11)`
	sqlCalls = `select call_id, name, args, result, is_error, at from transcript
		where org = $1 and session = $2 order by id`
	sqlAddActivity = `insert into activity (at, id, turn, message) values (` + sqlNow + `, $2, $3, $4)`
)

// AddEvidence stores an event with the turn, or, where it has an end of its
// own, with the turn's session. The same event id twice is one event.
func (s *Store) AddEvidence(ctx context.Context, t turn.Turn, e turn.Evidence) error {
	if e.ID == "" {
		e.ID = audit.NewID()
	}
	var until *int64
	if e.Session {
		n := e.ExpiresAt.UnixMicro()
		until = &n
	}
	_, err := s.write(ctx, sqlAddEvidence, s.clock(), micros(e.At), stored(e.ID), stored(t.Org), stored(t.Session),
		stored(t.ID), stored(e.Kind), stored(e.Ref), stored(e.Subject), until)
	return err
}

// Evidence answers what counts for a turn now, oldest first: its own events
// and those of its session that have not expired.
func (s *Store) Evidence(ctx context.Context, t turn.Turn) ([]turn.Evidence, error) {
	rows, err := s.pool.Query(ctx, sqlEvidence, s.clock(), stored(t.ID), stored(t.Org), stored(t.Session))
	all, err := collect(rows, err, func(scan func(...any) error) (turn.Evidence, error) {
		var e turn.Evidence
		var at, until *int64
		err := scan(into(&e.ID), into(&e.Kind), into(&e.Ref), into(&e.Subject), &at, &until)
		e.At, e.ExpiresAt, e.Session = fromMicros(at), fromMicros(until), until != nil
		return e, err
	})
	return all, asAudit(err)
}

// AddCall appends a tool call. A call's later result is a further entry: what
// was reported first stays as it was.
func (s *Store) AddCall(ctx context.Context, t turn.Turn, c turn.Call) error {
	_, err := s.write(ctx, sqlAddCall, s.clock(), micros(c.At), audit.NewID(), stored(t.Org), stored(t.Session),
		stored(t.ID), stored(c.ID), stored(c.Name), c.Args, c.Result, c.IsError)
	return err
}

// Calls answers a session's tool calls in the order of their reports.
func (s *Store) Calls(ctx context.Context, org, session string) ([]turn.Call, error) {
	rows, err := s.pool.Query(ctx, sqlCalls, stored(org), stored(session))
	all, err := collect(rows, err, func(scan func(...any) error) (turn.Call, error) {
		var c turn.Call
		var at *int64
		err := scan(into(&c.ID), into(&c.Name), &c.Args, &c.Result, &c.IsError, &at)
		c.At = fromMicros(at)
		return c, err
	})
	return all, asAudit(err)
}

// SawMessage notes that the host saw a newer inbound message.
func (s *Store) SawMessage(ctx context.Context, t turn.Turn, message string) error {
	_, err := s.write(ctx, sqlAddActivity, s.clock(), audit.NewID(), stored(t.ID), stored(message))
	return err
}
