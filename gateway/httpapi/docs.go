package httpapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"stet/gateway/outcome"
)

//go:embed docs.html.tmpl
var docsTemplate string

//go:embed docs.css
var docsStyle string

// docPage is what the page shows.
type docPage struct {
	Title, Version string
	About          []string
	Style          template.CSS
	Sections       []docSection
	Reasons        []docReason
}

type docSection struct {
	ID, Name, About string
	Calls           []docCall
}

type docCall struct {
	ID, Method, Path, Summary, About, Needs string
	Params, Fields                          []docField
	Curl                                    string
	Answers                                 []docAnswer
	Problems                                []docReason
}

type docField struct {
	Name, In, Type, About string
	Required              bool
}

type docAnswer struct {
	Status, Text, Kind, Example string
}

type docReason struct {
	Reason, Title string
	Status        string
}

// docsPage renders the OpenAPI document as one page of plain HTML, and answers
// it with the content policy that goes with it.
func docsPage(api *huma.OpenAPI, routes []route) ([]byte, string, error) {
	t, err := template.New("docs").Parse(docsTemplate)
	if err != nil {
		return nil, "", err
	}
	page := docPage{
		Title: api.Info.Title, Version: api.Info.Version, About: paragraphs(api.Info.Description),
		Style: template.CSS(docsStyle), //nolint:gosec // embedded, nobody's input
	}
	for _, tag := range api.Tags {
		page.Sections = append(page.Sections, section(api, tag, routes))
	}
	page.Reasons = reasons(outcome.Reasons())
	var b bytes.Buffer
	if err := t.Execute(&b, page); err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256([]byte(docsStyle))
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; img-src data:; style-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
	return b.Bytes(), policy, nil
}

func paragraphs(text string) []string {
	var out []string
	for _, p := range strings.Split(text, "\n\n") {
		out = append(out, strings.ReplaceAll(strings.ReplaceAll(p, "\n", " "), "**", ""))
	}
	return out
}

func section(api *huma.OpenAPI, tag *huma.Tag, routes []route) docSection {
	sec := docSection{ID: strings.ToLower(tag.Name), Name: tag.Name, About: tag.Description}
	for _, rt := range routes {
		if rt.tag == tag.Name {
			sec.Calls = append(sec.Calls, docOf(api, rt))
		}
	}
	return sec
}

func docOf(api *huma.OpenAPI, rt route) docCall {
	op := operationOf(api, rt)
	c := docCall{
		ID: rt.id, Method: rt.method, Path: rt.path, Summary: rt.summary, About: rt.about, Needs: rt.plane.needs,
		Problems: reasons(rt.allReasons()), Answers: answers(op), Curl: curl(rt, op),
	}
	for _, p := range op.Parameters {
		c.Params = append(c.Params, docField{
			Name: p.Name, In: p.In, Type: typeOf(api.Components.Schemas, p.Schema),
			About: p.Schema.Description, Required: p.Required,
		})
	}
	if op.RequestBody != nil {
		sc := op.RequestBody.Content["application/json"].Schema
		c.Fields = fields(api.Components.Schemas, "", sc)
	}
	return c
}

func operationOf(api *huma.OpenAPI, rt route) *huma.Operation {
	item := api.Paths[rt.path]
	return map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put,
		http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
	}[rt.method]
}

// fields lists a schema's fields, those of objects in it with a dot between.
func fields(schemas huma.Registry, prefix string, sc *huma.Schema) []docField {
	if sc.Ref != "" {
		sc = schemas.SchemaFromRef(sc.Ref)
	}
	var out []docField
	for _, name := range fieldNames(sc) {
		p := sc.Properties[name]
		out = append(out, docField{
			Name: prefix + name, Type: typeOf(schemas, p), About: p.Description, Required: isRequired(sc, name),
		})
		if isObject(schemas, p) {
			out = append(out, fields(schemas, prefix+name+".", p)...)
		}
	}
	return out
}

// fieldNames orders a schema's fields: required ones first, in the type's
// order, then the others by name.
func fieldNames(sc *huma.Schema) []string {
	names := slices.Clone(sc.Required)
	var rest []string
	for name := range sc.Properties {
		if !isRequired(sc, name) {
			rest = append(rest, name)
		}
	}
	sort.Strings(rest)
	return append(names, rest...)
}

func isRequired(sc *huma.Schema, name string) bool { return slices.Contains(sc.Required, name) }

// typeOf says a schema's type in words.
func typeOf(schemas huma.Registry, sc *huma.Schema) string {
	switch {
	case len(sc.Enum) > 0:
		words := make([]string, 0, len(sc.Enum))
		for _, v := range sc.Enum {
			if s, ok := v.(string); ok {
				words = append(words, s)
			}
		}
		return strings.Join(words, " | ")
	case isObject(schemas, sc):
		return "object"
	case sc.Type == huma.TypeArray:
		return "list of " + typeOf(schemas, sc.Items)
	case sc.Format == "date-time":
		return "time"
	case sc.Type == huma.TypeObject:
		return "object of strings"
	case sc.Type == "":
		return "any JSON"
	case sc.MaxLength != nil:
		return sc.Type + ", at most " + strconv.Itoa(*sc.MaxLength)
	}
	return sc.Type
}

func answers(op *huma.Operation) []docAnswer {
	var out []docAnswer
	for code, resp := range op.Responses {
		if !strings.HasPrefix(code, "2") {
			continue
		}
		if len(resp.Content) == 0 {
			out = append(out, docAnswer{Status: code, Text: "nothing more"})
		}
		for kind, m := range resp.Content {
			a := docAnswer{Status: code, Kind: kind}
			if m.Example != nil {
				a.Example = pretty(m.Example)
			}
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b docAnswer) int { return strings.Compare(a.Status+a.Kind, b.Status+b.Kind) })
	return out
}

func reasons(all []outcome.Reason) []docReason {
	out := make([]docReason, 0, len(all))
	for _, r := range all {
		status := strconv.Itoa(outcome.Status(r, ""))
		for _, o := range outcomesOf(r)[1:] {
			status += ", " + strconv.Itoa(outcome.Status(r, o))
		}
		out = append(out, docReason{Reason: string(r), Title: title(r), Status: status})
	}
	slices.SortFunc(out, func(a, b docReason) int { return strings.Compare(a.Status+a.Reason, b.Status+b.Reason) })
	return out
}

func pretty(v any) string {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil { // made from plain values
		return ""
	}
	return string(b)
}

// curl is a command line that makes the call.
func curl(rt route, op *huma.Operation) string {
	line := []string{"curl -sS"}
	if rt.method != http.MethodGet {
		line[0] += " -X " + rt.method
	}
	line = append(line, "\"$STET_URL"+strings.NewReplacer("{", "$", "}", "").Replace(rt.path)+"\"")
	if rt.plane.scheme != "" {
		name := map[string]string{"hostKey": "STET_HOST_KEY", "turnToken": "STET_TURN_TOKEN", "opsKey": "STET_OPS_KEY"}[rt.plane.scheme]
		line = append(line, "-H \"Authorization: Bearer $"+name+"\"")
	}
	if op.RequestBody != nil {
		body := pretty(op.RequestBody.Content["application/json"].Example)
		line = append(line, "-H 'Content-Type: application/json'", "-d '"+body+"'")
	}
	return strings.Join(line, " \\\n  ")
}
