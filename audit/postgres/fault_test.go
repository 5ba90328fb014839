package postgres_test

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/audit"
	"stet/audit/postgres"
	"stet/audit/postgres/pgtest"
	"stet/gateway/outcome"
	"stet/gateway/turn"
)

// proxy stands between a store and its server, and can cut what goes through.
type proxy struct {
	t      *testing.T
	listen net.Listener
	socket string
	mu     sync.Mutex
	conns  map[net.Conn]bool
	// cut is asked before an answer of the server goes back; true: the
	// connection ends instead.
	cut  func() bool
	down bool
	wg   sync.WaitGroup
}

func newProxy(t *testing.T, s *pgtest.Server) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{
		t: t, listen: l, socket: filepath.Join(s.Socket(), ".s.PGSQL.5432"),
		conns: map[net.Conn]bool{}, cut: func() bool { return false },
	}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		_ = l.Close()
		p.drop(true)
		p.wg.Wait()
	})
	return p
}

func (p *proxy) url(schema string) string {
	return "postgres://postgres@" + p.listen.Addr().String() + "/postgres?sslmode=disable&search_path=" + schema
}

func (p *proxy) accept() {
	for {
		in, err := p.listen.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("unix", p.socket)
		if err != nil || !p.keep(in, out) {
			_ = in.Close()
			continue
		}
		p.wg.Go(func() { p.requests(in, out) })
		p.wg.Go(func() { p.answers(in, out) })
	}
}

// cancelRequest begins a message that asks the server to stop a statement. A
// network that cut a connection would not deliver one either.
const cancelRequest = "\x00\x00\x00\x10\x04\xd2\x16\x2e"

func (p *proxy) requests(in, out net.Conn) {
	defer func() { _, _ = out.Close(), in.Close() }()
	first := make([]byte, len(cancelRequest))
	if _, err := io.ReadFull(in, first); err != nil || string(first) == cancelRequest {
		return
	}
	if _, err := out.Write(first); err == nil {
		_, _ = io.Copy(out, in)
	}
}

func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = true
	}
	return !p.down
}

func (p *proxy) answers(in, out net.Conn) {
	defer func() { _, _ = out.Close(), in.Close() }()
	buf := make([]byte, 1<<16)
	for {
		n, err := out.Read(buf)
		p.mu.Lock()
		cut := n > 0 && p.cut()
		p.mu.Unlock()
		if cut || err != nil {
			return
		}
		if _, err := in.Write(buf[:n]); err != nil {
			return
		}
	}
}

// drop ends every connection; down: and takes no more.
func (p *proxy) drop(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
	for c := range p.conns {
		_ = c.Close()
	}
	clear(p.conns)
}

// cutNext makes the next answer of the server, and only it, get lost.
func (p *proxy) cutNext() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = func() bool {
		p.cut = func() bool { return false }
		return true
	}
}

func reply(t turn.Turn) audit.OpenRequest {
	q := request(t, "", "text")
	q.Attempt.Verb, q.Attempt.Target, q.Unchanged = outcome.Reply, "", nil
	return q
}

// TestACommitWhoseAnswerIsLostIsUnconfirmed: the attempt may be there, so the
// caller is told that nobody knows; the same call again says what became of it.
func TestACommitWhoseAnswerIsLostIsUnconfirmed(t *testing.T) {
	schema := pgtest.Shared(t).Fresh(t)
	p := newProxy(t, pgtest.Shared(t))
	s := openStore(t, postgres.Options{URL: p.url(schema)})
	tn := benchTurn(t, s)
	warm(t, s, tn)
	for range 10 {
		q := reply(tn)
		p.cutNext()
		o, err := s.Open(t.Context(), q)
		if !errors.Is(err, audit.ErrUnconfirmed) || o.State != "" {
			t.Fatalf("opening %q, %v", o.State, err)
		}
		if err := s.Probe(t.Context()); err != nil {
			t.Fatal(err)
		}
		if o, err = s.Open(t.Context(), q); err != nil || o.State != audit.Opened {
			t.Fatalf("opening again %q, %v", o.State, err)
		}
		st := settled(q.Attempt, outcome.Applied)
		p.cutNext()
		if _, err := s.Settle(t.Context(), st); !errors.Is(err, audit.ErrUnconfirmed) {
			t.Fatalf("settling: %v", err)
		}
		end, err := s.Settle(t.Context(), st)
		if err != nil || end.Late || end.Row.ID != st.Row.ID {
			t.Fatalf("settling again %+v, %v", end, err)
		}
	}
	if n, err := s.CountForTest(t.Context(), "audit_row"); err != nil || n != 11 {
		t.Errorf("%d rows, want 11, %v", n, err)
	}
}

// TestAfterAProbeNothingUnconfirmedTurnsUp: an opening whose connection was lost
// still runs at the server; the probe comes back when that has ended.
func TestAfterAProbeNothingUnconfirmedTurnsUp(t *testing.T) {
	server := pgtest.Shared(t)
	schema := server.Fresh(t)
	p := newProxy(t, server)
	s := openStore(t, postgres.Options{URL: p.url(schema)})
	watch := openStore(t, postgres.Options{URL: server.URL(schema)})
	tn := benchTurn(t, s)
	warm(t, s, tn)
	unlock := lockTurn(t, server.URL(schema), tn.ID)
	defer unlock()
	q := reply(tn)
	opened := make(chan error, 1)
	go func() { _, err := s.Open(context.Background(), q); opened <- err }()
	await(t, watch, func() bool { return waitsFor(t, watch, "tuple", "transactionid") == 1 })
	p.drop(false)
	if err := <-opened; !errors.Is(err, audit.ErrUnconfirmed) {
		t.Fatalf("opening: %v", err)
	}
	probed := make(chan error, 1)
	go func() { probed <- s.Probe(context.Background()) }()
	await(t, watch, func() bool { return waitsFor(t, watch, "advisory") == 1 || len(probed) > 0 })
	select {
	case err := <-probed:
		t.Fatalf("the probe came back while the opening ran: %v", err)
	default:
	}
	unlock()
	if err := <-probed; err != nil {
		t.Fatal(err)
	}
	if n, err := watch.OpenAttempts(t.Context()); err != nil || n != 1 {
		t.Errorf("%d attempts are open after the probe, %v", n, err)
	}
}

// waitsFor counts the sessions that wait for locks of a kind.
func waitsFor(t *testing.T, s *postgres.Store, kinds ...string) int {
	t.Helper()
	n, err := s.CountForTest(t.Context(), "pg_stat_activity where wait_event_type = 'Lock' and wait_event in ('"+
		strings.Join(kinds, "', '")+"')")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// warm makes the committer prepare its statements.
func warm(t *testing.T, s *postgres.Store, tn turn.Turn) {
	t.Helper()
	openSettle(t, s, tn)
}

func TestAServerThatCanNotBeReachedIsUnavailable(t *testing.T) {
	schema := pgtest.Shared(t).Fresh(t)
	p := newProxy(t, pgtest.Shared(t))
	s := openStore(t, postgres.Options{URL: p.url(schema)})
	tn := benchTurn(t, s)
	warm(t, s, tn)
	p.drop(true)
	// The first write may find out by losing its connection; from then on
	// nothing can have been sent.
	_ = s.Probe(t.Context())
	_, _ = s.Open(t.Context(), reply(tn))
	for range 3 {
		if o, err := s.Open(t.Context(), reply(tn)); !errors.Is(err, audit.ErrUnavailable) || o.State != "" {
			t.Errorf("opening %q, %v", o.State, err)
		}
	}
	if err := s.Probe(t.Context()); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("probe: %v", err)
	}
	if _, _, err := s.Entries(t.Context(), "acme", "m1"); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("entries: %v", err)
	}
	p.drop(false)
	if err := s.Probe(t.Context()); err != nil {
		t.Errorf("the service didn't return: %v", err)
	}
	openSettle(t, s, tn)
}

// TestAServerThatStopsAndStarts: nothing that was confirmed is lost, nothing is
// confirmed that isn't there, and the service returns by itself.
func TestAServerThatStopsAndStarts(t *testing.T) {
	server := pgtest.Start(t)
	s := openStore(t, postgres.Options{URL: server.Schema(t)})
	tn := benchTurn(t, s)
	var mu sync.Mutex
	confirmed := map[string]bool{}
	unknown := map[string]bool{}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				r := benchRow(tn, outcome.Refused)
				a := audit.Attempt{ID: audit.NewID(), Verb: outcome.Reply, Turn: tn}
				ctx, cancel := context.WithTimeout(context.Background(), audit.CommitLimit)
				err := s.Refuse(ctx, audit.Refused{Attempt: a, Row: r})
				cancel()
				mu.Lock()
				switch {
				case err == nil:
					confirmed[r.ID] = true
				case errors.Is(err, audit.ErrUnconfirmed):
					unknown[r.ID] = true
				case !errors.Is(err, audit.ErrUnavailable) && !errors.Is(err, audit.ErrOverloaded):
					t.Errorf("error %v", err)
				}
				mu.Unlock()
			}
		})
	}
	for round, end := range []func(testing.TB){server.Stop, server.Crash} {
		await(t, s, func() bool { mu.Lock(); defer mu.Unlock(); return len(confirmed) > 100*(round+1) })
		end(t)
		if err := s.Probe(t.Context()); err == nil {
			t.Error("a probe of a server that is down")
		}
		server.Start(t)
		began := time.Now()
		for s.Probe(t.Context()) != nil && time.Since(began) < 5*time.Second {
			continue
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the service took %v to return", took)
		}
	}
	close(stop)
	wg.Wait()
	err := s.Each(t.Context(), audit.Filter{}, func(r audit.Row) error {
		if !confirmed[r.ID] && !unknown[r.ID] {
			t.Errorf("row %s is there and was said not to be", r.ID)
		}
		delete(confirmed, r.ID)
		return nil
	})
	if err != nil || len(confirmed) > 0 {
		t.Errorf("%d confirmed rows are lost, %v", len(confirmed), err)
	}
}

// await waits for something that writes in the background bring about; each
// look is a round to the server, so it doesn't spin.
func await(t *testing.T, s *postgres.Store, happened func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !happened() {
		if time.Now().After(deadline) {
			t.Fatal("it doesn't happen")
		}
		_, _ = s.OpenAttempts(t.Context())
	}
}
