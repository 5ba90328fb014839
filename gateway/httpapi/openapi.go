package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

const apiAbout = `The gateway between a bot and the rooms that it talks in.

Three planes, told apart by the credential in "Authorization: Bearer ...":
the **host** binds sessions and opens turns with a host key; the **agent**
speaks with the token of one turn; **operators** read the trail with an ops key.

An answer that isn't a success is a problem (RFC 9457) whose "reason" is of a
closed set and whose "detail" says what to do now.`

// apiConfig is the library's configuration. Its pages load scripts from other
// hosts, so none of them is served; the document and its page are our own.
func apiConfig(version string) huma.Config {
	schemas := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schemas.RegisterTypeAlias(reflect.TypeFor[problem](), problemSchema)
	bearer := func(about string) *huma.SecurityScheme {
		return &huma.SecurityScheme{Type: "http", Scheme: "bearer", Description: about}
	}
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info:    &huma.Info{Title: "Stet", Version: version, Description: apiAbout},
			Components: &huma.Components{
				Schemas: schemas,
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"hostKey":   bearer("A host key, stet_host_..."),
					"turnToken": bearer("The token of one turn, stet_turn_..."),
					"opsKey":    bearer("An ops key, stet_ops_..."),
				},
			},
			Tags: []*huma.Tag{
				{Name: tagHost, Description: "For the bot's own runtime, with a host key."},
				{Name: tagAgent, Description: "For the agent, with a turn token."},
				{Name: tagAudit, Description: "What was attempted and how it ended, with an ops key."},
				{Name: tagKeys, Description: "Who may call, with an ops key."},
				{Name: tagMachine, Description: "For probes and scrapers."},
			},
		},
		Formats:       map[string]huma.Format{"application/json": format, "json": format},
		DefaultFormat: "application/json",
	}
}

// documents serves the OpenAPI document and its page, both made once.
func (s *server) documents() error {
	api := s.api.OpenAPI()
	addExamples(api)
	openAnswers(api)
	doc, err := json.MarshalIndent(api, "", "  ")
	if err != nil {
		return fmt.Errorf("httpapi: encode the OpenAPI document: %w", err)
	}
	page, policy, err := docsPage(api, s.routes)
	if err != nil {
		return fmt.Errorf("httpapi: make the docs page: %w", err)
	}
	s.mux.HandleFunc("GET /openapi.json", static("application/json", "", doc))
	s.mux.HandleFunc("GET /docs", static("text/html; charset=utf-8", policy, page))
	s.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/docs", http.StatusSeeOther)
	})
	return nil
}

// openAnswers lets answers grow: only a request is held to the fields that it
// has today.
func openAnswers(api *huma.OpenAPI) {
	asked := map[string]bool{"Locus": true, "Wake": true}
	for name, sc := range api.Components.Schemas.Map() {
		if closed, ok := sc.AdditionalProperties.(bool); ok && !closed && !asked[name] && !strings.HasSuffix(name, "Request") {
			sc.AdditionalProperties = nil
		}
	}
}

func static(kind, policy string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "no-cache")
		if policy != "" {
			w.Header().Set("Content-Security-Policy", policy)
		}
		// A client that is gone is nobody to tell.
		_, _ = w.Write(body)
	}
}

// addExamples gives every body and every answer of JSON an example, made from
// those of its fields.
func addExamples(api *huma.OpenAPI) {
	for _, item := range api.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			if op.RequestBody != nil {
				addExample(api, op.RequestBody.Content)
			}
			for _, resp := range op.Responses {
				addExample(api, resp.Content)
			}
		}
	}
}

func addExample(api *huma.OpenAPI, content map[string]*huma.MediaType) {
	for kind, m := range content {
		if kind == "application/json" && m.Schema != nil {
			m.Example = example(api.Components.Schemas, m.Schema)
		}
	}
}

// ordered is a JSON object in the order of its schema's required fields, which
// is that of the type.
type ordered struct {
	names  []string
	values map[string]any
}

// MarshalJSON writes the object.
func (o ordered) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, name := range o.names {
		if i > 0 {
			b = append(b, ',')
		}
		value, err := json.Marshal(o.values[name])
		if err != nil {
			return nil, err
		}
		b = append(append(fmt.Appendf(b, "%q", name), ':'), value...)
	}
	return append(b, '}'), nil
}

// example makes a value of a schema: required fields, and those that have an
// example of their own.
func example(schemas huma.Registry, sc *huma.Schema) any {
	if sc.Ref != "" {
		sc = schemas.SchemaFromRef(sc.Ref)
	}
	switch {
	case len(sc.Examples) > 0:
		return sc.Examples[0]
	case len(sc.Enum) > 0:
		return sc.Enum[0]
	case sc.Format == "date-time":
		return "2026-01-02T15:04:05Z"
	}
	switch sc.Type {
	case huma.TypeString:
		return "string"
	case huma.TypeBoolean:
		return false
	case huma.TypeInteger, huma.TypeNumber:
		return 0
	case huma.TypeArray:
		return []any{example(schemas, sc.Items)}
	}
	return exampleObject(schemas, sc)
}

func exampleObject(schemas huma.Registry, sc *huma.Schema) ordered {
	o := ordered{values: map[string]any{}}
	for _, name := range fieldNames(sc) {
		p := sc.Properties[name]
		if isRequired(sc, name) || len(p.Examples) > 0 || isObject(schemas, p) {
			o.names = append(o.names, name)
			o.values[name] = example(schemas, p)
		}
	}
	return o
}

func isObject(schemas huma.Registry, sc *huma.Schema) bool {
	return sc.Ref != "" && schemas.SchemaFromRef(sc.Ref).Type == huma.TypeObject
}
