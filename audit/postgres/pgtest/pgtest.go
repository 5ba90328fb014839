// Package pgtest gives tests a real Postgres: a private server of its own data
// in a temporary folder, reached by a socket there, with its flushes on.
//
// One server serves all tests of a process, each in a schema of its own; a test
// that stops or starts a server takes one for itself. The package's TestMain
// ends it with [Stop].
package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

var shared struct {
	sync.Mutex
	server *Server
	err    error
}

// Schema answers the URL of a fresh schema on the shared server. It is dropped
// when the test ends, so whatever uses it must be closed by then.
func Schema(t testing.TB) string {
	t.Helper()
	return Shared(t).Schema(t)
}

// Shared is the server of this process, started when it is first asked for.
func Shared(t testing.TB) *Server {
	t.Helper()
	bin := programs(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = start(bin)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

// Stop ends the shared server and removes its data. TestMain calls it last.
func Stop() {
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil {
		shared.server.remove()
		shared.server = nil
	}
}

// Start starts a server for one test alone, which ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := start(programs(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.remove)
	return s
}

// programs is the folder of the newest server's programs. Without one the test
// is skipped, or fails where CI=true.
func programs(t testing.TB) string {
	t.Helper()
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/bin", "/usr/bin"} {
		found, _ := filepath.Glob(filepath.Join(pattern, "initdb"))
		if len(found) > 0 {
			return filepath.Dir(found[len(found)-1])
		}
	}
	const missing = "!! NOT TESTED: PostgreSQL's server is not installed (Debian: postgresql)"
	if os.Getenv("CI") == "true" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

var schemas atomic.Int64

// Schema answers the URL of a fresh schema, dropped when the test ends.
func (s *Server) Schema(t testing.TB) string {
	t.Helper()
	return s.URL(s.Fresh(t))
}

// Fresh answers the name of a fresh schema, dropped when the test ends.
func (s *Server) Fresh(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("t%d", schemas.Add(1))
	s.Exec(t, "create schema "+name)
	t.Cleanup(func() {
		if s.running() {
			s.Exec(t, "drop schema "+name+" cascade")
		}
	})
	return name
}

// URL is the address of a schema.
func (s *Server) URL(schema string) string {
	return "postgres://" + superuser + "@/postgres?" + url.Values{
		"host": {s.Socket()}, "search_path": {schema},
	}.Encode()
}

// Exec runs statements as the superuser.
func (s *Server) Exec(t testing.TB, statements string) {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.URL("public"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	if _, err := c.PgConn().Exec(ctx, statements).ReadAll(); err != nil {
		t.Fatal(err)
	}
}
