package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"stet/gateway/wire"
)

// readyOut is ready with 200, and not with 503.
type readyOut struct {
	Status int
	Body   wire.Ready
}

const tagMachine = "Machine"

// machineRoutes are for probes and scrapers. On a listener that only this
// machine reaches they need no key.
func (s *server) machineRoutes() {
	guarded := machinePlane
	if s.Loopback {
		guarded = openPlane
	}
	handle(s, route{
		id: "health", method: http.MethodGet, path: "/healthz", tag: tagMachine, plane: openPlane,
		status: http.StatusOK, summary: "Is the process there?", about: "Says ok as long as the process answers.",
	}, func(context.Context, *nothing) (*out[wire.Health], error) {
		return answer(wire.Health{Status: "ok", Version: s.Version}), nil
	})
	handle(s, route{
		id: "ready", method: http.MethodGet, path: "/readyz", tag: tagMachine, plane: guarded,
		status: http.StatusOK, summary: "Can it do its work?",
		about: "200 when it can, 503 with the same body when it can't. A platform that isn't well never makes it unready; it shows in its check.",
	}, func(ctx context.Context, _ *nothing) (*readyOut, error) { return s.ready(ctx), nil })
	answers := s.api.OpenAPI().Paths["/readyz"].Get.Responses
	answers["503"] = &huma.Response{Description: "It can't, and says why.", Content: answers["200"].Content}
	if s.Metrics == nil {
		return
	}
	handle(s, route{
		id: "metrics", method: http.MethodGet, path: "/metrics", tag: tagMachine, plane: guarded,
		status: http.StatusOK, summary: "Metrics", about: "In Prometheus' text form.",
		content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}, func(context.Context, *nothing) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			r, w := humago.Unwrap(hc)
			s.Metrics.ServeHTTP(w, r)
		}}, nil
	})
}

func (s *server) ready(ctx context.Context) *readyOut {
	body := s.Ready(ctx)
	if body.Checks == nil {
		body.Checks = []wire.Check{}
	}
	if s.Draining() {
		body.Ready = false
		body.Checks = append(body.Checks, wire.Check{Name: "draining", Needed: true, Detail: "the gateway is shutting down"})
	}
	status := http.StatusOK
	if !body.Ready {
		status = http.StatusServiceUnavailable
	}
	return &readyOut{Status: status, Body: body}
}
