package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"stet/arms"
	"stet/arms/armhttp"
	"stet/cmd/internal/config"
	"stet/gateway/bind"
)

func TestTheMostSpecialWindowWins(t *testing.T) {
	s := config.Default()
	s.Windows = config.Windows{"room": {
		Window:     2 * time.Hour,
		Workspaces: map[string]time.Duration{"acme": time.Hour},
		Channels:   map[arms.ChannelID]time.Duration{"lobby": time.Minute},
	}}
	for _, c := range []struct {
		name      string
		platform  arms.Platform
		workspace string
		channel   arms.ChannelID
		want      time.Duration
	}{
		{"a channel before its workspace", "room", "acme", "lobby", time.Minute},
		{"a workspace before its platform", "room", "acme", "hall", time.Hour},
		{"a platform before the general window", "room", "other", "hall", 2 * time.Hour},
		{"another platform has the general window", "irc", "acme", "lobby", 4 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := s.Window(c.platform, c.workspace, c.channel); got != c.want {
				t.Errorf("window %s, want %s", got, c.want)
			}
		})
	}
}

func TestTheDefaultMarginFollowsThePlatformTimeout(t *testing.T) {
	s := config.Default()
	s.PlatformTimeout = time.Minute
	if got := s.SweepMargin(); got != 70*time.Second {
		t.Errorf("margin %s", got)
	}
	if _, err := config.Load(s, env(), sections()); err != nil {
		t.Error(err)
	}
}

func TestFlagsAreValidated(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*config.Settings)
		want   string
	}{
		{"no port", func(s *config.Settings) { s.Listen = "localhost" }, `listen: "localhost" is not host:port`},
		{"a port by name", func(s *config.Settings) { s.Listen = "localhost:http" }, `listen: "http" is not a port from 0 to 65535`},
		{"a port out of range", func(s *config.Settings) { s.Listen = ":70000" }, `listen: "70000" is not a port from 0 to 65535`},
		{"a URL", func(s *config.Settings) { s.Listen = "[http://x]:80" }, `listen: "http://x" is not a host`},
		{"no folder", func(s *config.Settings) { s.Data = " " }, "data: no folder is named"},
		{"no window", func(s *config.Settings) { s.EditWindow = 0 }, "edit-window: 0s is not a positive duration"},
		{"a negative timeout", func(s *config.Settings) { s.PlatformTimeout = -1 }, "platform-timeout: -1ns is not a positive duration"},
		{"a timeout too short to mean anything", func(s *config.Settings) { s.PlatformTimeout = 1 }, "platform-timeout: 1ns is too short, 1ms is the least"},
		{"no wait", func(s *config.Settings) { s.MaxWait = 0 }, "max-wait: 0s is not a positive duration"},
		{"a Redis that is no URL", func(s *config.Settings) { s.RedisURL = canary },
			"redis-url: no known form: it starts with redis://, rediss://, redis+cluster://, rediss+cluster://, redis+sentinel://, rediss+sentinel:// or unix://"},
		{"a Redis with a path that is no database", func(s *config.Settings) { s.RedisURL = "redis://h/" + canary },
			"redis-url: not a database: it is a number, as in /0"},
		{"a database", func(s *config.Settings) { s.DatabaseURL = canary },
			"database-url: it starts with postgres:// or postgresql://; leave it empty for SQLite under the data folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := config.Default()
			c.change(&s)
			_, err := config.Load(s, env(), sections())
			if err == nil || err.Error() != c.want {
				t.Errorf("error: %v\nwant: %s", err, c.want)
			}
		})
	}
}

func TestAListenerMayPickItsPort(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", ":8484", "[::1]:0", "localhost:1"} {
		s := config.Default()
		s.Listen = addr
		if _, err := config.Load(s, env(), sections()); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

func TestKeysComeFromOnePlaceAlone(t *testing.T) {
	host, ops := key(bind.HostKey), key(bind.OpsKey)
	hostFile := write(t, "host", host+"\n")
	for _, c := range []struct {
		name  string
		yaml  string
		pairs []string
		want  string // the error; empty: the host key is host
	}{
		{"the environment", "", []string{"STET_HOST_KEY", host}, ""},
		{"a path in the environment", "", []string{"STET_HOST_KEY_FILE", hostFile}, ""},
		{"the file", "keys: {host: " + host + "}", nil, ""},
		{"a path in the file", "keys: {host_file: " + hostFile + "}", nil, ""},
		{"the environment and its path", "", []string{"STET_HOST_KEY", host, "STET_HOST_KEY_FILE", hostFile},
			"STET_HOST_KEY and STET_HOST_KEY_FILE are both set: keep one"},
		{"the environment and the file", "keys: {host: " + host + "}", []string{"STET_HOST_KEY", host},
			"STET_HOST_KEY and keys.host are both set: keep one"},
		{"a path to an empty file", "", []string{"STET_HOST_KEY_FILE", write(t, "empty", " \n")},
			"STET_HOST_KEY_FILE: the file is empty"},
		{"the other plane's key", "", []string{"STET_HOST_KEY", ops},
			"STET_HOST_KEY: this is a stet_ops key, want a stet_host key"},
		{"a mistyped key", "", []string{"STET_HOST_KEY", host[:len(host)-1] + "!"},
			"STET_HOST_KEY: this is not a key of this program (a key starts with stet_host_ and ends in a checksum)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := loadText(t, c.yaml, c.pairs...)
			if c.want == "" && (err != nil || s.HostKey.Reveal() != host) {
				t.Errorf("error %v, or not the key that was given", err)
			}
			if c.want != "" && (err == nil || err.Error() != c.want) {
				t.Errorf("error: %v\nwant: %s", err, c.want)
			}
		})
	}
}

func TestURLsMayComeAsAPathAndAreCheckedAllTheSame(t *testing.T) {
	path := write(t, "url", canary)
	for name, want := range map[string]string{
		"STET_REDIS_URL_FILE": "no known form", "STET_DATABASE_URL_FILE": "it starts with postgres://",
	} {
		_, err := load(t, "", name, path)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v", name, err)
		}
	}
	const url = "redis://user:" + canary + "@127.0.0.1:6379/1"
	s, err := load(t, "", "STET_REDIS_URL_FILE", write(t, "good-url", url+"\n"))
	if err != nil || s.RedisURL.Reveal() != url {
		t.Errorf("a good URL in a file: %v", err)
	}
}

func TestNoFormOfTheSettingsShowsASecret(t *testing.T) {
	s := config.Default()
	s.HostKey, s.OpsKey, s.RedisURL, s.DatabaseURL = canary, canary, canary, canary
	var out bytes.Buffer
	fmt.Fprintf(&out, "%v %+v %#v\n", s, s, s)
	fmt.Fprintf(&out, "%s %q %x %d\n", s.HostKey, s.OpsKey, s.RedisURL, any(s.DatabaseURL))
	slog.New(slog.NewJSONHandler(&out, nil)).Info("settings", "all", s, "host", s.HostKey)
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(raw)
	if raw, err = yaml.Marshal(s); err != nil {
		t.Fatal(err)
	}
	out.Write(raw)
	for _, form := range []string{canary, fmt.Sprintf("%x", canary)} {
		if strings.Contains(out.String(), form) {
			t.Errorf("a secret shows in:\n%s", out.String())
		}
	}
	if s.HostKey != armhttp.Secret(canary) {
		t.Error("the secret itself is lost")
	}
}

func TestEachTakesAJoinedErrorApart(t *testing.T) {
	_, err := loadText(t, "transcript: {keep: 0s}\nsweep: {interval: 0s}\nroom: {text_limit: -1}\n")
	if got := config.Each(err); len(got) != 3 {
		t.Errorf("%d mistakes in:\n%v", len(got), err)
	}
	if config.Each(nil) != nil {
		t.Error("no error has mistakes")
	}
}
