package room_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"stet/arms"
	"stet/arms/room"
)

func inOrg(org string) room.PageOptions {
	return room.PageOptions{Authorize: func(*http.Request) (string, bool) { return org, true }}
}

func get(h http.Handler, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
	return w
}

func post(h http.Handler, target, kind, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// say posts as a person and returns the message's id.
func say(t *testing.T, s *room.Server, org, channel, text string) string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"name": "Mara", "text": text})
	if err != nil {
		t.Fatal(err)
	}
	w := post(s.Pages(inOrg(org)), "/room/"+url.PathEscape(channel)+"/messages", "application/json", string(body))
	var m struct{ ID string }
	if err := json.Unmarshal(w.Body.Bytes(), &m); w.Code != http.StatusCreated || err != nil || m.ID == "" {
		t.Fatalf("say: %d %s", w.Code, w.Body)
	}
	return m.ID
}

func TestThePageShowsWhatIsThereAndEscapesIt(t *testing.T) {
	s := started(t, room.Config{})
	a := armOf(t, s)
	nasty := `<script>alert(1)</script>"'&`
	root := mustPost(t, a, lobby, nasty, "secret-marker")
	inside := lobby
	inside.Thread = arms.ThreadID(root.ID)
	mustPost(t, a, inside, "a reply", "m2")
	gone := mustPost(t, a, lobby, "a slip", "m3")
	if err := a.Retract(t.Context(), arms.RetractRequest{Ref: gone, Marker: "m4"}); err != nil {
		t.Fatal(err)
	}
	if err := a.Edit(t.Context(), arms.EditRequest{Ref: root, Text: arms.Rendered(nasty + "!"), Marker: "m5"}); err != nil {
		t.Fatal(err)
	}
	say(t, s, "acme", "lobby", "hello there")
	w := get(s.Pages(inOrg("acme")), "/room/lobby")
	page := w.Body.String()
	for _, want := range []string{
		"&lt;script&gt;alert(1)&lt;/script&gt;", "a reply", "hello there", "Mara",
		`class="message bot changed"`, `class="message bot deleted"`, `class="message person"`, `id="` + string(root.ID) + `"`, `data-rev="6"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, not := range []string{"<script>alert", "a slip", "secret-marker", "m5", "http://", "https://", "style=", "onclick"} {
		if strings.Contains(page, not) {
			t.Errorf("the page has %s", not)
		}
	}
}

func TestEveryAnswerKeepsThePageToItself(t *testing.T) {
	s := started(t, room.Config{})
	h := s.Pages(inOrg("acme"))
	for _, target := range []string{"/room/", "/room/lobby", "/room/-/room.css", "/room/-/room.js", "/room/-/icon.svg", "/room/lobby/none"} {
		w := get(h, target)
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
			t.Errorf("%s: policy %q", target, policy)
		}
		if w.Header().Get("X-Frame-Options") != "DENY" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", target, w.Header())
		}
		if want := http.StatusOK; w.Code != want && target != "/room/lobby/none" {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
}

func TestAVisitMakesTheChannelAndTheListLinksToIt(t *testing.T) {
	s := started(t, room.Config{})
	h := s.Pages(inOrg(""))
	if page := get(h, "/room/").Body.String(); !strings.Contains(page, "There is no channel yet") {
		t.Errorf("the empty list: %s", page)
	}
	odd := "a/b?c#d e%"
	link := "/room/" + url.PathEscape(odd) + "?org=globex"
	if w := get(h, link); w.Code != http.StatusOK {
		t.Fatalf("visit: %d %s", w.Code, w.Body)
	}
	if page := get(h, "/room/?org=globex").Body.String(); !strings.Contains(page, `href="`+link+`"`) || !strings.Contains(page, "0 messages") {
		t.Errorf("the list has no %s: %s", link, page)
	}
	if page := get(h, "/room/").Body.String(); strings.Contains(page, "a/b") {
		t.Errorf("another organization's channel is listed: %s", page)
	}
}

func TestWhoMaySeeWhichOrganization(t *testing.T) {
	s := started(t, room.Config{})
	say(t, s, "acme", "lobby", "of acme")
	say(t, s, "globex", "lobby", "of globex")
	say(t, s, room.DefaultOrg, "lobby", "of the default")
	nobody := room.PageOptions{Authorize: func(*http.Request) (string, bool) { return "", false }}
	for name, c := range map[string]struct {
		o      room.PageOptions
		query  string
		status int
		sees   string
	}{
		"no key":                  {nobody, "", 401, ""},
		"no key, an org":          {nobody, "?org=acme", 401, ""},
		"own org":                 {inOrg("acme"), "", 200, "of acme"},
		"own org, named":          {inOrg("acme"), "?org=acme", 200, "of acme"},
		"another org":             {inOrg("acme"), "?org=globex", 403, ""},
		"all orgs, one named":     {inOrg(""), "?org=globex", 200, "of globex"},
		"all orgs, none named":    {inOrg(""), "", 200, "of the default"},
		"all orgs, a bad name":    {inOrg(""), "?org=a%0ab", 400, ""},
		"own org, a bad one":      {inOrg("acme"), "?org=a%0ab", 403, ""},
		"all orgs, nothing in it": {inOrg(""), "?org=initech", 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := s.Pages(c.o)
			w := get(h, "/room/lobby"+c.query)
			if w.Code != c.status {
				t.Fatalf("status %d, want %d", w.Code, c.status)
			}
			for _, text := range []string{"of acme", "of globex", "of the default"} {
				if has := strings.Contains(w.Body.String(), text); has != (text == c.sees) {
					t.Errorf("shows %q: %v", text, has)
				}
			}
			said := post(h, "/room/lobby/messages"+c.query, "application/json", `{"text":"x"}`)
			if want := max(c.status, 201); said.Code != want {
				t.Errorf("post: %d, want %d", said.Code, want)
			}
		})
	}
}

func TestWhatAPersonMayPost(t *testing.T) {
	s := started(t, room.Config{TextLimit: 20})
	h := s.Pages(inOrg("acme"))
	const js, form = "application/json", "application/x-www-form-urlencoded"
	root := say(t, s, "acme", "lobby", "root")
	for name, c := range map[string]struct {
		kind, body string
		status     int
	}{
		"json":                {js, `{"name":"Ola","text":"hi"}`, 201},
		"json with charset":   {js + "; charset=utf-8", `{"text":"hi"}`, 201},
		"json into a thread":  {js, `{"text":"hi","thread":"` + root + `"}`, 201},
		"form":                {form, "name=Ola&text=hi+there", 303},
		"twenty code points":  {js, `{"text":"` + strings.Repeat("é", 20) + `"}`, 201},
		"one too many":        {js, `{"text":"` + strings.Repeat("é", 21) + `"}`, 422},
		"form, one too many":  {form, "text=" + strings.Repeat("x", 21), 422},
		"empty":               {js, `{"text":" \n "}`, 400},
		"no such thread":      {js, `{"text":"hi","thread":"m00000000zabcd"}`, 404},
		"unknown field":       {js, `{"text":"hi","kind":"bot"}`, 400},
		"not JSON":            {js, `text`, 400},
		"two values":          {js, `{"text":"a"}{"text":"b"}`, 400},
		"not UTF-8":           {js, "{\"text\":\"a\xff\"}", 400},
		"form, not UTF-8":     {form, "text=a%ff", 400},
		"a long name":         {js, `{"text":"hi","name":"` + strings.Repeat("n", 81) + `"}`, 400},
		"a newline as a name": {js, `{"text":"hi","name":"a\nb"}`, 400},
		"too large":           {js, `{"text":"` + strings.Repeat("x", 70<<10) + `"}`, 400},
		"form, too large":     {form, "text=" + strings.Repeat("x", 70<<10), 400},
		"another type":        {"text/plain", `{"text":"hi"}`, 415},
		"no type":             {"", `{"text":"hi"}`, 415},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(mustTruth(t, s).Applied)
			w := post(h, "/room/lobby/messages", c.kind, c.body)
			if w.Code != c.status {
				t.Errorf("status %d, want %d: %s", w.Code, c.status, w.Body)
			}
			applied := mustTruth(t, s).Applied
			if grew := len(applied) - before; (grew == 1) != (c.status < 400) {
				t.Errorf("%d effects on status %d", grew, w.Code)
			}
			if last := applied[len(applied)-1]; last.Kind != room.KindPerson {
				t.Errorf("a person's post is by a %s", last.Kind)
			}
		})
	}
	if n := len(mustTruth(t, s).Received); n != 0 {
		t.Errorf("%d posts of persons are noted as a bot's requests", n)
	}
}

func TestAnotherSiteCannotPost(t *testing.T) {
	s := started(t, room.Config{})
	h := s.Pages(inOrg("acme"))
	for name, header := range map[string][]string{
		"fetch metadata": {"Sec-Fetch-Site", "cross-site"},
		"same site":      {"Sec-Fetch-Site", "same-site"},
		"origin":         {"Origin", "https://evil.example"},
	} {
		w := post(h, "/room/lobby/messages", "application/x-www-form-urlencoded", "text=hi", header...)
		if w.Code != http.StatusForbidden {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	if n := len(mustTruth(t, s).Applied); n != 0 {
		t.Errorf("%d posts of another site", n)
	}
	if w := post(h, "/room/lobby/messages", "application/x-www-form-urlencoded", "text=hi", "Sec-Fetch-Site", "same-origin"); w.Code != http.StatusSeeOther {
		t.Errorf("the page itself: %d", w.Code)
	}
}

func TestPagesOfAStoppedRoomAreClosed(t *testing.T) {
	s := started(t, room.Config{})
	h := s.Pages(inOrg("acme"))
	stop(t, s)
	for _, target := range []string{"/room/", "/room/lobby", "/room/lobby/events"} {
		if w := get(h, target); w.Code != http.StatusServiceUnavailable {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
}
