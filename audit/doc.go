// Package audit is the trail: what was attempted, and how each attempt ended.
//
// # The protocol
//
//	Refuse ────────────────▶ attempt + outcome, one commit
//
//	Open ──▶ attempt ──▶ the one wire request ──▶ Settle ──▶ outcome ──▶ answer
//	  │                        (process dies)        │
//	  ├─ replay, in-progress,       │                └─ outcome was there already:
//	  │  mismatch: nothing written  ▼                   late_result, a note
//	  ├─ ended: attempt + outcome  Sweep ──▶ outcome "interrupted"
//	  └─ wait: numbered, unopened
//
// The attempt is durable before the first byte leaves. The outcome is
// inserted, never updated; the uniqueness of the attempt id among outcome rows
// is the only arbiter between an owner and any number of sweepers. What a
// later look finds out about an ambiguous outcome is a note, a further row.
//
// # Decided, and why
//
// The opening commit carries the idempotency claim, the edit sequence, the
// repeated checks of turn and own post, and the attempt together: each of them
// alone could be true at another moment than the others.
//
// A small working table of attempts that are open or ambiguous stands beside
// the trail. Marks of turns, the busy check of a message, the sweeper and the
// resolver read it, so that none of them grows dearer with the trail.
package audit
