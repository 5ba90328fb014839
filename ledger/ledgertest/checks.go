package ledgertest

import (
	"strings"
	"time"

	"stet/arms"
	"stet/ledger"
)

func whole(f *fixture) {
	want := f.post("m1")
	if d := f.decide(query("m1"), true, ""); d.Entry != want {
		f.Errorf("entry %+v, want %+v", d.Entry, want)
	}
}

func edges(f *fixture) {
	e := f.post("m1")
	f.at = e.EditableUntil.Add(-time.Microsecond)
	f.decide(query("m1"), true, "")
	f.list(query(""), 10, "m1")
	f.at = e.EditableUntil
	f.decide(query("m1"), false, ledger.WindowClosed)
	f.list(query(""), 10)
}

func places(f *fixture) {
	f.post("m1")
	f.post("m2", func(e *ledger.Entry) { e.Channel = "private" })
	f.post("m3", func(e *ledger.Entry) { e.Org = "other" })
	// One id in two channels: each conversation has its own.
	f.at = f.at.Add(time.Second)
	f.post("m4")
	f.post("m4", func(e *ledger.Entry) { e.Channel = "private" })

	f.decide(query("m2"), false, ledger.OtherPlace)
	f.decide(query("m3"), false, ledger.Unknown)
	f.decide(query("m1", func(q *ledger.Query) { q.At.Workspace = "w2" }), false, ledger.OtherPlace)
	f.decide(query("m1", func(q *ledger.Query) { q.At.Platform = "slack" }), false, ledger.OtherPlace)
	f.decide(query("m1", func(q *ledger.Query) { q.At.Thread = "another thread" }), true, "")
	if d := f.decide(query("m4"), true, ""); d.Entry.Channel != "general" {
		f.Errorf("decided by the entry of channel %q", d.Entry.Channel)
	}
	f.list(query("", func(q *ledger.Query) { q.At.Channel = "private" }), 10, "m4", "m2")
	f.list(query("", func(q *ledger.Query) { q.At.Workspace = "w2" }), 10)
}

func closed(f *fixture) {
	e := f.post("m1")
	f.close(e)
	f.decide(query("m1"), false, ledger.Unknown)
	f.list(query(""), 10)
	entries, _, err := f.Store.Entries(f.ctx, "acme", "m1")
	if err != nil || len(entries) != 1 || !entries[0].ClosedAt.Equal(f.at) {
		f.Errorf("entries %+v, %v", entries, err)
	}
}

func dry(f *fixture) {
	f.post("dry-1", func(e *ledger.Entry) { e.DryRun = true })
	f.decide(query("dry-1"), false, ledger.Unknown)
	f.list(query(""), 10)
	isDry := func(q *ledger.Query) { q.DryRun = true }
	f.decide(query("dry-1", isDry), true, "")
	f.list(query("", isDry), 10, "dry-1")
	elsewhere := func(q *ledger.Query) { q.Session = "s2" }
	f.decide(query("dry-1", isDry, elsewhere), false, ledger.Unknown)
	f.list(query("", isDry, elsewhere), 10)
	f.post("m1")
	f.decide(query("m1", isDry), true, "")
}

func unknown(f *fixture) {
	f.post("m1")
	f.decide(query("m2"), false, ledger.Unknown)
	f.decide(query(""), false, ledger.Unknown)
}

func hostile(f *fixture) {
	ids := []arms.MessageID{
		"m1' or '1'='1", "%", "_", "m:1", "m/1", "../m1", "M1", " m1", "m1 ", "ｍ1",
		arms.MessageID(strings.Repeat("x", 512)),
	}
	f.post("m1")
	for _, id := range ids {
		f.decide(query(id), false, ledger.Unknown)
	}
	for _, id := range ids {
		f.post(id)
		if d := f.decide(query(id), true, ""); d.Entry.ID != id {
			f.Errorf("asked for %q, found %q", id, d.Entry.ID)
		}
	}
}

func editable(f *fixture) {
	for _, id := range []arms.MessageID{"m1", "m2", "m3"} {
		f.post(id)
		f.at = f.at.Add(time.Second)
	}
	f.list(query(""), 10, "m3", "m2", "m1")
	f.list(query(""), 2, "m3", "m2")
}

func notEditable(f *fixture) {
	f.post("short", func(e *ledger.Entry) { e.EditableUntil = f.at.Add(time.Minute) })
	f.post("long")
	f.post("foreign", func(e *ledger.Entry) { e.Org = "other" })
	f.at = f.at.Add(time.Minute)
	f.list(query(""), 10, "long")
}

func storeTime(f *fixture) {
	_, at, err := f.Store.Entries(f.ctx, "acme", "m1")
	if err != nil || !at.Equal(f.at) {
		f.Errorf("time %v, want %v, %v", at, f.at, err)
	}
}
