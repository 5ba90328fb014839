package audittest

import (
	"sync"
	"time"

	"stet/audit"
	"stet/gateway/outcome"
)

var sweepChecks = []check{
	{"an attempt past its deadline and the margin is ended as interrupted", sweeps},
	{"before that it is left alone", sweepsNotEarly},
	{"another process's attempts are ended at once", sweepsOtherBoot},
	{"no more are ended than asked for", sweepsAtMost},
	{"a settled attempt is not swept", sweepsNotSettled},
	{"many sweepers at once leave one outcome", sweepersRace},
	{"a sweeper and the owner leave one outcome", sweeperAgainstOwner},
	{"what was swept is due for a look at once", sweptIsDue},
	{"an overdue edit that was overwritten is swept without a mark", sweptOverwritten},
}

func sweeps(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	a := edit(t, "m1", "second")
	a.Approval = "rule"
	f.opened(request(a))
	f.pastDeadline()
	rows := f.sweep("")
	if len(rows) != 1 {
		f.Fatalf("%d rows", len(rows))
	}
	got := f.oneOutcome(a.ID)
	want := row(a, outcome.Ambiguous, outcome.Interrupted)
	want.ID, want.At, want.Detail = got.ID, f.clock.Now(), nil
	d := detail(f, got)
	if d.ID != "m1" || d.Route != "wake" || d.Approval != "rule" {
		f.Errorf("detail %+v", d)
	}
	if !equalRows(rows[0], got) {
		f.Errorf("answered %+v, stored %+v", rows[0], got)
	}
	got.Detail = nil
	if !equalRows(got, want) {
		f.Errorf("row %+v, want %+v", got, want)
	}
	if m := f.marks(t); !m.MayEnd || !m.Ambiguous {
		f.Errorf("marks %+v", m)
	}
	f.openAttempts(0)
}

func sweepsNotEarly(f *fixture) {
	f.opened(request(reply(f.turn())))
	margin := 7 * time.Second
	f.clock.Advance(budget + grace + margin)
	if rows, err := f.Sweep(f.ctx, margin, "", 10); err != nil || len(rows) != 0 {
		f.Fatalf("swept %d at the margin, %v", len(rows), err)
	}
	f.clock.Advance(time.Microsecond)
	if rows, err := f.Sweep(f.ctx, margin, "", 10); err != nil || len(rows) != 1 {
		f.Fatalf("swept %d past the margin, %v", len(rows), err)
	}
}

func sweepsOtherBoot(f *fixture) {
	a := reply(f.turn())
	f.opened(request(a))
	if rows := f.sweep("boot-1"); len(rows) != 0 {
		f.Fatal("its own process's attempt was swept")
	}
	if rows := f.sweep("boot-2"); len(rows) != 1 || rows[0].Attempt != a.ID {
		f.Fatalf("swept %+v", rows)
	}
}

func sweepsAtMost(f *fixture) {
	for range 5 {
		f.opened(request(reply(f.turn())))
	}
	f.pastDeadline()
	for _, want := range []int{2, 2, 1, 0} {
		if rows, err := f.Sweep(f.ctx, 0, "", 2); err != nil || len(rows) != want {
			f.Fatalf("swept %d, want %d, %v", len(rows), want, err)
		}
	}
	f.rowCount(5)
}

func sweepsNotSettled(f *fixture) {
	a := reply(f.turn())
	f.opened(request(a))
	f.settleAs(a, outcome.Ambiguous)
	f.pastDeadline()
	if rows := f.sweep("boot-2"); len(rows) != 0 {
		f.Fatalf("swept %+v", rows)
	}
	f.rowCount(1)
}

func sweepersRace(f *fixture) {
	const attempts, sweepers = 20, 8
	for range attempts {
		f.opened(request(reply(f.turn())))
	}
	f.pastDeadline()
	var wg sync.WaitGroup
	for range sweepers {
		wg.Go(func() {
			if _, err := f.Sweep(f.ctx, 0, "boot-2", attempts); err != nil {
				f.Error(err)
			}
		})
	}
	wg.Wait()
	f.rowCount(attempts)
}

func sweeperAgainstOwner(f *fixture) {
	for range 20 {
		a := reply(f.turn())
		f.opened(request(a))
		f.pastDeadline()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := f.Sweep(f.ctx, 0, "", 10); err != nil {
				f.Error(err)
			}
		})
		end := f.settleAs(a, outcome.Applied)
		wg.Wait()
		there := f.oneOutcome(a.ID)
		_, notes := f.rowsOf(a.ID)
		if end.Late != (there.Outcome == outcome.Ambiguous) || end.Late != (len(notes) == 1) {
			f.Fatalf("late %v, outcome %s, %d notes", end.Late, there.Outcome, len(notes))
		}
	}
}

func sweptIsDue(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	a := edit(t, "m1", "second")
	f.swept(request(a))
	due := f.due(1)
	if due[0].Attempt.ID != a.ID || due[0].Entry.ID != "m1" {
		f.Errorf("due %+v", due[0])
	}
}

func sweptOverwritten(f *fixture) {
	t := f.turn()
	f.post(t, "m1")
	a := edit(t, "m1", "second")
	f.opened(request(a))
	f.pastDeadline()
	f.applied(edit(t, "m1", "third"))
	if f.marks(t).Ambiguous {
		f.Error("marked although a later edit was applied")
	}
	f.sweep("")
	if f.oneOutcome(a.ID).Outcome != outcome.Ambiguous || f.marks(t).Ambiguous {
		f.Error("marked by the sweep")
	}
	if due := f.due(1); !due[0].Overwritten {
		f.Error("due without the mark that it was overwritten")
	}
}

// due answers what is due and expects so many.
func (f *fixture) due(want int) []audit.Pending {
	f.Helper()
	due, err := f.Due(f.ctx, 10)
	f.no(err)
	if len(due) != want {
		f.Fatalf("%d looks are due, want %d", len(due), want)
	}
	return due
}
