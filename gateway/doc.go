// Package gateway is the way of a write: reply, edit and retract, each a
// visible list of small stages over one typed envelope. A stage passes the
// attempt on or ends it; the lists are the documentation.
//
//	admit → locate → arm → own → guard → measure → approve → open → dispatch → settle
//
// Order is load-bearing: host verdicts come before any byte leaves, the
// attempt's row before the request, the outcome's row before the answer.
//
// The package names no platform, no store and no protocol: arms, the trail
// and the ledger come in as the small interfaces of ports.go.
package gateway
