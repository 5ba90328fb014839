package gateway

import (
	"stet/arms"
	"stet/gateway/outcome"
)

// advice is what an agent reads about a reason. It names no other message, no
// other conversation and, where the reason is not about one, no platform.
var advice = map[outcome.Reason]string{
	outcome.InProgress:          "a request with this idempotency key is still under way; ask again with the same key a moment later",
	outcome.IdempotencyMismatch: "this idempotency key was used for another request; take a new key for a new request",
	outcome.Overloaded:          "the gateway has too much to do right now; nothing was sent; try again shortly",
	outcome.Draining:            "the gateway is shutting down; nothing was sent; try again shortly",
	outcome.Internal:            "the gateway failed inside; the operator finds it by the attempt's id",

	outcome.NotOwnPost: "this id isn't one of your own recent posts in this conversation; " +
		"only what you posted here with reply can be edited, and only for a few hours; " +
		"post a new reply that says that it replaces the earlier one, which could not be edited, " +
		"or the room is left with two versions",
	outcome.NoLocus: "this turn has no conversation to speak in: neither its wake nor its session names one; " +
		"the host has to bind the session or give the wake an origin",
	outcome.UntrustedServiceURL: "the service address that the host gave for this conversation is not one that the gateway trusts; nothing was sent",

	outcome.TurnAmbiguous: "an earlier write of this turn was sent but not confirmed, so it may be in the room already; " +
		"do NOT post a reply about it; if it was an edit, call edit again with the same id and a new idempotency key; " +
		"otherwise end the turn, the gateway looks into it",
	outcome.TurnPartial:  "of an earlier reply of this turn only some parts are there; resume it with the same idempotency key, or edit or retract it",
	outcome.TurnAnswered: "this turn has been answered with a reply that said it was the last; edits are still possible",
	outcome.TurnDeclined: "this turn was declined, so no reply goes out in it",

	outcome.MessageBusy: "other writes to this message were still under way after the longest wait; nothing was sent; try again shortly",
	outcome.Superseded:  "a newer write to the same message came in while this one waited and took its place; nothing of this one was sent",

	outcome.LedgerUnavailable: "the gateway can't look up what was posted right now; nothing was sent; try again shortly",
	outcome.AuditUnavailable:  "the gateway can't write its record right now, and without a record nothing is sent; nothing was sent; try again shortly",

	outcome.Unauthorized: "this turn is over, its token no longer works; nothing was sent",
}

// cannot says that a surface lacks a primitive, and what to do instead.
func cannot(verb string, p arms.Platform) string {
	return "a message can't be " + participle[verb] + " on " + string(p) + ": that surface has no way to do it; " +
		"post a new reply that says that it replaces the earlier one, and that " + string(p) + " can't " + verb +
		" a posted message, or the room is left with two versions"
}

var participle = map[string]string{"edit": "edited", "retract": "retracted"}

// detailOf says what an outcome at the platform means for the agent.
func detailOf(v outcome.Verb, o outcome.Outcome, code string) string {
	if o == outcome.Ambiguous {
		return unconfirmed[v]
	}
	s := arms.Code(code).Sentence()
	if o == outcome.NotSent || o == outcome.Rejected {
		return s + "; nothing changed in the room, and a new reply is possible"
	}
	return s
}

var unconfirmed = map[outcome.Verb]string{
	outcome.Reply: "the reply was sent but not confirmed, so it may or may not be in the room; " +
		"do NOT post it again, nor another reply about it: if it is there, the room reads it twice; " +
		"the gateway looks into it, and the turn may end here",
	outcome.Edit: "the edit was sent but not confirmed, so the message may or may not have changed; " +
		"do NOT post a new reply about it; call edit again with the same id and a new idempotency key if it matters, " +
		"repeating an edit is safe",
	outcome.Retract: "the retraction was sent but not confirmed, so the message may or may not be gone; " +
		"do NOT post a new reply about it; call retract again with the same id and a new idempotency key if it matters, " +
		"repeating it is safe",
}
