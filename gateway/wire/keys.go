package wire

import "time"

// KeyRequest makes a key.
type KeyRequest struct {
	Name    string   `json:"name" maxLength:"200" doc:"What the key is for." example:"ci bot"`
	Scopes  []string `json:"scopes" minItems:"1" maxItems:"3" enum:"host,ops,reviewer" doc:"What it may do; host stands alone." example:"[\"host\"]"`
	Org     string   `json:"org,omitempty" maxLength:"200" doc:"The organization it belongs to." example:"acme"`
	AllOrgs bool     `json:"all_orgs,omitempty" doc:"It spans all organizations instead."`
}

// Key is a key without its secret.
type Key struct {
	ID        string    `json:"id" doc:"The key's public id." example:"6Yp0bVn3QkTzWm1c"`
	Name      string    `json:"name" doc:"What the key is for." example:"ci bot"`
	Scopes    []string  `json:"scopes" doc:"What it may do." example:"[\"host\"]"`
	Org       string    `json:"org" doc:"The organization; empty for a key that spans all." example:"acme"`
	AllOrgs   bool      `json:"all_orgs" doc:"It spans all organizations."`
	CreatedAt time.Time `json:"created_at" doc:"When it was made."`
	// RevokedAt is zero for a live key.
	RevokedAt time.Time `json:"revoked_at,omitzero" doc:"When it was revoked."`
}

// NewKey is a new key with its secret, which is shown this once.
type NewKey struct {
	Key    Key    `json:"key" doc:"The key."`
	Secret string `json:"secret" doc:"The credential. It is shown this once." example:"stet_host_..."`
}

// KeyList is all keys that the caller may see.
type KeyList struct {
	Keys []Key `json:"keys" doc:"The keys, revoked ones included."`
}
