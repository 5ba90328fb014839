package room

import "time"

// SetHeartbeat changes how often an idle feed says that it is alive.
func (s *Server) SetHeartbeat(d time.Duration) { s.heartbeat = d }

// BreakFile takes the writing connection away, as a full disk would.
func (s *Server) BreakFile() error { return s.db.Write.Close() }

// ValidID and MakeID give the id grammar to the tests.
var (
	ValidID = validID
	MakeID  = makeID
)
