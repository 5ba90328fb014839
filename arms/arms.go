package arms

import (
	"context"
	"time"
)

// Platform names a platform in the words of the outer contract ("slack",
// "room", …). It is the label of metrics and the column of rows, so it comes
// from the registry, never from a caller.
type Platform string

// MessageID is a platform's own message id. Only the platform's arm makes or
// parses one; everybody else compares and stores it whole.
type MessageID string

// ChannelID is a platform's own id of a conversation.
type ChannelID string

// ThreadID is a platform's own id of a thread inside a conversation.
type ThreadID string

// Marker is a value planted with an effect so that it can be recognised later.
// It is minted from the attempt id, so it survives a restart.
type Marker string

// Place is where a verb lands, resolved by the host in every field.
type Place struct {
	// Org is Stet's own tenant; it is never sent to a platform but picks the
	// credentials, and in the built-in room the channel's owner.
	Org       string
	Workspace string
	Channel   ChannelID
	// Thread is empty for the top level of the channel.
	Thread ThreadID
	// ServiceURL and Organization are routing that single platforms need.
	ServiceURL   string
	Organization string
}

// Ref is one message at one place.
type Ref struct {
	Place Place
	ID    MessageID
}

// Arm is what every platform has to offer. Methods are pure: no I/O.
type Arm interface {
	Platform() Platform
	// Capabilities is the data sheet for a place.
	Capabilities(Place) Capabilities
	// Render turns the agent's text into what goes over the wire, the same
	// for post, edit and the comparison of a read-back.
	Render(Text) (Rendered, error)
}

// Poster posts a new message. A success names the message that is there.
type Poster interface {
	Post(context.Context, PostRequest) (Posted, error)
}

// Editor replaces a message's text in place. A success means the platform
// confirmed the message that was asked for.
type Editor interface {
	Edit(context.Context, EditRequest) error
}

// Retractor removes a message.
type Retractor interface {
	Retract(context.Context, RetractRequest) error
}

// Fetcher reads one message as it is now. Code [CodeGone] says that the
// platform has no such message.
type Fetcher interface {
	Fetch(context.Context, Ref) (Message, error)
}

// Finder looks for an own post by its marker.
type Finder interface {
	Find(context.Context, FindRequest) (Found, error)
}

// ChannelReader reads a page of a conversation, oldest first.
type ChannelReader interface {
	ReadChannel(context.Context, ReadRequest) (Page, error)
}

// ThreadReader reads a page of a thread, oldest first.
type ThreadReader interface {
	ReadThread(context.Context, ReadRequest) (Page, error)
}

// Prober checks credentials without any effect, for doctor and readiness.
type Prober interface {
	Probe(context.Context) error
}

// Format says in which markup a text was written.
type Format string

// The formats that an agent may write in.
const (
	Markdown Format = "markdown"
	Plain    Format = "plain"
)

// Text is what an agent wrote.
type Text struct {
	Body   string
	Format Format
}

// Rendered is the exact text that goes over the wire.
type Rendered string

// PostRequest is one new message.
type PostRequest struct {
	Place  Place
	Text   Rendered
	Marker Marker
}

// EditRequest replaces the text of one own message.
type EditRequest struct {
	Ref    Ref
	Text   Rendered
	Marker Marker
}

// RetractRequest removes one own message.
type RetractRequest struct {
	Ref    Ref
	Marker Marker
}

// Posted is a confirmed post.
type Posted struct {
	ID MessageID
	// Channel is the channel as the platform returned it, which may be
	// another than the one asked for; it is part of the ledger's key.
	Channel ChannelID
	// Thread is the thread that the message is in, where the platform says.
	Thread ThreadID
}

// Message is one message as the platform shows it now.
type Message struct {
	ID      MessageID
	Channel ChannelID
	Thread  ThreadID
	Author  Author
	Text    string
	// Marker is the one planted by the last write, where the platform keeps it.
	Marker  Marker
	At      time.Time
	Edited  bool
	Deleted bool
}

// Author is who wrote a message.
type Author struct {
	ID, Name string
}

// FindRequest looks for an own post that was sent at or after Since.
type FindRequest struct {
	Place  Place
	Marker Marker
	Since  time.Time
}

// Found is the answer of a look. The zero value with Complete set is a
// complete look that found nothing; without Complete it proves nothing.
type Found struct {
	// Message is nil when nothing carried the marker.
	Message *Message
	// Complete: the look covered everything since FindRequest.Since.
	Complete bool
	// Readable: the look saw at least one other message of that span or the
	// platform otherwise proved that it may read there.
	Readable bool
}

// ReadRequest asks for at most Limit messages before the cursor Before.
type ReadRequest struct {
	Place  Place
	Limit  int
	Before string
}

// Page is part of a conversation, oldest first.
type Page struct {
	Messages []Message
	// Next is the cursor of the page before this one, empty at the beginning.
	Next     string
	Complete bool
}
