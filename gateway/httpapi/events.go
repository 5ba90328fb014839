package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/uuid"

	"stet/audit"
	"stet/gateway/outcome"
	"stet/gateway/wire"
)

type eventsIn struct {
	Turn string `path:"turn" doc:"The turn's id."`
	Last string `header:"Last-Event-ID" doc:"The id of the last event seen: only later ones are sent."`
}

func (s *server) eventRoute() {
	schema := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[wire.Event](), true, "")
	handle(s, route{
		id: "turn-events", method: http.MethodGet, path: "/v1/turns/{turn}/events", tag: tagHost,
		plane: hostPlane, status: http.StatusOK, summary: "Follow a turn",
		about: "Server-sent events: what was found out about ambiguous outcomes of the turn. " +
			"First all that is known already, then each one as it comes; a comment now and then is a sign of life.",
		reasons: []outcome.Reason{outcome.NotFound},
		content: map[string]*huma.MediaType{typeSSE: {Schema: schema}},
	}, s.events)
}

func (s *server) events(ctx context.Context, in *eventsIn) (*huma.StreamResponse, error) {
	t, err := s.Bind.Turn(ctx, callerOf(ctx).Key, in.Turn)
	if err != nil {
		return nil, err
	}
	var nudge <-chan audit.Row
	end := func() {}
	if s.Events != nil {
		nudge, end = s.Events.Subscribe(t.ID)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer end()
		_, w := humago.Unwrap(hc)
		f := &feed{trail: s.Trail, w: w, rc: http.NewResponseController(w), turn: t.ID, sent: map[string]bool{}}
		if _, err := uuid.Parse(in.Last); err == nil {
			f.last = in.Last
		}
		if err := f.run(ctx, nudge, s.Heartbeat, s.Draining); err != nil && ctx.Err() == nil && f.err == nil {
			s.problemOf(ctx, err)
		}
	}}, nil
}

// drainLook is how soon a stream notices that the gateway shuts down.
const drainLook = 500 * time.Millisecond

// feed is one client's stream of one turn's events.
type feed struct {
	trail audit.Reader
	w     http.ResponseWriter
	rc    *http.ResponseController
	turn  string
	// last is the id of the last event that the client has; ids are ordered by
	// time. It counts for the first look alone: two processes' clocks differ,
	// so from then on what was sent is remembered one by one.
	last   string
	looked bool
	sent   map[string]bool
	// err is the client's: it could not be written to.
	err error
}

// run sends until the client leaves, the gateway drains, or the trail fails;
// the client comes back with the last id it saw.
func (f *feed) run(ctx context.Context, nudge <-chan audit.Row, beat time.Duration, draining func() bool) error {
	f.w.Header().Set("Content-Type", typeSSE)
	tick := time.NewTicker(beat)
	defer tick.Stop()
	drain := time.NewTicker(drainLook)
	defer drain.Stop()
	for {
		if err := f.look(ctx); err != nil {
			return err
		}
		if err := f.write(": alive\n\n"); err != nil {
			return err
		}
		for woken := false; !woken; {
			if draining() {
				return nil
			}
			select {
			case <-ctx.Done():
				return nil
			case <-nudge:
				woken = true
			case <-tick.C:
				woken = true
			case <-drain.C:
			}
		}
	}
}

// look sends what the trail has and was not sent.
func (f *feed) look(ctx context.Context) error {
	filter := audit.Filter{Equal: map[audit.Column][]string{
		"turn": {f.turn}, "action": {audit.ActionResolved},
	}}
	err := f.trail.Each(ctx, filter, func(r audit.Row) error {
		if f.sent[r.ID] {
			return nil
		}
		if r.ID > f.last || f.looked {
			if err := f.send(r); err != nil {
				return err
			}
		}
		f.sent[r.ID] = true
		return nil
	})
	f.looked = err == nil
	return err
}

func (f *feed) send(r audit.Row) error {
	var d audit.Detail
	if len(r.Detail) > 0 {
		if err := json.Unmarshal(r.Detail, &d); err != nil {
			return fmt.Errorf("read a row's detail: %w", err)
		}
	}
	data, err := json.Marshal(wire.Event{
		ID: r.ID, Kind: wire.EventResolved, At: r.At.UTC(), Turn: r.Turn, Attempt: r.Attempt,
		Verdict: string(d.Verdict), Message: d.ID,
	})
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	return f.write(fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n\n", r.ID, wire.EventResolved, data))
}

func (f *feed) write(s string) error {
	_ = f.rc.SetWriteDeadline(time.Now().Add(writeTime))
	if _, f.err = f.w.Write([]byte(s)); f.err == nil {
		f.err = f.rc.Flush()
	}
	return f.err
}
