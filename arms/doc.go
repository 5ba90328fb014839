// Package arms is the contract between the gateway and a platform.
//
// An arm translates one verb into one request to the platform's message
// interface and the platform's answer into a value or a [Fault]. It never
// retries, sleeps, paces, guards, reads the ledger or writes a row: all of that
// is the gateway's. What an arm can do is said twice: by the small interfaces
// it implements ([Poster], [Editor], [Retractor], [Fetcher], [Finder], …) and
// by its data sheet, [Capabilities]. armtest holds the two against each other.
//
// # Concurrency
//
// Every method may be called from many goroutines at once, honours its
// context, keeps none of its arguments after it returned, and blocks at most
// as long as the context allows.
//
// # Errors
//
// A method that reaches for the platform returns nil or a *[Fault]; nothing
// else. The default certainty is [Ambiguous]; [NotSent] and [Rejected] have to
// be earned by proof.
package arms
