package httpapi

import (
	"context"
	"net/http"
	"time"

	"stet/arms"
	"stet/gateway/bind"
	"stet/gateway/locus"
	"stet/gateway/outcome"
	"stet/gateway/turn"
	"stet/gateway/wire"
)

type sessionIn struct {
	Session string `path:"session" doc:"The session's id, at most 200 characters." example:"s-1"`
	Body    wire.BindRequest
}

type openIn struct{ Body wire.OpenTurnRequest }

type turnIn struct {
	Turn string `path:"turn" doc:"The turn's id."`
}

type evidenceIn struct {
	Turn string `path:"turn" doc:"The turn's id."`
	Body wire.EvidenceRequest
}

type transcriptIn struct {
	Turn string `path:"turn" doc:"The turn's id."`
	Body wire.TranscriptRequest
}

type activityIn struct {
	Turn string `path:"turn" doc:"The turn's id."`
	Body wire.ActivityRequest
}

const tagHost = "Host"

func (s *server) hostRoutes() {
	handle(s, route{
		id: "bind-session", method: http.MethodPut, path: "/v1/sessions/{session}", tag: tagHost,
		plane: hostPlane, status: http.StatusOK, body: true, summary: "Bind a session",
		about:   "Says who speaks in a session and where its replies land. Binding again replaces the binding; turns that are open keep theirs.",
		reasons: []outcome.Reason{outcome.UntrustedServiceURL},
	}, s.bindSession)
	handle(s, route{
		id: "open-turn", method: http.MethodPost, path: "/v1/turns", tag: tagHost,
		plane: hostPlane, status: http.StatusCreated, body: true, drains: true, summary: "Open a turn",
		about: "One wake of the agent. Where its replies land is frozen now: the wake's origin, else the session's binding. " +
			"The answer holds the turn token, this once; it is for the agent.",
		reasons: []outcome.Reason{outcome.UntrustedServiceURL},
	}, s.openTurn)
	turnRoute := func(what, summary, about string, status int, body bool) route {
		return route{
			id: what + "-turn", method: http.MethodPost, path: "/v1/turns/{turn}/" + what, tag: tagHost,
			plane: hostPlane, status: status, body: body, summary: summary, about: about,
			reasons: []outcome.Reason{outcome.NotFound},
		}
	}
	handle(s, turnRoute("evidence", "Report an event",
		"An event that the host saw, which a claim in the agent's text may rest on.",
		http.StatusCreated, true), s.addEvidence)
	handle(s, turnRoute("transcript", "Report a tool call",
		"A tool call that the agent made elsewhere. The transcript only grows: a call's later result is a further entry.",
		http.StatusNoContent, true), s.addTranscript)
	handle(s, turnRoute("activity", "Report a newer message",
		"A newer inbound message was seen, so the turn answers something that is no longer the newest.",
		http.StatusNoContent, true), s.sawMessage)
	handle(s, turnRoute("close", "Close a turn",
		"The turn's token is dead from now on. Closing twice is fine.",
		http.StatusOK, false), s.closeTurn)
	s.eventRoute()
}

func (s *server) bindSession(ctx context.Context, in *sessionIn) (*out[wire.Session], error) {
	b := in.Body
	bound, err := s.Bind.BindSession(context.WithoutCancel(ctx), callerOf(ctx).Key, bind.NewSession{
		ID: in.Session, Org: b.Org, Workspace: b.Workspace, Surface: b.Surface,
		Principal: b.Principal, Locus: toLocus(b.Locus),
	})
	if err != nil {
		return nil, err
	}
	return answer(wire.Session{
		Session: bound.ID, Org: bound.Org, Workspace: bound.Workspace, Surface: bound.Surface,
		Principal: bound.Principal, Locus: fromLocus(bound.Locus),
	}), nil
}

func (s *server) openTurn(ctx context.Context, in *openIn) (*out[wire.OpenedTurn], error) {
	b := in.Body
	ttl, err := parseTTL(b.TTL)
	if err != nil {
		return nil, err
	}
	token, t, err := s.Bind.OpenTurn(context.WithoutCancel(ctx), callerOf(ctx).Key, bind.NewTurn{
		Session: b.Session, WakeID: b.Wake.ID, Origin: toLocus(b.Wake.Origin), Refs: b.Wake.Refs,
		Creator: b.Creator, TTL: ttl, DryRun: b.DryRun, Org: b.Org, Workspace: b.Workspace,
		Surface: b.Surface, Principal: b.Principal,
	})
	if err != nil {
		return nil, err
	}
	return answer(wire.OpenedTurn{Turn: t.ID, Token: token, ExpiresAt: t.ExpiresAt.UTC()}), nil
}

func (s *server) addEvidence(ctx context.Context, in *evidenceIn) (*out[wire.Evidence], error) {
	ttl, err := parseTTL(in.Body.TTL)
	if err != nil {
		return nil, err
	}
	e, err := s.Bind.AddEvidence(context.WithoutCancel(ctx), callerOf(ctx).Key, in.Turn, bind.NewEvidence{
		Kind: in.Body.Kind, Ref: in.Body.Ref, Subject: in.Body.Subject, TTL: ttl,
	})
	if err != nil {
		return nil, err
	}
	return answer(wire.Evidence{ID: e.ID, At: e.At, ExpiresAt: e.ExpiresAt}), nil
}

func (s *server) addTranscript(ctx context.Context, in *transcriptIn) (*none, error) {
	b := in.Body
	return &none{}, s.Bind.AddCall(context.WithoutCancel(ctx), callerOf(ctx).Key, in.Turn, turn.Call{
		ID: b.Call, Name: b.Name, Args: b.Args, Result: b.Result, IsError: b.IsError,
	})
}

func (s *server) sawMessage(ctx context.Context, in *activityIn) (*none, error) {
	return &none{}, s.Bind.SawMessage(context.WithoutCancel(ctx), callerOf(ctx).Key, in.Turn, in.Body.Message)
}

func (s *server) closeTurn(ctx context.Context, in *turnIn) (*out[wire.TurnEnd], error) {
	t, err := s.Bind.CloseTurn(context.WithoutCancel(ctx), callerOf(ctx).Key, in.Turn)
	if err != nil {
		return nil, err
	}
	return answer(turnEnd(t)), nil
}

// parseTTL reads a duration; empty is 0, for the default.
func parseTTL(v string) (time.Duration, error) {
	if v == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		return 0, badRequest(`ttl must be a duration of more than 0, such as "10m"`)
	}
	return d, nil
}

func toLocus(l *wire.Locus) *locus.Locus {
	if l == nil {
		return nil
	}
	return &locus.Locus{
		Platform: arms.Platform(l.Platform), Workspace: l.Workspace, Channel: arms.ChannelID(l.Channel),
		Thread: arms.ThreadID(l.Thread), ServiceURL: l.ServiceURL, Organization: l.Organization,
	}
}

func fromLocus(l locus.Locus) *wire.Locus {
	if l.Zero() {
		return nil
	}
	return &wire.Locus{
		Platform: string(l.Platform), Workspace: l.Workspace, Channel: string(l.Channel), Thread: string(l.Thread),
		ServiceURL: l.ServiceURL, Organization: l.Organization,
	}
}

func marks(m turn.Marks) wire.Marks {
	return wire.Marks{
		Answered: m.Answered, Declined: m.Declined, Ambiguous: m.Ambiguous,
		Partial: m.Partial, Stale: m.Stale,
	}
}

func turnEnd(t turn.Turn) wire.TurnEnd {
	return wire.TurnEnd{Turn: t.ID, Marks: marks(t.Marks), MayEnd: t.Marks.MayEnd}
}
