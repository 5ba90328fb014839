package config

import (
	"time"

	"stet/arms"
	"stet/arms/armhttp"
	"stet/audit"
	"stet/gateway"
)

// sweepSlack is what the default margin has beyond its least value.
const sweepSlack = 5 * time.Second

// Settings is everything that a gateway can be told. [Default] has the values
// of a gateway that was told nothing.
type Settings struct {
	// Listen is the address of the door, host:port; port 0 picks a free one.
	Listen string
	// Data is the folder of everything that must outlive the process.
	Data string
	// RedisURL is where the ledger's copies are; see redisstore.Parse. Empty:
	// SQL answers alone. It may hold a password.
	RedisURL armhttp.Secret
	// DatabaseURL is the PostgreSQL database of everything but the room; empty:
	// SQLite under the data folder. It may hold a password.
	DatabaseURL armhttp.Secret
	// EditWindow is how long after it was posted a message may be changed,
	// where Windows doesn't say otherwise.
	EditWindow time.Duration
	// PlatformTimeout bounds one wire request.
	PlatformTimeout time.Duration
	// MaxWait bounds the wait for a busy message or a budget.
	MaxWait time.Duration
	// ConfigPath is the YAML file; empty for none.
	ConfigPath string
	// DryRun makes every turn a dry one.
	DryRun bool

	// HostKey and OpsKey are the first keys; empty: minted on the first start.
	HostKey, OpsKey armhttp.Secret

	Windows    Windows
	Transcript Transcript
	Sweep      Sweep
	Resolve    Resolve
	// Arms holds the arms' own sections, decoded; see [SectionOf].
	Arms Sections
}

// Transcript is about the tool calls that a host reports.
type Transcript struct {
	// Keep is how long a call stays stored.
	Keep time.Duration `yaml:"keep"`
}

// Sweep is about closing what a dead process left open.
type Sweep struct {
	// Margin is how far behind its deadline an attempt has to be before it is
	// closed; 0: see [Settings.SweepMargin].
	Margin time.Duration `yaml:"margin"`
	// Interval is the time between two sweeps.
	Interval time.Duration `yaml:"interval"`
}

// Resolve is about finding out what became of an ambiguous outcome.
type Resolve struct {
	// FirstLook is how long after the outcome the first look is.
	FirstLook time.Duration `yaml:"first_look"`
	// Settle is how long after an attempt's deadline a look that finds nothing
	// starts to count; 0: what the platform's data sheet says.
	Settle time.Duration `yaml:"settle"`
}

// Windows has the edit windows of single platforms.
type Windows map[arms.Platform]PlatformWindows

// PlatformWindows is how long a platform's messages may be changed; the most
// special one that is set wins.
type PlatformWindows struct {
	// Window is for the whole platform; 0: the general edit window.
	Window time.Duration `yaml:"window"`
	// Workspaces and Channels are by the platform's own ids.
	Workspaces map[string]time.Duration         `yaml:"workspaces"`
	Channels   map[arms.ChannelID]time.Duration `yaml:"channels"`
}

// Default is a gateway that was told nothing.
func Default() Settings {
	return Settings{
		Listen:          "127.0.0.1:8484",
		Data:            "./stet-data",
		EditWindow:      4 * time.Hour,
		PlatformTimeout: 15 * time.Second,
		MaxWait:         10 * time.Second,
		Transcript:      Transcript{Keep: 7 * 24 * time.Hour},
		Sweep:           Sweep{Interval: 5 * time.Second},
		Resolve:         Resolve{FirstLook: time.Second},
	}
}

// Window is how long a message at the place may be changed, by our own rules;
// a platform's own limit is not in it.
func (s Settings) Window(p arms.Platform, workspace string, ch arms.ChannelID) time.Duration {
	w := s.Windows[p]
	if d, ok := w.Channels[ch]; ok {
		return d
	}
	if d, ok := w.Workspaces[workspace]; ok {
		return d
	}
	if w.Window > 0 {
		return w.Window
	}
	return s.EditWindow
}

// SweepMargin is how far behind its deadline an attempt has to be before it is
// closed: what was set, else a little more than an owner that is alive can be.
func (s Settings) SweepMargin() time.Duration {
	if s.Sweep.Margin > 0 {
		return s.Sweep.Margin
	}
	return s.leastMargin() + sweepSlack
}

// leastMargin is how far behind a living owner's outcome can be.
func (s Settings) leastMargin() time.Duration {
	return s.PlatformTimeout + audit.CommitLimit + gateway.Grace
}
