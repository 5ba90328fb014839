package archtest

import (
	"slices"
	"strings"
	"testing"
)

// rule says what the non-test files of a package may import of the module and,
// where it is a contract, of others. "x/*" is every other folder of x: the
// implementations of its contract, which never see one another.
type rule struct {
	pkg string
	// may are packages of the module.
	may []string
	// libraries are foreign modules; nil: any.
	libraries []string
}

// none is a list for packages that need nothing beside the standard library.
var none = []string{}

// leaves are the value types that everybody may speak.
var leaves = []string{"arms", "gateway/locus", "gateway/turn", "gateway/outcome"}

func rules() []rule {
	contracts := append(slices.Clone(leaves), "ledger", "audit", "guards")
	platform := []string{"arms", "arms/armhttp", "arms/markup", "audit/sqldb"}
	metrics := []string{"github.com/prometheus/client_golang/", "github.com/google/uuid"}
	return []rule{
		{"arms", none, none},
		{"arms/armhttp", []string{"arms"}, none},
		{"arms/markup", []string{"arms"}, none},
		{"arms/*", platform, nil},
		{"gateway/locus", []string{"arms"}, none},
		{"gateway/turn", []string{"gateway/locus"}, none},
		{"gateway/outcome", []string{"arms"}, none},
		{"gateway/wire", none, nil},
		{"gateway/bind", leaves, nil},
		{"ledger", leaves, none},
		{"ledger/*", append(slices.Clone(leaves), "ledger", "audit/sqldb"), nil},
		{"guards", leaves, none},
		{"guards/*", append(slices.Clone(leaves), "guards"), nil},
		{"audit", append(slices.Clone(leaves), "ledger"), metrics},
		{"audit/sqldb", none, nil},
		{"audit/*", append(slices.Clone(contracts), "audit/sqldb", "gateway/bind"), nil},
		{"audit/sweep", contracts, nil},
		{"gateway", contracts, metrics},
		{"gateway/client", []string{"gateway/wire"}, none},
		{"gateway/httpapi", append(slices.Clone(contracts), "gateway", "gateway/bind", "gateway/wire"), nil},
	}
}

func ruleOf(pkg string) (rule, bool) {
	parent, _, _ := cutLast(pkg, "/")
	for _, name := range []string{pkg, parent + "/*"} {
		for _, r := range rules() {
			if r.pkg == name {
				return r, true
			}
		}
	}
	return rule{}, false
}

// own is an import of the module, without the module's name.
func own(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, "stet/")
	return rest, ok
}

func foreign(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".")
}

// violations lists the imports of a file that its package's rule forbids.
func violations(s source) []string {
	if s.test() || s.suite() || strings.HasPrefix(s.path, "cmd/") {
		return nil
	}
	r, ok := ruleOf(s.pkg())
	if !ok {
		return []string{"there is no rule for the imports of " + s.pkg()}
	}
	var bad []string
	for _, path := range s.imports {
		p, ours := own(path)
		if ours && !slices.Contains(r.may, p) || foreign(path) && r.libraries != nil && !hasPrefix(r.libraries, path) {
			bad = append(bad, path)
		}
	}
	return bad
}

func TestImportsFollowTheDirection(t *testing.T) {
	for _, s := range sources(t) {
		for _, v := range violations(s) {
			t.Errorf("%s: %s", s.path, v)
		}
	}
}

func TestTheRulesSeeAWrongImport(t *testing.T) {
	for _, s := range []source{
		{path: "gateway/x.go", imports: []string{"stet/audit/sqlite"}},
		{path: "gateway/x.go", imports: []string{"stet/arms/room"}},
		{path: "gateway/x.go", imports: []string{"github.com/danielgtaylor/huma/v2"}},
		{path: "arms/x.go", imports: []string{"github.com/google/uuid"}},
		{path: "arms/room/x.go", imports: []string{"stet/gateway"}},
		{path: "arms/irc/x.go", imports: []string{"stet/arms/room"}},
		{path: "ledger/memory/x.go", imports: []string{"stet/audit/sqlite"}},
		{path: "gateway/client/x.go", imports: []string{"stet/gateway"}},
		{path: "audit/sqlite/x.go", imports: []string{"stet/gateway/httpapi"}},
		{path: "gateway/surprise/x.go"},
	} {
		if len(violations(s)) != 1 {
			t.Errorf("%s with %v is not seen", s.path, s.imports)
		}
	}
	if v := violations(source{path: "gateway/x.go", imports: []string{"context", "stet/arms", "stet/audit"}}); len(v) != 0 {
		t.Errorf("right imports are forbidden: %v", v)
	}
}

func hasPrefix(prefixes []string, s string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

func TestOnlyTestsImportASuite(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() || s.suite() {
			continue
		}
		for _, path := range s.imports {
			if p, ok := own(path); ok && strings.HasSuffix(p, "test") {
				t.Errorf("%s imports the suite %s", s.path, p)
			}
			if path == "testing" {
				t.Errorf("%s imports testing", s.path)
			}
		}
	}
}

func TestOnlyCmdSeesCmd(t *testing.T) {
	for _, s := range sources(t) {
		for _, path := range s.imports {
			if p, ok := own(path); ok && strings.HasPrefix(p, "cmd/") && !strings.HasPrefix(s.path, "cmd/") {
				t.Errorf("%s imports %s", s.path, p)
			}
		}
	}
}

func TestOnlyTheCompositionRootMakesAPlatformsArm(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() || s.suite() || strings.HasPrefix(s.path, "arms/") || s.path == "cmd/internal/app/arms.go" {
			continue
		}
		for _, path := range s.imports {
			p, ok := own(path)
			if !ok || !strings.HasPrefix(p, "arms/") || p == "arms/armhttp" || p == "arms/markup" {
				continue
			}
			// The tour and the app hold the built-in platform's server.
			if p == "arms/room" && strings.HasPrefix(s.path, "cmd/internal/") {
				continue
			}
			t.Errorf("%s imports the platform %s", s.path, p)
		}
	}
}
