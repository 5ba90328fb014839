// Package room is the built-in platform, and the reference for every other
// arm. It has two halves that meet only over HTTP.
//
// [Server] is the platform: channels that belong to an organization, messages,
// threads, a page for people ([Server.Pages]) and a message interface for bots
// on a loopback listener of its own. It keeps everything in one SQLite file,
// apart from the gateway's, and writes down what it received and what it
// applied ([Truth]), so that somebody else's claims can be held against it.
//
// [Arm] is the adapter: it turns a verb into one request to that interface and
// the answer into a value or a fault, like the arm of any foreign platform. It
// shares only the JSON types and the limits with the server.
//
// # Faults
//
// The server can be told to misbehave: see [Fault], [FaultMix] and
// [Server.Script]. Every fault happens on the real connection. A fault is
// limited to a verb, an organization, a channel and a number of requests; the
// first one in the script that fits is played.
//
// A late effect comes after its fault's wait, counted from the request; the
// wait is always below the settle time that the data sheet promises.
//
// # Durability
//
// A write is answered after its commit, and the commit is on the disk.
// Concurrent writes share commits. A write request and its effect are in one
// commit unless a fault comes between them.
package room
