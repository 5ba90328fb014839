package redisstore_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"stet/ledger/redisstore"
)

func TestURLForms(t *testing.T) {
	for url, want := range map[string]redis.UniversalOptions{
		"redis://localhost":                          {Addrs: []string{"localhost:6379"}},
		" redis://localhost:7000/2\n":                {Addrs: []string{"localhost:7000"}, DB: 2},
		"redis://:p%2Cw@h":                           {Addrs: []string{"h:6379"}, Password: "p,w"},
		"redis://u:p%40%2F@h:1":                      {Addrs: []string{"h:1"}, Username: "u", Password: "p@/"},
		"redis://[::1]:7000":                         {Addrs: []string{"[::1]:7000"}},
		"redis://[::1]":                              {Addrs: []string{"[::1]:6379"}},
		"unix:///run/redis.sock":                     {Addrs: []string{"/run/redis.sock"}},
		"unix://u:p@/run/redis.sock?db=3":            {Addrs: []string{"/run/redis.sock"}, Username: "u", Password: "p", DB: 3},
		"redis://a:1,b:2,c":                          {Addrs: []string{"a:1", "b:2", "c:6379"}, IsClusterMode: true},
		"redis://u:p@a:1,redis://b:2,redis://c:3":    {Addrs: []string{"a:1", "b:2", "c:3"}, Username: "u", Password: "p", IsClusterMode: true},
		"redis+cluster://h":                          {Addrs: []string{"h:6379"}, IsClusterMode: true},
		"redis+sentinel://s1,s2:5/1?master=mymaster": {Addrs: []string{"s1:26379", "s2:5"}, DB: 1, MasterName: "mymaster"},
		"redis+sentinel://u:p@s1?master=m&sentinel_username=su&sentinel_password=sp": {
			Addrs: []string{"s1:26379"}, Username: "u", Password: "p", MasterName: "m", SentinelUsername: "su", SentinelPassword: "sp",
		},
	} {
		got, err := redisstore.Parse(url)
		if err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%q is %+v, %v", url, got, err)
		}
	}
}

func TestTLSIsVerifiedAndNotOld(t *testing.T) {
	for _, url := range []string{"rediss://h", "rediss://a,b", "rediss+cluster://h", "rediss+sentinel://s?master=m"} {
		o, err := redisstore.Parse(url)
		if err != nil || o.TLSConfig == nil || o.TLSConfig.InsecureSkipVerify || o.TLSConfig.MinVersion < 0x0303 {
			t.Errorf("%q: %v", url, err)
		}
	}
}

var badURLs = []string{
	"", "localhost:6379", "http://h", "redis://", "redis://,", "redis://h:0", "redis://h:99999", "redis://h:x",
	"redis://h/x", "redis://h/-1", "redis://h?db=1", "redis://h?skip_verify=true", "redis://a,b/1", "redis+sentinel://h",
	"redis+sentinel://h?master=", "redis+sentinel://h?master=m&x=y", "unix://h/path", "unix://", "unix:///",
	"unix:///s?db=x", "redis://h#f", "redis://h?%zz", "redis://u:%zz@h", "redis://a b", "redis://h?master=m",
}

func TestBadURLs(t *testing.T) {
	for _, url := range badURLs {
		if o, err := redisstore.Parse(url); err == nil {
			t.Errorf("%q is taken for %+v", url, o.Addrs)
		}
	}
}

func FuzzURLErrorsShowNoSecret(f *testing.F) {
	for _, url := range badURLs {
		f.Add(url)
	}
	const canary = "s3cr3tcanary"
	f.Fuzz(func(t *testing.T, tail string) {
		for _, url := range []string{"redis://u:" + canary + "@" + tail, "redis://u:" + canary + tail, "unix://u:" + canary + tail} {
			if _, err := redisstore.Parse(url); err != nil && strings.Contains(err.Error(), canary) {
				t.Errorf("%q: %v", url, err)
			}
		}
	})
}
