package sqlite

import (
	"context"
	"time"
)

const (
	// pruneBatch is how many rows one commit of the janitor removes, so that
	// no write has to wait long for it.
	pruneBatch = 200
	// keepTurns is how long a turn that is over stays, for those who ask what
	// became of it.
	keepTurns = 7 * 24 * time.Hour
	// keepPosts is how long a post whose window has closed is told from one
	// that was never ours.
	keepPosts = 7 * 24 * time.Hour
)

// Each removes one batch of what is over: at most as many rows as its last
// argument says, older than the argument before it. None touches the trail.
const (
	pruneClaims = `delete from idempotency where attempt in
		(select attempt from idempotency where keep_until <= ? limit ?)`
	pruneWaiters = `delete from edit_waiter where attempt in
		(select attempt from edit_waiter where wait_until <= ? limit ?)`
	pruneEvidence = `delete from evidence where id in
		(select id from evidence where expires_at <= ? and expires_at is not null limit ?)`
	pruneTranscript = `delete from transcript where id in
		(select id from transcript where at < ? limit ?)`

	deadTurns = `(select t.id from turn t where t.expires_at < ? and not exists
		(select 1 from pending p where p.turn = t.id) order by t.expires_at, t.id limit ?)`
	pruneTurnEvidence = `delete from evidence where expires_at is null and turn in ` + deadTurns
	pruneTurnActivity = `delete from activity where turn in ` + deadTurns
	pruneTurns        = `delete from turn where id in ` + deadTurns

	// A message goes with all its parts, and stays as long as a write to it is
	// open or unresolved.
	prunePosts = `delete from own_post where editable_until < ? and (org, message_id) in
		(select o.org, o.message_id from own_post o where o.editable_until < ? and not exists
		(select 1 from pending p where p.org = o.org and p.reply = o.reply and p.reply <> '') limit ?)`
)

// Prune removes working data that nothing can need any more: expired claims,
// waiters and evidence, transcripts past their time, turns that are long over,
// own posts long past their window. It never touches the trail. It works in
// small commits and answers how many rows it removed.
func (s *Store) Prune(ctx context.Context) (int, error) {
	now := s.clock()
	total := 0
	for _, step := range s.pruneSteps(now) {
		for {
			n, err := s.pruneOnce(ctx, step)
			total += n
			if err != nil {
				return total, err
			}
			if n < pruneBatch {
				break
			}
		}
	}
	return total, nil
}

// pruneStep is statements that belong in one commit; the last one's count
// says whether there is more.
type pruneStep struct {
	statements []string
	args       []any
}

func (s *Store) pruneSteps(now time.Time) []pruneStep {
	at := now.UnixMicro()
	turns, posts := now.Add(-keepTurns).UnixMicro(), now.Add(-keepPosts).UnixMicro()
	steps := []pruneStep{
		{[]string{pruneClaims}, []any{at, pruneBatch}},
		{[]string{pruneWaiters}, []any{at, pruneBatch}},
		{[]string{pruneEvidence}, []any{at, pruneBatch}},
		{[]string{pruneTurnEvidence, pruneTurnActivity, pruneTurns}, []any{turns, pruneBatch}},
		{[]string{prunePosts}, []any{posts, posts, pruneBatch}},
	}
	if s.transcriptKeep > 0 {
		old := now.Add(-s.transcriptKeep).UnixMicro()
		steps = append(steps, pruneStep{[]string{pruneTranscript}, []any{old, pruneBatch}})
	}
	return steps
}

func (s *Store) pruneOnce(ctx context.Context, step pruneStep) (int, error) {
	var removed int64
	err := s.commit(ctx, later, func(u *unit) error {
		var n int64
		for _, q := range step.statements {
			var err error
			if n, err = u.exec(q, step.args...); err != nil {
				return err
			}
		}
		removed = n
		return nil
	})
	if err != nil {
		return 0, err
	}
	return int(removed), nil
}
