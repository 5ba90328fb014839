package arms

import (
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// Unit is what a platform counts a text's length in.
type Unit string

// The units in use.
const (
	Bytes      Unit = "bytes"
	CodePoints Unit = "code points"
	UTF16Units Unit = "UTF-16 units"
)

// Measure counts s in the unit.
func (u Unit) Measure(s string) int {
	switch u {
	case Bytes:
		return len(s)
	case UTF16Units:
		n := 0
		for _, r := range s {
			n += utf16.RuneLen(r)
		}
		return n
	default:
		return utf8.RuneCountInString(s)
	}
}

// ThreadModel says what a thread is on a platform.
type ThreadModel string

// The thread models.
const (
	// NoThreads: the platform has none.
	NoThreads ThreadModel = "none"
	// RootThreads: a thread is named by its first message, inside a channel.
	RootThreads ThreadModel = "root"
	// ChannelThreads: a thread is a channel of its own.
	ChannelThreads ThreadModel = "channel"
)

// Dialect names the markup that a platform shows.
type Dialect string

// Capabilities is a platform's data sheet for one place. Each number in an
// arm's sheet cites the vendor page that it comes from.
type Capabilities struct {
	Edit, Retract           bool
	Fetch, FindByMarker     bool
	ReadChannel, ReadThread bool

	// TextLimit is the longest rendered text, counted in TextUnit.
	TextLimit int
	TextUnit  Unit
	// EditMaxAge is how long the platform itself lets a post be edited; 0: no limit.
	EditMaxAge time.Duration
	// EditMaxCount is how often; 0: no limit.
	EditMaxCount int
	Dialect      Dialect
	Threads      ThreadModel
	// GoneIsCertain: the platform's "no such message" about a message that
	// the ledger vouches for means that it is gone.
	GoneIsCertain bool
	// SettleTime is how long after an attempt's deadline an effect may still
	// surface; a negative look before it proves nothing.
	SettleTime time.Duration
}
