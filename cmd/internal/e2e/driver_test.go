package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"stet/arms/room"
	"stet/gateway/client"
	"stet/gateway/outcome"
	"stet/gateway/wire"
)

const (
	driverOrgs     = 2
	driverChannels = 3
	// callTime bounds one call of a driver: longer than any attempt takes.
	callTime = 20 * time.Second
)

// driver is many agents at work, each with one request in flight, through
// whatever becomes of the program meanwhile.
type driver struct {
	seed    uint64
	http    *http.Client
	hostKey string

	mu      sync.Mutex
	base    string
	changed chan struct{}

	log   sync.Mutex
	asked []*asked
	told  []told
	posts map[string][]post
	// odd are answers that no caller should ever get, lost is why there was none.
	odd  []string
	lost []error
	// forgetful: nothing is kept of what was asked and answered.
	forgetful bool

	agents sync.WaitGroup
	made   atomic.Int64
}

// post is a message that a caller knows of.
type post struct{ id, text string }

func newDriver(seed uint64, host string) *driver {
	return &driver{
		seed: seed, hostKey: host, changed: make(chan struct{}), posts: map[string][]post{},
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}, Timeout: callTime},
	}
}

// point tells the agents where the program is; "" for nowhere.
func (d *driver) point(base string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.base = base
	close(d.changed)
	d.changed = make(chan struct{})
}

// reach answers a client of the program once there is one; nil when the
// context ends before.
func (d *driver) reach(ctx context.Context) *client.Client {
	for {
		d.mu.Lock()
		base, changed := d.base, d.changed
		d.mu.Unlock()
		if base != "" {
			c, err := client.New(base, client.WithKey(d.hostKey), client.WithHTTPClient(d.http))
			if err == nil {
				return c
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// run lets n agents work until the context ends.
func (d *driver) run(ctx context.Context, n int) {
	for i := range n {
		a := &agent{driver: d, n: i, rng: rand.New(rand.NewPCG(d.seed, uint64(i)+1))}
		a.org = fmt.Sprintf("org-%d", i%driverOrgs)
		a.channel = fmt.Sprintf("channel-%d", i%driverChannels)
		d.agents.Go(func() { a.work(ctx) })
	}
}

// finish waits for the agents, whose context has to be over.
func (d *driver) finish() {
	d.agents.Wait()
	d.http.CloseIdleConnections()
}

func (d *driver) note(t told, posted post) {
	d.log.Lock()
	defer d.log.Unlock()
	if !d.forgetful {
		d.told = append(d.told, t)
	}
	place := t.asked.org + "/" + t.asked.channel
	if t.reason == string(outcome.NotOwnPost) || t.applied && t.asked.verb == outcome.Retract {
		d.posts[place] = slices.DeleteFunc(d.posts[place], func(p post) bool { return p.id == t.asked.target })
	}
	if posted.id == "" {
		return
	}
	d.posts[place] = append(d.posts[place], posted)
	if n := len(d.posts[place]); n > 40 {
		d.posts[place] = d.posts[place][n-40:]
	}
}

// answers is what the callers were told so far.
func (d *driver) answers() ([]*asked, []told) {
	d.log.Lock()
	defer d.log.Unlock()
	return append([]*asked(nil), d.asked...), append([]told(nil), d.told...)
}

// agent is one caller. It asks until it knows what became of its request.
type agent struct {
	*driver
	n            int
	rng          *rand.Rand
	org, channel string
	token        string
	request      *asked
	old          []*asked
}

func (a *agent) work(ctx context.Context) {
	for ctx.Err() == nil {
		c := a.reach(ctx)
		if c == nil {
			return
		}
		if a.token == "" && !a.openTurn(ctx, c) {
			pause(ctx, 20*time.Millisecond)
			continue
		}
		if a.request == nil {
			a.request = a.next()
		}
		if !a.ask(ctx, c.With(a.token)) {
			pause(ctx, 20*time.Millisecond)
		}
	}
}

func (a *agent) openTurn(ctx context.Context, c *client.Client) bool {
	opened, err := c.OpenTurn(ctx, wire.OpenTurnRequest{
		Session: fmt.Sprintf("session-%d", a.n), Org: a.org, Workspace: "main", Surface: "test", Principal: "helper",
		TTL: "1h", Wake: wire.Wake{ID: "wake", Origin: &wire.Locus{Platform: string(room.Platform), Channel: a.channel}},
	})
	a.token = opened.Token
	return err == nil
}

// next makes up a request: mostly edits, of messages that others edit too, and
// now and then one that was answered before.
func (a *agent) next() *asked {
	dice := a.rng.Float64()
	if dice < .05 && len(a.old) > 0 {
		return a.old[a.rng.IntN(len(a.old))]
	}
	n := a.made.Add(1)
	r := &asked{
		key: fmt.Sprintf("key-%d", n), org: a.org, channel: a.channel, verb: outcome.Edit, text: fmt.Sprintf("text %d", n),
	}
	a.log.Lock()
	defer a.log.Unlock()
	if !a.forgetful {
		a.asked = append(a.asked, r)
	}
	known := a.posts[a.org+"/"+a.channel]
	switch {
	case dice > .7 || len(known) == 0:
		r.verb = outcome.Reply
	case dice > .62:
		r.verb, r.text = outcome.Retract, ""
		r.target = known[a.rng.IntN(len(known))].id
	case dice < .08:
		r.target = "m000000000none"
	case dice < .14:
		p := known[a.rng.IntN(len(known))]
		r.target, r.text = p.id, p.text
	default:
		r.target = known[a.rng.IntN(len(known))].id
	}
	return r
}

// ask sends the request; false when nothing is known of it yet.
func (a *agent) ask(ctx context.Context, c *client.Client) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
	defer cancel()
	t, err := a.send(ctx, c)
	var p *client.Error
	switch {
	case err == nil:
	case errors.As(err, &p):
		if p.Foreign {
			a.strange("status %d, not in the gateway's form", p.Status)
			return false
		}
		t.reason, t.outcome, t.failure, t.attempt = p.Reason, p.Outcome, p.Failure, p.Attempt
		t.unrecorded = p.Recorded != nil && !*p.Recorded
	default:
		a.missed(err)
		return false
	}
	a.note(t, a.posted(t))
	return a.after(t)
}

func (a *agent) send(ctx context.Context, c *client.Client) (told, error) {
	r := a.request
	key := client.IdempotencyKey(r.key)
	switch r.verb {
	case outcome.Reply:
		got, err := c.Reply(ctx, wire.ReplyRequest{Text: wire.Text(r.text)}, key)
		return told{asked: r, applied: err == nil, id: got.ID, attempt: got.Attempt}, err
	case outcome.Edit:
		got, err := c.Edit(ctx, r.target, wire.EditRequest{Text: wire.Text(r.text)}, key)
		return told{asked: r, applied: err == nil, id: got.ID, attempt: got.Attempt, unchanged: got.Unchanged}, err
	default:
		got, err := c.Retract(ctx, r.target, key)
		return told{asked: r, applied: err == nil, id: got.ID, attempt: got.Attempt}, err
	}
}

// posted is the message that the answer shows to be there.
func (a *agent) posted(t told) post {
	if !t.applied || t.asked.verb == outcome.Retract {
		return post{}
	}
	return post{t.id, t.asked.text}
}

// after says whether the answer ends the request, and with it the turn.
func (a *agent) after(t told) bool {
	switch outcome.Reason(t.reason) {
	case outcome.InProgress, outcome.Overloaded, outcome.Draining:
		return false
	case outcome.AuditUnavailable:
		if t.attempt == "" {
			return false
		}
	case outcome.TurnAmbiguous, outcome.TurnAnswered, outcome.TurnDeclined:
		a.token = ""
	case outcome.Unauthorized, outcome.BadRequest, outcome.Forbidden, outcome.NotFound, outcome.Internal,
		outcome.IdempotencyMismatch, outcome.LedgerUnavailable:
		a.strange("%s with attempt %q for %s", t.reason, t.attempt, t.asked.verb)
		a.token = ""
	}
	if a.old = append(a.old, a.request); len(a.old) > 20 {
		a.old = a.old[1:]
	}
	a.request = nil
	return true
}

func (d *driver) missed(err error) {
	d.log.Lock()
	defer d.log.Unlock()
	if !d.forgetful {
		d.lost = append(d.lost, err)
	}
}

func (d *driver) strange(format string, args ...any) {
	d.log.Lock()
	defer d.log.Unlock()
	d.odd = append(d.odd, fmt.Sprintf(format, args...))
}
