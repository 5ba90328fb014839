// Package wire has the JSON that the door and its clients exchange: one type
// for each request and each answer, and [Decode], which reads a request body
// without a doubt left about what it says.
//
// The struct tags are read twice, by the OpenAPI document and by [Decode]: a
// limit stands in one place. Durations are Go's ("10m"), times RFC 3339 in
// UTC, ids strings. The package knows nothing of the gateway's insides, so a
// client needs no more than this.
package wire
