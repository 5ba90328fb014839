package postgres_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"stet/audit"
	"stet/audit/postgres"
	"stet/audit/postgres/pgtest"
	"stet/gateway/outcome"
	"stet/gateway/turn"
)

func TestAStoppedStoreIsUnavailable(t *testing.T) {
	s, err := postgres.Open(t.Context(), postgres.Options{URL: pgtest.Schema(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"probe":   func() error { return s.Probe(t.Context()) },
		"open":    func() error { _, err := s.Open(t.Context(), audit.OpenRequest{}); return err },
		"query":   func() error { _, err := s.Query(t.Context(), audit.Filter{}, audit.Page{}); return err },
		"entries": func() error { _, _, err := s.Entries(t.Context(), "acme", "m1"); return err },
	} {
		if err := call(); !errors.Is(err, audit.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAURLThatIsWrongIsAnErrorWithoutItsPassword(t *testing.T) {
	const secret = "hunter2-51f2"
	for _, url := range []string{
		"postgres://me:" + secret + "@%zz/db", "postgres://me:" + secret + "@127.0.0.1:1/db?connect_timeout=2",
		"postgres://me:" + secret + "@127.0.0.1/db?pool_max_conns=many", "nonsense password=" + secret,
	} {
		s, err := postgres.Open(t.Context(), postgres.Options{URL: url})
		if err == nil {
			_ = s.Close()
			t.Fatalf("%s was opened", url)
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error holds the password: %v", err)
		}
	}
}

// lockTurn holds a turn's row from outside until the answer is called.
func lockTurn(t *testing.T, url string, id string) (unlock func()) {
	t.Helper()
	c, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(context.Background(), "begin"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(context.Background(), "select 1 from turn where id = $1 for update", id); err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() { _ = c.Close(context.Background()) })
}

// TestALockFromOutsideFailsItsOwnWriteAlone: what waits for a row that somebody
// holds gives up in bounded time, and what came with it is written.
func TestALockFromOutsideFailsItsOwnWriteAlone(t *testing.T) {
	url := pgtest.Schema(t)
	s := openStore(t, postgres.Options{URL: url})
	held, free := benchTurn(t, s), benchTurn(t, s)
	defer lockTurn(t, url, held.ID)()
	var wg sync.WaitGroup
	began := time.Now()
	var good atomic.Int32
	for i := range 8 {
		wg.Go(func() {
			tn := free
			if i == 0 {
				tn = held
			}
			o, err := s.Open(context.Background(), reply(tn))
			if i == 0 && (!errors.Is(err, audit.ErrUnavailable) || o.State != "") {
				t.Errorf("the write that met the lock: %q, %v", o.State, err)
			}
			if i != 0 && err == nil {
				good.Add(1)
			}
		})
	}
	wg.Wait()
	if took := time.Since(began); good.Load() != 7 || took > 8*time.Second {
		t.Errorf("%d of 7 others were written, in %v", good.Load(), took)
	}
	if n, err := s.CountForTest(t.Context(), "attempt"); err != nil || n != 7 {
		t.Errorf("%d attempts, %v", n, err)
	}
}

func TestAFullQueueIsOverloaded(t *testing.T) {
	url := pgtest.Schema(t)
	s := openStore(t, postgres.Options{URL: url, QueueDepth: 1})
	tn := benchTurn(t, s)
	openSettle(t, s, tn)
	unlock := lockTurn(t, url, tn.ID)
	defer unlock()
	first := make(chan error, 1)
	go func() { _, err := s.Open(context.Background(), reply(tn)); first <- err }()
	await(t, s, func() bool { return blocked(t, s) })
	results := make(chan error, 10)
	for range cap(results) {
		go func() { _, err := s.Open(context.Background(), reply(tn)); results <- err }()
	}
	for range cap(results) - 1 { // one of them has the only place
		if err := <-results; !errors.Is(err, audit.ErrOverloaded) {
			t.Errorf("error %v, want overloaded", err)
		}
	}
	unlock()
	if err := errors.Join(<-first, <-results); err != nil {
		t.Errorf("those that had a place: %v", err)
	}
}

func TestACallerThatLeavesInTheCommitIsUnconfirmed(t *testing.T) {
	url := pgtest.Schema(t)
	s := openStore(t, postgres.Options{URL: url})
	tn := benchTurn(t, s)
	unlock := lockTurn(t, url, tn.ID)
	defer unlock()
	q := reply(tn)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if o, err := s.Open(ctx, q); !errors.Is(err, audit.ErrUnconfirmed) || o.State != "" {
		t.Fatalf("opening %q, %v", o.State, err)
	}
	unlock()
	// It was committed all the same, or still will be; the same call says so.
	if o, err := s.Open(t.Context(), q); err != nil || o.State != audit.Opened {
		t.Errorf("opening %q, %v", o.State, err)
	}
	if n, err := s.OpenAttempts(t.Context()); err != nil || n != 1 {
		t.Errorf("%d attempts are open, %v", n, err)
	}
}

func TestACallerThatLeavesBeforeItsTurnWritesNothing(t *testing.T) {
	url := pgtest.Schema(t)
	s := openStore(t, postgres.Options{URL: url})
	tn, other := benchTurn(t, s), benchTurn(t, s)
	unlock := lockTurn(t, url, tn.ID)
	defer unlock()
	first := make(chan error, 1)
	go func() { _, err := s.Open(context.Background(), reply(tn)); first <- err }()
	await(t, s, func() bool { return s.WaitingForTest() == 0 && blocked(t, s) })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	q := reply(other)
	if _, err := s.Open(ctx, q); !errors.Is(err, audit.ErrUnavailable) || !strings.HasSuffix(err.Error(), "gave-up-waiting") {
		t.Errorf("error %v", err)
	}
	unlock()
	if err := <-first; err != nil {
		t.Error(err)
	}
	if err := s.Refuse(t.Context(), audit.Refused{Attempt: q.Attempt, Row: benchRow(other, outcome.Refused)}); err != nil {
		t.Fatal(err)
	}
	if n, err := s.CountForTest(t.Context(), "audit_row"); err != nil || n != 1 {
		t.Errorf("%d rows: the attempt was there, %v", n, err)
	}
}

// blocked reports that a session of this test's schema waits for a lock.
func blocked(t *testing.T, s *postgres.Store) bool {
	t.Helper()
	n, err := s.CountForTest(t.Context(), "pg_stat_activity where wait_event_type = 'Lock' and application_name = 'stet'")
	if err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// TestAPoisonWriteFailsAlone: a write that the database refuses doesn't sink
// those that share its commit.
func TestAPoisonWriteFailsAlone(t *testing.T) {
	s := openStore(t, postgres.Options{})
	tn := benchTurn(t, s)
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			row := benchRow(tn, outcome.Refused)
			if i%4 == 0 {
				row.Detail = []byte("this is no JSON")
			}
			err := s.Refuse(context.Background(), audit.Refused{
				Attempt: audit.Attempt{ID: audit.NewID(), Verb: outcome.Reply, Turn: tn}, Row: row,
			})
			if (err != nil) != (i%4 == 0) {
				t.Errorf("write %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if n, err := s.CountForTest(t.Context(), "audit_row"); err != nil || n != 30 {
		t.Errorf("%d rows, want 30, %v", n, err)
	}
}

func TestI6ErrorsHoldNothingOfWhatWasWritten(t *testing.T) {
	s := openStore(t, postgres.Options{})
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

func TestTheObserverIsToldOfEachCommit(t *testing.T) {
	var total atomic.Int64
	s := openStore(t, postgres.Options{Observe: func(n int, took time.Duration) {
		total.Add(int64(n))
		if took < 0 {
			t.Error("a commit took negative time")
		}
	}})
	openSettle(t, s, benchTurn(t, s))
	if n := total.Load(); n != 3 {
		t.Errorf("%d writes were observed, want 3", n)
	}
}

// TestWritesThatComeTogetherShareCommits: under load a commit carries many.
func TestWritesThatComeTogetherShareCommits(t *testing.T) {
	var writes, commits atomic.Int64
	s := openStore(t, postgres.Options{Observe: func(n int, _ time.Duration) {
		writes.Add(int64(n))
		commits.Add(1)
	}})
	tn := benchTurn(t, s)
	many(t, s, tn, 64, 5)
	if per := float64(writes.Load()) / float64(commits.Load()); per < 5 {
		t.Errorf("%.1f writes a commit at 64 callers", per)
	}
}

// many opens and settles n replies from so many callers each.
func many(t testing.TB, s *postgres.Store, tn turn.Turn, callers, n int) {
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range n {
				openSettle(t, s, tn)
			}
		})
	}
	wg.Wait()
}
