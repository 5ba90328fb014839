package outcome

import "strings"

// End is a way that an attempt can end.
type End struct {
	Outcome Outcome
	Reason  Reason
}

// endings are the ways that are open to every verb.
var endings = []End{
	{Applied, ""},
	{Refused, Unauthorized}, {Refused, Internal}, {Refused, NoArm}, {Refused, NoLocus},
	{Refused, UntrustedServiceURL}, {Refused, LedgerUnavailable}, {Refused, Denied},
	{NotSent, PlatformError}, {NotSent, RateLimited}, {NotSent, AuditUnavailable}, {NotSent, Internal},
	{Rejected, PlatformError}, {Rejected, RateLimited},
	{Ambiguous, PlatformError}, {Ambiguous, Interrupted}, {Ambiguous, Internal},
	{Partial, PlatformError}, {Staged, ""},
}

var textEndings = []End{
	{Refused, InvalidText}, {Refused, TextTooLong}, {Refused, NothingLeft}, {Refused, ClaimRefused},
}

var ownEndings = []End{
	{Refused, NotOwnPost}, {Refused, MessageBusy}, {NotSent, Superseded},
}

var verbEndings = map[Verb][]End{
	Reply: {
		{Refused, TurnAmbiguous}, {Refused, TurnPartial}, {Refused, TurnAnswered},
		{Refused, TurnDeclined}, {Refused, TurnStale},
	},
	Edit:    {{Refused, NoEditArm}},
	Retract: {{Refused, NoRetractArm}},
}

// Ends lists every way that an attempt of a verb can end.
func Ends(v Verb) []End {
	all := append([]End(nil), endings...)
	if v != Retract {
		all = append(all, textEndings...)
	}
	if v != Reply {
		all = append(all, ownEndings...)
	}
	return append(all, verbEndings[v]...)
}

// VerbOf reads the verb back from an action of the trail; false for an action
// that isn't an attempt's.
func VerbOf(action string) (Verb, bool) {
	switch strings.TrimSuffix(action, ".refused") {
	case "reply.post":
		return Reply, true
	case "reply.edit":
		return Edit, true
	case "reply.retract":
		return Retract, true
	default:
		return "", false
	}
}
