// Package sqlite keeps everything that Stet has to remember in one SQLite file:
// the trail, the attempts that are open or ambiguous, the own-post ledger,
// sessions, turns and keys. One file, because the opening commit of an attempt
// repeats checks against all of them at one moment.
//
// # Decided, and why
//
// Every write goes through one committer that lets concurrent writes share a
// flush to disk. A write may therefore run more than once before it is
// committed; each is a function of what it reads in its own transaction.
//
// Settlements, sweeps and resolutions go before everything else: what has
// happened is recorded before more is let out.
//
// The working tables beside the trail hold only what is open, ambiguous or
// still editable, so nothing on the way of an attempt scans the trail.
//
// Times are integers in microseconds by the store's clock. Errors name a class
// of failure and never a statement's values.
package sqlite
