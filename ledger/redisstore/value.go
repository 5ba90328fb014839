package redisstore

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"

	"stet/arms"
	"stet/ledger"
)

const valueVersion = 1

// value is an entry as it is stored. Times are microseconds since 1970, as in
// the authority.
type value struct {
	V            int            `json:"v"`
	Org          string         `json:"org"`
	Platform     arms.Platform  `json:"platform"`
	Workspace    string         `json:"workspace"`
	Channel      arms.ChannelID `json:"channel"`
	ID           arms.MessageID `json:"id"`
	Reply        arms.MessageID `json:"reply,omitempty"`
	Part         int            `json:"part,omitempty"`
	Thread       arms.ThreadID  `json:"thread,omitempty"`
	ServiceURL   string         `json:"service_url,omitempty"`
	Organization string         `json:"organization,omitempty"`
	Session      string         `json:"session,omitempty"`
	DryRun       bool           `json:"dry,omitempty"`
	Posted       int64          `json:"posted,omitempty"`
	Until        int64          `json:"until,omitempty"`
	Closed       int64          `json:"closed,omitempty"`
}

// encode writes an entry. False: it can't be written so that it reads back the
// same, and stays with the authority alone.
func encode(e ledger.Entry) ([]byte, bool) {
	for _, s := range [...]string{
		e.Org, string(e.Platform), e.Workspace, string(e.Channel), string(e.ID), string(e.Reply),
		string(e.Thread), e.ServiceURL, e.Organization, e.Session,
	} {
		if !utf8.ValidString(s) {
			return nil, false
		}
	}
	raw, err := json.Marshal(value{
		V: valueVersion, Org: e.Org, Platform: e.Platform, Workspace: e.Workspace, Channel: e.Channel, ID: e.ID,
		Reply: e.Reply, Part: e.Part, Thread: e.Thread, ServiceURL: e.ServiceURL, Organization: e.Organization,
		Session: e.Session, DryRun: e.DryRun,
		Posted: micros(e.PostedAt), Until: micros(e.EditableUntil), Closed: micros(e.ClosedAt),
	})
	return raw, err == nil
}

// decode reads an entry about exactly the message k, or none: a value counts
// only if it is, byte for byte, what encode writes. That leaves no room for
// unknown, repeated or differently cased fields, nor for anything after it.
func decode(raw []byte, k ledger.Key) (ledger.Entry, bool) {
	var v value
	if err := json.Unmarshal(raw, &v); err != nil || v.V != valueVersion {
		return ledger.Entry{}, false
	}
	e := ledger.Entry{
		Key:   ledger.Key{Org: v.Org, Platform: v.Platform, Workspace: v.Workspace, Channel: v.Channel, ID: v.ID},
		Reply: v.Reply, Part: v.Part, Thread: v.Thread, ServiceURL: v.ServiceURL, Organization: v.Organization,
		Session: v.Session, DryRun: v.DryRun,
		PostedAt: fromMicros(v.Posted), EditableUntil: fromMicros(v.Until), ClosedAt: fromMicros(v.Closed),
	}
	if e.Key != k {
		return ledger.Entry{}, false
	}
	canonical, ok := encode(e)
	if !ok || !bytes.Equal(canonical, raw) {
		return ledger.Entry{}, false
	}
	return e, true
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}
