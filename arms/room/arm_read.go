package room

import (
	"context"

	"stet/arms"
)

// Fetch reads one message. A retracted one comes back as a tombstone, with the
// marker of the retract.
func (a *Arm) Fetch(ctx context.Context, r arms.Ref) (arms.Message, error) {
	got, f := a.call(ctx, VerbFetch, about(r))
	if f != nil {
		return arms.Message{}, f
	}
	if !got.names(r) {
		return arms.Message{}, mismatch()
	}
	return got.Message.contract(), nil
}

// Find looks for the post that was sent with a marker, whatever has been
// written to it since. The look is always complete, and since the room shows
// everything to whoever holds the token, always a readable one.
func (a *Arm) Find(ctx context.Context, r arms.FindRequest) (arms.Found, error) {
	got, f := a.call(ctx, VerbFind, request{
		Org: r.Place.Org, Channel: string(r.Place.Channel), Marker: string(r.Marker),
	})
	if f != nil {
		return arms.Found{}, f
	}
	if got.Marker != string(r.Marker) || !got.Complete {
		return arms.Found{}, mismatch()
	}
	found := arms.Found{Complete: true, Readable: true}
	if got.Message == nil {
		return found, nil
	}
	if !validID(got.Message.ID) || got.Message.Channel != string(r.Place.Channel) {
		return arms.Found{}, mismatch()
	}
	m := got.Message.contract()
	found.Message = &m
	return found, nil
}

// ReadChannel reads the top level of a channel.
func (a *Arm) ReadChannel(ctx context.Context, r arms.ReadRequest) (arms.Page, error) {
	r.Place.Thread = ""
	return a.read(ctx, r)
}

// ReadThread reads a thread, its first message included.
func (a *Arm) ReadThread(ctx context.Context, r arms.ReadRequest) (arms.Page, error) {
	if r.Place.Thread == "" {
		return arms.Page{}, &arms.Fault{Certainty: arms.NotSent, Code: arms.CodeInvalid}
	}
	return a.read(ctx, r)
}

func (a *Arm) read(ctx context.Context, r arms.ReadRequest) (arms.Page, error) {
	got, f := a.call(ctx, VerbRead, request{
		Org: r.Place.Org, Channel: string(r.Place.Channel), Thread: string(r.Place.Thread),
		Limit: r.Limit, Before: r.Before,
	})
	if f != nil {
		return arms.Page{}, f
	}
	if got.Complete != (got.Next == "") {
		return arms.Page{}, mismatch()
	}
	page := arms.Page{Next: got.Next, Complete: got.Complete}
	for _, m := range got.Messages {
		if m.Channel != string(r.Place.Channel) {
			return arms.Page{}, mismatch()
		}
		page.Messages = append(page.Messages, m.contract())
	}
	return page, nil
}

func (m message) contract() arms.Message {
	return arms.Message{
		ID:      arms.MessageID(m.ID),
		Channel: arms.ChannelID(m.Channel),
		Thread:  arms.ThreadID(m.Thread),
		Author:  arms.Author{ID: m.Kind + ":" + m.Author, Name: m.Author},
		Text:    m.Text,
		Marker:  arms.Marker(m.Marker),
		At:      m.At,
		Edited:  m.Edited,
		Deleted: m.Deleted,
	}
}
