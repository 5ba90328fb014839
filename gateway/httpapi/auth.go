package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"stet/gateway/bind"
	"stet/gateway/outcome"
)

// plane is who a route is for.
type plane struct {
	// scheme is the security scheme's name; empty for everybody.
	scheme string
	kind   bind.Kind
	// scope is what a key needs; empty for a turn token.
	scope bind.Scope
	// spanning: only a key that spans all organizations will do.
	spanning bool
	needs    string
}

// The planes.
var (
	openPlane  = plane{}
	hostPlane  = plane{scheme: "hostKey", kind: bind.HostKey, scope: bind.ScopeHost, needs: "a host key"}
	agentPlane = plane{scheme: "turnToken", kind: bind.TurnToken, needs: "a turn token"}
	opsPlane   = plane{scheme: "opsKey", kind: bind.OpsKey, scope: bind.ScopeOps, needs: "an ops key with the scope ops"}
	// machinePlane is of what tells about all organizations at once.
	machinePlane = plane{
		scheme: "opsKey", kind: bind.OpsKey, scope: bind.ScopeOps, spanning: true,
		needs: "an ops key that spans all organizations",
	}
)

// admits reports whether a caller may use the plane.
func (p plane) admits(c bind.Caller) bool {
	if c.Kind != p.kind {
		return false
	}
	if p.scope != "" && !c.Key.Has(p.scope) {
		return false
	}
	return !p.spanning || c.Key.Org == ""
}

type callerKey struct{}

// callerOf is who the route's plane admitted.
func callerOf(ctx context.Context) bind.Caller {
	c, _ := ctx.Value(callerKey{}).(bind.Caller)
	return c
}

// authenticate admits a caller to a plane, or answers why not.
func (s *server) authenticate(r *http.Request, p plane) (bind.Caller, *problem) {
	clear, ok := bearer(r)
	if !ok {
		return bind.Caller{}, newProblem(outcome.Unauthorized, detailUnauthorized)
	}
	c, err := s.Bind.Authenticate(r.Context(), clear)
	if err != nil {
		return bind.Caller{}, s.problemOf(r.Context(), err)
	}
	if !p.admits(c) {
		return bind.Caller{}, newProblem(outcome.Forbidden, "this call needs "+p.needs)
	}
	return c, nil
}

// bearer reads the credential of a request; two of them are none.
func bearer(r *http.Request) (string, bool) {
	all := r.Header.Values("Authorization")
	if len(all) != 1 {
		return "", false
	}
	scheme, clear, ok := strings.Cut(all[0], " ")
	clear = strings.TrimSpace(clear)
	return clear, ok && strings.EqualFold(scheme, "Bearer") && clear != ""
}

// admission is the middleware that every route has: credential, plane, path
// ids, headers, and the body, read but not decoded.
func (s *server) admission(rt route) func(huma.Context, func(huma.Context)) {
	names := pathNames(rt.path)
	return func(hc huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(hc)
		ctx := hc.Context()
		if rt.plane.scheme != "" {
			c, p := s.authenticate(r, rt.plane)
			if p != nil {
				writeProblem(w, p)
				return
			}
			ctx = context.WithValue(ctx, callerKey{}, c)
		}
		if p := s.precheck(rt, names, w, r); p != nil {
			writeProblem(w, p)
			return
		}
		next(huma.WithContext(hc, ctx))
	}
}

func (s *server) precheck(rt route, names []string, w http.ResponseWriter, r *http.Request) *problem {
	if rt.drains && s.Draining() {
		return later(outcome.Draining, detailDraining)
	}
	for _, name := range names {
		if p := checkPathID(name, r.PathValue(name)); p != nil {
			return p
		}
	}
	if p := checkIdempotencyKey(r.Header); p != nil {
		return p
	}
	return readBody(w, r, rt.body)
}

// pathNames lists the names in a path pattern.
func pathNames(path string) []string {
	var names []string
	for _, seg := range strings.Split(path, "/") {
		if strings.HasPrefix(seg, "{") {
			names = append(names, strings.Trim(seg, "{}"))
		}
	}
	return names
}
