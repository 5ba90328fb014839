package room

import (
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

const (
	// maxSaid is the largest post of a person in bytes, form encoding included.
	maxSaid       = 64 << 10
	maxPersonName = 80
)

// said is the post of a person.
type said struct {
	Name   string `json:"name"`
	Text   string `json:"text"`
	Thread string `json:"thread"`
}

// say takes a person's post as JSON, answered with the message, or as a form,
// answered with a redirect to the page.
func (p *pages) say(v visit) {
	kind, _, _ := mime.ParseMediaType(v.r.Header.Get("Content-Type"))
	var s said
	var ok bool
	switch kind {
	case "application/json":
		v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxSaid)
		ok = decode(v.w, v.r, &s)
	case "application/x-www-form-urlencoded":
		s, ok = saidInForm(v)
	default:
		refuse(v.w, refuseInvalid, http.StatusUnsupportedMediaType)
		return
	}
	s.tidy()
	no := p.checkText(s.Text)
	if !ok || !goodName(s.Name) || utf8.RuneCountInString(s.Name) > maxPersonName {
		no = refuseInvalid
	}
	if no != "" {
		refuse(v.w, no, own[no].status)
		return
	}
	res := p.commit.do(job{verb: VerbPost, kind: KindPerson, apply: true, req: request{
		Org: v.org, Channel: v.channel, Thread: s.Thread, Author: s.Name, Text: s.Text,
	}})
	switch {
	case res.err != nil:
		p.broken(v, res.err)
	case res.refusal != "":
		refuse(v.w, res.refusal, own[res.refusal].status)
	case kind == "application/json":
		writeJSON(v.w, http.StatusCreated, res.message)
	default:
		http.Redirect(v.w, v.r, "/room/"+url.PathEscape(v.channel)+v.Query(), http.StatusSeeOther)
	}
}

func saidInForm(v visit) (said, bool) {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxSaid)
	if v.r.ParseForm() != nil {
		return said{}, false
	}
	f := v.r.PostForm
	s := said{Name: f.Get("name"), Text: f.Get("text"), Thread: f.Get("thread")}
	return s, utf8.ValidString(s.Name + s.Text + s.Thread)
}

// tidy writes line ends as the room keeps them and names the nameless.
func (s *said) tidy() {
	s.Text = strings.TrimSpace(newlines.Replace(s.Text))
	if s.Name = strings.TrimSpace(s.Name); s.Name == "" {
		s.Name = "guest"
	}
}
