// Package locus is the value that says where a verb lands.
package locus

import "stet/arms"

// Locus is a place on a platform, resolved by the host in every field and
// frozen when the turn is opened. The agent has no way to name one.
type Locus struct {
	Platform  arms.Platform
	Workspace string
	Channel   arms.ChannelID
	Thread    arms.ThreadID
	// ServiceURL and Organization are routing that single platforms need.
	ServiceURL   string
	Organization string
}

// Zero reports that there is no locus.
func (l Locus) Zero() bool { return l.Platform == "" && l.Channel == "" }

// Place is the locus as its platform's arm takes it.
func (l Locus) Place(org string) arms.Place {
	return arms.Place{
		Org: org, Workspace: l.Workspace, Channel: l.Channel, Thread: l.Thread,
		ServiceURL: l.ServiceURL, Organization: l.Organization,
	}
}

// Route says how a write came by its locus.
type Route string

// The routes.
const (
	// Wake: the place that the turn's wake came from.
	Wake Route = "wake"
	// Binding: the place that the session is bound to.
	Binding Route = "binding"
	// Draft: the place that a draft was staged for.
	Draft Route = "draft"
)
