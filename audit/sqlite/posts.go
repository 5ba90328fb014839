package sqlite

import (
	"context"
	"database/sql"
	"time"

	"stet/arms"
	"stet/gateway/outcome"
	"stet/ledger"
)

const entryColumns = `org, platform, workspace, channel, message_id, reply, part, thread, service_url,
	organization, session, dry_run, posted_at, editable_until, closed_at`

const (
	sqlEntries  = `select ` + entryColumns + ` from own_post where org = ? and message_id = ?`
	sqlEditable = `select ` + entryColumns + ` from own_post where org = ? and channel = ?
		and platform = ? and workspace = ? and editable_until > ? and closed_at is null
		and (dry_run = 0 or (? = 1 and session = ?)) order by posted_at desc, part limit ?`
	sqlInsertPost = `insert into own_post (` + entryColumns + `, confirmed_digest)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`

	ofMessage = ` where org = ? and platform = ? and workspace = ? and channel = ?`
	sqlHead   = `select last_seq, opened_seq, confirmed_seq, confirmed_digest, editable_until, dry_run
		from own_post` + ofMessage + ` and message_id = ?`
	sqlTakeSeq   = `update own_post set last_seq = ?` + ofMessage + ` and message_id = ? and last_seq < ?`
	sqlOpenedSeq = `update own_post set opened_seq = ?` + ofMessage + ` and message_id = ? and opened_seq < ?`
	sqlConfirm   = `update own_post set confirmed_digest = ?, confirmed_seq = ?` + ofMessage + `
		and message_id = ? and confirmed_seq <= ?`
	sqlDoubt = `update own_post set confirmed_digest = null` + ofMessage + `
		and message_id = ? and (? = 1 or confirmed_seq < ?)`
	sqlForget = `update own_post set confirmed_digest = null` + ofMessage + ` and message_id = ?`
	sqlClose  = `update own_post set closed_at = ?` + ofMessage + ` and reply = ? and closed_at is null`
)

// Entries answers from the authority, with the store's time.
func (s *Store) Entries(ctx context.Context, org string, id arms.MessageID) ([]ledger.Entry, time.Time, error) {
	u := s.reading(ctx)
	all, err := u.entries(org, id)
	return all, u.now, asAudit(err)
}

// Editable lists own posts of a conversation that may still be changed.
func (s *Store) Editable(ctx context.Context, q ledger.Query, limit int) ([]ledger.Entry, error) {
	u := s.reading(ctx)
	rows, err := u.rows(sqlEditable, q.Org, string(q.At.Channel), string(q.At.Platform), q.At.Workspace,
		u.now.UnixMicro(), flag(q.DryRun), q.Session, limit)
	all, err := collect(rows, err, scanEntry)
	return all, asAudit(err)
}

func (u *unit) entries(org string, id arms.MessageID) ([]ledger.Entry, error) {
	rows, err := u.rows(sqlEntries, org, string(id))
	return collect(rows, err, scanEntry)
}

func scanEntry(scan func(...any) error) (ledger.Entry, error) {
	var e ledger.Entry
	var posted, until, closed sql.NullInt64
	err := scan(&e.Org, &e.Platform, &e.Workspace, &e.Channel, &e.ID, &e.Reply, &e.Part, &e.Thread, &e.ServiceURL,
		&e.Organization, &e.Session, &e.DryRun, &posted, &until, &closed)
	e.PostedAt, e.EditableUntil, e.ClosedAt = fromMicros(posted), fromMicros(until), fromMicros(closed)
	return e, err
}

// insertPost adds an own post with the text that it shows; one that is known
// already keeps its window.
func (u *unit) insertPost(e ledger.Entry, digest []byte) error {
	if e.Reply == "" {
		e.Reply = e.ID
	}
	_, err := u.exec(sqlInsertPost, e.Org, string(e.Platform), e.Workspace, string(e.Channel), string(e.ID),
		string(e.Reply), e.Part, string(e.Thread), e.ServiceURL, e.Organization, e.Session, flag(e.DryRun),
		e.PostedAt.UnixMicro(), e.EditableUntil.UnixMicro(), micros(e.ClosedAt), digest)
	return err
}

// head is what the first part of a message knows about its writes.
type head struct {
	last, opened, confirmed int64
	digest                  []byte
	editable                time.Time
	dry                     bool
}

// head reads a message's head; for one that the ledger doesn't know it is zero.
func (u *unit) head(m message) (h head, err error) {
	var editable sql.NullInt64
	_, err = one(u.row(sqlHead, m.org, m.platform, m.workspace, m.channel, m.reply),
		&h.last, &h.opened, &h.confirmed, &h.digest, &editable, &h.dry)
	h.editable = fromMicros(editable)
	return h, err
}

func (u *unit) takeSeq(m message, seq int64) error {
	_, err := u.exec(sqlTakeSeq, seq, m.org, m.platform, m.workspace, m.channel, m.reply, seq)
	return err
}

func (u *unit) openedSeq(m message, seq int64) error {
	_, err := u.exec(sqlOpenedSeq, seq, m.org, m.platform, m.workspace, m.channel, m.reply, seq)
	return err
}

// confirm notes what the message shows now, unless a later write's text is
// noted already.
func (u *unit) confirm(m message, digest []byte, seq int64) error {
	_, err := u.exec(sqlConfirm, digest, seq, m.org, m.platform, m.workspace, m.channel, m.reply, seq)
	return err
}

// doubt forgets what the message shows: the write may have changed it after
// that was confirmed, and nobody will find out.
func (u *unit) doubt(rec record) error {
	m := rec.message()
	_, err := u.exec(sqlDoubt, m.org, m.platform, m.workspace, m.channel, m.reply,
		flag(rec.Verb == outcome.Retract), rec.seq)
	return err
}

// forget gives up what the message is known to show.
func (u *unit) forget(m message) error {
	_, err := u.exec(sqlForget, m.org, m.platform, m.workspace, m.channel, m.reply)
	return err
}

// closeMessage closes all parts of a message.
func (u *unit) closeMessage(m message) error {
	_, err := u.exec(sqlClose, u.now.UnixMicro(), m.org, m.platform, m.workspace, m.channel, m.reply)
	return err
}

func messageOf(e ledger.Entry) message {
	reply := e.Reply
	if reply == "" {
		reply = e.ID
	}
	return message{
		org: e.Org, platform: string(e.Platform), workspace: e.Workspace, channel: string(e.Channel),
		reply: string(reply),
	}
}
