package cli

import (
	"context"
	"fmt"

	"stet/audit/postgres"
)

// lookAtDatabase reaches the database as a gateway would, which also brings a
// new one's schema up to date, and writes to it.
func (x *examination) lookAtDatabase() {
	ctx, cancel := context.WithTimeout(x.ctx, lookTime)
	defer cancel()
	store, err := postgres.Open(ctx, postgres.Options{URL: x.settings.DatabaseURL.Reveal()})
	if err != nil {
		x.find(mend, "audit store", "the database can't be used: "+err.Error())
		return
	}
	defer func() { _ = store.Close() }()
	if err := store.Probe(ctx); err != nil {
		x.find(mend, "audit store", "the database can't be written: "+err.Error())
		return
	}
	x.find(well, "audit store", fmt.Sprintf("the database can be written, schema version %d", store.SchemaVersion()))
}
