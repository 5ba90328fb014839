package httpapi

import (
	"maps"
	"slices"

	"stet/arms"
	"stet/audit"
	"stet/gateway"
	"stet/gateway/bind"
	"stet/gateway/wire"
)

func text(t wire.Text) gateway.Text {
	if t.Broken() {
		return gateway.Text{Broken: true}
	}
	return gateway.Text{Body: string(t)}
}

// markup reads a format; the body was held to the closed set before.
func markup(format string) arms.Format {
	if format == "" {
		return arms.Markdown
	}
	return arms.Format(format)
}

// list makes an empty list of none, so that JSON shows one.
func list(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}

func inOrder(parts map[int]string) []string {
	ids := make([]string, 0, len(parts))
	for _, n := range slices.Sorted(maps.Keys(parts)) {
		ids = append(ids, parts[n])
	}
	return ids
}

func withheld(a gateway.Answer) []wire.Withheld {
	out := make([]wire.Withheld, 0, len(a.Withheld))
	for _, w := range a.Withheld {
		out = append(out, wire.Withheld{Guard: w.Guard, Cause: w.Cause, Start: w.Start, End: w.End})
	}
	return out
}

func row(r audit.Row) wire.Row {
	detail := r.Detail
	if len(detail) == 0 {
		detail = []byte("{}")
	}
	return wire.Row{
		ID: r.ID, At: r.At.UTC(), Org: r.Org, Platform: r.Platform, Workspace: r.Workspace,
		Surface: r.Surface, Principal: r.Principal, Session: r.Session, Turn: r.Turn, Wake: r.Wake,
		Attempt: r.Attempt, Kind: string(r.Kind), Action: r.Action, Outcome: string(r.Outcome),
		Reason: string(r.Reason), Failure: string(r.Failure), Status: r.Status, Code: r.Code,
		DryRun: r.DryRun, Detail: detail,
	}
}

func key(k bind.Key) wire.Key {
	scopes := make([]string, 0, len(k.Scopes))
	for _, s := range k.Scopes {
		scopes = append(scopes, string(s))
	}
	out := wire.Key{
		ID: k.ID, Name: k.Name, Scopes: scopes, Org: k.Org, AllOrgs: k.Org == "", CreatedAt: k.CreatedAt.UTC(),
	}
	if !k.RevokedAt.IsZero() {
		out.RevokedAt = k.RevokedAt.UTC()
	}
	return out
}
