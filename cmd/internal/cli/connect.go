package cli

import (
	"bufio"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"stet/gateway/client"
)

// defaultURL is where a gateway is that was told nothing.
const defaultURL = "http://127.0.0.1:8484"

// callTimeout bounds one call. It is longer than a gateway lets a write wait
// and work.
const callTimeout = 2 * time.Minute

// where are the flags of every command that asks a gateway.
type where struct {
	URL  string `name:"url" from:"STET_URL" placeholder:"URL" help:"The gateway; without it the one that uses the data folder."`
	Data string `from:"STET_DATA" default:"./stet-data" complete:"file" help:"The data folder of a gateway on this machine, for its address and keys."`
}

// The variables that carry a credential.
const (
	envKey   = "STET_KEY"
	envToken = "STET_TURN_TOKEN"
)

// plane is one of the API's planes with the places of its credential.
type plane struct {
	name string
	// vars are looked at in this order; the last one also in keys.env.
	vars []string
	// local: the data folder's keys.env may have it.
	local bool
}

var (
	hostPlane  = plane{"a host key", []string{envKey, "STET_HOST_KEY"}, true}
	opsPlane   = plane{"an ops key", []string{envKey, "STET_OPS_KEY"}, true}
	agentPlane = plane{"a turn token", []string{envToken}, false}
)

// connect makes a client with the plane's credential.
func (r *run) connect(w where, p plane) (*client.Client, error) {
	key := r.credential(w, p)
	if key == "" {
		return nil, usagef("no credential: set %s to %s%s", p.vars[0], p.name, p.hint())
	}
	c, err := r.dial(w, key)
	if err != nil {
		return nil, usage{err}
	}
	return c, nil
}

func (r *run) dial(w where, key string) (*client.Client, error) {
	return client.New(r.address(w), client.WithKey(key), client.WithHTTPClient(&http.Client{Timeout: callTimeout}))
}

func (p plane) hint() string {
	if !p.local {
		return "; `stet turn open` makes one"
	}
	return ", or point --data at a gateway's data folder"
}

// credential looks for the plane's credential.
func (r *run) credential(w where, p plane) string {
	for _, name := range p.vars {
		if v := r.env(name); v != "" {
			return v
		}
	}
	if !p.local {
		return ""
	}
	return keysFile(filepath.Join(w.Data, "keys.env"))[p.vars[len(p.vars)-1]]
}

// address is the gateway's: as told, as the data folder says, or the default.
func (r *run) address(w where) string {
	if w.URL != "" {
		return w.URL
	}
	addr := strings.TrimSpace(readFirst(filepath.Join(w.Data, "address")))
	switch {
	case addr == "":
		return defaultURL
	case strings.Contains(addr, "://"):
		return addr
	default:
		return "http://" + addr
	}
}

// keysFile reads lines NAME=value; nothing when there is no such file.
func keysFile(path string) map[string]string {
	keys := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(readFirst(path)))
	for lines.Scan() {
		name, value, ok := strings.Cut(strings.TrimSpace(lines.Text()), "=")
		if ok && !strings.HasPrefix(name, "#") {
			keys[name] = value
		}
	}
	return keys
}
