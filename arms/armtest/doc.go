// Package armtest is the suite that every arm has to pass.
//
// An arm's test fills a [Harness] and calls [Run]; its fuzz test calls [Fuzz].
// The suite puts itself between the arm and the platform as a RoundTripper,
// counts what passes, and answers in the platform's place from real sockets:
// refused, cut, silent, garbled. It needs a platform that works (a local fake
// will do) for what has to succeed.
//
// What an arm promises here: one verb call is one request; whatever can't be
// proven is ambiguous; no error holds a secret; text up to the declared limit
// goes through unchanged; interfaces and data sheet agree; a context that is
// over ends a call.
package armtest
