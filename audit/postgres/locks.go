package postgres

import (
	"github.com/jackc/pgx/v5"

	"stet/gateway/outcome"
)

// locks queues the statements that take all locks of a batch, in the one order
// that keeps batches of several replicas from waiting for each other in a
// circle: turns, then messages, then pending attempts. It answers how many
// statements they are.
func (p *parts) locks(q *pgx.Batch, session int64) int {
	q.Queue(sqlSession, session)
	if ids, always := p.turns(); len(ids) > 0 {
		q.Queue(sqlLockTurns, ids, always)
	}
	var settled, edited []string
	for _, w := range p.settle {
		id := stored(w.settle.Attempt.ID)
		settled = append(settled, id)
		if !isReply(w.settle.Attempt.Verb) {
			edited = append(edited, id)
		}
	}
	if m := p.messages(); len(m[0]) > 0 || len(edited) > 0 {
		q.Queue(sqlLockMessages, m[0], m[1], m[2], m[3], m[4], edited)
	}
	if len(settled) > 0 {
		q.Queue(sqlLockPending, settled)
	}
	return q.Len()
}

// turns are those that something opens in, and those that may get a mark; of
// the latter the mark may-end is set by most, so where it is there already no
// lock is needed for it.
func (p *parts) turns() (ids []string, always []bool) {
	for _, w := range p.open {
		ids, always = append(ids, stored(w.open.r.Attempt.Turn.ID)), append(always, true)
	}
	for _, w := range p.settle {
		st := w.settle
		more := st.Answered || st.Row.Outcome == outcome.Partial
		if more || st.MayEnd {
			ids, always = append(ids, stored(st.Attempt.Turn.ID)), append(always, more)
		}
	}
	return ids, always
}

// messages are the keys that edits and retracts name.
func (p *parts) messages() (m [5][]string) {
	for _, w := range p.open {
		a := w.open.r.Attempt
		if isReply(a.Verb) {
			continue
		}
		at := a.Turn.Locus
		for i, v := range [...]string{a.Turn.Org, string(a.Target), string(at.Channel), at.Workspace, string(at.Platform)} {
			m[i] = append(m[i], stored(v))
		}
	}
	return m
}
