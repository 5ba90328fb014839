package room

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"stet/arms/armhttp"
	"stet/audit/sqldb"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// ServerOptions says where a room keeps its messages and how it behaves.
type ServerOptions struct {
	// Path is the SQLite file; it is made if it isn't there.
	Path string
	// Listen is the address of the message interface; empty means a free port
	// on the loopback address.
	Listen string
	// Now is the clock of message times; nil means time.Now.
	Now func() time.Time
	// Logger gets what goes wrong, never a text or a token; nil means nowhere.
	Logger *slog.Logger
	// Config is the operator's part.
	Config Config
}

// Server is the platform. Its life is New, Start, Stop; each of the last two
// may be called at any time and any number of times.
type Server struct {
	db     *sqldb.DB
	read   reader
	commit *committer
	script *script
	hub    *hub
	config Config
	listen string
	token  armhttp.Secret
	log    *slog.Logger
	http   *http.Server

	heartbeat  time.Duration
	feedsEnd   chan struct{} // closed when no page feed may go on
	closeFeeds sync.Once

	stopping chan struct{} // closed when Stop begins
	stopped  chan struct{} // closed when Stop is done

	mu      sync.Mutex
	started bool
	ending  bool
	base    string
	busy    sync.WaitGroup // who may still hand a job to the committer
	loops   sync.WaitGroup
}

// NewServer opens the file, brings its schema up to date and mints the token.
// Nothing listens until [Server.Start]; a server that is never started has to
// be stopped all the same.
func NewServer(ctx context.Context, o ServerOptions) (*Server, error) {
	if err := o.Config.Validate(); err != nil {
		return nil, fmt.Errorf("room: %w", err)
	}
	db, err := open(ctx, o.Path)
	if err != nil {
		return nil, fmt.Errorf("room: %w", err)
	}
	s := &Server{
		db: db, read: reader{db.Read}, config: o.Config.withDefaults(), hub: newHub(),
		listen: o.Listen, token: armhttp.Secret(rand.Text()), log: o.Logger,
		stopping: make(chan struct{}), stopped: make(chan struct{}),
		heartbeat: defaultHeartbeat, feedsEnd: make(chan struct{}),
	}
	if s.listen == "" {
		s.listen = "127.0.0.1:0"
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	now := o.Now
	if now == nil {
		now = time.Now
	}
	s.script = newScript(s.config)
	s.commit = &committer{writes: sqldb.NewCommitter(db, commitDepth, nil), now: now, tell: s.hub.tell}
	s.http = s.newHTTP()
	return s, nil
}

func open(ctx context.Context, path string) (*sqldb.DB, error) {
	db, err := sqldb.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	files, err := fs.Sub(migrationFiles, "migrations")
	if err == nil {
		_, err = db.Migrate(ctx, files)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func (s *Server) newHTTP() *http.Server {
	return &http.Server{
		Handler:           s.api(),
		ReadHeaderTimeout: 10 * time.Second,
		// Longer than the arm keeps an idle connection, so that it is the arm
		// that closes: a request on a connection that is just being closed
		// here would be cut.
		IdleTimeout:    2 * time.Minute,
		MaxHeaderBytes: 64 << 10,
		ErrorLog:       log.New(discard{}, "", 0),
	}
}

// discard swallows what net/http logs, which may quote a request.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// Start listens and serves in the background. Starting a started server does
// nothing; a stopped one can't be started again.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ending:
		return errStopped
	case s.started:
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", s.listen)
	if err != nil {
		return fmt.Errorf("room: listen: %w", err)
	}
	s.started, s.base = true, "http://"+l.Addr().String()
	s.loops.Go(func() {
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("room: the message interface ended", "error", armhttp.Redact(err))
		}
	})
	return nil
}

// Endpoint is where the message interface listens and the token that it takes.
// The URL is empty before Start.
func (s *Server) Endpoint() (baseURL string, token armhttp.Secret) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.base, s.token
}

// Stop ends hanging requests and page feeds, lets the others finish until the
// context is over, and closes the file. Late effects that are still to come
// never come. Every call returns when the server is down.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	if s.ending {
		s.mu.Unlock()
		<-s.stopped
		return nil
	}
	s.ending = true
	s.mu.Unlock()
	defer close(s.stopped)

	s.CloseFeeds()
	close(s.stopping)
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
	}
	s.busy.Wait()
	s.commit.writes.Close()
	s.loops.Wait()
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("room: close: %w", err)
	}
	return nil
}

// enter admits somebody who will write or read; leave has to be called. It is
// false before Start and once Stop has begun.
func (s *Server) enter() (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started || s.ending {
		return nil, false
	}
	s.busy.Add(1)
	return s.busy.Done, true
}
