package audittest

import (
	"stet/audit"
	"stet/gateway/outcome"
	"stet/gateway/turn"
	"stet/ledger"
)

var dryChecks = []check{
	{"a dry post is there for dry turns of its session alone", dryPost},
	{"a dry edit of a real post changes nothing of it", dryEditOfReal},
	{"a dry retract of a real post leaves it", dryRetractOfReal},
	{"dry writes neither number, wait nor block", dryNoQueue},
	{"a dry edit of a dry post is what it shows", dryEditOfDry},
	{"a dry attempt that was left open is ended and never looked for", drySwept},
}

func dryPost(f *fixture) {
	t := f.turn(dry)
	f.post(t, "dry-1")
	f.notOwn(edit(f.turn(), "dry-1", "x"), ledger.Unknown)
	f.notOwn(edit(f.turn(dry, func(t *turn.Turn) { t.Session = "s2" }), "dry-1", "x"), ledger.Unknown)
	f.opened(request(edit(f.turn(dry), "dry-1", "x")))
}

func dryEditOfReal(f *fixture) {
	f.post(f.turn(), "m1")
	a := edit(f.turn(dry), "m1", "second")
	f.opened(request(a))
	f.settleAs(a, outcome.Applied)
	f.shows("m1", "first", true)
	f.shows("m1", "second", false)
}

func dryRetractOfReal(f *fixture) {
	f.post(f.turn(), "m1")
	f.applied(retract(f.turn(dry), "m1"))
	f.opened(request(edit(f.turn(), "m1", "x")))
}

func dryNoQueue(f *fixture) {
	t, d := f.turn(), f.turn(dry)
	f.post(t, "m1")
	if o := f.opened(request(edit(d, "m1", "x"))); o.Seq != 0 {
		f.Errorf("a dry edit has number %d", o.Seq)
	}
	real := edit(t, "m1", "second")
	if o := f.opened(request(real)); o.Seq != 1 {
		f.Errorf("number %d after a dry edit", o.Seq)
	}
	f.opened(request(edit(d, "m1", "y")))
}

func dryEditOfDry(f *fixture) {
	t := f.turn(dry)
	f.post(t, "dry-1")
	a := edit(t, "dry-1", "second")
	f.opened(request(a))
	f.settleAs(a, outcome.Applied)
	o := f.open(request(edit(t, "dry-1", "second")))
	if o.State != audit.Ended || o.Row.Code != audit.CodeUnchanged || !o.Row.DryRun {
		f.Errorf("opening %q with row %+v", o.State, o.Row)
	}
	f.applied(retract(t, "dry-1"))
	f.notOwn(edit(t, "dry-1", "x"), ledger.Unknown)
}

func drySwept(f *fixture) {
	t := f.turn(dry)
	a := reply(t)
	f.swept(request(a))
	if !f.oneOutcome(a.ID).DryRun {
		f.Error("the row isn't marked as a dry run")
	}
	f.due(0)
	if f.marks(t).Ambiguous {
		f.Error("a dry run is marked ambiguous")
	}
}
