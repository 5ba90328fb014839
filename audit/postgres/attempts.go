package postgres

import (
	"time"

	"stet/audit"
	"stet/gateway/locus"
	"stet/gateway/outcome"
)

const attemptColumns = `a.id, a.verb, a.org, a.surfaced, a.workspace, a.surface, a.principal, a.session, a.turn,
	a.wake, a.creator, a.dry_run, a.route, a.approval, a.place_platform, a.place_workspace, a.place_channel,
	a.place_thread, a.place_service_url, a.place_organization, a.target, a.reply, a.marker, a.digest, a.chars,
	a.seq, a.boot, a.opened_at, a.deadline_at`

const sqlAttempt = `select ` + attemptColumns + ` from attempt a where a.id = $1`

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

// attempt reads an attempt. Of its turn it knows what rows and looks need, not
// the token's state.
func (u *unit) attempt(id string) (record, bool, error) {
	return orMissing(scanAttempt(u.row(sqlAttempt, stored(id)).Scan))
}

func scanAttempt(scan func(...any) error, more ...any) (record, error) {
	var r record
	var opened, deadline *int64
	t, p := &r.Turn, &r.Place
	all := []any{
		into(&r.ID), into(&r.Verb), into(&t.Org), into(&r.surfaced), into(&t.Workspace), into(&t.Surface),
		into(&t.Principal), into(&t.Session), into(&t.ID), into(&t.WakeID), into(&t.Creator), &t.DryRun,
		into(&r.Route), into(&r.Approval), into(&p.Platform), into(&p.Workspace), into(&p.Channel),
		into(&p.Thread), into(&p.ServiceURL), into(&p.Organization), into(&r.Target), into(&r.reply),
		into(&r.Marker), &r.Digest, &r.Chars, &r.seq, into(&r.Boot), &opened, &deadline,
	}
	err := scan(append(all, more...)...)
	r.opened, r.deadline = fromMicros(opened), fromMicros(deadline)
	t.Locus, t.Route, t.Bound = r.Place, r.Route, r.surfaced
	return r, err
}

// attemptArrays are attempts as the statements take them: one array per column.
type attemptArrays struct {
	// text holds the columns of text in the order of [attemptArrays.args].
	text   [22][]string
	dry    []bool
	digest [][]byte
	chars  []int32
	seq    []int64
}

// add takes an attempt, at its place and with its target if that is to be kept.
func (c *attemptArrays) add(a audit.Attempt, at locus.Locus, target string, seq int64) {
	t := a.Turn
	for i, v := range [...]string{
		a.ID, string(a.Verb), t.Org, t.Surfaced(), t.Workspace, t.Surface, t.Principal, t.Session, t.ID, t.WakeID,
		t.Creator, string(a.Route), a.Approval, string(at.Platform), at.Workspace, string(at.Channel),
		string(at.Thread), at.ServiceURL, at.Organization, target, string(a.Marker), a.Boot,
	} {
		c.text[i] = append(c.text[i], stored(v))
	}
	c.dry, c.digest = append(c.dry, t.DryRun), append(c.digest, a.Digest)
	c.chars, c.seq = append(c.chars, int32(a.Chars)), append(c.seq, seq)
}

func (c *attemptArrays) args() []any {
	const beforeDry, beforeDigest = 11, 21
	args := make([]any, 0, 26)
	args = append(args, anys(c.text[:beforeDry])...)
	args = append(args, c.dry)
	args = append(args, anys(c.text[beforeDry:beforeDigest])...)
	return append(args, c.digest, c.chars, c.text[beforeDigest], c.seq)
}

func anys(columns [][]string) []any {
	all := make([]any, len(columns))
	for i, c := range columns {
		all[i] = c
	}
	return all
}

// isReply reports a verb that makes a new message.
func isReply(v outcome.Verb) bool { return v == outcome.Reply }
