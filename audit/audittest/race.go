package audittest

import (
	"fmt"
	"sync"
	"sync/atomic"

	"stet/audit"
	"stet/gateway/outcome"
)

var raceChecks = []check{
	{"many openings of one key are one attempt", oneKey},
	{"many openings of one attempt are one attempt", oneAttempt},
	{"many edits of one message are one at a time", oneAtATime},
	{"a write that fails doesn't sink those beside it", poison},
	{"settling at once with the same row is one row", settleRace},
}

func oneKey(f *fixture) {
	const callers = 40
	t := f.turn()
	var opened, running atomic.Int32
	f.atOnce(callers, func(int) {
		o, err := f.Open(f.ctx, keyed(reply(t), "k", "body"))
		switch {
		case err != nil:
			f.Error(err)
		case o.State == audit.Opened:
			opened.Add(1)
		case o.State == audit.InProgress:
			running.Add(1)
		}
	})
	if opened.Load() != 1 || running.Load() != callers-1 {
		f.Errorf("%d opened, %d in progress", opened.Load(), running.Load())
	}
	f.openAttempts(1)
}

func oneAttempt(f *fixture) {
	r := request(reply(f.turn()))
	f.atOnce(20, func(int) {
		if o, err := f.Open(f.ctx, r); err != nil || o.State != audit.Opened {
			f.Errorf("opening %q, %v", o.State, err)
		}
	})
	f.openAttempts(1)
}

func oneAtATime(f *fixture) {
	const callers = 30
	t := f.turn()
	f.post(t, "m1")
	var opened, waiting, superseded atomic.Int32
	f.atOnce(callers, func(i int) {
		o, err := f.Open(f.ctx, request(edit(t, "m1", fmt.Sprint("text ", i))))
		switch {
		case err != nil:
			f.Error(err)
		case o.State == audit.Opened:
			opened.Add(1)
		case o.State == audit.Wait:
			waiting.Add(1)
		case o.Row.Reason == outcome.Superseded:
			superseded.Add(1)
		}
	})
	if opened.Load() != 1 || waiting.Load()+superseded.Load() != callers-1 {
		f.Errorf("%d opened, %d wait, %d superseded", opened.Load(), waiting.Load(), superseded.Load())
	}
	f.openAttempts(1)
}

// poison lets writes fail in the middle of shared commits: those beside them
// run again and leave what they would have left alone.
func poison(f *fixture) {
	const callers = 40
	t := f.turn()
	closed := f.turn()
	f.no(f.CloseTurn(f.ctx, closed.ID))
	var good sync.Map
	f.atOnce(callers, func(i int) {
		if i%4 == 0 {
			r := request(reply(closed))
			r.Refused = func(audit.Refusal) audit.Row { panic("poison") }
			if _, err := f.Open(f.ctx, r); err == nil {
				f.Error("a panicking write is confirmed")
			}
			return
		}
		a := reply(t)
		o, err := f.Open(f.ctx, keyed(a, fmt.Sprint("key ", i), "body"))
		if err != nil || o.State != audit.Opened {
			f.Errorf("opening %q, %v", o.State, err)
			return
		}
		good.Store(a.ID, a)
	})
	f.openAttempts(callers * 3 / 4)
	good.Range(func(_, a any) bool {
		f.settleAs(a.(audit.Attempt), outcome.Applied)
		return true
	})
	f.rowCount(callers * 3 / 4)
}

func settleRace(f *fixture) {
	a := reply(f.turn())
	f.opened(request(a))
	s := settlement(a, outcome.Applied)
	f.atOnce(10, func(int) {
		if end, err := f.Settle(f.ctx, s); err != nil || end.Late || end.Row.ID != s.Row.ID {
			f.Errorf("settled %+v, %v", end, err)
		}
	})
	f.rowCount(1)
}

// atOnce runs fn n times at once.
func (f *fixture) atOnce(n int, fn func(i int)) {
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			fn(i)
		})
	}
	close(start)
	wg.Wait()
}
