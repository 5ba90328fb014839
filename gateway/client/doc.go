// Package client is the Go client of the gateway's HTTP API. It holds one
// credential, a host key, a turn token or an ops key, and has a method for
// each call that any of them may make.
//
// A refusal is an [*Error] with the problem's fields; a gateway that could not
// be asked is an [*Unreachable]. Nothing is retried: a call with an idempotency
// key may simply be made again.
package client
