package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stet/arms"
	"stet/audit"
	"stet/audit/audittest"
	"stet/audit/postgres"
	"stet/audit/postgres/pgtest"
	"stet/gateway/locus"
	"stet/gateway/outcome"
	"stet/gateway/turn"
)

// twins opens two replicas on one fresh schema.
func twins(t *testing.T, now func() time.Time) [2]*postgres.Store {
	url := pgtest.Schema(t)
	return [2]*postgres.Store{
		openStore(t, postgres.Options{URL: url, Now: now}), openStore(t, postgres.Options{URL: url, Now: now}),
	}
}

// request asks to open an edit as the pipeline would.
func request(t turn.Turn, id arms.MessageID, text string) audit.OpenRequest {
	a := audit.Attempt{
		ID: audit.NewID(), Verb: outcome.Edit, Turn: t, Target: id, Place: t.Locus, Route: locus.Wake,
		Digest: []byte(text), Boot: "boot",
	}
	row := benchRow(t, outcome.Applied)
	row.Code = audit.CodeUnchanged
	return audit.OpenRequest{
		Attempt: a, Budget: time.Minute, MaxWait: time.Minute, Unchanged: &row,
		Refused: func(why audit.Refusal) audit.Row {
			r := benchRow(t, why.Outcome)
			r.Reason, r.Code = why.Reason, why.Code
			return r
		},
	}
}

func settled(a audit.Attempt, o outcome.Outcome) audit.Settlement {
	s := audit.Settlement{Attempt: a, Row: benchRow(a.Turn, o), MayEnd: true}
	if o == outcome.Applied {
		s.Digest = a.Digest
	}
	return s
}

// room is the platform's truth about one message.
type room struct {
	sync.Mutex
	shown string
	seq   int64
}

// write is an edit's effect; false: it came after that of a higher number.
func (r *room) write(text string, seq int64) bool {
	r.Lock()
	defer r.Unlock()
	inOrder := seq > r.seq
	r.shown, r.seq = text, seq
	return inOrder
}

// TestOneMessageManyWritersOnTwoReplicas: every accepted edit has a number, one
// is at the message at a time, and what stays is the text of the highest.
func TestOneMessageManyWritersOnTwoReplicas(t *testing.T) {
	const writers, edits = 50, 6
	stores := twins(t, nil)
	first := benchTurn(t, stores[0])
	post(t, stores[0], first, "m1")
	var r room
	var holders, opened, superseded, unchanged atomic.Int64
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			s := stores[w%2]
			tn := benchTurn(t, s)
			for n := range edits {
				q := request(tn, "m1", fmt.Sprint("text ", w, " ", n))
				for {
					o, err := s.Open(context.Background(), q)
					if err != nil {
						t.Error(err)
						return
					}
					if o.State == audit.Wait {
						q.Seq = o.Seq
						continue
					}
					switch {
					case o.State == audit.Opened:
						opened.Add(1)
						if holders.Add(1) != 1 {
							t.Error("two attempts are open on one message")
						}
						if !r.write(string(q.Attempt.Digest), o.Seq) {
							t.Error("an edit opened after one of a higher number")
						}
						holders.Add(-1)
						if _, err := s.Settle(context.Background(), settled(q.Attempt, outcome.Applied)); err != nil {
							t.Error(err)
						}
					case o.Row.Reason == outcome.Superseded:
						superseded.Add(1)
					case o.Row.Code == audit.CodeUnchanged:
						unchanged.Add(1)
					default:
						t.Errorf("ended as %s %s", o.Row.Outcome, o.Row.Reason)
					}
					break
				}
			}
		})
	}
	wg.Wait()
	if n := opened.Load() + superseded.Load() + unchanged.Load(); n != writers*edits {
		t.Errorf("%d opened, %d superseded, %d unchanged, of %d", opened.Load(), superseded.Load(), unchanged.Load(), writers*edits)
	}
	if n, err := stores[1].CountForTest(t.Context(), "audit_row where kind = 'outcome'"); err != nil || n != writers*edits+1 {
		t.Errorf("%d outcomes, want %d, %v", n, writers*edits+1, err)
	}
	q := request(first, "m1", r.shown)
	o, err := stores[1].Open(t.Context(), q)
	if err != nil || o.State != audit.Ended || o.Row.Code != audit.CodeUnchanged {
		t.Errorf("the message shows %q of number %d; opening it again: %q, %v", r.shown, r.seq, o.State, err)
	}
	if n, err := stores[0].CountForTest(t.Context(), "edit_waiter"); err != nil || n != 0 {
		t.Errorf("%d still wait, %v", n, err)
	}
}

// TestOneKeyManyCallersOnTwoReplicas: one attempt, and the same answer for all.
func TestOneKeyManyCallersOnTwoReplicas(t *testing.T) {
	const callers, keys = 100, 5
	stores := twins(t, nil)
	var turns [keys]turn.Turn
	for k := range turns {
		turns[k] = benchTurn(t, stores[0])
	}
	var opened [keys]atomic.Int32
	var answers sync.Map
	var wg sync.WaitGroup
	for i := range callers * keys {
		wg.Go(func() {
			k, s := i%keys, stores[i/keys%2]
			tn := turns[k]
			a := audit.Attempt{ID: audit.NewID(), Verb: outcome.Reply, Turn: tn, Place: tn.Locus}
			q := audit.OpenRequest{
				Attempt: a, Budget: time.Minute,
				Claim: &audit.Claim{Key: fmt.Sprint("key ", k), Hash: []byte("body"), Keep: time.Hour},
			}
			for {
				o, err := s.Open(context.Background(), q)
				switch {
				case err != nil:
					t.Error(err)
					return
				case o.State == audit.InProgress:
					continue
				case o.State == audit.Opened:
					opened[k].Add(1)
					st := settled(a, outcome.Applied)
					st.Answer = []byte("answer of " + a.ID)
					if _, err := s.Settle(context.Background(), st); err != nil {
						t.Error(err)
					}
					answers.Store(k, string(st.Answer))
					return
				case o.State != audit.Replayed:
					t.Errorf("opening %q", o.State)
					return
				}
				if first, ok := answers.Load(k); ok && first != string(o.Answer) {
					t.Errorf("answered %q, the first use said %q", o.Answer, first)
				}
				return
			}
		})
	}
	wg.Wait()
	for k := range opened {
		if n := opened[k].Load(); n != 1 {
			t.Errorf("key %d opened %d attempts", k, n)
		}
	}
	if n, err := stores[0].CountForTest(t.Context(), "attempt"); err != nil || n != keys {
		t.Errorf("%d attempts, want %d, %v", n, keys, err)
	}
}

// TestTwoSweepersAndALiveOwner: whoever comes first, there is one outcome, and
// the owner's late result is kept beside it.
func TestTwoSweepersAndALiveOwner(t *testing.T) {
	const rounds = 40
	clock := audittest.NewClock()
	stores := twins(t, clock.Now)
	tn := benchTurn(t, stores[0])
	late := 0
	for range rounds {
		a := audit.Attempt{ID: audit.NewID(), Verb: outcome.Reply, Turn: tn, Place: tn.Locus}
		tn = benchTurn(t, stores[0])
		a.Turn = tn
		if o, err := stores[0].Open(t.Context(), audit.OpenRequest{Attempt: a, Budget: time.Second}); err != nil || o.State != audit.Opened {
			t.Fatalf("opening %q, %v", o.State, err)
		}
		clock.Advance(2 * time.Second)
		var wg sync.WaitGroup
		var swept atomic.Int32
		for i := range 2 {
			wg.Go(func() {
				rows, err := stores[i].Sweep(context.Background(), 0, "", 10)
				if err != nil {
					t.Error(err)
				}
				swept.Add(int32(len(rows)))
			})
		}
		end, err := stores[rand.IntN(2)].Settle(t.Context(), settled(a, outcome.Applied))
		wg.Wait()
		if err != nil {
			t.Fatal(err)
		}
		outcomes, notes := 0, 0
		filter := audit.Filter{Equal: map[audit.Column][]string{"attempt": {a.ID}}}
		if err := stores[1].Each(t.Context(), filter, func(r audit.Row) error {
			if r.Kind == audit.Outcome {
				outcomes++
			} else {
				notes++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if outcomes != 1 || end.Late != (swept.Load() == 1) || end.Late != (notes == 1) {
			t.Fatalf("%d outcomes, %d swept, late %v, %d notes", outcomes, swept.Load(), end.Late, notes)
		}
		if end.Late {
			late++
		}
	}
	t.Logf("the owner was late in %d of %d rounds", late, rounds)
	if n, err := stores[0].OpenAttempts(t.Context()); err != nil || n != 0 {
		t.Errorf("%d attempts are open, %v", n, err)
	}
}

// TestAClosedTurnOpensNothingAtAnyReplica: once the closing is confirmed at one
// replica, no attempt of the turn opens at the other.
func TestAClosedTurnOpensNothingAtAnyReplica(t *testing.T) {
	stores := twins(t, nil)
	for range 30 {
		tn := benchTurn(t, stores[0])
		var closed atomic.Bool
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := stores[0].CloseTurn(context.Background(), tn.ID); err != nil {
				t.Error(err)
			}
			closed.Store(true)
		})
		wg.Go(func() {
			for {
				before := closed.Load()
				q := request(tn, "", "")
				q.Attempt.Verb, q.Attempt.Target = outcome.Reply, ""
				o, err := stores[1].Open(context.Background(), q)
				if err != nil {
					t.Error(err)
					return
				}
				if before && o.State == audit.Opened {
					t.Error("an attempt opened after its turn was closed")
				}
				if o.State != audit.Opened {
					if o.Row.Reason != outcome.Unauthorized {
						t.Errorf("ended as %s %s", o.Row.Outcome, o.Row.Reason)
					}
					return
				}
			}
		})
		wg.Wait()
	}
}

// TestBatchesOfTwoReplicasDoNotStandInEachOthersWay: batches that touch the same
// turns and messages in any order wait for each other, never in a circle.
func TestBatchesOfTwoReplicasDoNotStandInEachOthersWay(t *testing.T) {
	const callers, messages, rounds = 32, 6, 8
	stores := twins(t, nil)
	var turns [messages]turn.Turn
	for m := range turns {
		turns[m] = benchTurn(t, stores[0])
		post(t, stores[0], turns[m], arms.MessageID(fmt.Sprint("m", m)))
	}
	began := time.Now()
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			s := stores[c%2]
			for n := range rounds {
				m, w := rand.IntN(messages), rand.IntN(messages)
				q := request(turns[w], arms.MessageID(fmt.Sprint("m", m)), fmt.Sprint("text ", c, " ", n))
				q.MaxWait = time.Microsecond // nobody waits for who doesn't ask again
				o, err := s.Open(context.Background(), q)
				if err != nil {
					t.Error(err)
				}
				if o.State != audit.Opened {
					continue
				}
				end := []outcome.Outcome{outcome.Applied, outcome.Rejected, outcome.Ambiguous}[rand.IntN(3)]
				if _, err := s.Settle(context.Background(), settled(q.Attempt, end)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	// A circle of locks is only found after a second.
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	deadlocks, err := stores[0].CountForTest(t.Context(), "pg_stat_database where deadlocks > 0 and datname = current_database()")
	if err != nil || deadlocks != 0 {
		t.Errorf("the database broke circles of locks, %v", err)
	}
}
