package cli

import (
	"time"

	"github.com/google/uuid"

	"stet/gateway/wire"
)

type turnCmd struct {
	Open  turnOpen  `cmd:"" help:"Open a turn and print its token, this once."`
	Show  turnShow  `cmd:"" help:"Show what the turn of STET_TURN_TOKEN holds."`
	Close turnClose `cmd:"" help:"Close a turn: its token dies."`
}

type turnOpen struct {
	where     `embed:""`
	Session   string `required:"" help:"The session."`
	Org       string `help:"The organization; needed for an unbound session where the key spans all."`
	Workspace string `help:"The workspace; needed for an unbound session."`
	Surface   string `help:"Your word for where the conversation is; needed for an unbound session."`
	Principal string `help:"Who speaks; needed for an unbound session."`
	Creator   string `help:"Who caused the wake."`

	Platform     string `group:"Where replies land (without it, where the session is bound):" help:"The platform."`
	Channel      string `group:"Where replies land (without it, where the session is bound):" help:"The platform's id of the conversation."`
	Thread       string `group:"Where replies land (without it, where the session is bound):" help:"The platform's id of the thread."`
	ServiceURL   string `name:"service-url" group:"Where replies land (without it, where the session is bound):" help:"Where a platform with many addresses is reached."`
	Organization string `group:"Where replies land (without it, where the session is bound):" help:"The platform's own organization."`

	Wake   string            `help:"The id of what woke the agent; without it a new one."`
	Ref    map[string]string `placeholder:"KEY=ID" help:"An id of what this wake answers; may stand several times."`
	TTL    time.Duration     `name:"ttl" default:"1h" help:"How long the token works, at most 24h."`
	DryRun bool              `name:"dry-run" help:"Do everything but the request to the platform."`
	Export bool              `help:"Print a line for the shell: eval \"$(stet turn open … --export)\"."`
}

// Run opens a turn.
func (c turnOpen) Run(r *run) error {
	gw, err := r.connect(c.where, hostPlane)
	if err != nil {
		return err
	}
	opened, err := gw.OpenTurn(r.ctx, c.request())
	if err != nil {
		return err
	}
	switch {
	case r.json:
		return r.printJSON(opened)
	case c.Export:
		return r.say("export %s=%s\n", envToken, opened.Token)
	}
	if err := r.pairs(
		[2]string{"turn", opened.Turn},
		[2]string{"token", opened.Token},
		[2]string{"expires", stamp(opened.ExpiresAt)},
	); err != nil {
		return err
	}
	r.complain("The token is shown this once. The client verbs take it from %s.\n", envToken)
	return nil
}

func (c turnOpen) request() wire.OpenTurnRequest {
	if c.Wake == "" {
		c.Wake = "cli-" + uuid.NewString()
	}
	req := wire.OpenTurnRequest{
		Session: c.Session, Org: c.Org, Workspace: c.Workspace, Surface: c.Surface, Principal: c.Principal,
		Creator: c.Creator, TTL: c.TTL.String(), DryRun: c.DryRun,
		Wake: wire.Wake{ID: c.Wake, Refs: c.Ref},
	}
	origin := wire.Locus{
		Platform: c.Platform, Channel: c.Channel, Thread: c.Thread,
		ServiceURL: c.ServiceURL, Organization: c.Organization,
	}
	if origin != (wire.Locus{}) {
		req.Wake.Origin = &origin
	}
	return req
}

type turnShow struct {
	where `embed:""`
}

// Run shows the token's turn.
func (c turnShow) Run(r *run) error {
	gw, err := r.connect(c.where, agentPlane)
	if err != nil {
		return err
	}
	t, err := gw.Turn(r.ctx)
	if err != nil {
		return err
	}
	if r.json {
		return r.printJSON(t)
	}
	if err := r.pairs(
		[2]string{"turn", t.Turn}, [2]string{"session", t.Session}, [2]string{"principal", t.Principal},
		[2]string{"platform", orNone(t.Platform, "none: replies land nowhere")},
		[2]string{"dry run", yes(t.DryRun)}, [2]string{"expires", stamp(t.ExpiresAt)},
		[2]string{"marks", orNone(marks(t.Marks), "none")}, [2]string{"may end", yesNo(t.MayEnd)},
		[2]string{"can", orNone(abilities(t.Can), "nothing")},
	); err != nil {
		return err
	}
	if len(t.Editable) == 0 {
		return r.say("\nNo own post here can be changed now.\n")
	}
	posts := table{head: []string{"own post", "parts", "posted", "editable until"}}
	for _, p := range t.Editable {
		posts.add(text(p.ID), text(count(len(p.Parts))), text(stamp(p.PostedAt)), text(stamp(p.EditableUntil)))
	}
	if err := r.say("\n"); err != nil {
		return err
	}
	return posts.print(r)
}

type turnClose struct {
	where `embed:""`
	Turn  string `arg:"" help:"The turn's id."`
}

// Run closes a turn.
func (c turnClose) Run(r *run) error {
	gw, err := r.connect(c.where, hostPlane)
	if err != nil {
		return err
	}
	end, err := gw.CloseTurn(r.ctx, c.Turn)
	if err != nil {
		return err
	}
	if r.json {
		return r.printJSON(end)
	}
	return r.pairs(
		[2]string{"turn", end.Turn}, [2]string{"marks", orNone(marks(end.Marks), "none")},
		[2]string{"may end", yesNo(end.MayEnd)},
	)
}
