// Package e2e holds the booted program to its promises, from outside: over real
// HTTP, with real files, and with the built-in room's own log of what it
// received and applied as the witness. It has tests only.
//
// The crash tests run the real binary in a process of its own and kill it; all
// others boot the program inside the test. What a history of answers, rows and
// effects may not show is written once, in history_test.go, and tests of the
// checker itself feed it forged histories.
package e2e
