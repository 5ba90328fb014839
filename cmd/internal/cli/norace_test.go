//go:build !race

package cli_test

// raceDetector says that everything is slower than for a person.
const raceDetector = false
