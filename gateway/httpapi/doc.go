// Package httpapi is the gateway's JSON door. It has three planes, told apart
// by the credential: the host's, the agent's and the operator's. All of them
// are described by the OpenAPI document at /openapi.json, which a person reads
// at /docs.
//
// # The way of a request
//
//	route → credential → plane → path ids, header → body → handler → answer
//
// Whatever fails before the handler leaves no row: the attempt begins when the
// token is accepted and the body decoded. From there on a lost client changes
// nothing.
//
// Every answer that isn't a success is a problem of the contract's closed set
// of reasons. Neither a problem nor a log line holds what a caller sent, but
// for the names of fields, in the answer to their own sender.
package httpapi
