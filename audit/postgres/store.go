package postgres

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"stet/audit"
	"stet/gateway/bind"
	"stet/ledger"
)

// defaultDepth bounds the writes that wait for a commit, per queue.
const defaultDepth = 1024

// Options is how a store is opened. Only URL is required.
type Options struct {
	// URL is the database: postgres://… or libpq's keywords. The schema is the
	// first one of its search_path; pool_max_conns bounds the connections beside
	// the committer's own.
	URL string
	// Now is the store's clock, for tests alone; nil: the database's own.
	Now func() time.Time
	// Observe is told of each shared commit: how many writes it carried, how
	// long it took; nil: nobody.
	Observe func(writes int, took time.Duration)
	// QueueDepth bounds the writes that wait, per queue; 0: 1024. More than
	// that is [audit.ErrOverloaded].
	QueueDepth int
	// TranscriptKeep is how long a reported tool call is kept; 0: for good.
	TranscriptKeep time.Duration
}

// Store is the whole memory of one deployment, or one replica's way to it. It
// is safe for concurrent use.
type Store struct {
	// batches serves the committer alone; pool everything else.
	batches, pool  *pgxpool.Pool
	committer      *committer
	observe        func(int, time.Duration)
	now            func() time.Time
	transcriptKeep time.Duration
	version        int64
}

var (
	_ audit.Store         = (*Store)(nil)
	_ audit.Reader        = (*Store)(nil)
	_ ledger.Store        = (*Store)(nil)
	_ ledger.WindowSource = (*Store)(nil)
	_ bind.SessionStore   = (*Store)(nil)
	_ bind.TurnStore      = (*Store)(nil)
	_ bind.KeyStore       = (*Store)(nil)
)

// Open reaches the database and brings its schema up to date. A schema that is
// newer than this program is an error. No error holds the URL's password.
func Open(ctx context.Context, o Options) (*Store, error) {
	config, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		return nil, fmt.Errorf("read the database's URL: %w", err) // pgx redacts it
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "stet"
	}
	s := &Store{now: o.Now, observe: o.Observe, transcriptKeep: o.TranscriptKeep}
	if s.observe == nil {
		s.observe = func(int, time.Duration) {}
	}
	if s.version, err = migrate(ctx, config.ConnConfig); err != nil {
		return nil, err
	}
	if err := s.connect(ctx, config, o.URL); err != nil {
		return nil, err
	}
	depth := o.QueueDepth
	if depth <= 0 {
		depth = defaultDepth
	}
	s.committer = newCommitter(s, depth)
	return s, nil
}

// durable makes a commit mean what it says, unless the server means more by it.
const durable = `select set_config('synchronous_commit', 'on', false)
	where current_setting('synchronous_commit') not in ('on', 'remote_apply')`

// steady is the session of the committer. Its statements are few and always
// the same, and each finds its rows by an index: a plan that was made while a
// table was small must not scan it when it is large. The time-outs end what a
// lost client left at the server.
const steady = `select set_config(name, value, false) from (values
	('plan_cache_mode', 'force_generic_plan'), ('enable_seqscan', 'off'), ('jit', 'off'),
	('lock_timeout', '1500ms'), ('statement_timeout', '5s'))
	as s (name, value)`

func (s *Store) connect(ctx context.Context, config *pgxpool.Config, url string) error {
	one := config.Copy()
	one.MaxConns, one.MinConns = 1, 1
	one.AfterConnect = setUp(durable, steady)
	config.AfterConnect = setUp(durable, `set jit = off`)
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = int32(max(8, 2*runtime.NumCPU()))
	}
	var err error
	if s.batches, err = pgxpool.NewWithConfig(ctx, one); err != nil {
		return err
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		s.batches.Close()
	}
	return err
}

func setUp(statements ...string) func(context.Context, *pgx.Conn) error {
	return func(ctx context.Context, c *pgx.Conn) error {
		for _, q := range statements {
			if _, err := c.Exec(ctx, q); err != nil {
				return err
			}
		}
		return nil
	}
}

// Close commits what waits, then closes the connections.
func (s *Store) Close() error {
	s.committer.close()
	s.batches.Close()
	s.pool.Close()
	return nil
}

// SchemaVersion is the version that the database's schema has.
func (s *Store) SchemaVersion() int64 { return s.version }

// AppRole is the role that may add to the trail and never change it.
const AppRole = "stet_app"

// HasAppRole reports whether the database has [AppRole] with what it needs. It
// lacks it where the login that migrated may not make roles.
func (s *Store) HasAppRole(ctx context.Context) (bool, error) {
	var has bool
	err := s.pool.QueryRow(ctx, `select coalesce((select has_table_privilege(r.oid, 'audit_row'::regclass, 'insert')
		from pg_roles r where r.rolname = $1), false)`, AppRole).Scan(&has)
	return has, asAudit(err)
}

// clock is the time by which a statement goes: its first argument, null for the
// database's own.
func (s *Store) clock() *int64 {
	if s.now == nil {
		return nil
	}
	n := s.now().UnixMicro()
	return &n
}
