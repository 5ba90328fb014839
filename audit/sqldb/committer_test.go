package sqldb_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"stet/audit/sqldb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a committer on a fresh file with one table.
type bench struct {
	testing.TB
	*sqldb.Committer
	db *sqldb.DB
	// commits is told of each commit: how many writes it carried.
	commits chan int
}

func newBench(t testing.TB, depth int) *bench {
	t.Helper()
	db, err := sqldb.Open(context.Background(), filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	one := fstest.MapFS{"00001_a.sql": {Data: []byte(
		"-- +goose Up\ncreate table a (n integer primary key autoincrement, name text not null unique);\n")}}
	if _, err := db.Migrate(context.Background(), one); err != nil {
		t.Fatal(err)
	}
	b := &bench{TB: t, db: db, commits: make(chan int, 1000)}
	b.Committer = sqldb.NewCommitter(db, depth, func(n int, _ time.Duration) { b.commits <- n })
	t.Cleanup(func() {
		b.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func insert(name string) func(context.Context, *sql.Tx) error {
	return func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "insert into a (name) values (?)", name)
		return err
	}
}

// names are what was committed, in the order of the writes.
func (b *bench) names() []string {
	b.Helper()
	rows, err := b.db.Read.QueryContext(context.Background(), "select name from a order by n")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var all []string
	for rows.Next() {
		var n string
		if err := rows.Scan(&n); err != nil {
			b.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

// hold keeps the committer busy inside a write until the answer is called.
func (b *bench) hold() (release func()) {
	b.Helper()
	entered, leave, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var once sync.Once
	go func() {
		defer close(done)
		err := b.Do(context.Background(), true, func(context.Context, *sql.Tx) error {
			once.Do(func() { close(entered) })
			<-leave
			return nil
		})
		if err != nil {
			b.Error(err)
		}
	}()
	<-entered
	return func() { close(leave); <-done }
}

// start runs a write beside the test and returns once it waits in its queue.
func (b *bench) start(ctx context.Context, urgent bool, fn func(context.Context, *sql.Tx) error) <-chan error {
	b.Helper()
	before := b.Waiting()
	result := make(chan error, 1)
	go func() { result <- b.Do(ctx, urgent, fn) }()
	for b.Waiting() == before {
		runtime.Gosched()
	}
	return result
}

func (b *bench) none(results ...<-chan error) {
	b.Helper()
	for _, r := range results {
		if err := <-r; err != nil {
			b.Error(err)
		}
	}
}

func TestWritesThatWaitShareACommit(t *testing.T) {
	b := newBench(t, 100)
	release := b.hold()
	var results []<-chan error
	for _, name := range []string{"a", "b", "c", "d"} {
		results = append(results, b.start(t.Context(), false, insert(name)))
	}
	release()
	b.none(results...)
	if first, second := <-b.commits, <-b.commits; first != 1 || second != 4 {
		t.Errorf("commits carried %d and %d writes, want 1 and 4", first, second)
	}
	if got := b.names(); len(got) != 4 {
		t.Errorf("committed %v", got)
	}
}

func TestALoneWriteIsNotDelayed(t *testing.T) {
	b := newBench(t, 10)
	if err := b.Do(t.Context(), false, insert("a")); err != nil {
		t.Fatal(err)
	}
	if n := <-b.commits; n != 1 {
		t.Errorf("the commit carried %d writes", n)
	}
}

func TestUrgentWritesGoFirst(t *testing.T) {
	b := newBench(t, 1000)
	release := b.hold()
	var results []<-chan error
	for _, name := range []string{"later 1", "later 2"} {
		results = append(results, b.start(t.Context(), false, insert(name)))
	}
	for _, name := range []string{"urgent 1", "urgent 2"} {
		results = append(results, b.start(t.Context(), true, insert(name)))
	}
	release()
	b.none(results...)
	if got, want := b.names(), []string{"urgent 1", "urgent 2", "later 1", "later 2"}; !slices.Equal(got, want) {
		t.Errorf("committed %v, want %v", got, want)
	}
}

func TestAWriteAbandonedBeforeItsTurnWritesNothing(t *testing.T) {
	b := newBench(t, 10)
	release := b.hold()
	ctx, cancel := context.WithCancel(t.Context())
	var ran atomic.Bool
	result := b.start(ctx, false, func(ctx context.Context, tx *sql.Tx) error {
		ran.Store(true)
		return insert("abandoned")(ctx, tx)
	})
	cancel()
	if err := <-result; !errors.Is(err, sqldb.ErrNotCommitted) {
		t.Errorf("error %v, want not committed", err)
	}
	release()
	if err := b.Do(t.Context(), false, insert("next")); err != nil {
		t.Fatal(err)
	}
	if got := b.names(); ran.Load() || !slices.Equal(got, []string{"next"}) {
		t.Errorf("ran %v, committed %v", ran.Load(), got)
	}
}

func TestAWriteAbandonedInItsCommitIsUnknownAndMayBeThere(t *testing.T) {
	b := newBench(t, 10)
	ctx, cancel := context.WithCancel(t.Context())
	returned := make(chan struct{})
	err := b.Do(ctx, false, func(txCtx context.Context, tx *sql.Tx) error {
		cancel()
		<-returned
		return insert("late")(txCtx, tx)
	})
	close(returned)
	if !errors.Is(err, sqldb.ErrUnknown) {
		t.Errorf("error %v, want unknown", err)
	}
	b.Close()
	if got := b.names(); !slices.Equal(got, []string{"late"}) {
		t.Errorf("committed %v: a caller that gives up doesn't undo a commit under way", got)
	}
}

func TestAFullQueueSheds(t *testing.T) {
	b := newBench(t, 2)
	release := b.hold()
	results := []<-chan error{
		b.start(t.Context(), false, insert("a")), b.start(t.Context(), false, insert("b")),
	}
	if err := b.Do(t.Context(), false, insert("c")); !errors.Is(err, sqldb.ErrOverloaded) {
		t.Errorf("error %v, want overloaded", err)
	}
	// The other queue has room of its own: outcomes get in while openings wait.
	results = append(results, b.start(t.Context(), true, insert("urgent")))
	release()
	b.none(results...)
	if got, want := b.names(), []string{"urgent", "a", "b"}; !slices.Equal(got, want) {
		t.Errorf("committed %v, want %v", got, want)
	}
}

func TestAPoisonWriteFailsAlone(t *testing.T) {
	for name, poison := range map[string]func(context.Context, *sql.Tx) error{
		"an error of its own": func(context.Context, *sql.Tx) error { return errors.New("poison") },
		"a violated constraint": func(ctx context.Context, tx *sql.Tx) error {
			return errors.Join(insert("twice")(ctx, tx), insert("twice")(ctx, tx))
		},
		"a panic": func(context.Context, *sql.Tx) error { panic("poison") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 10)
			release := b.hold()
			good := []<-chan error{b.start(t.Context(), false, insert("a"))}
			bad := b.start(t.Context(), false, poison)
			good = append(good, b.start(t.Context(), false, insert("b")))
			release()
			b.none(good...)
			if <-bad == nil {
				t.Error("the poison write is confirmed")
			}
			if got := b.names(); !slices.Equal(got, []string{"a", "b"}) {
				t.Errorf("committed %v", got)
			}
			if err := b.Do(t.Context(), false, insert("after")); err != nil {
				t.Errorf("the committer didn't live on: %v", err)
			}
		})
	}
}

func TestAPanicIsItsOwnErrorAndSaysNothing(t *testing.T) {
	b := newBench(t, 10)
	err := b.Do(t.Context(), false, func(context.Context, *sql.Tx) error { panic("a secret") })
	if !errors.Is(err, sqldb.ErrPanicked) || sqldb.Class(err) != "panicked" || err.Error() != sqldb.ErrPanicked.Error() {
		t.Errorf("error %v", err)
	}
}

// lock holds the file's write lock from outside.
func (b *bench) lock() (unlock func()) {
	b.Helper()
	other, err := sqldb.Open(context.Background(), b.db.Path())
	if err != nil {
		b.Fatal(err)
	}
	tx, err := other.Write.BeginTx(context.Background(), nil)
	if err != nil {
		b.Fatal(err)
	}
	return func() {
		if err := errors.Join(tx.Rollback(), other.Close()); err != nil {
			b.Error(err)
		}
	}
}

func TestALockedFileFailsInBoundedTimeForAllThatWait(t *testing.T) {
	b := newBench(t, 100)
	unlock := b.lock()
	began := time.Now()
	var results []<-chan error
	for range 20 {
		r := make(chan error, 1)
		go func() { r <- b.Do(context.Background(), false, insert("never")) }()
		results = append(results, r)
	}
	for _, r := range results {
		if err := <-r; err == nil || errors.Is(err, sqldb.ErrUnknown) || sqldb.Class(err) != "locked" {
			t.Errorf("error %v of class %s, want locked", err, sqldb.Class(err))
		}
	}
	// Two waits for the lock at most: that of the write that came first, and
	// that of all the others together.
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("it took %v", took)
	}
	unlock()
	if err := b.Do(t.Context(), false, insert("after")); err != nil {
		t.Errorf("the committer didn't live on: %v", err)
	}
	if got := b.names(); !slices.Equal(got, []string{"after"}) {
		t.Errorf("committed %v", got)
	}
}

func TestACallerOfALockedFileCanGiveUpEarlier(t *testing.T) {
	b := newBench(t, 10)
	defer b.lock()()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	err := b.Do(ctx, false, insert("never"))
	if !errors.Is(err, sqldb.ErrUnknown) && !errors.Is(err, sqldb.ErrNotCommitted) {
		t.Errorf("error %v", err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestCloseDrainsWhatWaitsAndRefusesTheRest(t *testing.T) {
	b := newBench(t, 100)
	release := b.hold()
	results := []<-chan error{
		b.start(t.Context(), false, insert("a")), b.start(t.Context(), true, insert("b")),
	}
	closed := make(chan struct{})
	go func() { b.Close(); close(closed) }()
	release()
	b.none(results...)
	<-closed
	b.Close() // a second time is fine
	if err := b.Do(t.Context(), true, insert("c")); !errors.Is(err, sqldb.ErrClosed) {
		t.Errorf("error %v, want closed", err)
	}
	if got := b.names(); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("committed %v", got)
	}
}

func TestMoreWritesThanABatchHoldAreAllCommitted(t *testing.T) {
	b := newBench(t, 2000)
	release := b.hold()
	const writes = 600
	var wg sync.WaitGroup
	var failed atomic.Int32
	for i := range writes {
		wg.Go(func() {
			if b.Do(context.Background(), i%2 == 0, insert(time.Duration(i).String())) != nil {
				failed.Add(1)
			}
		})
	}
	release()
	wg.Wait()
	if n := len(b.names()); n != writes || failed.Load() != 0 {
		t.Errorf("%d committed, %d failed, of %d", n, failed.Load(), writes)
	}
}

func TestClassKnowsTheCommittersOwnErrors(t *testing.T) {
	for err, want := range map[error]string{
		nil: "none", sqldb.ErrOverloaded: "overloaded", sqldb.ErrClosed: "stopped",
		sqldb.ErrNotCommitted: "gave-up-waiting", context.DeadlineExceeded: "gave-up-waiting",
		errors.New("secret"): "unknown",
	} {
		if got := sqldb.Class(err); got != want {
			t.Errorf("class of %v is %s, want %s", err, got, want)
		}
	}
}
