package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"stet/gateway/outcome"
	"stet/gateway/wire"
)

// route is what the door and its description need to know of a call.
type route struct {
	id, method, path string
	tag              string
	summary, about   string
	plane            plane
	// status is of a success.
	status int
	// body: the call takes one.
	body bool
	// drains: the call is refused while the gateway shuts down.
	drains bool
	// reasons are those that the handler may give, beside those that every
	// call of the plane may.
	reasons []outcome.Reason
	// content are the answers that aren't JSON of the output's type.
	content map[string]*huma.MediaType
}

// allReasons are the reasons that a call may give, by name.
func (rt route) allReasons() []outcome.Reason {
	all := []outcome.Reason{outcome.Internal, outcome.BadRequest}
	if rt.plane.scheme != "" {
		all = append(all, outcome.Unauthorized, outcome.Forbidden, outcome.AuditUnavailable)
	}
	if rt.method != http.MethodGet {
		all = append(all, outcome.TooLarge)
	}
	if rt.drains {
		all = append(all, outcome.Draining, outcome.Overloaded)
	}
	all = append(all, rt.reasons...)
	slices.Sort(all)
	return slices.Compact(all)
}

// operation is the route as the OpenAPI document has it.
func (rt route) operation(schemas huma.Registry) huma.Operation {
	op := huma.Operation{
		OperationID: rt.id, Method: rt.method, Path: rt.path, Summary: rt.summary,
		Description: rt.about, Tags: []string{rt.tag}, DefaultStatus: rt.status,
		// The body is read before the library sees it, and held to its type
		// while it is decoded, once.
		MaxBodyBytes: -1, BodyReadTimeout: -1, SkipValidateBody: true,
		RejectUnknownQueryParameters: rt.tag != tagMachine,
		Responses:                    problemResponses(schemas, rt.allReasons()),
		Security:                     []map[string][]string{},
	}
	if rt.plane.scheme != "" {
		op.Security = append(op.Security, map[string][]string{rt.plane.scheme: {}})
	}
	if rt.content != nil {
		op.Responses[strconv.Itoa(rt.status)] = &huma.Response{Description: http.StatusText(rt.status), Content: rt.content}
	}
	return op
}

// problemResponses describes the reasons of a call, by their status.
func problemResponses(schemas huma.Registry, reasons []outcome.Reason) map[string]*huma.Response {
	out := map[string]*huma.Response{}
	for _, r := range reasons {
		for _, o := range outcomesOf(r) {
			p := newProblem(r, "")
			p.Status = outcome.Status(r, o)
			p.Outcome, p.Failure = string(o), string(o.Failure())
			describe(out, schemas, p)
		}
	}
	return out
}

// outcomesOf lists the outcomes that a platform's verdict can have, where they
// differ in status; every other reason has one status.
func outcomesOf(r outcome.Reason) []outcome.Outcome {
	if r == outcome.PlatformError {
		return []outcome.Outcome{outcome.Rejected, outcome.Ambiguous}
	}
	return []outcome.Outcome{""}
}

func describe(out map[string]*huma.Response, schemas huma.Registry, p *problem) {
	code := strconv.Itoa(p.Status)
	resp := out[code]
	if resp == nil {
		resp = &huma.Response{Content: map[string]*huma.MediaType{wire.ProblemType: {
			Schema: schemas.Schema(problemSchema, true, ""), Examples: map[string]*huma.Example{},
		}}}
		out[code] = resp
	}
	if resp.Description != "" {
		resp.Description += ", "
	}
	resp.Description += "`" + p.Reason + "`"
	resp.Content[wire.ProblemType].Examples[p.Reason] = &huma.Example{Summary: p.Title, Value: p.Problem}
}

// handle registers a route with its handler, whose errors may be any.
func handle[I, O any](s *server, rt route, h func(context.Context, *I) (*O, error)) {
	op := rt.operation(s.api.OpenAPI().Components.Schemas)
	op.Middlewares = huma.Middlewares{s.admission(rt)}
	s.routes = append(s.routes, rt)
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := h(ctx, in)
		if err != nil {
			return nil, s.problemOf(ctx, err)
		}
		return out, nil
	})
}

// out is an answer with a JSON body.
type out[T any] struct{ Body T }

func answer[T any](v T) *out[T] { return &out[T]{Body: v} }

// none is an answer without a body.
type none struct{}
