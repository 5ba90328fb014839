package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stet/cmd/internal/config"
)

type doctorCmd struct {
	settings `embed:""`
	URL      string `name:"url" from:"STET_URL" placeholder:"URL" help:"The gateway to ask; without it the one that uses the data folder."`
}

// state is how a check came out.
type state string

const (
	well state = "ok"
	note state = "note"
	mend state = "mend"
)

// finding is one thing that the doctor looked at. Text of a mend says what to do.
type finding struct {
	State state  `json:"state"`
	Check string `json:"check"`
	Text  string `json:"text"`
}

// examination collects findings.
type examination struct {
	*run
	settings config.Settings
	findings []finding
}

func (x *examination) find(s state, check, text string) {
	x.findings = append(x.findings, finding{s, check, text})
}

// Run looks at everything and fails when something has to be mended.
func (c doctorCmd) Run(r *run) error {
	x := &examination{run: r}
	x.lookAtSettings(c.settings)
	x.lookAtVariables()
	x.lookAtServer(where{URL: c.URL, Data: c.Data})
	x.lookAtData()
	x.lookAtKeys()
	x.lookAtStores()
	x.lookAtRedis()
	return x.report()
}

func (x *examination) report() error {
	bad := 0
	for _, f := range x.findings {
		if f.State == mend {
			bad++
		}
	}
	if err := x.printFindings(bad); err != nil {
		return err
	}
	if bad > 0 {
		return failed{}
	}
	return nil
}

func (x *examination) printFindings(bad int) error {
	if x.json {
		return x.printJSON(map[string]any{"ok": bad == 0, "findings": x.findings})
	}
	for _, f := range x.findings {
		colour := map[state]string{well: green, note: yellow, mend: red}[f.State]
		for i, line := range wrap(f.Text, width-24) {
			lead, name := "", ""
			if i == 0 {
				lead, name = string(f.State), f.Check
			}
			var t table
			t.least = []int{4, 16}
			t.add(cell{lead, colour}, text(name), text(line))
			if err := t.print(x.run); err != nil {
				return err
			}
		}
	}
	if bad > 0 {
		return x.say("\n%s\n", x.paint(red, count(bad)+" to mend."))
	}
	return x.say("\n%s\n", x.paint(green, "Nothing to mend."))
}

func (x *examination) lookAtSettings(flags settings) {
	s, err := flags.load(x.run)
	x.settings = s
	if err == nil {
		from := "flags, environment and defaults"
		if s.ConfigPath != "" {
			from += ", " + s.ConfigPath
		}
		x.find(well, "settings", from+" are valid")
	}
	for _, e := range config.Each(err) {
		x.find(mend, "settings", e.Error())
	}
}

// lookAtVariables finds STET_… variables that nothing reads: misspelt ones, and
// those of platforms that this build doesn't have.
func (x *examination) lookAtVariables() {
	known := x.knownVariables()
	for _, pair := range x.Environ {
		name, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "STET_") && value != "" && !known[name] {
			x.find(note, "environment", name+" is set, but this build reads no such variable")
		}
	}
}

// knownVariables are those of the flags and of the secrets.
func (x *examination) knownVariables() map[string]bool {
	known := map[string]bool{envKey: true, envToken: true}
	for _, secret := range []string{config.EnvHostKey, config.EnvOpsKey, config.EnvRedisURL, config.EnvDatabaseURL} {
		known[secret], known[secret+"_FILE"] = true, true
	}
	for _, command := range x.model.Leaves(true) {
		for _, flag := range command.Flags {
			known[flag.Tag.Get("from")] = true
		}
	}
	return known
}

func (x *examination) lookAtKeys() {
	path := filepath.Join(x.settings.Data, "keys.env")
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.find(note, "keys", path+" isn't there: the first start mints the keys, unless they come from the environment")
	case err != nil:
		x.find(mend, "keys", err.Error())
	case info.Mode().Perm()&0o077 != 0:
		x.find(mend, "keys", path+" can be read by others: chmod 600 "+path)
	default:
		x.find(well, "keys", path+" is its owner's alone")
	}
}
