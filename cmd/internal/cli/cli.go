package cli

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// IO is everything that a command touches of the process that runs it.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	// Environ holds "NAME=value" pairs, as from os.Environ.
	Environ []string
	// InTerminal and OutTerminal say that a person sits at that end.
	InTerminal, OutTerminal, ErrTerminal bool
	// Version is the program's.
	Version string
	// Tick paces what asks again and again; nil: a real ticker.
	Tick func(time.Duration) (<-chan time.Time, func())
}

// The exit codes of the contract.
const (
	exitDone        = 0
	exitRefused     = 1
	exitUsage       = 2
	exitUnreachable = 3
)

// root is the command line as kong reads it.
type root struct {
	JSON bool `help:"Print JSON instead of tables."`

	Serve      serveCmd      `cmd:"" help:"Run the gateway."`
	Demo       demoCmd       `cmd:"" help:"Take the tour: start a real gateway with fresh data and walk the main job."`
	Turn       turnCmd       `cmd:"" help:"Open, show and close turns."`
	Reply      replyCmd      `cmd:"" help:"Post a message where the turn's locus says."`
	Edit       editCmd       `cmd:"" help:"Replace the text of an own message."`
	Retract    retractCmd    `cmd:"" help:"Remove an own message, all its parts."`
	Audit      auditCmd      `cmd:"" help:"Read the trail."`
	Keys       keysCmd       `cmd:"" help:"Make, list and revoke keys."`
	Ledger     ledgerCmd     `cmd:"" help:"Look after the own-post ledger's copies in Redis."`
	Doctor     doctorCmd     `cmd:"" help:"Check every setting and say what to mend."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
	Completion completionCmd `cmd:"" help:"Print a completion script for a shell."`
}

// run is one run of the program, bound to every command.
type run struct {
	IO
	ctx   context.Context
	json  bool
	model *kong.Application
}

// ended carries the code of a parser that wants the process to end.
type ended int

// Run runs the command that args name and answers its exit code: 0 done,
// 1 refused or failed, 2 wrong usage, 3 unreachable.
func Run(ctx context.Context, args []string, sys IO) (code int) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case ended:
			code = int(r)
		default:
			panic(r)
		}
	}()
	var grammar root
	r := &run{IO: sys, ctx: ctx}
	parser, err := kong.New(&grammar, r.options()...)
	if err != nil {
		return r.fail(err)
	}
	r.model = parser.Model
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return r.fail(usage{err})
	}
	r.json = grammar.JSON
	if err := parsed.Run(r); err != nil {
		return r.fail(err)
	}
	return exitDone
}

func (r *run) options() []kong.Option {
	return []kong.Option{
		kong.Name("stet"),
		kong.Description("Stet is a gateway between a bot and the rooms it talks in. " +
			"Start with: stet demo. Then: stet serve."),
		kong.Writers(r.Out, r.Err),
		kong.Exit(func(code int) { panic(ended(code)) }),
		kong.Resolvers(kong.ResolverFunc(r.fromEnv)),
		kong.ValueFormatter(withEnv),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 100}),
		kong.Bind(r),
	}
}

// fromEnv gives a flag that the command line doesn't set the value of the
// variable in its "from" tag. An empty variable is one that isn't set.
func (r *run) fromEnv(_ *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) {
	name := f.Tag.Get("from")
	if name == "" {
		return nil, nil
	}
	if v := r.env(name); v != "" {
		return v, nil
	}
	return nil, nil
}

// withEnv names the variable in a flag's help.
func withEnv(v *kong.Value) string {
	if name := v.Tag.Get("from"); name != "" {
		return strings.TrimSuffix(v.Help, ".") + " (" + name + ")."
	}
	return v.Help
}

// env looks up a variable, the last of its name; empty when it isn't set.
func (r *run) env(name string) string {
	for i := len(r.Environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(r.Environ[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// tick paces a loop.
func (r *run) tick(every time.Duration) (<-chan time.Time, func()) {
	if r.Tick != nil {
		return r.Tick(every)
	}
	t := time.NewTicker(every)
	return t.C, t.Stop
}

// readText is a text argument: itself, or with "-" or none, standard input
// without its last line end.
func (r *run) readText(arg string) (string, error) {
	if arg != "" && arg != "-" {
		return arg, nil
	}
	if arg == "" && r.InTerminal {
		return "", usagef("no text: give it as an argument, or - to type it")
	}
	raw, err := io.ReadAll(r.In)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(raw), "\n"), "\r"), nil
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(r *run) error {
	if r.json {
		return r.printJSON(map[string]string{"version": r.Version})
	}
	return r.say("stet %s\n", r.Version)
}

// readFirst reads a small file; empty when it can't be read.
func readFirst(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(raw)
}
