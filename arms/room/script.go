package room

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// FaultKind names one way to misbehave. "Before" and "after" say whether the
// write is applied.
type FaultKind string

// The fault kinds.
const (
	// FaultRateLimited answers 429 with a wait.
	FaultRateLimited FaultKind = "rate-limited"
	// FaultRefused answers an error of the room's own schema, see Fault.Code.
	FaultRefused FaultKind = "refused"
	// FaultProxy answers a 403 in HTML, as a proxy in between would.
	FaultProxy         FaultKind = "proxy-html"
	FaultErrorBefore   FaultKind = "error-before"
	FaultErrorAfter    FaultKind = "error-after"
	FaultCutBefore     FaultKind = "cut-before"
	FaultCutAfter      FaultKind = "cut-after"
	FaultHangBefore    FaultKind = "hang-before"
	FaultHangAfter     FaultKind = "hang-after"
	FaultGarbageBefore FaultKind = "garbage-before"
	FaultGarbageAfter  FaultKind = "garbage-after"
	// FaultWrongID applies and answers with another message's id.
	FaultWrongID FaultKind = "wrong-id"
	// FaultOversize applies and answers with a megabyte.
	FaultOversize FaultKind = "oversize"
	FaultRedirect FaultKind = "redirect"
	// FaultLateError and FaultLateHang answer 5xx or hang, and apply after
	// Fault.Wait.
	FaultLateError FaultKind = "late-error"
	FaultLateHang  FaultKind = "late-hang"
)

// FaultKinds lists every kind.
func FaultKinds() []FaultKind {
	return []FaultKind{
		FaultRateLimited, FaultRefused, FaultProxy, FaultErrorBefore, FaultErrorAfter,
		FaultCutBefore, FaultCutAfter, FaultHangBefore, FaultHangAfter, FaultGarbageBefore,
		FaultGarbageAfter, FaultWrongID, FaultOversize, FaultRedirect, FaultLateError, FaultLateHang,
	}
}

// Fault is one line of a script. An empty Verb, Org or Channel fits all.
type Fault struct {
	Kind    FaultKind `yaml:"kind"`
	Verb    string    `yaml:"verb"`
	Org     string    `yaml:"org"`
	Channel string    `yaml:"channel"`
	// Times is how many requests it is played on; 0 means until the script
	// changes.
	Times int `yaml:"times"`
	// Wait is what a 429 asks for and how late a late one applies; 0 means a
	// second, or a fifth of the settle time.
	Wait time.Duration `yaml:"wait"`
	// Code is the refusal of FaultRefused; empty means "forbidden".
	Code string `yaml:"code"`
}

func (f Fault) late() bool { return f.Kind == FaultLateError || f.Kind == FaultLateHang }

func (f Fault) validate(settle time.Duration) error {
	var errs []error
	if !slices.Contains(FaultKinds(), f.Kind) {
		errs = append(errs, fmt.Errorf("kind: %q is none of %v", f.Kind, FaultKinds()))
	}
	verbs := []string{"", VerbPost, VerbEdit, VerbRetract, VerbFetch, VerbFind, VerbRead, VerbProbe}
	if !slices.Contains(verbs, f.Verb) {
		errs = append(errs, fmt.Errorf("verb: %q is none of %v", f.Verb, verbs[1:]))
	}
	if f.Times < 0 || f.Wait < 0 {
		errs = append(errs, errors.New("times and wait can't be negative"))
	}
	if f.late() && f.Wait >= settle {
		errs = append(errs, fmt.Errorf("wait: %s is not below the settle time of %s, which the data sheet promises", f.Wait, settle))
	}
	if _, ok := own[f.Code]; f.Code != "" && !ok {
		errs = append(errs, fmt.Errorf("code: %q is no refusal of the room", f.Code))
	}
	return errors.Join(errs...)
}

func (f Fault) fits(verb string, r request) bool {
	return (f.Verb == "" || f.Verb == verb) && (f.Org == "" || f.Org == r.Org) &&
		(f.Channel == "" || f.Channel == r.Channel)
}

// ownCode is what a refused fault answers.
func (f Fault) ownCode() (code string, status int) {
	code = f.Code
	if code == "" {
		code = refuseForbidden
	}
	return code, own[code].status
}

func (f Fault) withDefaults(settle time.Duration) Fault {
	switch {
	case f.Wait > 0:
	case f.late():
		f.Wait = settle / 5
	default:
		f.Wait = time.Second
	}
	return f
}

// FaultMix plays a random fault on a share of the write requests, the same
// ones for the same seed and order of requests.
type FaultMix struct {
	Seed uint64 `yaml:"seed"`
	// Rate is the share, from 0 (off) to 1.
	Rate float64 `yaml:"rate"`
	// Kinds are the faults to pick from; empty means all.
	Kinds []FaultKind `yaml:"kinds"`
	// Wait is the [Fault.Wait] of each.
	Wait time.Duration `yaml:"wait"`
}

func (m FaultMix) validate(settle time.Duration) error {
	if m.Rate < 0 || m.Rate > 1 {
		return fmt.Errorf("faults: rate %v is not between 0 and 1", m.Rate)
	}
	for _, k := range m.kinds() {
		if err := (Fault{Kind: k, Wait: m.Wait}).validate(settle); err != nil {
			return fmt.Errorf("faults: %w", err)
		}
	}
	return nil
}

func (m FaultMix) kinds() []FaultKind {
	if len(m.Kinds) > 0 {
		return m.Kinds
	}
	return FaultKinds()
}

// script picks the fault of each request.
type script struct {
	mu     sync.Mutex
	lines  []Fault
	mix    FaultMix
	rng    *rand.Rand
	settle time.Duration
}

func newScript(c Config) *script {
	return &script{
		lines: slices.Clone(c.Script), mix: c.Faults, settle: c.SettleTime,
		rng: rand.New(rand.NewPCG(c.Faults.Seed, 0)),
	}
}

// next is the fault for a request; the zero Fault means none.
func (s *script) next(verb string, r request) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.lines {
		f := s.lines[i]
		if !f.fits(verb, r) {
			continue
		}
		if f.Times == 1 {
			s.lines = slices.Delete(s.lines, i, i+1)
		} else if f.Times > 1 {
			s.lines[i].Times--
		}
		return f.withDefaults(s.settle)
	}
	if !isWrite(verb) || s.mix.Rate == 0 || s.rng.Float64() >= s.mix.Rate {
		return Fault{}
	}
	kinds := s.mix.kinds()
	return Fault{Kind: kinds[s.rng.IntN(len(kinds))], Wait: s.mix.Wait}.withDefaults(s.settle)
}

func (s *script) add(faults []Fault) error {
	for _, f := range faults {
		if err := f.validate(s.settle); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, faults...)
	return nil
}

func (s *script) replace(faults []Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = slices.Clone(faults)
}

func (s *script) left() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.lines)
}

// Script adds faults behind those that are still to be played.
func (s *Server) Script(faults ...Fault) error { return s.script.add(faults) }

// ClearScript drops every scripted fault; a random mix goes on.
func (s *Server) ClearScript() { s.script.replace(nil) }

// Scripted lists the faults that are still to be played.
func (s *Server) Scripted() []Fault { return s.script.left() }
