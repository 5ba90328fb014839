package httpapi

import (
	"context"
	"net/http"

	"stet/gateway/bind"
	"stet/gateway/outcome"
	"stet/gateway/wire"
)

type keyIn struct{ Body wire.KeyRequest }

type keyID struct {
	ID string `path:"id" doc:"The key's public id."`
}

const tagKeys = "Keys"

func (s *server) keyRoutes() {
	handle(s, route{
		id: "create-key", method: http.MethodPost, path: "/v1/keys", tag: tagKeys, plane: opsPlane,
		status: http.StatusCreated, body: true, summary: "Create a key",
		about: "The answer holds the secret, this once. A key of one organization makes keys of that one only.",
	}, s.createKey)
	handle(s, route{
		id: "list-keys", method: http.MethodGet, path: "/v1/keys", tag: tagKeys, plane: opsPlane,
		status: http.StatusOK, summary: "List the keys",
		about: "Without their secrets, revoked ones included.",
	}, s.listKeys)
	handle(s, route{
		id: "revoke-key", method: http.MethodDelete, path: "/v1/keys/{id}", tag: tagKeys, plane: opsPlane,
		status: http.StatusNoContent, summary: "Revoke a key", about: "It stops working at once.",
		reasons: []outcome.Reason{outcome.NotFound},
	}, s.revokeKey)
}

func (s *server) createKey(ctx context.Context, in *keyIn) (*out[wire.NewKey], error) {
	scopes := make([]bind.Scope, 0, len(in.Body.Scopes))
	for _, sc := range in.Body.Scopes {
		scopes = append(scopes, bind.Scope(sc))
	}
	secret, k, err := s.Bind.CreateKey(context.WithoutCancel(ctx), callerOf(ctx).Key, bind.NewKey{
		Name: in.Body.Name, Scopes: scopes, Org: in.Body.Org, AllOrgs: in.Body.AllOrgs,
	})
	if err != nil {
		return nil, err
	}
	return answer(wire.NewKey{Key: key(k), Secret: secret}), nil
}

func (s *server) listKeys(ctx context.Context, _ *nothing) (*out[wire.KeyList], error) {
	keys, err := s.Bind.ListKeys(ctx, callerOf(ctx).Key)
	if err != nil {
		return nil, err
	}
	list := wire.KeyList{Keys: make([]wire.Key, 0, len(keys))}
	for _, k := range keys {
		list.Keys = append(list.Keys, key(k))
	}
	return answer(list), nil
}

func (s *server) revokeKey(ctx context.Context, in *keyID) (*none, error) {
	return &none{}, s.Bind.RevokeKey(context.WithoutCancel(ctx), callerOf(ctx).Key, in.ID)
}
