package cli

import (
	"context"

	"stet/ledger/redisstore"
)

// lookAtRedis asks Redis how it is. Without one there is nothing to mend, and
// neither is one that is down a reason for the gateway not to serve; it is what
// was asked for, though.
func (x *examination) lookAtRedis() {
	if x.settings.RedisURL == "" {
		x.find(note, "redis", "none: the ledger answers from SQL alone, which is right for one replica")
		return
	}
	store, err := redisstore.New(redisstore.Options{URL: x.settings.RedisURL.Reveal()})
	if err != nil {
		return // told with the settings
	}
	defer func() { _ = store.Close() }()
	ctx, cancel := context.WithTimeout(x.ctx, lookTime)
	defer cancel()
	for _, f := range store.Check(ctx) {
		x.find(state(f.State), "redis", f.Text)
	}
}
