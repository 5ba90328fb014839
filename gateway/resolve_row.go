package gateway

import (
	"bytes"
	"crypto/sha256"
	"time"

	"stet/arms"
	"stet/audit"
	"stet/gateway/outcome"
	"stet/ledger"
)

func sameText(p audit.Pending, text string) bool {
	return bytes.Equal(digestOf(text), p.Attempt.Digest)
}

func digestOf(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// foundPost is the ledger's entry of a reply that turned out to be there, with
// the time at which it was posted.
func foundPost(p audit.Pending, m arms.Message) ledger.Entry {
	a := p.Attempt
	e := ledger.Entry{
		Key: ledger.Key{
			Org: a.Turn.Org, Platform: a.Place.Platform, Workspace: a.Place.Workspace,
			Channel: m.Channel, ID: m.ID,
		},
		Reply: m.ID, Thread: m.Thread, ServiceURL: a.Place.ServiceURL, Organization: a.Place.Organization,
		Session: a.Turn.Session, PostedAt: p.OpenedAt,
	}
	if e.Channel == "" {
		e.Channel = a.Place.Channel
	}
	if !m.At.IsZero() && m.At.Before(p.Deadline) {
		e.PostedAt = m.At
	}
	return e
}

func noteRow(p audit.Pending, id arms.MessageID, s sighting) audit.Row {
	t := p.Attempt.Turn
	platform := string(p.Attempt.Place.Platform)
	if !seen(s.verdict) {
		platform = t.Surfaced()
	}
	if id == "" && p.Attempt.Verb != outcome.Reply {
		id = p.Attempt.Target
	}
	return audit.Row{
		ID: audit.NewID(), Org: t.Org, Platform: platform, Workspace: t.Workspace, Surface: t.Surface,
		Principal: t.Principal, Session: t.Session, Turn: t.ID, Wake: t.WakeID, Attempt: p.Attempt.ID,
		Kind: audit.Note, Action: audit.ActionResolved, DryRun: t.DryRun,
		Detail: audit.Detail{ID: string(id), Verdict: s.verdict, Evidence: s.evidence}.JSON(),
	}
}

// firstLook is when an ambiguous outcome is first looked into: soon where the
// platform can be read, else when it is given up.
func (g *Gateway) firstLook(a *attempt) time.Duration {
	readable := a.caps.Fetch
	if a.verb == outcome.Reply {
		readable = a.caps.FindByMarker
	}
	if !readable {
		return giveUpAfter
	}
	return g.o.FirstLook
}
