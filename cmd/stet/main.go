// Command stet is the gateway, its client verbs and its tour.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"golang.org/x/term"

	"stet/cmd/internal/cli"
)

// version is set by the linker.
var version = ""

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once, as if nobody listened.
	context.AfterFunc(ctx, stop)
	code := cli.Run(ctx, os.Args[1:], cli.IO{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(), Version: built(),
		InTerminal: terminal(os.Stdin), OutTerminal: terminal(os.Stdout), ErrTerminal: terminal(os.Stderr),
	})
	if code != 0 {
		os.Exit(code)
	}
}

func terminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// built is the linker's version, else what the Go toolchain knows.
func built() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
