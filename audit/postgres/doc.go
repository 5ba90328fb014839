// Package postgres keeps everything that Stet has to remember in one Postgres
// schema, which any number of replicas share: the trail, the attempts that are
// open or ambiguous, the own-post ledger, sessions, turns and keys.
//
// # Decided, and why
//
// Openings, refusals and outcomes go through one committer per store. What came
// in while a commit was under way shares the next one, and a shared commit is
// one way to the server and back: a batch is one statement for each kind of
// write, behind those that take its locks, in one implicit transaction. A
// process that freezes after it has sent a batch therefore holds no lock.
//
// The statements are files under statements. Their plans are made once per
// session, perhaps on empty tables, so they leave the planner no choice that
// could be wrong later: each look-up is by one key and ends at one row, changes
// go by the place of a row that was looked up, and tables that are nearly empty
// have one index per look-up.
//
// Replicas are kept apart by locks on rows, taken in one order: turns, then the
// first parts of messages, then pending attempts. Everything else that the
// opening commit repeats is read after its locks are held. Between an owner and
// any number of sweepers the unique index on the attempts of outcome rows is the
// only arbiter. A batch that the database gave up because of another one is
// tried again whole: it has had no effect.
//
// Time is the database's, taken once per batch.
//
// Postgres refuses text that isn't UTF-8 or holds a zero byte. Such ids are
// stored and looked up in an escaped form, so that they are simply not found.
//
// Errors name a class of failure and never a statement's values.
package postgres
