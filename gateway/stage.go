package gateway

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"time"

	"stet/audit"
	"stet/gateway/outcome"
)

// stage is one step of a way. Its function passes the attempt on with nil, or
// ends it.
type stage struct {
	name string
	run  func(context.Context, *attempt) *end
}

// end is how an attempt ends at a stage.
type end struct {
	answer  *Answer
	problem *Problem
	// code goes to the row alone.
	code string
	// written: the row is there already, or there is none to write.
	written bool
}

// refused ends an attempt by a host verdict; its row is still to be written.
func refused(r outcome.Reason, code, detail string) *end {
	return &end{code: code, problem: &Problem{Reason: r, Outcome: outcome.Refused, Detail: detail}}
}

// unattempted ends a request that leaves no row.
func unattempted(r outcome.Reason, wait time.Duration) *end {
	return &end{written: true, problem: &Problem{Reason: r, RetryAfter: wait, Detail: advice[r]}}
}

// run takes an attempt through its stages. A client that goes away changes
// nothing from here on: what was begun is finished and recorded.
func (g *Gateway) run(ctx context.Context, a *attempt, stages []stage) (Answer, error) {
	select {
	case g.inFlight <- struct{}{}:
		defer func() { <-g.inFlight }()
	default:
		return Answer{}, unattempted(outcome.Overloaded, time.Second).problem
	}
	ctx = context.WithoutCancel(ctx)
	began := time.Now()
	e := g.walk(ctx, a, stages)
	if !e.written {
		e = g.write(ctx, a, g.confirm(ctx, a, e))
	}
	if a.verb != outcome.Reply {
		g.bell.ring(a.entry.Key)
	}
	took := time.Since(began)
	g.o.Metrics.attempt(a, took)
	g.report(a, e, took)
	if e.problem != nil {
		return Answer{}, e.problem
	}
	return *e.answer, nil
}

// walk runs the stages until one ends the attempt; a panic ends it too.
func (g *Gateway) walk(ctx context.Context, a *attempt, stages []stage) (e *end) {
	defer func() {
		if r := recover(); r != nil {
			e = g.panicked(ctx, a)
		}
	}()
	for _, s := range stages {
		began := time.Now()
		e := s.run(ctx, a)
		g.o.Metrics.stage(s.name, time.Since(began))
		g.o.Probe(string(a.verb) + "/" + s.name)
		if e != nil {
			return e
		}
	}
	panic("gateway: no stage ended the attempt")
}

// panicked ends an attempt by how far it came. The value of the panic may hold
// an agent's text, so only the place is logged.
func (g *Gateway) panicked(ctx context.Context, a *attempt) *end {
	g.o.Logger.Error("a stage panicked", "attempt", a.id, "verb", a.verb, "stack", string(debug.Stack()))
	problem := &Problem{Reason: outcome.Internal, Outcome: outcome.Refused, Attempt: a.id, Detail: advice[outcome.Internal]}
	switch {
	case a.settled:
		problem.Outcome = "" // whatever was recorded stands; nobody here knows it
		return &end{written: true, problem: problem}
	case a.dispatched:
		problem.Outcome = outcome.Ambiguous
	case a.opened:
		problem.Outcome = outcome.NotSent
	default:
		return &end{problem: problem}
	}
	row := a.row(problem.Outcome, outcome.Internal, "")
	return g.commit(ctx, a, audit.Settlement{Row: row, Release: problem.Outcome == outcome.NotSent}, problem)
}

// write records a refusal: attempt and outcome in one commit.
func (g *Gateway) write(ctx context.Context, a *attempt, e *end) *end {
	p := e.problem
	p.Attempt, p.Failure = a.id, p.Outcome.Failure()
	row := a.row(p.Outcome, p.Reason, e.code)
	err := g.o.Recorder.Refuse(ctx, audit.Refused{Attempt: a.record(g.o.Boot), Row: row, Seq: a.seq})
	if err != nil {
		return unwritable(err)
	}
	return e
}

func unwritable(err error) *end {
	if errors.Is(err, audit.ErrOverloaded) {
		return unattempted(outcome.Overloaded, time.Second)
	}
	return unattempted(outcome.AuditUnavailable, time.Second)
}

func (g *Gateway) report(a *attempt, e *end, took time.Duration) {
	level, o, r := slog.LevelDebug, outcome.Applied, outcome.Reason("")
	if e.problem != nil {
		level, o, r = slog.LevelInfo, e.problem.Outcome, e.problem.Reason
	}
	g.o.Logger.Log(context.Background(), level, "attempt ended", "attempt", a.id, "verb", a.verb,
		"outcome", o, "reason", r, "platform", a.place.Platform, "dry_run", a.turn.DryRun, "took", took.String())
}
