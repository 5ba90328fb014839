// Package config turns flags, environment and one YAML file into [Settings].
//
// The frame is strict: an unknown field, a field that is there twice and a
// second document are errors that name the line. Defaults come first, then the
// file is decoded over them, then everything is validated together, so that a
// person sees all mistakes at once.
//
// What a platform needs beside is a [Section] that the platform's arm owns.
// The composition root hands the sections in; this package names no platform.
package config
