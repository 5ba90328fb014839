package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/audit"
	"stet/audit/sqldb"
	"stet/audit/sqlite"
	"stet/gateway/outcome"
)

func TestTheFileIsItsOwnersAloneAndSurvivesAReopening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stet.db")
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	tn := benchTurn(t, s)
	openSettle(t, s, tn)
	version := s.SchemaVersion()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	again := openStore(t, sqlite.Options{Path: path})
	rows, err := again.Query(t.Context(), audit.Filter{}, audit.Page{})
	if err != nil || len(rows) != 1 || again.SchemaVersion() != version || version < 1 {
		t.Errorf("%d rows, version %d then %d, %v", len(rows), version, again.SchemaVersion(), err)
	}
}

func TestANewerSchemaIsNotOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stet.db")
	s := openStore(t, sqlite.Options{Path: path})
	if err := s.ExecForTest(t.Context(),
		"insert into goose_db_version (version_id, is_applied) values (9999, 1)"); err != nil {
		t.Fatal(err)
	}
	if other, err := sqlite.Open(t.Context(), sqlite.Options{Path: path}); err == nil {
		_ = other.Close()
		t.Error("an older program was let onto a newer schema")
	}
}

func TestAStoppedStoreIsUnavailable(t *testing.T) {
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "stet.db")})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Probe(t.Context()); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("probe: %v", err)
	}
	if _, err := s.Query(t.Context(), audit.Filter{}, audit.Page{}); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("query: %v", err)
	}
	if _, _, err := s.Entries(t.Context(), "acme", "m1"); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("entries: %v", err)
	}
}

// TestI2ALockedFileLetsNothingOpen: while another process holds the write
// lock, openings fail in bounded time and leave nothing; afterwards the service
// returns by itself.
func TestI2ALockedFileLetsNothingOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stet.db")
	s := openStore(t, sqlite.Options{Path: path})
	tn := benchTurn(t, s)
	other, err := sqldb.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	lock, err := other.Write.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			a := audit.Attempt{ID: audit.NewID(), Verb: outcome.Reply, Turn: tn}
			o, err := s.Open(context.Background(), audit.OpenRequest{Attempt: a, Budget: time.Minute})
			if !errors.Is(err, audit.ErrUnavailable) || o.State != "" {
				t.Errorf("opening %q, %v", o.State, err)
			}
		})
	}
	wg.Wait()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	if _, err := s.Turn(t.Context(), tn.ID); err != nil {
		t.Errorf("reading stopped too: %v", err)
	}
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	openSettle(t, s, tn)
	if n, err := s.CountForTest(t.Context(), "attempt"); err != nil || n != 1 {
		t.Errorf("%d attempts, want the last one alone, %v", n, err)
	}
}

func TestAFullFileIsUnavailableAndComesBack(t *testing.T) {
	s := openStore(t, sqlite.Options{})
	tn := benchTurn(t, s)
	ctx := t.Context()
	if err := s.ExecForTest(ctx, "pragma max_page_count = 1"); err != nil { // SQLite takes the pages in use
		t.Fatal(err)
	}
	var failed error
	for range 200 {
		r := benchRow(tn, outcome.Refused)
		a := audit.Attempt{ID: audit.NewID(), Verb: outcome.Reply, Turn: tn}
		if failed = s.Refuse(ctx, audit.Refused{Attempt: a, Row: r}); failed != nil {
			if _, err := s.Row(ctx, r.ID); !errors.Is(err, audit.ErrNotFound) {
				t.Errorf("the row that failed: %v", err)
			}
			break
		}
	}
	if !errors.Is(failed, audit.ErrUnavailable) || !strings.HasSuffix(failed.Error(), ": full") {
		t.Fatalf("a full file: %v", failed)
	}
	if err := s.ExecForTest(ctx, "pragma max_page_count = 100000"); err != nil {
		t.Fatal(err)
	}
	openSettle(t, s, tn)
}

func TestAFullQueueIsOverloaded(t *testing.T) {
	s := openStore(t, sqlite.Options{QueueDepth: 1})
	tn := benchTurn(t, s)
	if err := s.CloseTurn(t.Context(), tn.ID); err != nil {
		t.Fatal(err)
	}
	entered, leave := make(chan struct{}), make(chan struct{})
	blocker := audit.OpenRequest{
		Attempt: audit.Attempt{ID: audit.NewID(), Verb: outcome.Reply, Turn: tn},
		Refused: func(audit.Refusal) audit.Row {
			close(entered)
			<-leave
			return benchRow(tn, outcome.Refused)
		},
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := s.Open(context.Background(), blocker); err != nil {
			t.Error(err)
		}
	})
	<-entered
	results := make(chan error, 3)
	for range cap(results) {
		go func() { results <- s.Probe(context.Background()) }()
	}
	for range cap(results) - 1 { // one of them has the only place
		if err := <-results; !errors.Is(err, audit.ErrOverloaded) {
			t.Errorf("error %v, want overloaded", err)
		}
	}
	close(leave)
	wg.Wait()
	if err := <-results; err != nil {
		t.Errorf("the one that waited: %v", err)
	}
}

func TestACallerThatLeavesInTheCommitIsUnconfirmed(t *testing.T) {
	s := openStore(t, sqlite.Options{})
	tn := benchTurn(t, s)
	if err := s.CloseTurn(t.Context(), tn.ID); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	returned := make(chan struct{})
	row := benchRow(tn, outcome.Refused)
	r := audit.OpenRequest{
		Attempt: audit.Attempt{ID: audit.NewID(), Verb: outcome.Reply, Turn: tn},
		Refused: func(audit.Refusal) audit.Row {
			cancel()
			<-returned
			return row
		},
	}
	o, err := s.Open(ctx, r)
	close(returned)
	if !errors.Is(err, audit.ErrUnconfirmed) || o.State != "" {
		t.Fatalf("opening %q, %v", o.State, err)
	}
	// It was committed all the same, and the same call again says so.
	r.Refused = func(audit.Refusal) audit.Row { return benchRow(tn, outcome.Refused) }
	o, err = s.Open(t.Context(), r)
	if err != nil || o.State != audit.Ended || o.Row.ID != row.ID {
		t.Errorf("opening %q with row %s, %v", o.State, o.Row.ID, err)
	}
}

func TestI6ErrorsHoldNothingOfWhatWasWritten(t *testing.T) {
	s := openStore(t, sqlite.Options{})
	const canary = "canary-51f2"
	tn := benchTurn(t, s)
	tn.ID, tn.Session = canary, canary
	row := benchRow(tn, outcome.Refused)
	row.Kind = canary // not one of the kinds: the database refuses it
	err := s.Note(t.Context(), row)
	if !errors.Is(err, audit.ErrUnavailable) || strings.Contains(err.Error(), canary) {
		t.Errorf("error %v", err)
	}
	if !regexp.MustCompile(`: constraint$`).MatchString(err.Error()) {
		t.Errorf("error %v doesn't name its class", err)
	}
	if _, err := s.Turn(t.Context(), canary); err == nil || strings.Contains(err.Error(), canary) {
		t.Errorf("error %v", err)
	}
}

func TestNothingOnTheWayOfAnAttemptScansATable(t *testing.T) {
	s := openStore(t, sqlite.Options{})
	for _, q := range append(sqlite.HotForTest(), sqlite.PruneForTest()...) {
		plan, err := s.PlanForTest(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		for _, line := range strings.Split(plan, "\n") {
			if strings.HasPrefix(line, "SCAN") && !strings.Contains(line, "USING") && !strings.Contains(line, "SUBQUERY") {
				t.Errorf("%s\n%s", q, plan)
			}
		}
	}
}

func TestTheObserverIsToldOfEachCommit(t *testing.T) {
	var mu sync.Mutex
	total := 0
	s := openStore(t, sqlite.Options{Observe: func(n int, took time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		total += n
		if took < 0 {
			t.Error("a commit took negative time")
		}
	}})
	openSettle(t, s, benchTurn(t, s))
	mu.Lock()
	defer mu.Unlock()
	if total != 3 {
		t.Errorf("%d writes were observed, want 3", total)
	}
}
