package httpapi

import (
	"context"
	"net/http"

	"stet/arms"
	"stet/gateway"
	"stet/gateway/outcome"
	"stet/gateway/turn"
	"stet/gateway/wire"
	"stet/ledger"
)

type replyIn struct {
	Key  string `header:"Idempotency-Key" maxLength:"255" doc:"Names the call, so that making it again has no second effect."`
	Body wire.ReplyRequest
}

type editIn struct {
	ID   string `path:"id" doc:"The id that reply answered; the id of any part finds the reply."`
	Key  string `header:"Idempotency-Key" maxLength:"255" doc:"Names the call, so that making it again has no second effect."`
	Body wire.EditRequest
}

type retractIn struct {
	ID  string `path:"id" doc:"The id that reply answered; the id of any part finds the reply."`
	Key string `header:"Idempotency-Key" maxLength:"255" doc:"Names the call, so that making it again has no second effect."`
}

type nothing struct{}

const tagAgent = "Agent"

// verbReasons are of every verb; only what a verb adds stands with its route.
var verbReasons = []outcome.Reason{
	outcome.InProgress, outcome.IdempotencyMismatch, outcome.Overloaded, outcome.NoArm, outcome.NoLocus,
	outcome.Denied, outcome.MessageBusy, outcome.RateLimited, outcome.PlatformError,
	outcome.LedgerUnavailable, outcome.UntrustedServiceURL,
}

// textReasons are of the verbs that bring a text.
var textReasons = []outcome.Reason{
	outcome.InvalidText, outcome.TextTooLong, outcome.NothingLeft, outcome.ClaimRefused,
}

func (s *server) agentRoutes() {
	verb := func(rt route, more ...outcome.Reason) route {
		rt.tag, rt.plane, rt.drains = tagAgent, agentPlane, true
		rt.reasons = append(append(rt.reasons, verbReasons...), more...)
		return rt
	}
	handle(s, verb(route{
		id: "reply", method: http.MethodPost, path: "/v1/replies", status: http.StatusCreated, body: true,
		summary: "Post a message",
		about:   "Posts where the turn's conversation is. Keep the id: with it, and only in this conversation and for a few hours, the message can be edited or retracted.",
		reasons: textReasons,
	}, outcome.TurnAmbiguous, outcome.TurnPartial, outcome.TurnAnswered, outcome.TurnDeclined, outcome.TurnStale), s.reply)
	handle(s, verb(route{
		id: "edit", method: http.MethodPatch, path: "/v1/replies/{id}", status: http.StatusOK, body: true,
		summary: "Edit an own message",
		about:   "Replaces the whole text of one of your own recent messages. Repeating an edit is safe.",
		reasons: textReasons,
	}, outcome.NotOwnPost, outcome.NoEditArm, outcome.Superseded), s.edit)
	handle(s, verb(route{
		id: "retract", method: http.MethodDelete, path: "/v1/replies/{id}", status: http.StatusOK,
		summary: "Remove an own message",
		about:   "Removes one of your own recent messages, all its parts.",
	}, outcome.NotOwnPost, outcome.NoRetractArm, outcome.Superseded), s.retract)
	handle(s, route{
		id: "show-turn", method: http.MethodGet, path: "/v1/turn", tag: tagAgent, plane: agentPlane,
		status: http.StatusOK, summary: "See the turn",
		about:   "What this turn holds: its marks, your own messages that can still be changed, and what can be done here.",
		reasons: []outcome.Reason{outcome.LedgerUnavailable},
	}, s.showTurn)
	handle(s, route{
		id: "decline", method: http.MethodPost, path: "/v1/turn/decline", tag: tagAgent, plane: agentPlane,
		status: http.StatusOK, summary: "Decline to answer",
		about: "Nothing is posted and the turn may end. Declining twice is fine.",
	}, s.decline)
}

func (s *server) reply(ctx context.Context, in *replyIn) (*out[wire.Replied], error) {
	a, err := s.Verbs.Reply(context.WithoutCancel(ctx), callerOf(ctx).Turn, gateway.ReplyRequest{
		Text: text(in.Body.Text), Format: markup(in.Body.Format), Split: in.Body.Overflow == "split",
		Done: in.Body.Done, Key: in.Key,
	})
	if err != nil {
		return nil, err
	}
	note(ctx, a.Attempt)
	return answer(wire.Replied{ID: a.ID, Parts: list(a.Parts), Attempt: a.Attempt, Withheld: withheld(a)}), nil
}

func (s *server) edit(ctx context.Context, in *editIn) (*out[wire.Edited], error) {
	a, err := s.Verbs.Edit(context.WithoutCancel(ctx), callerOf(ctx).Turn, gateway.EditRequest{
		ID: arms.MessageID(in.ID), Text: text(in.Body.Text), Format: markup(in.Body.Format),
		Split: in.Body.Overflow == "split", Key: in.Key,
	})
	if err != nil {
		return nil, err
	}
	note(ctx, a.Attempt)
	return answer(wire.Edited{
		ID: a.ID, Parts: list(a.Parts), Attempt: a.Attempt, Unchanged: a.Unchanged, Withheld: withheld(a),
	}), nil
}

func (s *server) retract(ctx context.Context, in *retractIn) (*out[wire.Retracted], error) {
	a, err := s.Verbs.Retract(context.WithoutCancel(ctx), callerOf(ctx).Turn,
		gateway.RetractRequest{ID: arms.MessageID(in.ID), Key: in.Key})
	if err != nil {
		return nil, err
	}
	note(ctx, a.Attempt)
	return answer(wire.Retracted{ID: a.ID, Parts: list(a.Parts), Attempt: a.Attempt}), nil
}

func (s *server) decline(ctx context.Context, _ *nothing) (*out[wire.TurnEnd], error) {
	t, err := s.Bind.Decline(context.WithoutCancel(ctx), callerOf(ctx).Turn)
	if err != nil {
		return nil, err
	}
	return answer(turnEnd(t)), nil
}

// maxOwnPosts is how many own posts a turn shows.
const maxOwnPosts = 50

func (s *server) showTurn(ctx context.Context, _ *nothing) (*out[wire.Turn], error) {
	t, err := s.Bind.Current(ctx, callerOf(ctx).Turn)
	if err != nil {
		return nil, err
	}
	posts, err := s.ownPosts(ctx, t)
	if err != nil {
		return nil, err
	}
	refs := t.Refs
	if refs == nil {
		refs = map[string]string{}
	}
	return answer(wire.Turn{
		Turn: t.ID, Session: t.Session, Principal: t.Principal, Platform: string(t.Locus.Platform),
		DryRun: t.DryRun, ExpiresAt: t.ExpiresAt.UTC(), Refs: refs, Marks: marks(t.Marks),
		MayEnd: t.Marks.MayEnd, Editable: posts, Can: s.can(t), Instructions: []string{},
	}), nil
}

// ownPosts lists the turn's own posts, the parts of a reply together.
func (s *server) ownPosts(ctx context.Context, t turn.Turn) ([]wire.OwnPost, error) {
	posts := []wire.OwnPost{}
	if s.Ledger == nil || t.Locus.Zero() {
		return posts, nil
	}
	entries, err := s.Ledger.Editable(ctx, ledger.Query{
		Org: t.Org, Session: t.Session, DryRun: t.DryRun, At: t.Locus,
	}, maxOwnPosts)
	if err != nil {
		s.Logger.LogAttrs(ctx, levelError, "the ledger did not answer", errAttr(err))
		return nil, later(outcome.LedgerUnavailable, "the ledger of own posts can't be read right now; try again in a moment")
	}
	return group(entries), nil
}

// group puts the entries of one reply together, in the order of their parts.
func group(entries []ledger.Entry) []wire.OwnPost {
	posts := []wire.OwnPost{}
	place := map[arms.MessageID]int{}
	parts := map[arms.MessageID]map[int]string{}
	for _, e := range entries {
		reply := e.Reply
		if reply == "" {
			reply = e.ID
		}
		if _, ok := place[reply]; !ok {
			place[reply] = len(posts)
			parts[reply] = map[int]string{}
			posts = append(posts, wire.OwnPost{
				ID: string(reply), PostedAt: e.PostedAt.UTC(), EditableUntil: e.EditableUntil.UTC(),
			})
		}
		parts[reply][e.Part] = string(e.ID)
	}
	for reply, i := range place {
		posts[i].Parts = inOrder(parts[reply])
	}
	return posts
}

func (s *server) can(t turn.Turn) wire.Can {
	if t.Locus.Zero() {
		return wire.Can{}
	}
	caps, ok := s.Capabilities(t.Locus.Platform, t.Locus.Place(t.Org))
	if !ok {
		return wire.Can{}
	}
	return wire.Can{
		// Reading has no route yet, so whatever the platform could do can't be done here.
		Reply: true, Edit: caps.Edit, Retract: caps.Retract,
		TextLimit: caps.TextLimit, TextUnit: string(caps.TextUnit), Dialect: string(caps.Dialect),
	}
}
