package redisstore

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"stet/ledger"
)

// What tests outside the package have to see.
const (
	Budget  = budget
	Buckets = buckets
)

var (
	Place    = place
	Encode   = encode
	Decode   = decode
	ReasonOf = reasonOf
	EpochKey = func(bucket int) string { return epochKeys[bucket] }
)

// ClientForTest is the client of a store.
func (s *Store) ClientForTest() redis.UniversalClient { return s.client }

// KeyedForTest is every key that a call about a message touches.
func KeyedForTest(k ledger.Key) []string {
	key, bucket := place(k)
	return []string{key, epochKeys[bucket]}
}

// BreakerForTest is a breaker with a clock.
type BreakerForTest struct{ b breaker }

func NewBreakerForTest(now func() time.Time) *BreakerForTest {
	return &BreakerForTest{breaker{now: now}}
}
func (t *BreakerForTest) Failed(r Reason) bool { return t.b.failed(r) }
func (t *BreakerForTest) Served() bool         { return t.b.served() }
func (t *BreakerForTest) Open() bool           { return t.b.open() }
func (t *BreakerForTest) Why() Reason          { return t.b.why() }

// WholeForTest looks at the buckets as Run does.
func (s *Store) WholeForTest(ctx context.Context) (bool, error) {
	v, err := s.survey(ctx)
	return v.whole(), err
}
