// Package outcome is the closed vocabulary of how an attempt ends, and the one
// table that maps a reason to its HTTP status and its copy. Dashboards and
// scripts hang on these names: names are added, never changed.
package outcome

// Verb is what an agent asked for.
type Verb string

// The verbs that write.
const (
	Reply   Verb = "reply"
	Edit    Verb = "edit"
	Retract Verb = "retract"
)

// Verbs lists the verbs that write.
func Verbs() []Verb { return []Verb{Reply, Edit, Retract} }

// Outcome is how an attempt ended.
type Outcome string

// The outcomes.
const (
	// Applied: the platform confirmed it.
	Applied Outcome = "applied"
	// Refused: the host said no before anything left.
	Refused Outcome = "refused"
	// NotSent: provably no byte left.
	NotSent Outcome = "not_sent"
	// Rejected: the platform said no; there is no effect.
	Rejected Outcome = "rejected"
	// Ambiguous: there may be an effect.
	Ambiguous Outcome = "ambiguous"
	// Partial: of a split reply some parts are there, the rest provably not.
	Partial Outcome = "partial"
	// Staged: the write became a draft.
	Staged Outcome = "staged"
)

// Outcomes lists the outcomes that a row of the trail can have.
func Outcomes() []Outcome {
	return []Outcome{Applied, Refused, NotSent, Rejected, Ambiguous, Partial, Staged}
}

// Landed reports that something of the attempt is there for certain.
func (o Outcome) Landed() bool { return o == Applied || o == Partial }

// Failure is the class of a failed outcome that callers act on.
type Failure string

// The failure classes.
const (
	NoFailure        Failure = ""
	Definitive       Failure = "definitive"
	AmbiguousFailure Failure = "ambiguous"
	PartialFailure   Failure = "partial"
)

// Failure is the outcome's class.
func (o Outcome) Failure() Failure {
	switch o {
	case NotSent, Rejected:
		return Definitive
	case Ambiguous:
		return AmbiguousFailure
	case Partial:
		return PartialFailure
	default:
		return NoFailure
	}
}

// Action is the trail's name of an attempt of a verb that ended so.
func Action(v Verb, o Outcome) string {
	name := map[Verb]string{Reply: "reply.post", Edit: "reply.edit", Retract: "reply.retract"}[v]
	if o.Landed() {
		return name
	}
	return name + ".refused"
}
