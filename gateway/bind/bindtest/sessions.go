package bindtest

import (
	"stet/gateway/bind"
	"stet/gateway/locus"
)

var sessionChecks = []check{
	{"a session is found as it was bound", boundSession},
	{"binding again replaces the binding", rebound},
	{"an unbound session has no locus", unboundSession},
	{"sessions of one id are told apart by their organization", sameID},
	{"a session that nobody bound isn't there", noSession},
}

func session(change ...func(*bind.Session)) bind.Session {
	s := bind.Session{Org: "acme", ID: "s1", Workspace: "w1", Surface: "chat", Principal: "bot", Locus: there}
	for _, c := range change {
		c(&s)
	}
	return s
}

// sessions expects what is found.
func (f *fixture) sessions(org, id string, want ...bind.Session) {
	f.Helper()
	got, err := f.Sessions(f.ctx, org, id)
	f.no(err)
	if len(got) != len(want) {
		f.Fatalf("%d sessions, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			f.Errorf("session %+v, want %+v", got[i], want[i])
		}
	}
}

func boundSession(f *fixture) {
	s := session()
	f.no(f.PutSession(f.ctx, s))
	f.sessions("acme", "s1", s)
}

func rebound(f *fixture) {
	f.no(f.PutSession(f.ctx, session()))
	s := session(func(s *bind.Session) { s.Locus, s.Principal = here, "other bot" })
	f.no(f.PutSession(f.ctx, s))
	f.sessions("acme", "s1", s)
}

func unboundSession(f *fixture) {
	s := session(func(s *bind.Session) { s.Locus = locus.Locus{} })
	f.no(f.PutSession(f.ctx, s))
	f.sessions("acme", "s1", s)
	if got, _ := f.Sessions(f.ctx, "acme", "s1"); !got[0].Locus.Zero() {
		f.Error("it has a locus")
	}
}

func sameID(f *fixture) {
	a, b := session(), session(func(s *bind.Session) { s.Org = "other" })
	f.no(f.PutSession(f.ctx, b))
	f.no(f.PutSession(f.ctx, a))
	f.sessions("acme", "s1", a)
	f.sessions("other", "s1", b)
	f.sessions("", "s1", a, b)
}

func noSession(f *fixture) {
	f.no(f.PutSession(f.ctx, session()))
	f.sessions("acme", "s2")
	f.sessions("third", "s1")
}
