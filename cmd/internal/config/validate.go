package config

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"stet/arms/armhttp"
	"stet/audit"
	"stet/gateway"
	"stet/gateway/bind"
	"stet/ledger/redisstore"
)

// Validate says everything that is wrong with the settings.
func (s Settings) Validate() error {
	errs := []error{
		validListen(s.Listen),
		validRedis(s.RedisURL),
		validDatabase(s.DatabaseURL),
		validKey(EnvHostKey, s.HostKey, bind.HostKey),
		validKey(EnvOpsKey, s.OpsKey, bind.OpsKey),
		s.validSweep(),
		s.validWindows(),
	}
	if strings.TrimSpace(s.Data) == "" {
		errs = append(errs, errors.New("data: no folder is named"))
	}
	for _, d := range s.durations() {
		errs = append(errs, d.valid())
	}
	for _, name := range s.Arms.names() {
		errs = append(errs, prefixed(string(name)+".", s.Arms[name].Validate()))
	}
	return errors.Join(errs...)
}

// duration is a named duration with its least value.
type duration struct {
	name  string
	value time.Duration
	least time.Duration
}

func (d duration) valid() error {
	switch {
	case d.value >= d.least:
		return nil
	case d.least == 0:
		return fmt.Errorf("%s: %s is negative", d.name, d.value)
	case d.value <= 0:
		return fmt.Errorf("%s: %s is not a positive duration", d.name, d.value)
	default:
		return fmt.Errorf("%s: %s is too short, %s is the least", d.name, d.value, d.least)
	}
}

func (s Settings) durations() []duration {
	return []duration{
		{"edit-window", s.EditWindow, time.Millisecond},
		{"platform-timeout", s.PlatformTimeout, time.Millisecond},
		{"max-wait", s.MaxWait, time.Millisecond},
		{"transcript.keep", s.Transcript.Keep, time.Millisecond},
		{"sweep.margin", s.Sweep.Margin, 0},
		{"sweep.interval", s.Sweep.Interval, time.Millisecond},
		{"resolve.first_look", s.Resolve.FirstLook, 0},
		{"resolve.settle", s.Resolve.Settle, 0},
	}
}

func validListen(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("listen: %q is not host:port", addr)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("listen: %q is not a port from 0 to 65535", port)
	}
	if strings.ContainsAny(host, " /") {
		return fmt.Errorf("listen: %q is not a host", host)
	}
	return nil
}

// validDatabase checks the URL's form, without repeating it: it may hold a
// password. Whether there is a database shows when it is opened.
func validDatabase(v armhttp.Secret) error {
	url := v.Reveal()
	if url == "" || strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://") {
		return nil
	}
	return errors.New("database-url: it starts with postgres:// or postgresql://; leave it empty for SQLite under the data folder")
}

// validRedis checks the URL's form, without repeating it. Whether there is a
// Redis shows later.
func validRedis(v armhttp.Secret) error {
	if v == "" {
		return nil
	}
	if _, err := redisstore.Parse(v.Reveal()); err != nil {
		return fmt.Errorf("redis-url: %w", err)
	}
	return nil
}

// validKey checks a first key's form, without repeating it.
func validKey(name string, v armhttp.Secret, want bind.Kind) error {
	if v == "" {
		return nil
	}
	kind, _, ok := bind.Parse(v.Reveal())
	if !ok {
		return fmt.Errorf("%s: this is not a key of this program (a key starts with %s_ and ends in a checksum)", name, want)
	}
	if kind != want {
		return fmt.Errorf("%s: this is a %s key, want a %s key", name, kind, want)
	}
	return nil
}

// validSweep keeps the sweeper from closing what a living owner still works
// on: an owner can be that far behind its deadline and settle all the same.
func (s Settings) validSweep() error {
	if s.Sweep.Margin == 0 || s.Sweep.Margin > s.leastMargin() {
		return nil
	}
	return fmt.Errorf("sweep.margin: %s is too short: it has to be over %s, which is platform-timeout %s + commit timeout %s + grace %s",
		s.Sweep.Margin, s.leastMargin(), s.PlatformTimeout, audit.CommitLimit, gateway.Grace)
}

func (s Settings) validWindows() error {
	var errs []error
	for p, w := range s.Windows {
		at := "windows." + string(p)
		if _, ok := s.Arms[p]; !ok {
			errs = append(errs, fmt.Errorf("%s: there is no such platform; there are %v", at, s.Arms.names()))
			continue
		}
		errs = append(errs, duration{at + ".window", w.Window, 0}.valid())
		for name, d := range w.Workspaces {
			errs = append(errs, duration{at + ".workspaces." + name, d, time.Millisecond}.valid())
		}
		for name, d := range w.Channels {
			errs = append(errs, duration{at + ".channels." + string(name), d, time.Millisecond}.valid())
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(text(a), text(b)) })
	return errors.Join(errs...)
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// prefixed puts a file's or a section's name before each error.
func prefixed(where string, err error) error {
	if err == nil {
		return nil
	}
	var errs []error
	for _, e := range Each(err) {
		errs = append(errs, fmt.Errorf("%s%w", where, e))
	}
	return errors.Join(errs...)
}

// Each takes a joined error apart, so that each mistake can be shown on a line
// of its own.
func Each(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, Each(e)...)
	}
	return all
}
