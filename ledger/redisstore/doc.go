// Package redisstore keeps copies of own-post entries in Redis, in front of the
// authority in SQL.
//
// # Decided, and why
//
// Redis holds only facts whose loss makes the gateway slower. A yes found here
// is asked again by the opening commit; a miss, a fault or a no asks SQL. So
// nothing here has to be durable, ordered or even true.
//
// A message has one key: a hash over its length-prefixed parts, so that no id
// can be made to look like another message's. The value says in full whose it
// is; one that is not about the message that was asked for, or not written
// exactly as this package writes, counts as spoilt and is replaced by what SQL
// says. Values hold ids and times, no text and no token.
//
// Entries never change but by being closed. So adding is "set if not there",
// and a closed message leaves a closed entry behind for a minute, which keeps
// out whoever read SQL just before the closing commit.
//
// The time to live of a key is garbage collection. Whether a message may be
// changed is decided by the absolute time inside the value.
//
// Keys are spread over 64 buckets, each a hash tag of its own with an epoch key
// beside the entries. A look reads entry and epoch in one command of one slot,
// so that it notices a bucket that was flushed, evicted or lost. The epoch's
// value names the run of the server that it was written to; a restart or a
// failover changes that. [Store.Run] then fills Redis from SQL again, and
// everybody else goes on meanwhile, with more misses.
//
// Every call has 50 ms. A few failures, or one answer by which the server says
// that it can't serve (see [Reason]), open a breaker: then SQL answers alone,
// and only [Store.Run] tries Redis again, by writing to every bucket. The
// client's own retries are off.
package redisstore
