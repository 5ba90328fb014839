package room

import (
	"context"

	"stet/arms"
)

// Post posts a message. The answer has to repeat the marker, the channel and
// the thread; otherwise it is about another message.
func (a *Arm) Post(ctx context.Context, r arms.PostRequest) (arms.Posted, error) {
	got, f := a.call(ctx, VerbPost, request{
		Org:     r.Place.Org,
		Channel: string(r.Place.Channel),
		Thread:  string(r.Place.Thread),
		Author:  a.bot,
		Text:    string(r.Text),
		Marker:  string(r.Marker),
	})
	if f != nil {
		return arms.Posted{}, f
	}
	m := got.Message
	if m == nil || !validID(m.ID) || m.Deleted || m.Marker != string(r.Marker) ||
		m.Channel != string(r.Place.Channel) || m.Thread != string(r.Place.Thread) {
		return arms.Posted{}, mismatch()
	}
	return arms.Posted{ID: arms.MessageID(m.ID), Channel: arms.ChannelID(m.Channel), Thread: arms.ThreadID(m.Thread)}, nil
}

// Edit replaces the text of an own message.
func (a *Arm) Edit(ctx context.Context, r arms.EditRequest) error {
	req := about(r.Ref)
	req.Text, req.Marker = string(r.Text), string(r.Marker)
	got, f := a.call(ctx, VerbEdit, req)
	if f != nil {
		return f
	}
	if !got.confirms(r.Ref, r.Marker) || got.Message.Deleted {
		return mismatch()
	}
	return nil
}

// Retract turns an own message into a tombstone.
func (a *Arm) Retract(ctx context.Context, r arms.RetractRequest) error {
	req := about(r.Ref)
	req.Marker = string(r.Marker)
	got, f := a.call(ctx, VerbRetract, req)
	if f != nil {
		return f
	}
	if !got.confirms(r.Ref, r.Marker) || !got.Message.Deleted {
		return mismatch()
	}
	return nil
}

func about(r arms.Ref) request {
	return request{Org: r.Place.Org, Channel: string(r.Place.Channel), ID: string(r.ID)}
}

// confirms says whether the answer is about this write of this message.
func (a answer) confirms(r arms.Ref, marker arms.Marker) bool {
	return a.names(r) && a.Message.Marker == string(marker)
}

// names says whether the answer is about this message. An empty id names
// nothing, even where the answer leaves its id out.
func (a answer) names(r arms.Ref) bool {
	return a.Message != nil && r.ID != "" && a.Message.ID == string(r.ID) &&
		a.Message.Channel == string(r.Place.Channel)
}
