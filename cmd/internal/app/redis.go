package app

import (
	"context"

	"stet/gateway/wire"
	"stet/ledger"
	"stet/ledger/redisstore"
)

// openLedger makes the ledger over the authority, with Redis in front of it
// where one is set. A Redis that is down doesn't keep the gateway from starting.
func (a *App) openLedger(s store) error {
	if a.o.Settings.RedisURL == "" {
		a.ledger = ledger.New(s)
		return nil
	}
	cache, err := redisstore.New(redisstore.Options{
		URL: a.o.Settings.RedisURL.Reveal(), Source: s, Now: a.o.Now, Logger: a.log, Registerer: a.reg,
	})
	if err != nil {
		return err
	}
	a.onStop("redis", func(context.Context) error { return cache.Close() })
	a.cache = cache
	a.ledger = ledger.New(s, ledger.WithCache(cache, a.o.Now))
	return nil
}

// tendRedis keeps Redis filled until the program stops.
func (a *App) tendRedis() {
	if a.cache != nil {
		a.cache.Run(a.ctx)
	}
}

// ledgerChecks says from where the ledger answers. Redis is never needed.
func (a *App) ledgerChecks() []wire.Check {
	sql := wire.Check{Name: "ledger", Needed: true, OK: a.trail.Available(), Detail: "answers from SQL alone, no Redis is set"}
	if a.cache == nil {
		return []wire.Check{sql}
	}
	ok, text := a.cache.Status()
	sql.Detail = text
	return []wire.Check{sql, {Name: "redis", OK: ok, Detail: text}}
}
