package room

import (
	"unicode/utf8"
)

// write serves post, edit and retract. Every request that gets here is noted
// in the truth log, whatever then happens to it.
func (s *Server) write(e exchange) {
	no := s.check(e)
	fault := s.script.next(e.verb, e.req)
	p := plays[fault.Kind]
	apply := no == "" && p.apply == applyNow
	res := s.commit.do(job{verb: e.verb, req: e.req, kind: KindBot, receive: true, apply: apply})
	if res.err != nil {
		s.failed(e, res.err)
		return
	}
	if no == "" && p.apply == applyLate {
		s.later(e, fault.Wait)
	}
	if no == "" {
		no = res.refusal
	}
	if fault.Kind != "" {
		s.play(e, fault, outcome{message: res.message, refusal: no})
		return
	}
	respond(e, outcome{message: res.message, refusal: no})
}

// outcome is what an honest answer would say.
type outcome struct {
	message message
	refusal string
}

func respond(e exchange, o outcome) {
	if o.refusal != "" {
		e.refuse(o.refusal)
		return
	}
	e.answer(answer{Message: &o.message})
}

// check is the refusal of a request that can't be applied, whatever is there.
func (s *Server) check(e exchange) string {
	r := e.req
	if !goodName(r.Org) || !goodName(r.Channel) || len(r.Marker) > maxName {
		return refuseInvalid
	}
	if e.verb == VerbPost && !goodName(r.Author) {
		return refuseInvalid
	}
	if e.verb != VerbPost && r.ID == "" {
		return refuseInvalid
	}
	if e.verb == VerbRetract {
		return ""
	}
	return s.checkText(r.Text)
}

func (s *Server) checkText(text string) string {
	switch {
	case text == "":
		return refuseInvalid
	case utf8.RuneCountInString(text) > s.config.TextLimit:
		return refuseTooLong
	}
	return ""
}
