package redisstore

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// form is what a URL's scheme says about the servers behind it.
type form struct {
	tls, cluster, sentinel, socket bool
	port                           string
}

var forms = map[string]form{
	"redis":           {port: "6379"},
	"rediss":          {port: "6379", tls: true},
	"redis+cluster":   {port: "6379", cluster: true},
	"rediss+cluster":  {port: "6379", cluster: true, tls: true},
	"redis+sentinel":  {port: "26379", sentinel: true},
	"rediss+sentinel": {port: "26379", sentinel: true, tls: true},
	"unix":            {socket: true},
}

// Parse reads where Redis is. The forms:
//
//	redis://[user:password@]host[:port][/db]           one server
//	rediss://…                                         the same, over TLS
//	unix://[user:password@]/path/to/socket[?db=n]      one server, by its socket
//	redis://[user:password@]host:port,host:port,…      a cluster, by some nodes
//	redis+cluster://host:port                          a cluster, by one address
//	redis+sentinel://[user:password@]host:port,…[/db]?master=name
//	                                                   what Sentinels call primary
//
// The items of a list may each repeat the scheme. Sentinels that ask for a
// password of their own get it by the parameters sentinel_username and
// sentinel_password. Commas and slashes in a password are percent-encoded.
//
// An error never repeats anything of the URL but a parameter's name.
func Parse(raw string) (*redis.UniversalOptions, error) {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(raw), "://")
	f, known := forms[scheme]
	if !ok || !known {
		return nil, errors.New("no known form: it starts with redis://, rediss://, redis+cluster://, rediss+cluster://, redis+sentinel://, rediss+sentinel:// or unix://")
	}
	authority, tail := split(strings.ReplaceAll(rest, ","+scheme+"://", ","))
	user, hosts := "", authority
	if at := strings.LastIndex(authority, "@"); at >= 0 {
		user, hosts = authority[:at+1], authority[at+1:]
	}
	// The hosts are read apart: a list of them is no URL.
	u, err := url.Parse(scheme + "://" + user + "host" + tail)
	if err != nil {
		return nil, errors.New("not a URL: percent-encode what is special in user, password and parameters")
	}
	o := &redis.UniversalOptions{}
	o.Username = u.User.Username()
	o.Password, _ = u.User.Password()
	if f.socket {
		return o, parseSocket(o, u, hosts)
	}
	return o, parseServers(o, u, hosts, f)
}

// split separates hosts and credentials from path and parameters.
func split(rest string) (authority, tail string) {
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		return rest[:i], rest[i:]
	}
	return rest, ""
}

func parseSocket(o *redis.UniversalOptions, u *url.URL, hosts string) error {
	if hosts != "" || u.Path == "" || u.Path == "/" {
		return errors.New("unix: it has the form unix:///path/to/socket")
	}
	o.Addrs = []string{u.Path}
	if err := parameters(u, "db"); err != nil {
		return err
	}
	return database(o, u.Query().Get("db"))
}

func parseServers(o *redis.UniversalOptions, u *url.URL, hosts string, f form) error {
	var err error
	if o.Addrs, err = addresses(hosts, f.port); err != nil {
		return err
	}
	o.IsClusterMode = f.cluster || (len(o.Addrs) > 1 && !f.sentinel)
	if f.tls {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if err := database(o, strings.TrimPrefix(u.Path, "/")); err != nil {
		return err
	}
	if o.IsClusterMode && o.DB != 0 {
		return errors.New("a cluster has database 0 alone: leave the path out")
	}
	if !f.sentinel {
		return parameters(u)
	}
	q := u.Query()
	o.MasterName, o.SentinelUsername, o.SentinelPassword = q.Get("master"), q.Get("sentinel_username"), q.Get("sentinel_password")
	if o.MasterName == "" {
		return errors.New("master: say what the Sentinels call the primary, as in ?master=mymaster")
	}
	return parameters(u, "master", "sentinel_username", "sentinel_password")
}

func addresses(hosts, port string) ([]string, error) {
	var all []string
	for _, h := range strings.Split(hosts, ",") {
		addr := h
		if _, _, err := net.SplitHostPort(h); err != nil {
			addr = net.JoinHostPort(strings.Trim(h, "[]"), port)
		}
		host, p, err := net.SplitHostPort(addr)
		if err != nil || host == "" || strings.ContainsAny(host, " @/") {
			return nil, errors.New("not a host: it has the form host:port")
		}
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return nil, errors.New("not a port: it is a number from 1 to 65535")
		}
		all = append(all, addr)
	}
	return all, nil
}

func database(o *redis.UniversalOptions, db string) error {
	if db == "" {
		return nil
	}
	n, err := strconv.ParseUint(db, 10, 16)
	if err != nil {
		return errors.New("not a database: it is a number, as in /0")
	}
	o.DB = int(n)
	return nil
}

// parameters refuses those that nothing reads.
func parameters(u *url.URL, known ...string) error {
	if u.Fragment != "" {
		return errors.New("not a URL: percent-encode # in user, password and parameters")
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return errors.New("not a URL: percent-encode what is special in parameters")
	}
	for name := range q {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%q: there is no such parameter here", name)
		}
	}
	return nil
}
