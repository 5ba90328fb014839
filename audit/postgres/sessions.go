package postgres

import (
	"context"

	"stet/gateway/bind"
)

const (
	sqlPutSession = `insert into session (bound_at, org, id, workspace, surface, principal, platform,
		place_workspace, channel, thread, service_url, organization)
		values (` + sqlNow + `, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		on conflict (org, id) do update set workspace = excluded.workspace, surface = excluded.surface,
		principal = excluded.principal, platform = excluded.platform,
		place_workspace = excluded.place_workspace, channel = excluded.channel, thread = excluded.thread,
		service_url = excluded.service_url, organization = excluded.organization, bound_at = excluded.bound_at`
	sqlSessions = `select org, id, workspace, surface, principal, platform, place_workspace, channel, thread,
		service_url, organization from session where id = $1 and ($2 = '' or org = $2) order by org`
)

// PutSession binds a session, replacing an earlier binding. Turns that are
// open keep the locus that they were opened with.
func (s *Store) PutSession(ctx context.Context, b bind.Session) error {
	l := b.Locus
	_, err := s.write(ctx, sqlPutSession, s.clock(), stored(b.Org), stored(b.ID), stored(b.Workspace),
		stored(b.Surface), stored(b.Principal), stored(l.Platform), stored(l.Workspace), stored(l.Channel),
		stored(l.Thread), stored(l.ServiceURL), stored(l.Organization))
	return err
}

// Sessions finds a session by id in one organization, or in all for "".
func (s *Store) Sessions(ctx context.Context, org, id string) ([]bind.Session, error) {
	rows, err := s.pool.Query(ctx, sqlSessions, stored(id), stored(org))
	all, err := collect(rows, err, func(scan func(...any) error) (bind.Session, error) {
		var b bind.Session
		l := &b.Locus
		err := scan(into(&b.Org), into(&b.ID), into(&b.Workspace), into(&b.Surface), into(&b.Principal),
			into(&l.Platform), into(&l.Workspace), into(&l.Channel), into(&l.Thread), into(&l.ServiceURL),
			into(&l.Organization))
		return b, err
	})
	return all, asAudit(err)
}
