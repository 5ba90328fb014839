package cli

import (
	"strings"

	"stet/gateway/client"
	"stet/gateway/wire"
)

// keyed is the flag of every verb that has an effect.
type keyed struct {
	IdempotencyKey string `name:"idempotency-key" placeholder:"KEY" help:"Names the call: making it again has no second effect."`
}

func (k keyed) options() []client.CallOption {
	if k.IdempotencyKey == "" {
		return nil
	}
	return []client.CallOption{client.IdempotencyKey(k.IdempotencyKey)}
}

// writing are the flags of the verbs that carry a text.
type writing struct {
	Format   string `enum:"markdown,plain" default:"markdown" help:"The markup of the text: ${enum}."`
	Overflow string `enum:"refuse,split" default:"refuse" help:"What to do with a text over the platform's limit: ${enum}."`
}

type replyCmd struct {
	where   `embed:""`
	keyed   `embed:""`
	writing `embed:""`
	Done    bool   `help:"This is the turn's last reply."`
	Text    string `arg:"" optional:"" help:"What to say; - or nothing reads standard input."`
}

// Run posts a message.
func (c replyCmd) Run(r *run) error {
	gw, err := r.connect(c.where, agentPlane)
	if err != nil {
		return err
	}
	body, err := r.readText(c.Text)
	if err != nil {
		return err
	}
	done, err := gw.Reply(r.ctx, wire.ReplyRequest{
		Text: wire.Text(body), Format: c.Format, Overflow: c.Overflow, Done: c.Done,
	}, c.options()...)
	if err != nil {
		return err
	}
	if r.json {
		return r.printJSON(done)
	}
	return r.applied("posted", done.ID, done.Parts, done.Attempt, done.Withheld)
}

type editCmd struct {
	where   `embed:""`
	keyed   `embed:""`
	writing `embed:""`
	ID      string `arg:"" help:"The message, by the platform's own id."`
	Text    string `arg:"" optional:"" help:"The whole new text; - or nothing reads standard input."`
}

// Run replaces a message's text.
func (c editCmd) Run(r *run) error {
	gw, err := r.connect(c.where, agentPlane)
	if err != nil {
		return err
	}
	body, err := r.readText(c.Text)
	if err != nil {
		return err
	}
	done, err := gw.Edit(r.ctx, c.ID, wire.EditRequest{
		Text: wire.Text(body), Format: c.Format, Overflow: c.Overflow,
	}, c.options()...)
	if err != nil {
		return err
	}
	if r.json {
		return r.printJSON(done)
	}
	what := "edited"
	if done.Unchanged {
		what = "unchanged"
	}
	return r.applied(what, done.ID, done.Parts, done.Attempt, done.Withheld)
}

type retractCmd struct {
	where `embed:""`
	keyed `embed:""`
	ID    string `arg:"" help:"The message, by the platform's own id."`
}

// Run removes a message.
func (c retractCmd) Run(r *run) error {
	gw, err := r.connect(c.where, agentPlane)
	if err != nil {
		return err
	}
	done, err := gw.Retract(r.ctx, c.ID, c.options()...)
	if err != nil {
		return err
	}
	if r.json {
		return r.printJSON(done)
	}
	return r.applied("retracted", done.ID, done.Parts, done.Attempt, nil)
}

// applied prints a write that was applied. The id stands alone on the first
// line's end, where a script finds it.
func (r *run) applied(what, id string, parts []string, attempt string, withheld []wire.Withheld) error {
	others := ""
	if len(parts) > 1 {
		others = strings.Join(parts, " ")
	}
	guards := ""
	for _, w := range withheld {
		guards += w.Guard + " (" + w.Cause + ") "
	}
	var t table
	t.add(cell{what, green}, text(id))
	for _, row := range [][2]string{{"parts", others}, {"withheld", strings.TrimSpace(guards)}, {"attempt", attempt}} {
		if row[1] != "" {
			t.add(cell{row[0], dim}, text(row[1]))
		}
	}
	return t.print(r)
}
