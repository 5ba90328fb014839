package redisstore_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"stet/arms"
	"stet/audit"
	"stet/audit/sqlite"
	"stet/gateway/bind"
	"stet/gateway/locus"
	"stet/gateway/outcome"
	"stet/gateway/turn"
	"stet/ledger"
	"stet/ledger/redisstore"
	"stet/ledger/redisstore/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what has to happen.
const patience = 20 * time.Second

// deployment is an authority with Redis in front of it.
type deployment struct {
	testing.TB
	ctx    context.Context
	redis  *redistest.Server
	store  *redisstore.Store
	sql    *sqlite.Store
	counts *counting
	ledger *ledger.Ledger
	reg    *prometheus.Registry
	points chan string
}

type change func(*redisstore.Options)

func toURL(url string) change { return func(o *redisstore.Options) { o.URL = url } }

// deploy opens a fresh deployment; without a server it starts one.
func deploy(t testing.TB, server *redistest.Server, changes ...change) *deployment {
	t.Helper()
	if server == nil {
		server = redistest.Start(t)
	}
	d := &deployment{TB: t, ctx: context.Background(), redis: server, reg: prometheus.NewRegistry(), points: make(chan string, 10_000)}
	d.sql = openSQL(t, nil)
	d.counts = &counting{Store: d.sql}
	o := redisstore.Options{
		URL: server.URL, Source: d.sql, Registerer: d.reg,
		Probe: func(p string) {
			select {
			case d.points <- p:
			default: // nobody waits for so many
			}
		},
	}
	for _, c := range changes {
		c(&o)
	}
	d.store = open(t, o)
	d.ledger = ledger.New(d.counts, ledger.WithCache(d.store, nil))
	return d
}

func open(t testing.TB, o redisstore.Options) *redisstore.Store {
	t.Helper()
	s, err := redisstore.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func openSQL(t testing.TB, now func() time.Time) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "stet.db"), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// run runs the background work until the test ends and waits until Redis is
// known to be whole.
func (d *deployment) run() {
	d.Helper()
	d.start()
	d.wait("whole")
}

func (d *deployment) start() {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { d.store.Run(ctx) })
	d.Cleanup(func() { cancel(); wg.Wait() })
}

// wait waits for a point of the background work.
func (d *deployment) wait(point string) {
	d.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	var seen []string
	for {
		select {
		case p := <-d.points:
			if p == point {
				return
			}
			seen = append(seen, p)
		case <-late.C:
			d.Fatalf("%q never came, only %v", point, seen)
		}
	}
}

// counting counts the questions to the authority.
type counting struct {
	ledger.Store
	mu    sync.Mutex
	asked []string
}

func (c *counting) Entries(ctx context.Context, org string, id arms.MessageID) ([]ledger.Entry, time.Time, error) {
	c.mu.Lock()
	c.asked = append(c.asked, org+" "+string(id))
	c.mu.Unlock()
	return c.Store.Entries(ctx, org, id)
}

func (c *counting) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := c.asked
	c.asked = nil
	return asked
}

var here = locus.Locus{Platform: "room", Workspace: "w1", Channel: "general", Thread: "th"}

func entry(id string, changes ...func(*ledger.Entry)) ledger.Entry {
	now := time.Now().UTC().Truncate(time.Microsecond)
	e := ledger.Entry{
		Key:   ledger.Key{Org: "acme", Platform: here.Platform, Workspace: here.Workspace, Channel: here.Channel, ID: arms.MessageID(id)},
		Reply: arms.MessageID(id), Thread: "th", Session: "s1", PostedAt: now, EditableUntil: now.Add(time.Hour),
	}
	for _, c := range changes {
		c(&e)
	}
	return e
}

func query(id string) ledger.Query {
	return ledger.Query{Org: "acme", Session: "s1", At: here, ID: arms.MessageID(id)}
}

// expect looks a message up and says how it has to be answered: by whom, and
// what the cache said.
func (d *deployment) expect(id string, own bool, early ledger.Early) {
	d.Helper()
	d.counts.take()
	began := time.Now()
	got, err := d.ledger.Look(d.ctx, query(id))
	if err != nil {
		d.Fatalf("look at %s: %v", id, err)
	}
	if got.Own != own || got.Early != early {
		d.Errorf("%s: own %v early %q, want %v %q", id, got.Own, got.Early, own, early)
	}
	asked := d.counts.take()
	if early == ledger.EarlyOwn && len(asked) != 0 || early != ledger.EarlyOwn && !slices.Equal(asked, []string{"acme " + id}) {
		d.Errorf("%s: the authority was asked %v", id, asked)
	}
	if took := time.Since(began); took > time.Second {
		d.Errorf("%s: the look took %s", id, took)
	}
}

// poster brings messages into the authority as outcomes.
type poster struct {
	testing.TB
	s *sqlite.Store
}

func (p poster) attempt(e ledger.Entry, v outcome.Verb) audit.Attempt {
	p.Helper()
	at := locus.Locus{
		Platform: e.Platform, Workspace: e.Workspace, Channel: e.Channel, Thread: e.Thread,
		ServiceURL: e.ServiceURL, Organization: e.Organization,
	}
	t := turn.Turn{
		ID: audit.NewID(), Org: e.Org, Session: e.Session, DryRun: e.DryRun, Locus: at,
		ExpiresAt: time.Now().Add(1000 * time.Hour),
	}
	p.no(p.s.OpenTurn(context.Background(), t, bind.Token{ID: t.ID, Hash: []byte("hash")}))
	return audit.Attempt{ID: audit.NewID(), Verb: v, Turn: t, Target: e.ID, Place: at}
}

// open opens an attempt, or is refused.
func (p poster) open(a audit.Attempt) audit.Opening {
	p.Helper()
	o, err := p.s.Open(context.Background(), audit.OpenRequest{
		Attempt: a, Budget: time.Second,
		Refused: func(f audit.Refusal) audit.Row {
			return audit.Row{ID: audit.NewID(), Outcome: f.Outcome, Reason: f.Reason, Code: f.Code}
		},
	})
	p.no(err)
	return o
}

func (p poster) settle(a audit.Attempt, s audit.Settlement) {
	p.Helper()
	if o := p.open(a); o.State != audit.Opened {
		p.Fatalf("opening %q", o.State)
	}
	s.Attempt = a
	s.Row = audit.Row{ID: audit.NewID(), Outcome: outcome.Applied}
	_, err := p.s.Settle(context.Background(), s)
	p.no(err)
}

func (p poster) post(e ledger.Entry) {
	p.Helper()
	p.settle(p.attempt(e, outcome.Reply), audit.Settlement{
		Posts: []ledger.Entry{e}, Window: e.EditableUntil.Sub(e.PostedAt),
	})
}

func (p poster) close(e ledger.Entry) {
	p.Helper()
	p.settle(p.attempt(e, outcome.Retract), audit.Settlement{Close: true})
}

func (p poster) no(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (d *deployment) post(ids ...string) {
	d.Helper()
	for _, id := range ids {
		poster{d.TB, d.sql}.post(entry(id))
	}
}

// failures sums a counter of the store over labels that hold the text.
func (d *deployment) counter(name, holds string) (sum float64) {
	d.Helper()
	families, err := d.reg.Gather()
	if err != nil {
		d.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && strings.Contains(m.String(), holds) {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}

// suitePoster is a poster with the suite's clock.
type suitePoster struct {
	s   *sqlite.Store
	now func() time.Time
	testing.TB
}

func (p suitePoster) post(e ledger.Entry) {
	p.Helper()
	poster{p.TB, p.s}.settle(poster{p.TB, p.s}.attempt(e, outcome.Reply), audit.Settlement{
		Posts: []ledger.Entry{e}, Window: e.EditableUntil.Sub(p.now()),
	})
}

func (p suitePoster) close(e ledger.Entry) {
	p.Helper()
	poster{p.TB, p.s}.close(e)
}
