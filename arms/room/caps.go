package room

import (
	"stet/arms"
)

// Plain is the room's only dialect: text is shown as it is.
const Plain arms.Dialect = "plain"

// Capabilities is the room's data sheet, the same everywhere. The numbers are
// those of [Config], which the server enforces.
func (a *Arm) Capabilities(arms.Place) arms.Capabilities {
	return arms.Capabilities{
		Edit:          true,
		Retract:       true,
		Fetch:         true,
		FindByMarker:  true,
		ReadChannel:   true,
		ReadThread:    true,
		TextLimit:     a.textLimit,
		TextUnit:      arms.CodePoints,
		Dialect:       Plain,
		Threads:       arms.RootThreads,
		GoneIsCertain: true,
		SettleTime:    a.settleTime,
	}
}
