package sqlite

import (
	"context"

	"stet/gateway/bind"
)

const (
	sqlPutSession = `insert into session (org, id, workspace, surface, principal, platform, place_workspace,
		channel, thread, service_url, organization, bound_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		on conflict (org, id) do update set workspace = excluded.workspace, surface = excluded.surface,
		principal = excluded.principal, platform = excluded.platform,
		place_workspace = excluded.place_workspace, channel = excluded.channel, thread = excluded.thread,
		service_url = excluded.service_url, organization = excluded.organization, bound_at = excluded.bound_at`
	sqlSessions = `select org, id, workspace, surface, principal, platform, place_workspace, channel, thread,
		service_url, organization from session where id = ? and (? = '' or org = ?) order by org`
)

// PutSession binds a session, replacing an earlier binding. Turns that are
// open keep the locus that they were opened with.
func (s *Store) PutSession(ctx context.Context, b bind.Session) error {
	return s.commit(ctx, later, func(u *unit) error {
		l := b.Locus
		_, err := u.exec(sqlPutSession, b.Org, b.ID, b.Workspace, b.Surface, b.Principal, string(l.Platform),
			l.Workspace, string(l.Channel), string(l.Thread), l.ServiceURL, l.Organization, u.now.UnixMicro())
		return err
	})
}

// Sessions finds a session by id in one organization, or in all for "".
func (s *Store) Sessions(ctx context.Context, org, id string) ([]bind.Session, error) {
	rows, err := s.reading(ctx).rows(sqlSessions, id, org, org)
	all, err := collect(rows, err, func(scan func(...any) error) (bind.Session, error) {
		var b bind.Session
		l := &b.Locus
		return b, scan(&b.Org, &b.ID, &b.Workspace, &b.Surface, &b.Principal, &l.Platform, &l.Workspace,
			&l.Channel, &l.Thread, &l.ServiceURL, &l.Organization)
	})
	return all, asAudit(err)
}
