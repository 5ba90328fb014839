package gateway

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"stet/arms"
	"stet/audit"
	"stet/gateway/locus"
	"stet/gateway/outcome"
)

const (
	// lookTick is how often the resolver asks whether a look is due.
	lookTick = time.Second
	// giveUpAfter is when an ambiguous outcome is left as it is.
	giveUpAfter = 24 * time.Hour
	looksAtOnce = 256
	// An outcome younger than unreadableFor is looked at again this soon after
	// a look that failed.
	unreadableFor   = time.Hour
	unreadablePause = 30 * time.Second
	// looksInParallel keeps one platform that hangs from holding all others up.
	looksInParallel = 16
)

// pauses is how long after a look that proved nothing the next one comes.
var pauses = []time.Duration{
	2 * time.Second, 5 * time.Second, 15 * time.Second, time.Minute,
	5 * time.Minute, 15 * time.Minute, time.Hour,
}

// ResolverOptions is what a resolver is made of.
type ResolverOptions struct {
	Arms            *arms.Registry
	Trail           resolutions
	Posts           changes // nil: nobody is told
	Metrics         *Metrics
	Logger          *slog.Logger
	Window          func(locus.Locus) time.Duration
	PlatformTimeout time.Duration
	// Settle replaces the settle time of the platforms' data sheets; 0: it doesn't.
	Settle time.Duration
	Now    func() time.Time
	// Publish is told of each verdict's row; nil: nobody is.
	Publish func(audit.Row)
}

// Resolver looks into ambiguous outcomes. It only reads at the platform, and
// writes what it finds as further rows.
type Resolver struct {
	o    ResolverOptions
	kick chan struct{}
}

// NewResolver makes a resolver.
func NewResolver(o ResolverOptions) *Resolver {
	if o.Posts == nil {
		o.Posts = nobody{}
	}
	if o.Publish == nil {
		o.Publish = func(audit.Row) {}
	}
	return &Resolver{o: o, kick: make(chan struct{}, 1)}
}

// Kick makes the next look come at once; it doesn't block.
func (r *Resolver) Kick() {
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// Run looks until the context ends.
func (r *Resolver) Run(ctx context.Context) {
	tick := time.NewTicker(lookTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-r.kick:
		}
		for r.pass(ctx) == looksAtOnce && ctx.Err() == nil {
			continue
		}
	}
}

// pass takes one look at each of the attempts that are due and answers how
// many there were.
func (r *Resolver) pass(ctx context.Context) int {
	due, err := r.o.Trail.Due(ctx, looksAtOnce)
	if err != nil {
		return 0
	}
	var looks sync.WaitGroup
	free := make(chan struct{}, looksInParallel)
	for _, p := range due {
		free <- struct{}{}
		looks.Go(func() {
			defer func() { <-free }()
			r.settle(ctx, p)
		})
	}
	looks.Wait()
	return len(due)
}

// settle looks at one attempt and records what it found. An attempt that can't
// be looked at must not keep the others waiting, so a panic ends its look only.
func (r *Resolver) settle(ctx context.Context, p audit.Pending) {
	defer func() {
		if recover() != nil {
			r.o.Logger.Error("a look panicked", "attempt", p.Attempt.ID)
		}
	}()
	q := r.look(ctx, p)
	if ctx.Err() != nil {
		return // a look that was cut short proves nothing
	}
	wrote, err := r.o.Trail.Resolve(ctx, q)
	if err == nil && !wrote && q.Verdict == audit.NotApplied {
		// Other writes in doubt may have covered this one, and by now nothing
		// of it can surface any more: no further look will tell.
		q = r.resolution(p, sighting{verdict: audit.GaveUp, evidence: "covered"})
		wrote, err = r.o.Trail.Resolve(ctx, q)
	}
	if err != nil {
		r.o.Logger.Warn("a verdict could not be recorded", "attempt", p.Attempt.ID, "verdict", q.Verdict)
		return
	}
	if wrote {
		r.tellResolved(ctx, q)
	}
	if wrote && q.Write {
		r.o.Logger.Info("ambiguous outcome looked into", "attempt", p.Attempt.ID, "verb", p.Attempt.Verb, "verdict", q.Verdict)
		r.o.Publish(q.Row)
	}
}

// sighting is what a look saw.
type sighting struct {
	verdict  audit.Verdict
	evidence string
	message  *arms.Message
	gone     bool
	// complete: a look that saw nothing covered everything, and may count.
	complete bool
	// shown is the digest of the text that was there instead.
	shown []byte
}

func (r *Resolver) look(ctx context.Context, p audit.Pending) audit.Resolution {
	s := r.sight(ctx, p)
	if s.verdict == audit.NotSeen {
		s = r.weigh(p, s)
	}
	return r.resolution(p, s)
}

func (r *Resolver) resolution(p audit.Pending, s sighting) audit.Resolution {
	q := audit.Resolution{
		Pending: p, Verdict: s.verdict, Miss: s.complete && s.verdict == audit.NotSeen,
		Write:  s.verdict.Final() || (s.complete && p.FirstMiss.IsZero()),
		Window: r.o.Window(p.Attempt.Place),
		Close:  s.gone, NextLook: r.next(p, s), Shown: s.shown,
	}
	id := arms.MessageID("")
	if s.message != nil {
		id = s.message.ID
	}
	if s.verdict == audit.Seen {
		q.Digest = p.Attempt.Digest
	}
	if s.message != nil && !s.gone && p.Attempt.Verb == outcome.Reply && seen(s.verdict) {
		q.Posts = append(q.Posts, foundPost(p, *s.message))
	}
	q.Row = noteRow(p, id, s)
	return q
}

// sight asks the platform, where its arm can be asked.
func (r *Resolver) sight(ctx context.Context, p audit.Pending) sighting {
	if r.o.Now().Sub(p.OpenedAt) >= giveUpAfter {
		return sighting{verdict: audit.GaveUp, evidence: "too-old"}
	}
	arm, ok := r.o.Arms.Arm(p.Attempt.Place.Platform)
	if !ok {
		return sighting{verdict: audit.NotSeen, evidence: "no-arm"}
	}
	ctx, cancel := context.WithTimeout(ctx, r.o.PlatformTimeout)
	defer cancel()
	if p.Attempt.Verb == outcome.Reply {
		return r.sightPost(ctx, arm, p)
	}
	return r.sightChange(ctx, arm, p)
}

func (r *Resolver) sightPost(ctx context.Context, arm arms.Arm, p audit.Pending) sighting {
	finder, ok := arm.(arms.Finder)
	if !ok {
		return sighting{verdict: audit.NotSeen, evidence: "no-read-back"}
	}
	place := p.Attempt.Place.Place(p.Attempt.Turn.Org)
	began := time.Now()
	found, err := finder.Find(ctx, arms.FindRequest{Place: place, Marker: p.Attempt.Marker, Since: p.OpenedAt})
	f := arms.AsFault(err)
	r.o.Metrics.requested(p.Attempt.Place.Platform, "find", f, time.Since(began))
	switch {
	case f != nil:
		return sighting{verdict: audit.NotSeen, evidence: string(f.Code)}
	case found.Message == nil:
		return sighting{verdict: audit.NotSeen, evidence: "marker", complete: found.Complete && found.Readable}
	}
	m := *found.Message
	s := sighting{verdict: audit.Seen, evidence: "marker", message: &m, gone: m.Deleted}
	if m.Deleted || !sameText(p, m.Text) {
		s.verdict = audit.SeenChanged
	}
	return s
}

func (r *Resolver) sightChange(ctx context.Context, arm arms.Arm, p audit.Pending) sighting {
	fetcher, ok := arm.(arms.Fetcher)
	if !ok {
		return sighting{verdict: audit.NotSeen, evidence: "no-read-back"}
	}
	ref := p.Entry.Ref()
	began := time.Now()
	m, err := fetcher.Fetch(ctx, ref)
	f := arms.AsFault(err)
	r.o.Metrics.requested(p.Attempt.Place.Platform, "fetch", f, time.Since(began))
	caps := arm.Capabilities(ref.Place)
	gone := (f == nil && m.Deleted) || (f != nil && f.Code == arms.CodeGone && f.Certainty == arms.Rejected && caps.GoneIsCertain)
	switch {
	case gone && p.Attempt.Verb == outcome.Retract:
		return sighting{verdict: audit.Seen, evidence: "gone", gone: true}
	case gone:
		return sighting{verdict: audit.GaveUp, evidence: "gone", gone: true}
	case f != nil:
		return sighting{verdict: audit.NotSeen, evidence: string(f.Code)}
	case p.Attempt.Verb == outcome.Edit && m.Marker != "" && m.Marker == p.Attempt.Marker:
		return changed(p, m)
	case p.Attempt.Verb == outcome.Edit && m.Marker == "" && sameText(p, m.Text):
		return sighting{verdict: audit.Seen, evidence: "text", message: &m}
	case p.Attempt.Verb == outcome.Edit && p.Overwritten:
		return r.overwritten(p)
	}
	return sighting{verdict: audit.NotSeen, evidence: "fetched", complete: true, shown: digestOf(m.Text)}
}

// overwritten is a look that a later write leaves nothing to see of. The edit
// may still surface over that write, so it is given up only when it can't.
func (r *Resolver) overwritten(p audit.Pending) sighting {
	if r.o.Now().Before(r.provable(p)) {
		return sighting{verdict: audit.NotSeen, evidence: "overwritten"}
	}
	return sighting{verdict: audit.GaveUp, evidence: "overwritten"}
}

func changed(p audit.Pending, m arms.Message) sighting {
	s := sighting{verdict: audit.Seen, evidence: "marker", message: &m}
	if !sameText(p, m.Text) {
		s.verdict = audit.SeenChanged
	}
	return s
}

// weigh turns a look that saw nothing into proof only by the strict rule: two
// complete looks, the later one a settle time after the attempt's deadline.
func (r *Resolver) weigh(p audit.Pending, s sighting) sighting {
	if s.complete && !p.FirstMiss.IsZero() && !r.o.Now().Before(r.provable(p)) {
		s.verdict = audit.NotApplied
	}
	return s
}

func (r *Resolver) provable(p audit.Pending) time.Time {
	settle := giveUpAfter
	if r.o.Settle > 0 {
		settle = r.o.Settle
	} else if arm, ok := r.o.Arms.Arm(p.Attempt.Place.Platform); ok {
		settle = arm.Capabilities(p.Attempt.Place.Place(p.Attempt.Turn.Org)).SettleTime
	}
	return p.Deadline.Add(settle)
}

// next is the pause until the next look: growing, but not past the moment
// from which a look can prove something, and not for long while the platform
// can't be read: it may be well again at any moment.
func (r *Resolver) next(p audit.Pending, s sighting) time.Duration {
	pause := pauses[min(p.Looks, len(pauses)-1)]
	if !s.complete && r.o.Now().Sub(p.OpenedAt) < unreadableFor {
		pause = min(pause, unreadablePause)
	}
	if until := r.provable(p).Sub(r.o.Now()); until > 0 && until < pause && (p.Overwritten || !p.FirstMiss.IsZero()) {
		return until
	}
	return pause
}
