// Package armhttp is the HTTP transport that all arms share.
//
// [Client.Do] sends one request and says what is proven about it. An error
// before any byte of the request was handed to the operating system is
// [stet/arms.NotSent]; every later error is [stet/arms.Ambiguous]. A complete
// answer of any status is an [Answer]; [Answer.Fault] judges the statuses that
// mean the same on every platform and the arm judges the rest.
//
// # What is never done
//
// No redirect is followed, no cookie kept, no proxy taken from the
// environment, no compressed body unpacked, no HTTP/2 spoken, and no request
// sent twice: Go's transport repeats a request that it believes to be
// repeatable, so bodies carry no GetBody and the headers that mark a request
// as idempotent are taken off.
//
// # Injected transports
//
// The proof rests on the connections of [NewTransport], which count what is
// written to them, and on the hooks of net/http/httptrace. A RoundTripper that
// wraps NewTransport's and passes the request's context on keeps the proof.
// With any other, an error counts as Ambiguous unless the hooks show that a
// connection was asked for and never made.
//
// # Secrets
//
// Faults carry codes only. [Redact] turns a transport error into one whose text
// has no URL, host, header or body, and [Secret] prints as a placeholder.
package armhttp
