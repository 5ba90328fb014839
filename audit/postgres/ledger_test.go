package postgres_test

import (
	"context"
	"testing"
	"time"

	"stet/audit"
	"stet/audit/postgres"
	"stet/gateway/bind"
	"stet/gateway/locus"
	"stet/gateway/outcome"
	"stet/gateway/turn"
	"stet/ledger"
	"stet/ledger/ledgertest"
)

func TestLedgerContract(t *testing.T) {
	ledgertest.Run(t, func(t testing.TB, now func() time.Time) ledgertest.Backend {
		p := poster{t, openStore(t, postgres.Options{Now: now}), now}
		return ledgertest.Backend{Store: p.s, Post: p.post, Close: p.close}
	})
}

// poster brings messages into the ledger the only way there is: as outcomes.
type poster struct {
	t   testing.TB
	s   *postgres.Store
	now func() time.Time
}

func (p poster) attempt(e ledger.Entry, v outcome.Verb) audit.Attempt {
	at := locus.Locus{
		Platform: e.Platform, Workspace: e.Workspace, Channel: e.Channel, Thread: e.Thread,
		ServiceURL: e.ServiceURL, Organization: e.Organization,
	}
	tn := turn.Turn{
		ID: audit.NewID(), Org: e.Org, Session: e.Session, DryRun: e.DryRun, Locus: at,
		ExpiresAt: p.now().Add(time.Hour),
	}
	p.no(p.s.OpenTurn(context.Background(), tn, bind.Token{ID: tn.ID, Hash: []byte("hash")}))
	return audit.Attempt{ID: audit.NewID(), Verb: v, Turn: tn, Target: e.ID, Place: at}
}

func (p poster) settle(a audit.Attempt, s audit.Settlement) {
	p.t.Helper()
	o, err := p.s.Open(context.Background(), audit.OpenRequest{
		Attempt: a, Budget: time.Second, Refused: func(audit.Refusal) audit.Row { return audit.Row{ID: audit.NewID()} },
	})
	p.no(err)
	if o.State != audit.Opened {
		p.t.Fatalf("opening %q", o.State)
	}
	s.Attempt = a
	s.Row = audit.Row{ID: audit.NewID(), Outcome: outcome.Applied}
	_, err = p.s.Settle(context.Background(), s)
	p.no(err)
}

func (p poster) post(e ledger.Entry) {
	p.t.Helper()
	p.settle(p.attempt(e, outcome.Reply), audit.Settlement{
		Posts: []ledger.Entry{e}, Window: e.EditableUntil.Sub(p.now()),
	})
}

func (p poster) close(e ledger.Entry) {
	p.t.Helper()
	p.settle(p.attempt(e, outcome.Retract), audit.Settlement{Close: true})
}

func (p poster) no(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}
