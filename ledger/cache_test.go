package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"stet/arms"
	"stet/ledger"
)

// listed is an authority with a list of entries, or an error.
type listed struct {
	entries []ledger.Entry
	err     error
	asked   int
}

func (l *listed) Entries(context.Context, string, arms.MessageID) ([]ledger.Entry, time.Time, error) {
	l.asked++
	return l.entries, now, l.err
}

func (l *listed) Editable(context.Context, ledger.Query, int) ([]ledger.Entry, error) {
	return l.entries, l.err
}

// told is a cache that answers as it is told and notes what it hears.
type told struct {
	entry ledger.Entry
	err   error
	heard []string
}

func (c *told) Find(_ context.Context, k ledger.Key) (ledger.Entry, error) {
	c.heard = append(c.heard, fmt.Sprintf("find %s/%s/%s/%s/%s", k.Org, k.Platform, k.Workspace, k.Channel, k.ID))
	return c.entry, c.err
}

func (c *told) Keep(_ context.Context, all ...ledger.Entry) error {
	for _, e := range all {
		c.heard = append(c.heard, "keep "+string(e.ID)+" of "+string(e.Reply))
	}
	return c.err
}

func (c *told) Replace(_ context.Context, e ledger.Entry) error {
	c.heard = append(c.heard, "replace "+string(e.ID))
	return c.err
}

func (c *told) Drop(_ context.Context, k ledger.Key) error {
	c.heard = append(c.heard, "drop "+string(k.ID))
	return c.err
}

const find = "find acme/room/w1/general/m1"

func TestTheCacheAnswersOnlyAYes(t *testing.T) {
	full := entry(func(e *ledger.Entry) { e.Reply = "m1" })
	over := entry(func(e *ledger.Entry) { e.EditableUntil = now })
	shut := entry(func(e *ledger.Entry) { e.ClosedAt = now })
	foreign := entry(func(e *ledger.Entry) { e.Org = "other" })
	down := errors.New("down")
	for name, tc := range map[string]struct {
		cached   ledger.Entry
		cacheErr error
		sql      []ledger.Entry
		sqlErr   error
		own      bool
		early    ledger.Early
		asked    int
		heard    []string
	}{
		"a yes asks nobody else":        {cached: full, own: true, early: ledger.EarlyOwn, heard: []string{find}},
		"a yes though SQL can't answer": {cached: full, sqlErr: errBroken, own: true, early: ledger.EarlyOwn, heard: []string{find}},
		"a miss that SQL knows is kept": {
			cacheErr: ledger.ErrMiss, sql: []ledger.Entry{full}, own: true, early: ledger.EarlyMiss, asked: 1,
			heard: []string{find, "keep m1 of m1"},
		},
		"a miss that SQL denies isn't kept": {cacheErr: ledger.ErrMiss, early: ledger.EarlyMiss, asked: 1, heard: []string{find}},
		"a miss that SQL knows as too old isn't kept": {
			cacheErr: ledger.ErrMiss, sql: []ledger.Entry{over}, early: ledger.EarlyMiss, asked: 1, heard: []string{find},
		},
		"a window that is over by this clock asks SQL, whose clock decides": {
			cached: over, sql: []ledger.Entry{full}, own: true, early: ledger.EarlyNotOwn, asked: 1,
			heard: []string{find, "replace m1"},
		},
		"a closed one asks SQL": {cached: shut, sql: []ledger.Entry{shut}, early: ledger.EarlyNotOwn, asked: 1, heard: []string{find}},
		"another organization's entry is no yes": {
			cached: foreign, early: ledger.EarlyNotOwn, asked: 1, heard: []string{find},
		},
		"a spoilt one is replaced by SQL's yes": {
			cacheErr: ledger.ErrSpoilt, sql: []ledger.Entry{full}, own: true, early: ledger.EarlyMiss, asked: 1,
			heard: []string{find, "replace m1"},
		},
		"a spoilt one goes with SQL's no": {
			cacheErr: ledger.ErrSpoilt, early: ledger.EarlyMiss, asked: 1, heard: []string{find, "drop m1"},
		},
		"a cache that is down isn't asked twice": {
			cacheErr: down, sql: []ledger.Entry{full}, own: true, early: ledger.EarlyError, asked: 1, heard: []string{find},
		},
		"what the cache answers beside an error is not read": {
			cached: full, cacheErr: down, early: ledger.EarlyError, asked: 1, heard: []string{find},
		},
	} {
		t.Run(name, func(t *testing.T) {
			sql, cache := &listed{entries: tc.sql, err: tc.sqlErr}, &told{entry: tc.cached, err: tc.cacheErr}
			l := ledger.New(sql, ledger.WithCache(cache, func() time.Time { return now }))
			d, err := l.Look(t.Context(), ledger.Query{Org: "acme", Session: "s1", At: here, ID: "m1"})
			if err != nil || d.Own != tc.own || d.Early != tc.early || sql.asked != tc.asked {
				t.Errorf("own %v early %q after %d questions, %v", d.Own, d.Early, sql.asked, err)
			}
			if !slices.Equal(cache.heard, tc.heard) {
				t.Errorf("the cache heard %q, want %q", cache.heard, tc.heard)
			}
		})
	}
}

func TestALookThatFailsStillSaysWhatTheCacheSaid(t *testing.T) {
	for _, tc := range []struct {
		cache ledger.Cache
		want  ledger.Early
	}{{nil, ledger.NoCache}, {&told{err: ledger.ErrMiss}, ledger.EarlyMiss}, {&told{err: errBroken}, ledger.EarlyError}} {
		l := ledger.New(&listed{err: errBroken})
		if tc.cache != nil {
			l = ledger.New(&listed{err: errBroken}, ledger.WithCache(tc.cache, nil))
		}
		d, err := l.Look(t.Context(), ledger.Query{Org: "acme", Session: "s1", At: here, ID: "m1"})
		if !errors.Is(err, errBroken) || d != (ledger.Decision{Early: tc.want}) {
			t.Errorf("decision %+v, %v", d, err)
		}
	}
}

func TestLandedAndClosedAreToldAndNeverFail(t *testing.T) {
	cache := &told{err: errBroken}
	l := ledger.New(&listed{}, ledger.WithCache(cache, nil))
	windowless := entry(func(e *ledger.Entry) { e.ID, e.EditableUntil = "windowless", time.Time{} })
	shut := entry(func(e *ledger.Entry) { e.ID, e.ClosedAt = "shut", now })
	part := entry(func(e *ledger.Entry) { e.ID, e.Reply, e.Part = "m2", "m1", 1 })
	l.Landed(t.Context(), entry(), part, windowless, shut)
	l.Landed(t.Context())
	l.Closed(t.Context(), entry().Key, part.Key)
	if want := []string{"keep m1 of m1", "keep m2 of m1", "drop m1", "drop m2"}; !slices.Equal(cache.heard, want) {
		t.Errorf("the cache heard %q, want %q", cache.heard, want)
	}
	alone := ledger.New(&listed{})
	alone.Landed(t.Context(), entry())
	alone.Closed(t.Context(), entry().Key)
}
