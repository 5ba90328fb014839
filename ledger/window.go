package ledger

import "context"

// WindowSource is an authority from which a cache can be filled anew.
// Implementations: audit/sqlite.
type WindowSource interface {
	// Window answers, at most limit, the entries that may be changed now: their
	// window is open by the store's clock and they are not closed. They come in
	// falling order of EditableUntil, then of the key's parts. after is the last
	// entry of the page before, zero for the first page. An entry that enters
	// or leaves the window meanwhile may be missing; no other is.
	Window(ctx context.Context, after Entry, limit int) ([]Entry, error)
	// WindowCount counts those entries.
	WindowCount(ctx context.Context) (int, error)
}
