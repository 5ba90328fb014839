package postgres

import (
	"context"
	"strings"

	"stet/audit"
	"stet/gateway/bind"
	"stet/gateway/outcome"
)

const keyColumns = `id, org, scopes, name, hash, created_at, revoked_at`

const (
	sqlCreateKey = `insert into api_key (created_at, id, org, scopes, name, hash, revoked_at)
		values (coalesce($2, ` + sqlNow + `), $3, $4, $5, $6, $7, $8) on conflict do nothing`
	sqlKeyIs     = `select 1 from api_key where id = $1 and hash = $2`
	sqlKeyByID   = `select ` + keyColumns + ` from api_key where id = $1`
	sqlKeys      = `select ` + keyColumns + ` from api_key where $1 = '' or org = $1 order by created_at, id`
	sqlRevokeKey = `update api_key set revoked_at = ` + sqlNow + ` where id = $2 and revoked_at is null returning org`
)

// CreateKey stores a key and writes its row in one commit. The same key twice
// is one key with one row.
func (s *Store) CreateKey(ctx context.Context, k bind.Key, by string) error {
	row := keyRow(k.Org, k.ID, audit.ActionKeyCreated, by)
	return s.inTx(ctx, func(u *unit) error {
		n, err := u.exec(sqlCreateKey, u.s.clock(), micros(k.CreatedAt), stored(k.ID), stored(k.Org),
			stored(joinScopes(k.Scopes)), stored(k.Name), k.Hash, micros(k.RevokedAt))
		if err != nil {
			return err
		}
		if n == 1 {
			return u.addRows(row)
		}
		same, err := one(u.row(sqlKeyIs, stored(k.ID), k.Hash), new(int))
		if err == nil && !same {
			return errTaken
		}
		return err
	})
}

// KeyByID finds a key, revoked or not.
func (s *Store) KeyByID(ctx context.Context, id string) (bind.Key, error) {
	k, found, err := orMissing(scanKey(s.pool.QueryRow(ctx, sqlKeyByID, stored(id)).Scan))
	if err == nil && !found {
		err = bind.ErrNotFound
	}
	return k, asAudit(err)
}

// Keys lists the keys of an organization, or all for "", oldest first.
func (s *Store) Keys(ctx context.Context, org string) ([]bind.Key, error) {
	rows, err := s.pool.Query(ctx, sqlKeys, stored(org))
	all, err := collect(rows, err, scanKey)
	return all, asAudit(err)
}

// RevokeKey revokes at once and writes its row in the same commit.
func (s *Store) RevokeKey(ctx context.Context, id, by string) error {
	rowID := audit.NewID()
	return s.inTx(ctx, func(u *unit) error {
		var org string
		found, err := one(u.row(sqlRevokeKey, u.s.clock(), stored(id)), into(&org))
		if err == nil && !found {
			return bind.ErrNotFound
		}
		if err != nil {
			return err
		}
		row := keyRow(org, id, audit.ActionKeyRevoked, by)
		row.ID = rowID
		return u.addRows(row)
	})
}

func keyRow(org, key, action, by string) audit.Row {
	return audit.Row{
		ID: audit.NewID(), Org: org, Kind: audit.Outcome, Action: action, Outcome: outcome.Applied,
		Detail: audit.Detail{Who: by, Key: key}.JSON(),
	}
}

func scanKey(scan func(...any) error) (bind.Key, error) {
	var k bind.Key
	var scopes string
	var created, revoked *int64
	err := scan(into(&k.ID), into(&k.Org), into(&scopes), into(&k.Name), &k.Hash, &created, &revoked)
	k.CreatedAt, k.RevokedAt = fromMicros(created), fromMicros(revoked)
	for _, s := range strings.Fields(scopes) {
		k.Scopes = append(k.Scopes, bind.Scope(s))
	}
	return k, err
}

func joinScopes(scopes []bind.Scope) string {
	words := make([]string, len(scopes))
	for i, s := range scopes {
		words[i] = string(s)
	}
	return strings.Join(words, " ")
}
