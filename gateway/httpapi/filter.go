package httpapi

import (
	"slices"
	"strconv"
	"time"

	"stet/audit"
	"stet/gateway/bind"
)

// RowFilter has a parameter for each column of the trail. A column given more
// than once takes any of its values; all columns must hold.
type RowFilter struct {
	Org       []string  `query:"org,explode" doc:"The organization."`
	Platform  []string  `query:"platform,explode" doc:"The platform." example:"room"`
	Workspace []string  `query:"workspace,explode" doc:"The workspace."`
	Surface   []string  `query:"surface,explode" doc:"The host's word for where."`
	Principal []string  `query:"principal,explode" doc:"Who spoke."`
	Session   []string  `query:"session,explode" doc:"The session."`
	Turn      []string  `query:"turn,explode" doc:"The turn."`
	Wake      []string  `query:"wake,explode" doc:"The wake."`
	Attempt   []string  `query:"attempt,explode" doc:"The attempt."`
	Kind      []string  `query:"kind,explode" enum:"outcome,note" doc:"outcome or note."`
	Action    []string  `query:"action,explode" doc:"What was done, such as reply.edit."`
	Outcome   []string  `query:"outcome,explode" doc:"How it ended."`
	Reason    []string  `query:"reason,explode" doc:"Why it was not simply applied."`
	Failure   []string  `query:"failure,explode" doc:"definitive, ambiguous or partial."`
	Status    []int     `query:"status,explode" doc:"The platform's HTTP status."`
	Code      []string  `query:"code,explode" doc:"More about the reason."`
	DryRun    []string  `query:"dry_run,explode" enum:"true,false" doc:"true: nothing reached a platform."`
	Since     time.Time `query:"since" doc:"From this time on, RFC 3339."`
	Until     time.Time `query:"until" doc:"Before this time, RFC 3339."`
}

// filter answers the rows that the key may see and the caller asked for; false
// when there can be none.
func (in RowFilter) filter(k bind.Key) (audit.Filter, bool) {
	status := make([]string, 0, len(in.Status))
	for _, n := range in.Status {
		status = append(status, strconv.Itoa(n))
	}
	given := map[audit.Column][]string{
		"org": in.Org, "platform": in.Platform, "workspace": in.Workspace, "surface": in.Surface,
		"principal": in.Principal, "session": in.Session, "turn": in.Turn, "wake": in.Wake,
		"attempt": in.Attempt, "kind": in.Kind, "action": in.Action, "outcome": in.Outcome,
		"reason": in.Reason, "failure": in.Failure, "status": status, "code": in.Code,
		"dry_run": in.DryRun,
	}
	f := audit.Filter{Equal: map[audit.Column][]string{}, Since: in.Since, Until: in.Until}
	for column, values := range given {
		if len(values) > 0 {
			f.Equal[column] = values
		}
	}
	if k.Org == "" {
		return f, true
	}
	possible := len(in.Org) == 0 || slices.Contains(in.Org, k.Org)
	f.Equal["org"] = []string{k.Org}
	return f, possible
}
