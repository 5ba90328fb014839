package bind_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"stet/arms"
	"stet/audit/sqlite"
	"stet/gateway/bind"
	"stet/gateway/locus"
	"stet/gateway/turn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// world is a service over a real store, at a time of its own.
type world struct {
	*testing.T
	*bind.Service
	store *sqlite.Store
	now   time.Time
	// all and acme are host keys: of all organizations and of one.
	all, acme bind.Key
}

func newWorld(t *testing.T, change ...func(*bind.ServiceOptions)) *world {
	t.Helper()
	w := &world{
		T: t, now: start,
		all:  bind.Key{ID: "all", Scopes: []bind.Scope{bind.ScopeHost}},
		acme: bind.Key{ID: "acme", Org: "acme", Scopes: []bind.Scope{bind.ScopeHost}},
	}
	clock := func() time.Time { return w.now }
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "stet.db"), Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	w.store = store
	o := bind.ServiceOptions{
		Sessions: store, Turns: store, Keys: store, Now: clock,
		CheckPlace: func(_ arms.Platform, p arms.Place) error {
			if strings.Contains(p.ServiceURL, "evil") {
				return io.ErrUnexpectedEOF
			}
			return nil
		},
	}
	for _, c := range change {
		c(&o)
	}
	w.Service = bind.NewService(o)
	return w
}

func at(channel arms.ChannelID) *locus.Locus {
	return &locus.Locus{Platform: "room", Channel: channel}
}

func session(org, id string) bind.NewSession {
	return bind.NewSession{ID: id, Org: org, Workspace: "main", Surface: "room", Principal: "bot", Locus: at("lobby")}
}

func (w *world) bindTo(k bind.Key, n bind.NewSession) bind.Session {
	w.Helper()
	s, err := w.BindSession(w.Context(), k, n)
	if err != nil {
		w.Fatal(err)
	}
	return s
}

func (w *world) openTurn(k bind.Key, n bind.NewTurn) (string, turn.Turn) {
	w.Helper()
	clear, t, err := w.OpenTurn(w.Context(), k, n)
	if err != nil {
		w.Fatal(err)
	}
	return clear, t
}

func unboundTurn(org string) bind.NewTurn {
	return bind.NewTurn{Session: "s", WakeID: "w", Org: org, Workspace: "main", Surface: "room", Principal: "bot"}
}

func TestLocusIsTheWakesElseTheBindingsElseNone(t *testing.T) {
	w := newWorld(t)
	w.bindTo(w.acme, session("", "s"))
	tests := []struct {
		name   string
		turn   bind.NewTurn
		locus  locus.Locus
		route  locus.Route
		bound  string
		onward string
	}{
		{"the wake's origin wins", bind.NewTurn{Session: "s", WakeID: "w", Origin: &locus.Locus{Platform: "chat", Channel: "c", Thread: "t", ServiceURL: "u", Organization: "o"}},
			locus.Locus{Platform: "chat", Workspace: "main", Channel: "c", Thread: "t", ServiceURL: "u", Organization: "o"}, locus.Wake, "room", "room"},
		{"else the binding", bind.NewTurn{Session: "s", WakeID: "w"},
			locus.Locus{Platform: "room", Workspace: "main", Channel: "lobby"}, locus.Binding, "room", "room"},
		{"an unbound session has the wake's alone", func() bind.NewTurn { n := unboundTurn("acme"); n.Session, n.Origin = "other", at("hall"); return n }(),
			locus.Locus{Platform: "room", Workspace: "main", Channel: "hall"}, locus.Wake, "", "room"},
		{"with neither there is none, and the turn is legal", func() bind.NewTurn { n := unboundTurn("acme"); n.Session = "other"; return n }(),
			locus.Locus{}, "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, opened := w.openTurn(w.acme, tt.turn)
			got, err := w.Turn(t.Context(), w.acme, opened.ID)
			if err != nil {
				t.Fatal(err)
			}
			if got.Locus != tt.locus || got.Route != tt.route || got.Bound != tt.bound || got.Surfaced() != tt.onward {
				t.Errorf("got %+v by %q, bound %q, shown as %q", got.Locus, got.Route, got.Bound, got.Surfaced())
			}
		})
	}
}

func TestATurnIsFrozenWhenItIsOpened(t *testing.T) {
	w := newWorld(t)
	w.bindTo(w.acme, session("", "s"))
	_, opened := w.openTurn(w.acme, bind.NewTurn{Session: "s", WakeID: "w", Creator: "ann", Refs: map[string]string{"message_id": "m"}, DryRun: true, TTL: time.Minute})
	again := session("", "s")
	again.Locus, again.Principal = at("elsewhere"), "other"
	w.bindTo(w.acme, again)
	got, err := w.Turn(t.Context(), w.all, opened.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.Locus.Channel != "lobby" || got.Principal != "bot" || got.Creator != "ann" || got.Refs["message_id"] != "m" ||
		!got.DryRun || got.Org != "acme" || !got.ExpiresAt.Equal(start.Add(time.Minute)) {
		t.Errorf("the turn became %+v", got)
	}
}

func TestADryDeploymentMakesEveryTurnADryOne(t *testing.T) {
	w := newWorld(t, func(o *bind.ServiceOptions) { o.DryRun = true })
	if _, got := w.openTurn(w.acme, unboundTurn("")); !got.DryRun {
		t.Error("a turn would have reached a platform")
	}
}

func TestOrganizationOfATurn(t *testing.T) {
	w := newWorld(t)
	w.bindTo(w.acme, session("", "one"))
	w.bindTo(w.acme, session("acme", "two"))
	w.bindTo(w.all, session("umbrella", "two"))
	tests := []struct {
		name    string
		key     bind.Key
		session string
		org     string
		want    string
		err     error
	}{
		{"a key of one organization needs no name", w.acme, "one", "", "acme", nil},
		{"and may say it", w.acme, "one", "acme", "acme", nil},
		{"but no other", w.acme, "two", "umbrella", "", bind.ErrForbidden},
		{"a session that one organization has is found", w.all, "one", "", "acme", nil},
		{"one that two have must be told apart", w.all, "two", "", "", bind.ErrAmbiguousSession},
		{"which the name does", w.all, "two", "umbrella", "umbrella", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got, err := w.OpenTurn(t.Context(), tt.key, bind.NewTurn{Session: tt.session, WakeID: "w", Org: tt.org})
			if !errors.Is(err, tt.err) || got.Org != tt.want {
				t.Errorf("got %q, %v; want %q, %v", got.Org, err, tt.want, tt.err)
			}
		})
	}
	if _, err := w.BindSession(t.Context(), w.acme, session("umbrella", "x")); !errors.Is(err, bind.ErrForbidden) {
		t.Errorf("a key bound a session of another organization: %v", err)
	}
}

func TestValuesThatBreakARuleAreNamed(t *testing.T) {
	w := newWorld(t)
	w.bindTo(w.acme, session("", "s"))
	long := strings.Repeat("é", bind.MaxHostID)
	tests := []struct {
		name  string
		field string
		do    func(context.Context) error
	}{
		{"no organization", "org", w.opens(w.all, func(n *bind.NewTurn) { n.Org = "" })},
		{"no workspace", "workspace", w.opens(w.acme, func(n *bind.NewTurn) { n.Workspace = "" })},
		{"no surface", "surface", w.opens(w.acme, func(n *bind.NewTurn) { n.Surface = "" })},
		{"no principal", "principal", w.opens(w.acme, func(n *bind.NewTurn) { n.Principal = "" })},
		{"no session", "session", w.opens(w.acme, func(n *bind.NewTurn) { n.Session = "" })},
		{"a long session", "session", w.opens(w.acme, func(n *bind.NewTurn) { n.Session = long + "x" })},
		{"a long creator", "creator", w.opens(w.acme, func(n *bind.NewTurn) { n.Creator = long + "x" })},
		{"a control character", "wake.id", w.opens(w.acme, func(n *bind.NewTurn) { n.WakeID = "a\x00b" })},
		{"a late control character", "principal", w.opens(w.acme, func(n *bind.NewTurn) { n.Principal = "a\u0085" })},
		{"invalid UTF-8", "creator", w.opens(w.acme, func(n *bind.NewTurn) { n.Creator = "\xff" })},
		{"too long a life", "ttl", w.opens(w.acme, func(n *bind.NewTurn) { n.TTL = bind.MaxTTL + 1 })},
		{"no platform", "wake.origin.platform", w.opens(w.acme, func(n *bind.NewTurn) { n.Origin = &locus.Locus{Channel: "c"} })},
		{"no channel", "wake.origin.channel", w.opens(w.acme, func(n *bind.NewTurn) { n.Origin = &locus.Locus{Platform: "room"} })},
		{"a newline in a thread", "wake.origin.thread", w.opens(w.acme, func(n *bind.NewTurn) { n.Origin = &locus.Locus{Platform: "room", Channel: "c", Thread: "\n"} })},
		{"too many refs", "wake.refs", w.opens(w.acme, func(n *bind.NewTurn) { n.Refs = manyRefs(bind.MaxRefs + 1) })},
		{"another principal than the binding's", "principal", w.opens(w.acme, func(n *bind.NewTurn) { n.Session, n.Principal = "s", "other" })},
		{"no name of a bound session", "session", w.binds(func(n *bind.NewSession) { n.ID = "" })},
		{"no workspace of a session", "workspace", w.binds(func(n *bind.NewSession) { n.Workspace = "" })},
		{"a locus without a channel", "locus.channel", w.binds(func(n *bind.NewSession) { n.Locus = at("") })},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var invalid *bind.InvalidError
			if err := tt.do(t.Context()); !errors.As(err, &invalid) || invalid.Field != tt.field || invalid.Rule == "" {
				t.Errorf("got %v, want a rule about %s", err, tt.field)
			}
		})
	}
	n := unboundTurn("")
	n.Session, n.WakeID, n.Creator, n.Principal, n.TTL, n.Refs = long, long, long, long, bind.MaxTTL, manyRefs(bind.MaxRefs)
	if _, got := w.openTurn(w.acme, n); got.Session != long || len(got.Refs) != bind.MaxRefs {
		t.Error("values at the limit did not go through")
	}
}

func (w *world) opens(k bind.Key, change func(*bind.NewTurn)) func(context.Context) error {
	n := unboundTurn("acme")
	n.Session = "unbound"
	change(&n)
	return func(ctx context.Context) error {
		_, _, err := w.OpenTurn(ctx, k, n)
		return err
	}
}

func (w *world) binds(change func(*bind.NewSession)) func(context.Context) error {
	n := session("", "x")
	change(&n)
	return func(ctx context.Context) error {
		_, err := w.BindSession(ctx, w.acme, n)
		return err
	}
}

func manyRefs(n int) map[string]string {
	refs := map[string]string{}
	for i := range n {
		refs["k"+strconv.Itoa(i)] = "v"
	}
	return refs
}

func TestAnUntrustedServiceURLOpensAndBindsNothing(t *testing.T) {
	w := newWorld(t)
	bad := &locus.Locus{Platform: "room", Channel: "c", ServiceURL: "https://evil.example"}
	n := unboundTurn("acme")
	n.Origin = bad
	if _, _, err := w.OpenTurn(t.Context(), w.acme, n); !errors.Is(err, bind.ErrUntrustedURL) {
		t.Errorf("a turn was opened: %v", err)
	}
	s := session("", "s")
	s.Locus = bad
	if _, err := w.BindSession(t.Context(), w.acme, s); !errors.Is(err, bind.ErrUntrustedURL) {
		t.Errorf("a session was bound: %v", err)
	}
	if found, err := w.store.Sessions(t.Context(), "", "s"); err != nil || len(found) != 0 {
		t.Errorf("the store has %v (%v)", found, err)
	}
}

func TestReportsAreHeldToTheTurnsOrganization(t *testing.T) {
	w := newWorld(t)
	_, opened := w.openTurn(w.acme, unboundTurn(""))
	other := bind.Key{ID: "u", Org: "umbrella"}
	ctx := t.Context()
	_, evidence := w.AddEvidence(ctx, other, opened.ID, bind.NewEvidence{Kind: "memory.write"})
	_, closing := w.CloseTurn(ctx, other, opened.ID)
	_, looking := w.Turn(ctx, other, opened.ID)
	_, unknown := w.Turn(ctx, w.all, "no-such-turn")
	for name, err := range map[string]error{
		"evidence": evidence, "close": closing, "look": looking, "unknown": unknown,
		"call":    w.AddCall(ctx, other, opened.ID, turn.Call{ID: "c", Name: "n"}),
		"message": w.SawMessage(ctx, other, opened.ID, "m"),
	} {
		if !errors.Is(err, bind.ErrNotFound) {
			t.Errorf("%s: %v, want not found", name, err)
		}
	}
	if got, err := w.Turn(ctx, w.acme, opened.ID); err != nil || !got.ClosedAt.IsZero() {
		t.Errorf("the turn was touched: %+v, %v", got, err)
	}
}

func TestEvidenceCountsInItsTurnOrForItsTimeInTheSession(t *testing.T) {
	w := newWorld(t)
	_, first := w.openTurn(w.acme, unboundTurn(""))
	for _, n := range []bind.NewEvidence{{Kind: "memory.write", Ref: "own"}, {Kind: "approval.granted", Ref: "shared", TTL: time.Minute}} {
		if _, err := w.AddEvidence(t.Context(), w.acme, first.ID, n); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []bind.NewEvidence{{Kind: "rumour"}, {Kind: "memory.write", TTL: -1}, {Kind: "memory.write", Ref: strings.Repeat("x", 513)}} {
		var invalid *bind.InvalidError
		if _, err := w.AddEvidence(t.Context(), w.acme, first.ID, n); !errors.As(err, &invalid) {
			t.Errorf("%+v was taken: %v", n, err)
		}
	}
	_, second := w.openTurn(w.acme, unboundTurn(""))
	if got := w.refs(first); got != "own shared" {
		t.Errorf("the turn has %q", got)
	}
	if got := w.refs(second); got != "shared" {
		t.Errorf("a later turn of the session has %q", got)
	}
	w.now = w.now.Add(time.Minute)
	if got := w.refs(second); got != "" {
		t.Errorf("after its time there is still %q", got)
	}
}

func (w *world) refs(t turn.Turn) string {
	w.Helper()
	all, err := w.store.Evidence(w.Context(), t)
	if err != nil {
		w.Fatal(err)
	}
	var refs []string
	for _, e := range all {
		refs = append(refs, e.Ref)
	}
	return strings.Join(refs, " ")
}

func TestTranscriptOnlyGrows(t *testing.T) {
	w := newWorld(t)
	_, opened := w.openTurn(w.acme, unboundTurn(""))
	for _, c := range []turn.Call{{ID: "c", Name: "search", Args: []byte(`{"q":1}`)}, {ID: "c", Name: "search", Result: []byte(`"found"`)}} {
		if err := w.AddCall(t.Context(), w.acme, opened.ID, c); err != nil {
			t.Fatal(err)
		}
	}
	calls, err := w.store.Calls(t.Context(), "acme", "s")
	if err != nil || len(calls) != 2 || string(calls[0].Args) != `{"q":1}` || string(calls[1].Result) != `"found"` {
		t.Errorf("the transcript is %v (%v)", calls, err)
	}
}
