package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Which: ${enum}."`
}

// Run prints the script. It is made from the same model that parses.
func (c completionCmd) Run(r *run) error {
	nodes := completions(r.model)
	switch c.Shell {
	case "bash":
		return completeBash(r.Out, nodes)
	case "zsh":
		return completeZsh(r.Out, nodes)
	default:
		return completeFish(r.Out, nodes)
	}
}

// completion is what can follow one command.
type completion struct {
	// path is the command's words, empty for the program itself.
	path     string
	commands []word
	flags    []word
	// values are what flags (by "--name") and the first argument ("") take.
	values map[string][]string
	// files: the flags whose value is a path.
	files []string
}

// word is a word with its help.
type word struct{ name, help string }

// completions flattens the model, the program itself first.
func completions(app *kong.Application) []completion {
	var all []completion
	var walk func(n *kong.Node, path string, flags []*kong.Flag)
	walk = func(n *kong.Node, path string, flags []*kong.Flag) {
		flags = append(slices.Clip(flags), n.Flags...)
		c := completion{path: path, values: map[string][]string{}}
		for _, f := range flags {
			c.flag(f)
		}
		for _, p := range n.Positional {
			if p.Enum != "" {
				c.values[""] = append(c.values[""], enum(p)...)
			}
		}
		for _, child := range n.Children {
			if child.Type == kong.CommandNode && !child.Hidden {
				c.commands = append(c.commands, word{child.Name, child.Help})
			}
		}
		all = append(all, c)
		for _, child := range n.Children {
			if child.Type == kong.CommandNode && !child.Hidden {
				walk(child, strings.TrimSpace(path+" "+child.Name), flags)
			}
		}
	}
	walk(app.Node, "", nil)
	return all
}

func (c *completion) flag(f *kong.Flag) {
	name := "--" + f.Name
	c.flags = append(c.flags, word{name, f.Help})
	if f.Enum != "" {
		c.values[name] = enum(f.Value)
	}
	if f.Tag.Get("complete") == "file" {
		c.files = append(c.files, name)
	}
}

func enum(v *kong.Value) []string { return strings.Split(v.Enum, ",") }

// words lists everything that can follow the command.
func (c completion) words() []string {
	var ws []string
	for _, w := range append(slices.Clip(c.commands), c.flags...) {
		ws = append(ws, w.name)
	}
	return append(ws, c.values[""]...)
}

// commandPaths lists every path that a word can lead to.
func commandPaths(all []completion) []string {
	var paths []string
	for _, c := range all[1:] {
		paths = append(paths, c.path)
	}
	return paths
}

// caseTable writes a shell function's case from "path flag" to words, the same
// text for bash and zsh.
func caseTable(w io.Writer, all []completion) {
	// A command's pattern fits its own commands' words too, so theirs go first.
	for _, c := range slices.Backward(all) {
		for _, flag := range sorted(c.values) {
			if flag != "" {
				fmt.Fprintf(w, "    '%s %s') words='%s' ;;\n", c.path, flag, strings.Join(c.values[flag], " "))
			}
		}
		for _, flag := range c.files {
			fmt.Fprintf(w, "    '%s %s') files=1 ;;\n", c.path, flag)
		}
		fmt.Fprintf(w, "    '%s '*) words='%s' ;;\n", c.path, strings.Join(c.words(), " "))
	}
}

const bashScript = `# bash completion of stet: source <(stet completion bash)
_stet() {
  local path='' prev='' words='' files='' w i
  for ((i = 1; i < COMP_CWORD; i++)); do
    w=${COMP_WORDS[i]}
    case "$path${path:+ }$w" in
    %[1]s) path="$path${path:+ }$w" ;;
    esac
  done
  prev=${COMP_WORDS[COMP_CWORD-1]}
  case "$path $prev" in
%[2]s  esac
  if [ -n "$files" ]; then
    COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
  else
    COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
  fi
}
complete -o filenames -F _stet stet
`

const zshScript = `#compdef stet
# zsh completion of stet: source <(stet completion zsh)
_stet() {
  local path_='' prev='' words_='' w i
  local -i files=0
  for ((i = 2; i < CURRENT; i++)); do
    w=${words[i]}
    case "$path_${path_:+ }$w" in
    (%[1]s) path_="$path_${path_:+ }$w" ;;
    esac
  done
  prev=${words[CURRENT-1]}
  case "$path_ $prev" in
%[2]s  esac
  if (( files )); then _files; else compadd -- ${=words_}; fi
}
compdef _stet stet
`

func completeBash(w io.Writer, all []completion) error {
	var rules strings.Builder
	caseTable(&rules, all)
	_, err := fmt.Fprintf(w, bashScript, patterns(all), rules.String())
	return err
}

func completeZsh(w io.Writer, all []completion) error {
	var rules strings.Builder
	caseTable(&rules, all)
	text := strings.ReplaceAll(rules.String(), "words=", "words_=")
	text = strings.ReplaceAll(text, "    '", "    ('")
	_, err := fmt.Fprintf(w, zshScript, patterns(all), text)
	return err
}

func patterns(all []completion) string {
	var quoted []string
	for _, p := range commandPaths(all) {
		quoted = append(quoted, "'"+p+"'")
	}
	return strings.Join(quoted, "|")
}

const fishHead = `# fish completion of stet: stet completion fish | source
function __stet_at
  set -l path
  for w in (commandline -opc)[2..-1]
    if contains -- (string join ' ' $path $w) %s
      set path $path $w
    end
  end
  test (string join ' ' $path) = "$argv[1]"
end
complete -c stet -f
`

func completeFish(w io.Writer, all []completion) error {
	var b strings.Builder
	fmt.Fprintf(&b, fishHead, strings.ReplaceAll(patterns(all), "|", " "))
	for _, c := range all {
		at := "-n '__stet_at \"" + c.path + "\"'"
		for _, cmd := range c.commands {
			fmt.Fprintf(&b, "complete -c stet %s -a %s -d %s\n", at, cmd.name, fishQuote(cmd.help))
		}
		for _, v := range c.values[""] {
			fmt.Fprintf(&b, "complete -c stet %s -a %s\n", at, v)
		}
		for _, f := range c.flags {
			fmt.Fprintf(&b, "complete -c stet %s -l %s -d %s%s\n",
				at, strings.TrimPrefix(f.name, "--"), fishQuote(f.help), c.fishValue(f.name))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// fishValue says what a flag takes, where that is known.
func (c completion) fishValue(flag string) string {
	if vs := c.values[flag]; len(vs) > 0 {
		return " -x -a '" + strings.Join(vs, " ") + "'"
	}
	if slices.Contains(c.files, flag) {
		return " -r -F"
	}
	return ""
}

func fishQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
