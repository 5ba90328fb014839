package audit

import (
	"context"
	"errors"
	"time"

	"stet/arms"
	"stet/gateway/locus"
	"stet/gateway/outcome"
	"stet/gateway/turn"
	"stet/ledger"
)

// ErrUnavailable: the trail can't be written now; nothing was or will be
// written by the call.
var ErrUnavailable = errors.New("audit: the trail can't be written")

// ErrUnconfirmed: the commit was not confirmed; what the call wanted to write
// may be there.
var ErrUnconfirmed = errors.New("audit: the commit was not confirmed")

// ErrOverloaded: too much waits to be written; nothing was written.
var ErrOverloaded = errors.New("audit: too many writes are waiting")

// ErrNotFound: there is no such row.
var ErrNotFound = errors.New("audit: no such row")

// Attempt is one authorised try at one platform effect.
type Attempt struct {
	ID   string
	Verb outcome.Verb
	Turn turn.Turn
	// Target is the message of an edit or retract as the agent named it.
	// Stored only once the ledger vouched for it.
	Target arms.MessageID
	// Place is where the effect goes: the turn's locus for a reply, the ledger's
	// entry for an edit or retract. Zero as long as it isn't known.
	Place  locus.Locus
	Route  locus.Route
	Marker arms.Marker
	// Digest is of the rendered text; nil for a retract.
	Digest []byte
	// Chars counts the code points of the text after guards and footer.
	Chars    int
	Approval string
	// Boot names the process that owns the attempt.
	Boot string
}

// Claim is an idempotency key with what it was first used for.
type Claim struct {
	Key string
	// Hash is of everything that makes two requests the same.
	Hash []byte
	// Keep is how long the claim stands after it was made.
	Keep time.Duration
}

// OpenRequest asks for an attempt to be opened.
type OpenRequest struct {
	Attempt Attempt
	// Claim is nil without an idempotency key.
	Claim *Claim
	// Budget is what the wire may take; the attempt's deadline is that much,
	// and Grace, after the opening commit by the store's clock.
	Budget, Grace time.Duration
	// Seq is 0 at first, then the number that an earlier call answered.
	Seq int64
	// MaxWait bounds, for a write that has to wait, how long it counts as
	// waiting, from the first call on.
	MaxWait time.Duration
	// Unchanged is the row to write, with the attempt, when the message shows
	// this text already; nil for verbs that have no such end.
	Unchanged *Row
	// Refused makes the row to write when a repeated check says no.
	Refused func(Refusal) Row
	// Answer encodes what a replay of the claim answers after Unchanged.
	Answer []byte
}

// Refusal is the verdict of a check that the opening commit repeated.
type Refusal struct {
	Outcome outcome.Outcome
	Reason  outcome.Reason
	Code    string
	// Vouched: the ledger knows the target as an own post of this place.
	Vouched bool
}

// Opening is how a call to Open ended.
type Opening struct {
	State OpenState
	// Seq is the number of a write that waits.
	Seq int64
	// Entry is the own post that an opened edit or retract is about.
	Entry ledger.Entry
	// Row is the outcome that ended the attempt, or the one that a replay found.
	Row Row
	// Answer is what a replayed claim stored with its outcome.
	Answer []byte
	// Resolution is the strongest verdict on a replayed ambiguous outcome, and
	// Found the message that it saw.
	Resolution Verdict
	Found      arms.MessageID
	// RetryAfter is when to ask again about a claim in progress.
	RetryAfter time.Duration
	// Swept: the row that a replay found was written by this call, in the
	// place of a dead owner.
	Swept bool
}

// OpenState is the kind of an opening.
type OpenState string

// The ways that a call to Open ends.
const (
	// Opened: the attempt is durable, the wire may be used.
	Opened OpenState = "opened"
	// Wait: numbered, the message is busy; call again with Seq.
	Wait OpenState = "wait"
	// Ended: attempt and outcome were written together.
	Ended OpenState = "ended"
	// Replayed: the claim's first use has ended; nothing was written.
	Replayed OpenState = "replayed"
	// InProgress: the claim's first use has not ended; nothing was written.
	InProgress OpenState = "in-progress"
	// Mismatch: the claim was first used for something else; nothing was written.
	Mismatch OpenState = "mismatch"
)

// Refused is an attempt that ends before it was opened.
type Refused struct {
	Attempt Attempt
	Row     Row
	// Seq is the number to give up, 0 if the attempt never waited.
	Seq int64
}

// Settlement is the end of an opened attempt.
type Settlement struct {
	Attempt Attempt
	// Row is the outcome; its id is minted by the caller, so that a repeated
	// call is recognised.
	Row Row
	// Notes are committed with the outcome, in this order.
	Notes []Row
	// Posts are the messages that are there now, first part first, with their
	// window counted from the commit.
	Posts  []ledger.Entry
	Window time.Duration
	// Digest is the rendered text that the message shows now; nil: no change.
	Digest []byte
	// Close: the message is gone, its ledger entry closes.
	Close bool
	// Release gives the idempotency key back.
	Release bool
	// IfOpen: an outcome that is there stands, whoever wrote it, and nothing
	// is noted beside it.
	IfOpen bool
	// Answer is what a replay of the claim answers.
	Answer []byte
	// Answered and MayEnd set the turn's marks.
	Answered, MayEnd bool
	// NextLook is when an ambiguous outcome is first looked into.
	NextLook time.Duration
}

// Settled is how a settlement ended.
type Settled struct {
	// Row is the outcome that stands: the settlement's own, or the one that a
	// sweeper wrote first.
	Row Row
	// Late: a sweeper was first, the settlement's result became a note.
	Late bool
}

// Pending is an attempt that is open or ambiguous.
type Pending struct {
	Attempt  Attempt
	Seq      int64
	OpenedAt time.Time
	Deadline time.Time
	// Entry is the own post that an edit or retract is about.
	Entry ledger.Entry
	// Overwritten: a later write to the message was applied, so no look can
	// tell what became of this one.
	Overwritten bool
	// Looks counts the looks so far; FirstMiss is when the first of them found
	// nothing, zero if none did.
	Looks     int
	FirstMiss time.Time
}

// Resolution is what a look found out.
type Resolution struct {
	Pending Pending
	Verdict Verdict
	Row     Row
	// Write is false for a repeated weak verdict, which leaves no further row.
	Write bool
	// Shown is the digest of the text that the look saw instead; nil: none.
	Shown []byte
	// Miss: the look was complete and found nothing, so it may count as the
	// first of two.
	Miss bool
	// Posts enter the ledger, with their window counted from PostedAt.
	Posts  []ledger.Entry
	Window time.Duration
	// Digest is what the message is known to show now; nil: no change.
	Digest []byte
	// Close: the message is gone.
	Close bool
	// NextLook is when to look again after a weak verdict.
	NextLook time.Duration
}

// Store is what the gateway needs of the trail. Implementations are held to
// the suite in audittest.
//
// Every method is safe for concurrent use. None is retried by the store. Each
// writes all or nothing in one commit and returns after the commit; when the
// commit isn't confirmed the error wraps [ErrUnconfirmed], when nothing can
// have been written [ErrUnavailable] or [ErrOverloaded]. Times come from the
// store's clock. Calling again with the same row id changes nothing.
type Store interface {
	// Open checks and opens an attempt, or ends it, or lets it wait.
	Open(ctx context.Context, r OpenRequest) (Opening, error)
	// Refuse writes an attempt and its outcome together.
	Refuse(ctx context.Context, r Refused) error
	// Settle writes an opened attempt's outcome, unless one is there.
	Settle(ctx context.Context, s Settlement) (Settled, error)
	// Sweep writes the outcome "interrupted" for open attempts whose deadline
	// is more than margin behind; with boot set also, at once, for those of
	// any other process, and whatever waits for a message is forgotten: only
	// who holds the store alone, before it serves, sets it. It answers the rows that it wrote, at most limit.
	Sweep(ctx context.Context, margin time.Duration, boot string, limit int) ([]Row, error)
	// Due answers ambiguous attempts whose next look is due, newest first.
	Due(ctx context.Context, limit int) ([]Pending, error)
	// Resolve records the verdict of a look; once a final one stands a further
	// one changes nothing and answers false. So does "not applied" about an
	// edit that another write in doubt may have covered.
	Resolve(ctx context.Context, r Resolution) (bool, error)
	// Claimed finds what became of an idempotency key; [OpenState] "" when it
	// is free. The one thing that it writes is the outcome "interrupted" of a
	// first use whose owner is past its deadline.
	Claimed(ctx context.Context, t turn.Turn, v outcome.Verb, c Claim) (Opening, error)
	// Note writes rows that belong to no attempt of a verb.
	Note(ctx context.Context, rows ...Row) error
	// Probe proves that the trail can be written, by writing.
	Probe(ctx context.Context) error
}

// Reader is what ops need of the trail.
type Reader interface {
	// Query answers a page of rows, newest first.
	Query(ctx context.Context, f Filter, p Page) ([]Row, error)
	// Each calls fn with every matching row, oldest first, and stops at its error.
	Each(ctx context.Context, f Filter, fn func(Row) error) error
	// Count counts matching rows by columns, largest group first.
	Count(ctx context.Context, f Filter, by []Column) ([]Group, error)
	// Row finds one row; [ErrNotFound] when there is none.
	Row(ctx context.Context, id string) (Row, error)
	// Open counts the attempts that are open now.
	OpenAttempts(ctx context.Context) (int, error)
}
