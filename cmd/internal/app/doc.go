// Package app is the composition root: it makes every part of the program from
// its settings, starts them in order and stops them in reverse.
package app
