package room

import (
	"context"
)

// reading serves the verbs that change nothing.
func (s *Server) reading(read func(context.Context, request) (answer, string, error)) func(exchange) {
	return func(e exchange) {
		if fault := s.script.next(e.verb, e.req); fault.Kind != "" {
			s.play(e, fault, outcome{refusal: refuseGone})
			return
		}
		a, no, err := read(e.r.Context(), e.req)
		switch {
		case err != nil:
			s.failed(e, err)
		case no != "":
			e.refuse(no)
		default:
			e.answer(a)
		}
	}
}

func probe(context.Context, request) (answer, string, error) {
	return answer{OK: true}, "", nil
}

func (s *Server) fetch(ctx context.Context, r request) (answer, string, error) {
	m, err := s.read.fetch(ctx, r)
	if err == nil && m == nil {
		return answer{}, refuseGone, nil
	}
	return answer{Message: m}, "", err
}

func (s *Server) find(ctx context.Context, r request) (answer, string, error) {
	if r.Marker == "" {
		return answer{}, refuseInvalid, nil
	}
	m, err := s.read.find(ctx, r)
	return answer{Message: m, Marker: r.Marker, Complete: true}, "", err
}

func (s *Server) page(ctx context.Context, r request) (answer, string, error) {
	if no, err := s.pageable(ctx, r); no != "" || err != nil {
		return answer{}, no, err
	}
	a, err := s.read.page(ctx, r)
	return a, "", err
}

// pageable refuses a page of something that isn't there, which would otherwise
// look like an empty one.
func (s *Server) pageable(ctx context.Context, r request) (no string, err error) {
	there, err := s.read.hasChannel(ctx, r.Org, r.Channel)
	if err != nil || !there {
		return refuseNoChannel, err
	}
	for id, missing := range map[string]string{r.Thread: refuseNoThread, r.Before: refuseInvalid} {
		if id == "" {
			continue
		}
		m, err := s.read.fetch(ctx, request{Org: r.Org, Channel: r.Channel, ID: id})
		if err != nil || m == nil {
			return missing, err
		}
	}
	return "", nil
}
