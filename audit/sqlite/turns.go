package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"stet/audit"
	"stet/gateway/bind"
	"stet/gateway/outcome"
	"stet/gateway/turn"
)

const turnColumns = `t.id, t.org, t.session, t.workspace, t.surface, t.principal, t.creator, t.wake, t.refs,
	t.platform, t.place_workspace, t.channel, t.thread, t.service_url, t.organization, t.route, t.bound,
	t.dry_run, t.opened_at, t.expires_at, t.closed_at, t.answered, t.declined, t.partial, t.may_end,
	` + unresolved + `, t.token_hash`

const (
	sqlOpenTurn = `insert into turn (id, token_id, token_hash, org, session, workspace, surface, principal,
		creator, wake, refs, platform, place_workspace, channel, thread, service_url, organization, route,
		bound, dry_run, opened_at, expires_at)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`
	sqlTurnIs      = `select 1 from turn where id = ? and token_id = ?`
	sqlTurnByToken = `select ` + turnColumns + ` from turn t where t.token_id = ?`
	sqlTurnByID    = `select ` + turnColumns + ` from turn t where t.id = ?`
	sqlCloseTurn   = `update turn set closed_at = coalesce(closed_at, ?) where id = ?`
	sqlDecline     = `update turn set declined = 1, may_end = 1 where id = ? and org = ? and declined = 0`
)

// OpenTurn stores a turn under its token. The same turn and token twice are
// one turn; either of them with another is an error.
func (s *Store) OpenTurn(ctx context.Context, t turn.Turn, token bind.Token) error {
	return s.commit(ctx, later, func(u *unit) error {
		opened, l := t.OpenedAt, t.Locus
		if opened.IsZero() {
			opened = u.now
		}
		n, err := u.exec(sqlOpenTurn, t.ID, token.ID, token.Hash, t.Org, t.Session, t.Workspace, t.Surface,
			t.Principal, t.Creator, t.WakeID, string(bind.Refs(t.Refs)), string(l.Platform), l.Workspace,
			string(l.Channel), string(l.Thread), l.ServiceURL, l.Organization, string(t.Route), t.Bound,
			flag(t.DryRun), opened.UnixMicro(), t.ExpiresAt.UnixMicro())
		if err != nil || n == 1 {
			return err
		}
		same, err := one(u.row(sqlTurnIs, t.ID, token.ID), new(int))
		if err == nil && !same {
			return errTaken
		}
		return err
	})
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
	var refs string
	var opened, expires, closed sql.NullInt64
	var hash []byte
	l, m := &t.Locus, &t.Marks
	found, err := one(u.row(q, u.now.UnixMicro(), key),
		&t.ID, &t.Org, &t.Session, &t.Workspace, &t.Surface, &t.Principal, &t.Creator, &t.WakeID, &refs,
		&l.Platform, &l.Workspace, &l.Channel, &l.Thread, &l.ServiceURL, &l.Organization, &t.Route, &t.Bound,
		&t.DryRun, &opened, &expires, &closed, &m.Answered, &m.Declined, &m.Partial, &m.MayEnd,
		&m.Ambiguous, &hash)
	switch {
	case err != nil:
		return turn.Turn{}, nil, asAudit(err)
	case !found:
		return turn.Turn{}, nil, bind.ErrNotFound
	}
	t.OpenedAt, t.ExpiresAt, t.ClosedAt = fromMicros(opened), fromMicros(expires), fromMicros(closed)
	if err := json.Unmarshal([]byte(refs), &t.Refs); err != nil {
		return turn.Turn{}, nil, asAudit(err)
	}
	if len(t.Refs) == 0 {
		t.Refs = nil
	}
	return t, hash, nil
}

// CloseTurn makes the token dead; closing twice keeps the first time.
func (s *Store) CloseTurn(ctx context.Context, id string) error {
	return s.commit(ctx, later, func(u *unit) error {
		n, err := u.exec(sqlCloseTurn, u.now.UnixMicro(), id)
		if err == nil && n == 0 {
			return bind.ErrNotFound
		}
		return err
	})
}

// Decline sets the mark and writes its row in one commit. A turn that is
// closed or expired by then isn't found.
func (s *Store) Decline(ctx context.Context, t turn.Turn) error {
	return s.commit(ctx, later, func(u *unit) error {
		st, found, err := u.turnState(t)
		if err != nil {
			return err
		}
		if !found || !st.open {
			return bind.ErrNotFound
		}
		n, err := u.exec(sqlDecline, t.ID, t.Org)
		if err != nil || n == 0 {
			return err
		}
		_, err = u.insertRow(&audit.Row{
			ID: audit.NewID(), Org: t.Org, Platform: t.Surfaced(), Workspace: t.Workspace, Surface: t.Surface,
			Principal: t.Principal, Session: t.Session, Turn: t.ID, Wake: t.WakeID, Kind: audit.Outcome,
			Action: audit.ActionDeclined, Outcome: outcome.Applied, DryRun: t.DryRun,
			Detail: audit.Detail{Creator: t.Creator}.JSON(),
		})
		return err
	})
}
