package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"stet/gateway/outcome"
	"stet/gateway/wire"
)

// server is the door.
type server struct {
	Options
	mux     *http.ServeMux
	api     huma.API
	routes  []route
	metrics *metrics
}

var problemSchema = reflect.TypeFor[wire.Problem]()

// New makes the door's handler.
func New(o Options) (http.Handler, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	s := &server{Options: o}
	s.build()
	if err := s.documents(); err != nil {
		return nil, err
	}
	if o.Room != nil {
		s.mux.Handle("/room/", o.Room)
	}
	s.mux.HandleFunc("/", s.noRoute)
	return s.outer(s.mux), nil
}

// build registers every call.
func (s *server) build() {
	s.mux = http.NewServeMux()
	s.api = humago.New(s.mux, apiConfig(s.Version))
	s.hostRoutes()
	s.agentRoutes()
	s.auditRoutes()
	s.keyRoutes()
	s.machineRoutes()
	s.metrics = newMetrics(s.Registerer, s.routes)
}

// format reads and writes the door's JSON; the body was held to its limits
// before.
var format = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return fmt.Errorf("encode an answer: %T", err)
		}
		// A client that is gone is nobody to tell.
		_, _ = w.Write(b.Bytes())
		return nil
	},
	Unmarshal: wire.Decode,
}

// problemOf is the answer to any error, logged where an operator should hear
// of it.
func (s *server) problemOf(ctx context.Context, err error) *problem {
	p, ok := asProblem(err)
	if !ok && !errors.Is(err, context.Canceled) {
		s.Logger.LogAttrs(ctx, levelError, "the store did not answer", errAttr(err))
	}
	note(ctx, p.Attempt)
	return p
}

// writeProblem answers a problem outside of the library.
func writeProblem(w http.ResponseWriter, p *problem) {
	h := w.Header()
	for name, values := range p.GetHeaders() {
		h[name] = values
	}
	h.Set("Content-Type", wire.ProblemType)
	w.WriteHeader(p.Status)
	_ = format.Marshal(w, p.Problem)
}

func noAddress() *problem {
	return newProblem(outcome.NotFound, "there is no such address; /docs lists all that there are")
}

// noRoute answers what no route matches: another method may.
func (s *server) noRoute(w http.ResponseWriter, r *http.Request) {
	p := noAddress()
	if allowed := s.allowed(r); len(allowed) > 0 {
		p.allow = strings.Join(allowed, ", ")
		p.Status = http.StatusMethodNotAllowed
		p.Detail = "this address takes " + p.allow
	}
	writeProblem(w, p)
}

// allowed lists the methods that the address takes.
func (s *server) allowed(r *http.Request) []string {
	var methods []string
	for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		probe := r.WithContext(r.Context())
		probe.Method = m
		if _, pattern := s.mux.Handler(probe); pattern != "/" && pattern != "" {
			methods = append(methods, m)
		}
	}
	return methods
}
