package postgres

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
// argument says, older by the second than the store's time. What another
// replica's janitor is at is skipped. None touches the trail.
const (
	pruneClaims = `delete from idempotency where attempt in
		(select attempt from idempotency where keep_until <= ` + sqlNowToRead + ` - $2 limit $3 for update skip locked)`
	pruneWaiters = `delete from edit_waiter where attempt in
		(select attempt from edit_waiter where wait_until <= ` + sqlNowToRead + ` - $2 limit $3 for update skip locked)`
	pruneEvidence = `delete from evidence where id in
		(select id from evidence where expires_at <= ` + sqlNowToRead + ` - $2 and expires_at is not null limit $3
		for update skip locked)`
	pruneTranscript = `delete from transcript where id in
		(select id from transcript where at < ` + sqlNowToRead + ` - $2 limit $3 for update skip locked)`

	// A turn goes with what was reported to it, and stays as long as a write of
	// it is open or unresolved.
	pruneTurns = `with dead as (select t.id from turn t where t.expires_at < ` + sqlNowToRead + ` - $2
			and not exists (select 1 from pending p where p.turn = t.id)
			order by t.expires_at limit $3 for update of t skip locked),
		e as (delete from evidence where expires_at is null and turn in (select id from dead)),
		a as (delete from activity where turn in (select id from dead))
		delete from turn where id in (select id from dead)`

	// A message goes with all its parts, and stays as long as a write to it is
	// open or unresolved.
	prunePosts = `delete from own_post d using (select o.org, o.platform, o.workspace, o.channel, o.message_id
			from own_post o where o.editable_until < ` + sqlNowToRead + ` - $2
			and not exists (select 1 from pending p where p.org = o.org and p.reply = o.reply and p.reply <> '')
			order by o.editable_until limit $3 for update of o skip locked) o
		where d.org = o.org and d.message_id = o.message_id and d.channel = o.channel
			and d.workspace = o.workspace and d.platform = o.platform`
)

// Prune removes working data that nothing can need any more: expired claims,
// waiters and evidence, transcripts past their time, turns that are long over,
// own posts long past their window. It never touches the trail. It works in
// small commits and answers how many rows it removed. Replicas may prune at the
// same time.
func (s *Store) Prune(ctx context.Context) (int, error) {
	total := 0
	for _, step := range s.pruneSteps() {
		for {
			n, err := s.write(ctx, step.statement, s.clock(), step.age.Microseconds(), pruneBatch)
			total += int(n)
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

type pruneStep struct {
	statement string
	age       time.Duration
}

func (s *Store) pruneSteps() []pruneStep {
	steps := []pruneStep{
		{pruneClaims, 0}, {pruneWaiters, 0}, {pruneEvidence, 0}, {pruneTurns, keepTurns}, {prunePosts, keepPosts},
	}
	if s.transcriptKeep > 0 {
		steps = append(steps, pruneStep{pruneTranscript, s.transcriptKeep})
	}
	return steps
}
