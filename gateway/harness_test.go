package gateway_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"stet/arms"
	"stet/audit"
	"stet/audit/sqlite"
	"stet/gateway"
	"stet/gateway/bind"
	"stet/gateway/locus"
	"stet/gateway/outcome"
	"stet/gateway/turn"
	"stet/ledger"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// house is a gateway over a real store and a double of a platform.
type house struct {
	t        *testing.T
	gw       *gateway.Gateway
	arm      *double
	store    *sqlite.Store
	trail    *audit.Recorder
	resolver *gateway.Resolver
	reg      *prometheus.Registry
	skew     atomic.Int64
	waiting  atomic.Int64 // openings that were told to wait, once each
}

type change func(*gateway.Options)

// countWaits is a change that counts in waiting; build knows it.
func countWaits(o *gateway.Options) {
	o.Recorder = &waitCounter{Recorder: o.Recorder.(*audit.Recorder), seen: map[string]bool{}}
}

type waitCounter struct {
	*audit.Recorder
	mu   sync.Mutex
	seen map[string]bool
	n    *atomic.Int64
}

func (w *waitCounter) Open(ctx context.Context, q audit.OpenRequest) (audit.Opening, error) {
	o, err := w.Recorder.Open(ctx, q)
	if o.State == audit.Wait {
		w.mu.Lock()
		defer w.mu.Unlock()
		if !w.seen[q.Attempt.ID] {
			w.seen[q.Attempt.ID] = true
			w.n.Add(1)
		}
	}
	return o, err
}

// now is the house's clock: the real one, moved on by what a test adds.
func (h *house) now() time.Time { return time.Now().Add(time.Duration(h.skew.Load())) }

func (h *house) advance(d time.Duration) { h.skew.Add(int64(d)) }

func build(t *testing.T, changes ...change) *house {
	t.Helper()
	h := &house{t: t, arm: newDouble(), reg: prometheus.NewRegistry()}
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "stet.db"), Now: h.now})
	if err != nil {
		t.Fatal(err)
	}
	h.store = store
	registry, err := arms.NewRegistry(h.arm, mute{h.arm})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	metrics := gateway.NewMetrics(h.reg, registry.Platforms())
	h.trail = audit.NewRecorder(store, audit.NewMetrics(h.reg, registry.Platforms(), func() float64 { return 0 }), log)
	h.trail.Start()
	window := func(locus.Locus) time.Duration { return 4 * time.Hour }
	h.resolver = gateway.NewResolver(gateway.ResolverOptions{
		Arms: registry, Trail: h.trail, Metrics: metrics, Logger: log, Window: window,
		PlatformTimeout: time.Second, Now: h.now,
	})
	o := gateway.Options{
		Arms: registry, Recorder: h.trail, Posts: ledger.New(store), Metrics: metrics, Logger: log,
		Boot: "boot-1", Window: window, PlatformTimeout: 15 * time.Second, MaxWait: 10 * time.Second,
	}
	for _, c := range changes {
		c(&o)
	}
	if w, ok := o.Recorder.(*waitCounter); ok {
		w.n = &h.waiting
	}
	if h.gw, err = gateway.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.trail.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// turn opens a turn in the double's channel c1 and returns it as the door
// would see it now.
func (h *house) turn(changes ...func(*turn.Turn)) turn.Turn {
	h.t.Helper()
	_, token := bind.Mint(bind.TurnToken)
	t := turn.Turn{
		ID: audit.NewID(), Org: "acme", Session: "s1", Workspace: "w1", Surface: "team-chat", Principal: "bot-1",
		Creator: "ann", WakeID: "wake-1", Locus: locus.Locus{Platform: place, Workspace: "w1", Channel: "c1"},
		Route: locus.Wake, Bound: string(place), OpenedAt: h.now(), ExpiresAt: h.now().Add(time.Hour),
	}
	for _, c := range changes {
		c(&t)
	}
	if err := h.store.OpenTurn(h.t.Context(), t, token); err != nil {
		h.t.Fatal(err)
	}
	return t
}

// fresh is the turn with its marks as they stand.
func (h *house) fresh(t turn.Turn) turn.Turn {
	h.t.Helper()
	now, err := h.store.Turn(h.t.Context(), t.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	return now
}

func say(text string) gateway.ReplyRequest {
	return gateway.ReplyRequest{Text: gateway.Text{Body: text}, Format: arms.Markdown}
}

func change1(id, text string) gateway.EditRequest {
	return gateway.EditRequest{ID: arms.MessageID(id), Text: gateway.Text{Body: text}, Format: arms.Markdown}
}

func (h *house) post(t turn.Turn, text string) gateway.Answer {
	h.t.Helper()
	a, err := h.gw.Reply(h.t.Context(), t, say(text))
	if err != nil {
		h.t.Fatalf("reply: %v", err)
	}
	return a
}

// problem reads the error of a verb.
func problem(t *testing.T, err error) *gateway.Problem {
	t.Helper()
	var p *gateway.Problem
	if !errors.As(err, &p) {
		t.Fatalf("got %v, want a problem", err)
	}
	return p
}

// trailOf reads all rows of an attempt, outcome first.
func (h *house) trailOf(attempt string) []audit.Row {
	h.t.Helper()
	var rows []audit.Row
	f := audit.Filter{Equal: map[audit.Column][]string{"attempt": {attempt}}}
	if err := h.store.Each(h.t.Context(), f, func(r audit.Row) error { rows = append(rows, r); return nil }); err != nil {
		h.t.Fatal(err)
	}
	return rows
}

// outcomeOf reads the one outcome row of an attempt and fails on any other number.
func (h *house) outcomeOf(attempt string) audit.Row {
	h.t.Helper()
	var found []audit.Row
	for _, r := range h.trailOf(attempt) {
		if r.Kind == audit.Outcome {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		h.t.Fatalf("attempt %s has %d outcome rows, want 1: %+v", attempt, len(found), found)
	}
	return found[0]
}

func (h *house) countRows() int64 {
	h.t.Helper()
	groups, err := h.store.Count(h.t.Context(), audit.Filter{}, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	var n int64
	for _, g := range groups {
		n += g.Rows
	}
	return n
}

// verbs runs a case for each verb against a message that is there.
func (h *house) act(v outcome.Verb, t turn.Turn, id string) (gateway.Answer, error) {
	switch v {
	case outcome.Reply:
		return h.gw.Reply(h.t.Context(), t, say("next"))
	case outcome.Edit:
		return h.gw.Edit(h.t.Context(), t, change1(id, "changed"))
	default:
		return h.gw.Retract(h.t.Context(), t, gateway.RetractRequest{ID: arms.MessageID(id)})
	}
}
