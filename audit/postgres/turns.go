package postgres

import (
	"context"
	"encoding/json"

	"stet/audit"
	"stet/gateway/bind"
	"stet/gateway/outcome"
	"stet/gateway/turn"
)

// unresolved holds a turn to what is pending of it: an ambiguous write that
// nothing has overwritten, or one whose deadline passed without an outcome.
const unresolved = `(exists (select 1 from pending p where p.turn = t.id and p.state = 'ambiguous'
		and not p.overwritten)
	or exists (select 1 from pending p where p.turn = t.id and p.deadline_at <= ` + sqlNowToRead + `
		and not p.overwritten))`

const turnColumns = `t.id, t.org, t.session, t.workspace, t.surface, t.principal, t.creator, t.wake, t.refs,
	t.platform, t.place_workspace, t.channel, t.thread, t.service_url, t.organization, t.route, t.bound,
	t.dry_run, t.opened_at, t.expires_at, t.closed_at, t.answered, t.declined, t.partial, t.may_end,
	` + unresolved + `, t.token_hash`

const (
	sqlOpenTurn = `insert into turn (opened_at, id, token_id, token_hash, org, session, workspace, surface,
		principal, creator, wake, refs, platform, place_workspace, channel, thread, service_url, organization,
		route, bound, dry_run, expires_at)
		values (coalesce($2, ` + sqlNow + `), $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
		$18, $19, $20, $21, $22, $23) on conflict do nothing`
	sqlTurnIs      = `select 1 from turn where id = $1 and token_id = $2`
	sqlTurnByToken = `select ` + turnColumns + ` from turn t where t.token_id = $2`
	sqlTurnByID    = `select ` + turnColumns + ` from turn t where t.id = $2`
	sqlCloseTurn   = `update turn set closed_at = coalesce(closed_at, ` + sqlNow + `) where id = $2`
	sqlTurnOpen    = `select declined from turn where id = $2 and org = $3 and closed_at is null
		and expires_at > ` + sqlNow + ` for no key update`
	sqlDecline = `update turn set declined = true, may_end = true where id = $1`
)

// OpenTurn stores a turn under its token. The same turn and token twice are
// one turn; either of them with another is an error.
func (s *Store) OpenTurn(ctx context.Context, t turn.Turn, token bind.Token) error {
	l := t.Locus
	n, err := s.write(ctx, sqlOpenTurn, s.clock(), micros(t.OpenedAt), stored(t.ID), stored(token.ID), token.Hash,
		stored(t.Org), stored(t.Session), stored(t.Workspace), stored(t.Surface), stored(t.Principal),
		stored(t.Creator), stored(t.WakeID), bind.Refs(t.Refs), stored(l.Platform), stored(l.Workspace),
		stored(l.Channel), stored(l.Thread), stored(l.ServiceURL), stored(l.Organization), stored(t.Route),
		stored(t.Bound), t.DryRun, t.ExpiresAt.UnixMicro())
	if err != nil || n == 1 {
		return err
	}
	same, err := one(s.pool.QueryRow(ctx, sqlTurnIs, stored(t.ID), stored(token.ID)), new(int))
	if err == nil && !same {
		err = errTaken
	}
	return asAudit(err)
}

// TurnByToken finds a turn by its token's public id, with the secret's hash.
func (s *Store) TurnByToken(ctx context.Context, tokenID string) (turn.Turn, []byte, error) {
	return s.reading(ctx).turn(sqlTurnByToken, tokenID)
}

// Turn finds a turn with its marks as they stand now.
func (s *Store) Turn(ctx context.Context, id string) (turn.Turn, error) {
	t, _, err := s.reading(ctx).turn(sqlTurnByID, id)
	return t, err
}

func (u *unit) turn(q, key string) (turn.Turn, []byte, error) {
	var t turn.Turn
	var refs, hash []byte
	var opened, expires, closed *int64
	l, m := &t.Locus, &t.Marks
	found, err := one(u.row(q, u.s.clock(), stored(key)),
		into(&t.ID), into(&t.Org), into(&t.Session), into(&t.Workspace), into(&t.Surface), into(&t.Principal),
		into(&t.Creator), into(&t.WakeID), &refs, into(&l.Platform), into(&l.Workspace), into(&l.Channel),
		into(&l.Thread), into(&l.ServiceURL), into(&l.Organization), into(&t.Route), into(&t.Bound), &t.DryRun,
		&opened, &expires, &closed, &m.Answered, &m.Declined, &m.Partial, &m.MayEnd, &m.Ambiguous, &hash)
	switch {
	case err != nil:
		return turn.Turn{}, nil, asAudit(err)
	case !found:
		return turn.Turn{}, nil, bind.ErrNotFound
	}
	t.OpenedAt, t.ExpiresAt, t.ClosedAt = fromMicros(opened), fromMicros(expires), fromMicros(closed)
	if err := json.Unmarshal(refs, &t.Refs); err != nil {
		return turn.Turn{}, nil, asAudit(err)
	}
	if len(t.Refs) == 0 {
		t.Refs = nil
	}
	return t, hash, nil
}

// CloseTurn makes the token dead; closing twice keeps the first time. After it
// no attempt of the turn opens, at any replica.
func (s *Store) CloseTurn(ctx context.Context, id string) error {
	n, err := s.write(ctx, sqlCloseTurn, s.clock(), stored(id))
	if err == nil && n == 0 {
		return bind.ErrNotFound
	}
	return err
}

// Decline sets the mark and writes its row in one commit. A turn that is
// closed or expired by then isn't found.
func (s *Store) Decline(ctx context.Context, t turn.Turn) error {
	row := audit.Row{
		ID: audit.NewID(), Org: t.Org, Platform: t.Surfaced(), Workspace: t.Workspace, Surface: t.Surface,
		Principal: t.Principal, Session: t.Session, Turn: t.ID, Wake: t.WakeID, Kind: audit.Outcome,
		Action: audit.ActionDeclined, Outcome: outcome.Applied, DryRun: t.DryRun,
		Detail: audit.Detail{Creator: t.Creator}.JSON(),
	}
	return s.inTx(ctx, func(u *unit) error {
		var declined bool
		found, err := one(u.row(sqlTurnOpen, u.s.clock(), stored(t.ID), stored(t.Org)), &declined)
		switch {
		case err != nil:
			return err
		case !found:
			return bind.ErrNotFound
		case declined:
			return nil
		}
		if _, err := u.exec(sqlDecline, stored(t.ID)); err != nil {
			return err
		}
		return u.addRows(row)
	})
}
