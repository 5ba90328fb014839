package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"stet/audit"
	"stet/gateway/bind"
	"stet/gateway/outcome"
)

// errTaken: an id that was to be new belongs to something else.
var errTaken = errors.New("sqlite: the id is taken")

const keyColumns = `id, org, scopes, name, hash, created_at, revoked_at`

const (
	sqlCreateKey = `insert into api_key (` + keyColumns + `) values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing`
	sqlKeyIs     = `select 1 from api_key where id = ? and hash = ?`
	sqlKeyByID   = `select ` + keyColumns + ` from api_key where id = ?`
	sqlKeys      = `select ` + keyColumns + ` from api_key where ? = '' or org = ? order by created_at, id`
	sqlRevokeKey = `update api_key set revoked_at = ? where id = ? and revoked_at is null`
)

// CreateKey stores a key and writes its row in one commit. The same key twice
// is one key with one row.
func (s *Store) CreateKey(ctx context.Context, k bind.Key, by string) error {
	return s.commit(ctx, later, func(u *unit) error {
		k := k
		k.CreatedAt = orNow(k.CreatedAt, u.now)
		n, err := u.exec(sqlCreateKey, k.ID, k.Org, joinScopes(k.Scopes), k.Name, k.Hash,
			k.CreatedAt.UnixMicro(), micros(k.RevokedAt))
		if err != nil {
			return err
		}
		if n == 0 {
			same, err := one(u.row(sqlKeyIs, k.ID, k.Hash), new(int))
			if err == nil && !same {
				return errTaken
			}
			return err
		}
		return u.keyRow(k, audit.ActionKeyCreated, by)
	})
}

// KeyByID finds a key, revoked or not.
func (s *Store) KeyByID(ctx context.Context, id string) (bind.Key, error) {
	return s.reading(ctx).key(id)
}

func (u *unit) key(id string) (bind.Key, error) {
	k, found, err := orMissing(scanKey(u.row(sqlKeyByID, id).Scan))
	if err == nil && !found {
		err = bind.ErrNotFound
	}
	return k, asAudit(err)
}

// Keys lists the keys of an organization, or all for "", oldest first.
func (s *Store) Keys(ctx context.Context, org string) ([]bind.Key, error) {
	rows, err := s.reading(ctx).rows(sqlKeys, org, org)
	all, err := collect(rows, err, scanKey)
	return all, asAudit(err)
}

// RevokeKey revokes at once and writes its row in the same commit.
func (s *Store) RevokeKey(ctx context.Context, id, by string) error {
	return s.commit(ctx, later, func(u *unit) error {
		n, err := u.exec(sqlRevokeKey, u.now.UnixMicro(), id)
		if err != nil {
			return err
		}
		if n == 0 {
			return bind.ErrNotFound
		}
		k, err := u.key(id)
		if err != nil {
			return err
		}
		return u.keyRow(k, audit.ActionKeyRevoked, by)
	})
}

func (u *unit) keyRow(k bind.Key, action, by string) error {
	_, err := u.insertRow(&audit.Row{
		ID: audit.NewID(), Org: k.Org, Kind: audit.Outcome, Action: action, Outcome: outcome.Applied,
		Detail: audit.Detail{Who: by, Key: k.ID}.JSON(),
	})
	return err
}

func scanKey(scan func(...any) error) (bind.Key, error) {
	var k bind.Key
	var scopes string
	var created, revoked sql.NullInt64
	err := scan(&k.ID, &k.Org, &scopes, &k.Name, &k.Hash, &created, &revoked)
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
