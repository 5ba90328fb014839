package gateway_test

import (
	"context"
	"fmt"
	"sync"

	"stet/arms"
)

// double is an arm whose answers a test writes down. Without a script it
// applies everything to messages that it keeps.
type double struct {
	mu       sync.Mutex
	messages map[arms.MessageID]*arms.Message
	calls    []call
	n        int
	// onPost, onEdit and onRetract run before the effect; a fault that they
	// return is the answer. after: the effect happens all the same.
	onWrite func(verb string, m arms.Marker) (fault error, applies bool)
	onLook  func() error
	caps    arms.Capabilities
}

type call struct {
	verb   string
	marker arms.Marker
	text   arms.Rendered
	id     arms.MessageID
	place  arms.Place
}

const place = arms.Platform("double")

func newDouble() *double {
	return &double{
		messages: map[arms.MessageID]*arms.Message{},
		caps: arms.Capabilities{
			Edit: true, Retract: true, Fetch: true, FindByMarker: true,
			TextLimit: 40, TextUnit: arms.CodePoints, GoneIsCertain: true, SettleTime: 1e9,
		},
	}
}

func (d *double) Platform() arms.Platform                   { return place }
func (d *double) Capabilities(arms.Place) arms.Capabilities { return d.caps }
func (d *double) Render(t arms.Text) (arms.Rendered, error) { return arms.Rendered(t.Body), nil }
func (d *double) script(f func(string, arms.Marker) (error, bool)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.onWrite = f
}

func (d *double) write(c call, apply func() error) error {
	d.mu.Lock()
	hook := d.onWrite
	d.mu.Unlock()
	var fault error
	applies := true
	if hook != nil {
		fault, applies = hook(c.verb, c.marker)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, c)
	if applies {
		if err := apply(); err != nil {
			return err
		}
	}
	return fault
}

func (d *double) Post(_ context.Context, r arms.PostRequest) (arms.Posted, error) {
	var posted arms.Posted
	err := d.write(call{verb: "post", marker: r.Marker, text: r.Text, place: r.Place}, func() error {
		d.n++
		posted = arms.Posted{ID: arms.MessageID(fmt.Sprintf("m%d", d.n)), Channel: r.Place.Channel, Thread: r.Place.Thread}
		d.messages[posted.ID] = &arms.Message{ID: posted.ID, Channel: posted.Channel, Text: string(r.Text), Marker: r.Marker}
		return nil
	})
	if err != nil {
		return arms.Posted{}, err
	}
	return posted, nil
}

func (d *double) Edit(_ context.Context, r arms.EditRequest) error {
	return d.write(call{verb: "edit", marker: r.Marker, text: r.Text, id: r.Ref.ID, place: r.Ref.Place}, func() error {
		m, ok := d.messages[r.Ref.ID]
		if !ok {
			return gone()
		}
		m.Text, m.Marker, m.Edited = string(r.Text), r.Marker, true
		return nil
	})
}

func (d *double) Retract(_ context.Context, r arms.RetractRequest) error {
	return d.write(call{verb: "retract", marker: r.Marker, id: r.Ref.ID, place: r.Ref.Place}, func() error {
		if _, ok := d.messages[r.Ref.ID]; !ok {
			return gone()
		}
		delete(d.messages, r.Ref.ID)
		return nil
	})
}

func (d *double) Fetch(_ context.Context, r arms.Ref) (arms.Message, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.onLook != nil {
		if err := d.onLook(); err != nil {
			return arms.Message{}, err
		}
	}
	m, ok := d.messages[r.ID]
	if !ok {
		return arms.Message{}, gone()
	}
	return *m, nil
}

func (d *double) Find(_ context.Context, r arms.FindRequest) (arms.Found, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.onLook != nil {
		if err := d.onLook(); err != nil {
			return arms.Found{}, err
		}
	}
	for _, m := range d.messages {
		if m.Marker == r.Marker {
			found := *m
			return arms.Found{Message: &found, Complete: true, Readable: true}, nil
		}
	}
	return arms.Found{Complete: true, Readable: true}, nil
}

func gone() error {
	return &arms.Fault{Certainty: arms.Rejected, Code: arms.CodeGone, Status: 404}
}

func (d *double) wire() []call {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]call(nil), d.calls...)
}

func (d *double) text(id arms.MessageID) (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m, ok := d.messages[id]
	if !ok {
		return "", false
	}
	return m.Text, true
}

// mute is a platform that can only be posted to.
type mute struct{ d *double }

func (m mute) Platform() arms.Platform { return "mute" }
func (m mute) Capabilities(arms.Place) arms.Capabilities {
	return arms.Capabilities{TextLimit: 10, TextUnit: arms.Bytes}
}
func (m mute) Render(t arms.Text) (arms.Rendered, error) { return arms.Rendered(t.Body), nil }
func (m mute) Post(ctx context.Context, r arms.PostRequest) (arms.Posted, error) {
	return m.d.Post(ctx, r)
}
