package room

import (
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"time"

	"stet/arms/armhttp"
)

//go:embed web/*
var webFiles embed.FS

var pageTemplates = template.Must(template.New("").Funcs(template.FuncMap{
	"clock":        func(t time.Time) string { return t.Format("15:04") },
	"emptyMessage": func() message { return message{} },
	"stamp":        func(t time.Time) string { return t.Format(time.RFC3339) },
}).ParseFS(webFiles, "web/*.html"))

// DefaultOrg is the organization whose rooms are shown when nobody names one.
const DefaultOrg = "default"

// PageOptions says who may see a room's pages.
type PageOptions struct {
	// Authorize says whether a request may see and write, and in which
	// organization. An empty org with ok means every organization: the query
	// org= picks one then, and [DefaultOrg] is shown without it. It is asked
	// on every request and has to be set.
	Authorize func(*http.Request) (org string, ok bool)
}

// pages serves people.
type pages struct {
	*Server
	authorize func(*http.Request) (string, bool)
}

// Pages is the handler to mount at /room/: the list of channels, a live page
// per channel, its events, and the post of a person. Posts from other sites
// are refused. It answers 503 while the server isn't running.
func (s *Server) Pages(o PageOptions) http.Handler {
	p := &pages{Server: s, authorize: o.Authorize}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /room/{$}", p.within(p.list))
	mux.HandleFunc("GET /room/{channel}", p.within(p.show))
	mux.HandleFunc("GET /room/{channel}/events", p.within(p.events))
	mux.HandleFunc("POST /room/{channel}/messages", p.within(p.say))
	for _, name := range []string{"room.css", "room.js", "icon.svg"} {
		mux.HandleFunc("GET /room/-/"+name, asset(name))
	}
	return safely(http.NewCrossOriginProtection().Handler(mux))
}

// safely sets the headers that keep a page to itself: nothing is loaded from
// elsewhere, nothing inline runs, no other site frames it.
func safely(next http.Handler) http.Handler {
	const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
		"img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func asset(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, webFiles, "web/"+name)
	}
}

// visit is one admitted request of a person.
type visit struct {
	w        http.ResponseWriter
	r        *http.Request
	org      string
	channel  string
	anyOrg   bool
	nameless bool // the request names no channel
}

// within admits a request to one organization and keeps the server open while
// it is served.
func (p *pages) within(handle func(visit)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		org, ok := p.authorize(r)
		asked := r.URL.Query().Get("org")
		v := visit{w: w, r: r, org: org, channel: r.PathValue("channel"), anyOrg: org == ""}
		v.nameless = v.channel == ""
		switch {
		case !ok:
			http.Error(w, "You need a key to see this room.", http.StatusUnauthorized)
			return
		case v.anyOrg && asked == "":
			v.org = DefaultOrg
		case v.anyOrg:
			v.org = asked
		case asked != "" && asked != org:
			http.Error(w, "Your key is for another organization.", http.StatusForbidden)
			return
		}
		if !goodName(v.org) || !v.nameless && !goodName(v.channel) {
			http.Error(w, "That is no name of a room.", http.StatusBadRequest)
			return
		}
		leave, ok := p.enter()
		if !ok {
			http.Error(w, "The room is closed just now.", http.StatusServiceUnavailable)
			return
		}
		defer leave()
		handle(v)
	}
}

// Query is what links have to carry to stay in the organization.
func (v visit) Query() string {
	if !v.anyOrg || v.org == DefaultOrg {
		return ""
	}
	return "?" + url.Values{"org": {v.org}}.Encode()
}

func (p *pages) list(v visit) {
	channels, err := p.read.channels(v.r.Context(), v.org)
	if err != nil {
		p.broken(v, err)
		return
	}
	p.render(v, "channels.html", map[string]any{"Org": v.org, "Channels": channels, "Query": v.Query()})
}

func (p *pages) show(v visit) {
	if res := p.commit.do(job{verb: "visit", apply: true, req: request{Org: v.org, Channel: v.channel}}); res.err != nil {
		p.broken(v, res.err)
		return
	}
	view, err := p.read.view(v.r.Context(), v.org, v.channel)
	if err != nil {
		p.broken(v, err)
		return
	}
	p.render(v, "room.html", map[string]any{
		"Org": v.org, "Channel": v.channel, "Rev": view.rev, "Threads": view.threads,
		"Base": "/room/" + url.PathEscape(v.channel), "Query": v.Query(), "Limit": p.config.TextLimit,
	})
}

func (p *pages) render(v visit, name string, data any) {
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := pageTemplates.ExecuteTemplate(v.w, name, data); err != nil {
		p.log.Error("room: a page was cut short", "error", armhttp.Redact(err))
	}
}

func (p *pages) broken(v visit, err error) {
	p.log.Error("room: the message file failed", "error", armhttp.Redact(err))
	http.Error(v.w, "The room can't be read just now.", http.StatusInternalServerError)
}
