package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stet/audit"
	"stet/gateway/outcome"
	"stet/gateway/turn"
)

type document struct {
	OpenAPI string
	Paths   map[string]map[string]struct {
		OperationID string
		Summary     string
		Security    []map[string][]string
		Responses   map[string]struct {
			Content map[string]struct{ Examples map[string]any }
		}
		Parameters []struct {
			Name   string
			Schema struct{ Items struct{ Enum []string } }
		}
	}
	Components struct {
		SecuritySchemes map[string]any
		Schemas         map[string]struct {
			Properties map[string]struct{ Enum []string }
		}
	}
}

func (d *door) document() document {
	d.Helper()
	var doc document
	d.ask(http.MethodGet, "/openapi.json", "", "").want(http.StatusOK).into(&doc)
	return doc
}

func TestOpenAPIIsTheOneThatWasAgreedOn(t *testing.T) {
	d := open(t)
	got := []byte(d.ask(http.MethodGet, "/openapi.json", "", "").want(http.StatusOK).body + "\n")
	golden := filepath.Join("testdata", "openapi.golden.json")
	if *update {
		d.must(os.WriteFile(golden, got, 0o644))
	}
	want, err := os.ReadFile(golden)
	d.must(err)
	if !bytes.Equal(got, want) {
		t.Errorf("the OpenAPI document differs from %s; run the test with -update and read the difference", golden)
	}
}

func TestEveryRouteIsInTheDocumentAndTheReverse(t *testing.T) {
	for _, loopback := range []bool{true, false} {
		d := open(t, func(o *Options) { o.Loopback = loopback })
		doc := d.document()
		if doc.OpenAPI != "3.1.0" {
			t.Errorf("version %q, want 3.1.0", doc.OpenAPI)
		}
		s := routesOf(t)
		served := map[string]bool{}
		for _, rt := range s {
			served[rt.method+" "+rt.path] = true
			op, ok := doc.Paths[rt.path][strings.ToLower(rt.method)]
			if !ok {
				t.Errorf("%s %s is not in the document", rt.method, rt.path)
				continue
			}
			for _, r := range rt.allReasons() {
				if !hasReason(op.Responses, r) {
					t.Errorf("%s %s does not describe %s", rt.method, rt.path, r)
				}
			}
		}
		for path, ops := range doc.Paths {
			for method, op := range ops {
				name := strings.ToUpper(method) + " " + path
				if !served[name] {
					t.Errorf("%s is in the document and not a route", name)
				}
				concrete := regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(path, "x")
				resp := d.ask(strings.ToUpper(method), concrete, "", "")
				if resp.status == http.StatusNotFound || resp.status == http.StatusMethodNotAllowed {
					t.Errorf("%s is in the document and answers %d", name, resp.status)
				}
				if needsKey := resp.status == http.StatusUnauthorized; needsKey != (len(op.Security) > 0) {
					t.Errorf("%s: needs a key %v, the document says %v", name, needsKey, op.Security)
				}
			}
		}
	}
}

func hasReason[R any](responses map[string]struct {
	Content map[string]struct{ Examples map[string]R }
}, r outcome.Reason) bool {
	for _, resp := range responses {
		for _, c := range resp.Content {
			if _, ok := c.Examples[string(r)]; ok {
				return true
			}
		}
	}
	return false
}

// routesOf lists the routes as they are registered.
func routesOf(t *testing.T) []route {
	t.Helper()
	s := serverOf(t)
	return s.routes
}

func TestClosedSetsOfTheDocumentAreThoseOfTheContract(t *testing.T) {
	doc := open(t).document()
	if got := doc.Components.Schemas["EvidenceRequest"].Properties["kind"].Enum; !slices.Equal(got, turn.EvidenceKinds()) {
		t.Errorf("evidence kinds %v, want %v", got, turn.EvidenceKinds())
	}
	var columns []string
	for _, c := range audit.Columns() {
		columns = append(columns, string(c))
	}
	var by, filters []string
	for _, p := range doc.Paths["/v1/audit/count"]["get"].Parameters {
		if p.Name == "by" {
			by = p.Schema.Items.Enum
		} else {
			filters = append(filters, p.Name)
		}
	}
	if !slices.Equal(by, columns) {
		t.Errorf("columns to count by %v, want %v", by, columns)
	}
	if want := append(columns, "since", "until"); !slices.Equal(filters, want) {
		t.Errorf("filters %v, want %v", filters, want)
	}
}

func TestDocsPageStandsOnItsOwn(t *testing.T) {
	d := open(t)
	r := d.ask(http.MethodGet, "/docs", "", "").want(http.StatusOK)
	if got := r.header.Get("Content-Type"); got != "text/html; charset=utf-8" {
		t.Errorf("content type %q", got)
	}
	for _, m := range regexp.MustCompile(`(?i)(src|href|action|url)\s*[=(]\s*["']?([^"'>)\s]*)`).FindAllStringSubmatch(r.body, -1) {
		target := m[2]
		if !strings.HasPrefix(target, "#") && target != "/openapi.json" && target != "data:," {
			t.Errorf("the page points to %q", target)
		}
	}
	for _, banned := range []string{"<script", "@import", "http://", "https://", "//unpkg"} {
		if strings.Contains(r.body, banned) {
			t.Errorf("the page holds %q", banned)
		}
	}
	style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindStringSubmatch(r.body)[1]
	sum := sha256.Sum256([]byte(style))
	if hash := base64.StdEncoding.EncodeToString(sum[:]); !strings.Contains(r.header.Get("Content-Security-Policy"), "'sha256-"+hash+"'") {
		t.Error("the content policy does not allow the page's own style")
	}
}

func TestDocsPageShowsEveryCallAndEveryReason(t *testing.T) {
	body := open(t).ask(http.MethodGet, "/docs", "", "").body
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(body, -1) {
		if seen[m[1]] {
			t.Errorf("the id %q is there twice", m[1])
		}
		seen[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(body, -1) {
		if !seen[m[1]] {
			t.Errorf("the link #%s leads nowhere", m[1])
		}
	}
	for _, rt := range routesOf(t) {
		if !seen[rt.id] {
			t.Errorf("the call %s is not shown", rt.id)
		}
	}
	for _, r := range outcome.Reasons() {
		if !seen[string(r)] {
			t.Errorf("the reason %s is not shown", r)
		}
	}
	if n := strings.Count(body, "curl -sS"); n != len(routesOf(t)) {
		t.Errorf("%d command lines for %d calls", n, len(routesOf(t)))
	}
}

func TestExamplesOfRequestsAreGoodRequests(t *testing.T) {
	d := open(t)
	var doc struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct{ Example json.RawMessage }
			}
		}
	}
	d.ask(http.MethodGet, "/openapi.json", "", "").into(&doc)
	opened := d.turn("acme")
	key := map[string]string{"hostKey": d.acmeHost, "turnToken": opened.Token, "opsKey": d.acmeOps}
	n := 0
	for _, rt := range routesOf(t) {
		body := doc.Paths[rt.path][strings.ToLower(rt.method)].RequestBody.Content["application/json"].Example
		if body == nil {
			continue
		}
		n++
		path := strings.NewReplacer("{turn}", opened.Turn, "{session}", "s-1", "{id}", "m1").Replace(rt.path)
		if rt.path == "/v1/turns" {
			d.ask(http.MethodPut, "/v1/sessions/s-1", d.acmeHost, string(doc.Paths["/v1/sessions/{session}"]["put"].RequestBody.Content["application/json"].Example)).want(http.StatusOK)
		}
		d.ask(rt.method, path, key[rt.plane.scheme], string(body)).want(rt.status)
	}
	if n < 8 {
		t.Errorf("only %d requests have an example", n)
	}
}
