package sqlite

import (
	"database/sql"
	"time"

	"stet/arms"
	"stet/audit"
	"stet/gateway/outcome"
)

const attemptColumns = `a.id, a.verb, a.org, a.surfaced, a.workspace, a.surface, a.principal, a.session, a.turn,
	a.wake, a.creator, a.dry_run, a.route, a.approval, a.place_platform, a.place_workspace, a.place_channel,
	a.place_thread, a.place_service_url, a.place_organization, a.target, a.reply, a.marker, a.digest, a.chars,
	a.seq, a.boot, a.opened_at, a.deadline_at`

const (
	sqlInsertAttempt = `insert into attempt (id, verb, org, surfaced, workspace, surface, principal, session, turn,
		wake, creator, dry_run, route, approval, place_platform, place_workspace, place_channel,
		place_thread, place_service_url, place_organization, target, reply, marker, digest, chars,
		seq, boot, opened_at, deadline_at)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		on conflict do nothing`
	sqlAttempt      = `select ` + attemptColumns + ` from attempt a where a.id = ?`
	sqlAttemptThere = `select 1 from attempt where id = ?`

	sqlInsertPending = `insert into pending (attempt, state, verb, turn, org, platform, workspace, channel, reply,
		seq, dry_run, boot, opened_at, deadline_at) values (?, 'open', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlDropPending      = `delete from pending where attempt = ?`
	sqlPendingAmbiguous = `update pending set state = 'ambiguous', next_look = ? where attempt = ?`
	// An edit can be overtaken by a later edit only; a message that was
	// retracted shows nothing of any other write.
	sqlOverwritten = `update pending set overwritten = 1 where org = ? and reply = ? and reply <> ''
		and overwritten = 0 and platform = ? and workspace = ? and channel = ? and attempt <> ? and dry_run = 0 and (? = 1 or seq < ?)`
)

// message names an own post by its first part, across the working tables.
type message struct {
	org, platform, workspace, channel, reply string
}

// record is an attempt as the store keeps it.
type record struct {
	audit.Attempt
	// reply is the first part of the message that an edit or retract is about.
	reply    string
	surfaced string
	seq      int64
	opened   time.Time
	deadline time.Time
}

// message is what the attempt changes; for a reply that of its new post.
func (r record) message() message {
	return message{
		org: r.Turn.Org, platform: string(r.Place.Platform), workspace: r.Place.Workspace,
		channel: string(r.Place.Channel), reply: r.reply,
	}
}

func (m message) id() arms.MessageID { return arms.MessageID(m.reply) }

// insertAttempt adds an attempt; false when it is there already.
func (u *unit) insertAttempt(r record) (bool, error) {
	t := r.Turn
	n, err := u.exec(sqlInsertAttempt, r.ID, string(r.Verb), t.Org, t.Surfaced(), t.Workspace, t.Surface, t.Principal,
		t.Session, t.ID, t.WakeID, t.Creator, flag(t.DryRun), string(r.Route), r.Approval,
		string(r.Place.Platform), r.Place.Workspace, string(r.Place.Channel), string(r.Place.Thread),
		r.Place.ServiceURL, r.Place.Organization, string(r.Target), r.reply, string(r.Marker), r.Digest, r.Chars,
		r.seq, r.Boot, r.opened.UnixMicro(), r.deadline.UnixMicro())
	return n == 1, err
}

func (u *unit) insertPending(r record) error {
	m := r.message()
	_, err := u.exec(sqlInsertPending, r.ID, string(r.Verb), r.Turn.ID, m.org, m.platform, m.workspace, m.channel,
		m.reply, r.seq, flag(r.Turn.DryRun), r.Boot, r.opened.UnixMicro(), r.deadline.UnixMicro())
	return err
}

// attempt reads an attempt. Of its turn it knows what rows and looks need, not
// the token's state.
func (u *unit) attempt(id string) (record, bool, error) {
	r, err := scanAttempt(u.row(sqlAttempt, id).Scan)
	return orMissing(r, err)
}

func scanAttempt(scan func(...any) error, more ...any) (record, error) {
	var r record
	var opened, deadline sql.NullInt64
	t, p := &r.Turn, &r.Place
	into := []any{
		&r.ID, &r.Verb, &t.Org, &r.surfaced, &t.Workspace, &t.Surface, &t.Principal, &t.Session, &t.ID,
		&t.WakeID, &t.Creator, &t.DryRun, &r.Route, &r.Approval, &p.Platform, &p.Workspace, &p.Channel,
		&p.Thread, &p.ServiceURL, &p.Organization, &r.Target, &r.reply, &r.Marker, &r.Digest, &r.Chars,
		&r.seq, &r.Boot, &opened, &deadline,
	}
	err := scan(append(into, more...)...)
	r.opened, r.deadline = fromMicros(opened), fromMicros(deadline)
	t.Locus, t.Route, t.Bound = r.Place, r.Route, r.surfaced
	return r, err
}

// interrupted is the outcome row of an attempt whose owner left none.
func (r record) interrupted() audit.Row {
	d := audit.Detail{Route: string(r.Route), Approval: r.Approval}
	if r.Verb != outcome.Reply {
		d.ID = string(r.Target) // an opened attempt's target was vouched for
	}
	t := r.Turn
	return audit.Row{
		ID: audit.NewID(), Org: t.Org, Platform: r.surfaced, Workspace: t.Workspace, Surface: t.Surface,
		Principal: t.Principal, Session: t.Session, Turn: t.ID, Wake: t.WakeID, Attempt: r.ID,
		Kind: audit.Outcome, Action: outcome.Action(r.Verb, outcome.Ambiguous),
		Outcome: outcome.Ambiguous, Reason: outcome.Interrupted, Failure: outcome.AmbiguousFailure,
		DryRun: t.DryRun, Detail: d.JSON(),
	}
}

// cover notes that the write may have landed on its message after any other
// that is in doubt, whatever their numbers.
func (u *unit) cover(r record) error {
	m := r.message()
	_, err := u.exec(sqlOverwritten, m.org, m.reply, m.platform, m.workspace, m.channel, r.ID, flag(true), r.seq)
	return err
}

// overwrite notes that a write to the message was applied after others, so
// that no look can tell what became of those.
func (u *unit) overwrite(r record) error {
	m := r.message()
	_, err := u.exec(sqlOverwritten, m.org, m.reply, m.platform, m.workspace, m.channel, r.ID,
		flag(r.Verb == outcome.Retract), r.seq)
	return err
}
