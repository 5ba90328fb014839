package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"stet/audit"
	"stet/audit/sqldb"
	"stet/gateway/bind"
	"stet/ledger"
)

//go:embed migrations/*.sql
var migrations embed.FS

// defaultDepth bounds the writes that wait for a commit, per queue.
const defaultDepth = 1024

// Options is how a store is opened. Only Path is required.
type Options struct {
	// Path is the database file; it is created, for its owner alone.
	Path string
	// Now is the store's clock; nil: [time.Now].
	Now func() time.Time
	// Observe is told of each commit; nil: nobody.
	Observe sqldb.Observer
	// QueueDepth bounds the writes that wait, per queue; 0: 1024. More than
	// that is [audit.ErrOverloaded].
	QueueDepth int
	// TranscriptKeep is how long a reported tool call is kept; 0: for good.
	TranscriptKeep time.Duration
}

// Store is the whole memory of one deployment. It is safe for concurrent use.
type Store struct {
	db             *sqldb.DB
	committer      *sqldb.Committer
	now            func() time.Time
	transcriptKeep time.Duration
	version        int64
	// hot statements, prepared for the writing connection and for the readers.
	writes, reads map[string]*sql.Stmt
}

var (
	_ audit.Store       = (*Store)(nil)
	_ audit.Reader      = (*Store)(nil)
	_ ledger.Store      = (*Store)(nil)
	_ bind.SessionStore = (*Store)(nil)
	_ bind.TurnStore    = (*Store)(nil)
	_ bind.KeyStore     = (*Store)(nil)
)

// Open opens or creates the database file and brings its schema up to date. A
// schema that is newer than this program is an error.
func Open(ctx context.Context, o Options) (*Store, error) {
	db, err := sqldb.Open(ctx, o.Path)
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, now: o.Now, transcriptKeep: o.TranscriptKeep}
	if s.now == nil {
		s.now = time.Now
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.release())
	}
	depth := o.QueueDepth
	if depth <= 0 {
		depth = defaultDepth
	}
	s.committer = sqldb.NewCommitter(db, depth, o.Observe)
	return s, nil
}

func (s *Store) prepare(ctx context.Context) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	if s.version, err = s.db.Migrate(ctx, files); err != nil {
		return err
	}
	if s.writes, err = prepareAll(ctx, s.db.Write, hotWrites); err != nil {
		return err
	}
	s.reads, err = prepareAll(ctx, s.db.Read, hotReads)
	return err
}

// prepareAll prepares statements once, so that a write doesn't compile them
// again; a lone writing connection could not be asked for one in the middle of
// a transaction.
func prepareAll(ctx context.Context, db *sql.DB, texts []string) (map[string]*sql.Stmt, error) {
	all := make(map[string]*sql.Stmt, len(texts))
	for _, q := range texts {
		st, err := db.PrepareContext(ctx, q)
		if err != nil {
			return all, fmt.Errorf("prepare %q: %w", q, err)
		}
		all[q] = st
	}
	return all, nil
}

// Close commits what waits, then closes the file.
func (s *Store) Close() error {
	s.committer.Close()
	return s.release()
}

func (s *Store) release() error {
	var errs []error
	for _, set := range []map[string]*sql.Stmt{s.writes, s.reads} {
		for _, st := range set {
			errs = append(errs, st.Close())
		}
	}
	return errors.Join(append(errs, s.db.Close())...)
}

// SchemaVersion is the version that the database's schema has.
func (s *Store) SchemaVersion() int64 { return s.version }

// clock is the store's time at the precision that it keeps.
func (s *Store) clock() time.Time { return s.now().UTC().Truncate(time.Microsecond) }
