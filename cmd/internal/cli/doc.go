// Package cli is the command line: the gateway itself, the client verbs, the
// tour and the doctor. A command reads and writes only the streams and the
// environment that it is handed, so that tests run it in process.
package cli
