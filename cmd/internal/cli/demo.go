package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"stet/arms"
	"stet/arms/room"
	"stet/audit"
	"stet/cmd/internal/app"
	"stet/cmd/internal/config"
	"stet/gateway/client"
	"stet/gateway/outcome"
	"stet/gateway/wire"
)

type demoCmd struct {
	Once bool `help:"End after the tour; exit code 0 only if every step came out as it should."`
}

// The tour's places and times.
const (
	demoOrg      = "demo"
	demoChannel  = arms.ChannelID("lobby")
	briefChannel = arms.ChannelID("brief")
	// briefWindow is the brief channel's edit window, short enough to wait for.
	briefWindow = 300 * time.Millisecond
	// tourLimit bounds the whole tour.
	tourLimit = 30 * time.Second
)

// Run takes the tour against a real gateway, then keeps it until interrupted.
func (c demoCmd) Run(r *run) (err error) {
	dir, err := os.MkdirTemp("", "stet-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	a, err := app.New(r.ctx, app.Options{Settings: demoSettings(dir), Version: r.Version})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop(a)) }()
	if err := a.Start(); err != nil {
		return err
	}
	t, err := newTour(r, a, dir)
	if err != nil {
		return err
	}
	if err := t.take(); err != nil {
		return err
	}
	if !c.Once {
		t.stay()
		<-r.ctx.Done()
	}
	if t.wrong() > 0 {
		return failed{}
	}
	return nil
}

func stop(a *app.App) error {
	ctx, cancel := context.WithTimeout(context.Background(), a.DrainTime())
	defer cancel()
	return a.Stop(ctx)
}

// demoSettings is a gateway on a free port with fresh data, that looks soon
// into what became of an ambiguous outcome.
func demoSettings(dir string) config.Settings {
	s := config.Default()
	s.Listen, s.Data, s.Arms = "127.0.0.1:0", dir, app.Sections()
	s.PlatformTimeout = 2 * time.Second
	s.Resolve.FirstLook = 150 * time.Millisecond
	s.Windows = config.Windows{room.Platform: {
		Channels: map[arms.ChannelID]time.Duration{briefChannel: briefWindow},
	}}
	return s
}

// tour is the walk through the main job. What one step learned the next uses.
type tour struct {
	*run
	app *app.App
	dir string
	// host, ops and agent are three callers with a credential each.
	host, ops, agent *client.Client
	turn             wire.OpenedTurn
	first            string
	doubtful         string
	done             []stepDone
	// expected is what each attempt's row has to say.
	expected map[string]ending
}

// ending is how an attempt has to have ended by the trail.
type ending struct {
	outcome outcome.Outcome
	code    string
}

// step is one thing that the tour shows.
type step struct {
	title, call, means string
	// text is what the call says, empty for none.
	text wire.Text
	// do answers what came back in a few words; an error says how it wasn't
	// what it should be.
	do func(context.Context) (string, error)
}

// stepDone is a step with what came of it.
type stepDone struct {
	Step   int    `json:"step"`
	Title  string `json:"title"`
	Call   string `json:"call"`
	Answer string `json:"answer"`
	OK     bool   `json:"ok"`
	Wrong  string `json:"wrong,omitempty"`
}

func newTour(r *run, a *app.App, dir string) (*tour, error) {
	host, err := client.New(a.Addr(), client.WithKey(a.HostKey()))
	if err != nil {
		return nil, err
	}
	return &tour{run: r, app: a, dir: dir, host: host, ops: host.With(a.OpsKey()), expected: map[string]ending{}}, nil
}

// take walks all steps, each whatever became of the ones before.
func (t *tour) take() error {
	ctx, cancel := context.WithTimeout(t.ctx, tourLimit)
	defer cancel()
	start := time.Now()
	if err := t.opening(); err != nil {
		return err
	}
	for i, s := range t.steps() {
		answer, wrong := s.do(ctx)
		if t.ctx.Err() != nil {
			return t.ctx.Err()
		}
		d := stepDone{Step: i + 1, Title: s.title, Call: s.call, Answer: answer, OK: wrong == nil}
		if wrong != nil {
			d.Wrong = wrong.Error()
		}
		t.done = append(t.done, d)
		if err := t.show(s, d); err != nil {
			return err
		}
	}
	rows, err := t.trail(ctx)
	if err != nil {
		return err
	}
	return t.closing(rows, time.Since(start))
}

// wrong counts the steps that didn't come out as they should.
func (t *tour) wrong() int {
	n := 0
	for _, d := range t.done {
		if !d.OK {
			n++
		}
	}
	return n
}

// trail reads the rows of the tour, oldest first, and holds them against what
// the callers were told.
func (t *tour) trail(ctx context.Context) ([]wire.Row, error) {
	var rows []wire.Row
	for row, err := range t.ops.EachRow(ctx, client.Filter{Equal: map[string][]string{"org": {demoOrg}}}) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	d := stepDone{
		Step: len(t.done) + 1, Title: "One row for each outcome", Call: "GET /v1/audit?org=" + demoOrg,
		Answer: fmt.Sprintf("200  %d rows", len(rows)), OK: true,
	}
	if err := t.holds(rows); err != nil {
		d.OK, d.Wrong = false, err.Error()
	}
	t.done = append(t.done, d)
	return rows, nil
}

// holds checks that every attempt has exactly one outcome row, that it says
// what the caller was told, and that the ambiguous one has its resolution.
func (t *tour) holds(rows []wire.Row) error {
	outcomes, resolved := map[string][]ending{}, false
	for _, row := range rows {
		if row.Kind == string(audit.Outcome) {
			outcomes[row.Attempt] = append(outcomes[row.Attempt], ending{outcome.Outcome(row.Outcome), row.Code})
		}
		resolved = resolved || row.Action == audit.ActionResolved && row.Attempt == t.doubtful
	}
	for attempt, want := range t.expected {
		if got := outcomes[attempt]; len(got) != 1 || got[0] != want {
			return fmt.Errorf("attempt …%s has to have the one row %v and has %v", tail(attempt), want, got)
		}
	}
	if len(outcomes) != len(t.expected) {
		return fmt.Errorf("%d attempts were made, %d have rows", len(t.expected), len(outcomes))
	}
	if !resolved {
		return errors.New("the ambiguous attempt has no resolution")
	}
	return nil
}
