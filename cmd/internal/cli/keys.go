package cli

import (
	"strings"

	"stet/gateway/bind"
	"stet/gateway/wire"
)

type keysCmd struct {
	Create keysCreate `cmd:"" help:"Make a key and print its secret, this once."`
	List   keysList   `cmd:"" help:"List the keys, revoked ones included."`
	Revoke keysRevoke `cmd:"" help:"Revoke a key at once."`
	Mint   keysMint   `cmd:"" help:"Make a first key for STET_HOST_KEY or STET_OPS_KEY, without asking a gateway."`
}

type keysCreate struct {
	where   `embed:""`
	Name    string   `required:"" help:"What the key is for."`
	Scope   []string `required:"" enum:"host,ops,reviewer" help:"What it may do: ${enum}; host stands alone."`
	Org     string   `xor:"org" help:"The organization it belongs to."`
	AllOrgs bool     `name:"all-orgs" xor:"org" help:"It spans all organizations."`
}

// Run makes a key.
func (c keysCreate) Run(r *run) error {
	if c.Org == "" && !c.AllOrgs {
		return usagef("say whose key it is: --org or --all-orgs")
	}
	gw, err := r.connect(c.where, opsPlane)
	if err != nil {
		return err
	}
	made, err := gw.CreateKey(r.ctx, wire.KeyRequest{Name: c.Name, Scopes: c.Scope, Org: c.Org, AllOrgs: c.AllOrgs})
	if err != nil {
		return err
	}
	if r.json {
		return r.printJSON(made)
	}
	if err := r.pairs(
		[2]string{"key", made.Key.ID}, [2]string{"secret", made.Secret},
		[2]string{"scopes", strings.Join(made.Key.Scopes, ", ")}, [2]string{"org", keyOrg(made.Key)},
	); err != nil {
		return err
	}
	r.complain("The secret is shown this once.\n")
	return nil
}

type keysList struct {
	where `embed:""`
}

// Run lists the keys.
func (c keysList) Run(r *run) error {
	gw, err := r.connect(c.where, opsPlane)
	if err != nil {
		return err
	}
	keys, err := gw.Keys(r.ctx)
	if err != nil {
		return err
	}
	if r.json {
		return r.printJSON(wire.KeyList{Keys: keys})
	}
	t := table{head: []string{"key", "scopes", "org", "made", "revoked", "name"}}
	for _, k := range keys {
		t.add(text(k.ID), text(strings.Join(k.Scopes, ",")), text(cut(keyOrg(k), 16)),
			text(day(k.CreatedAt)), cell{day(k.RevokedAt), red}, text(cut(k.Name, 24)))
	}
	return t.print(r)
}

type keysRevoke struct {
	where `embed:""`
	Key   string `arg:"" help:"The key's public id."`
}

// Run revokes a key.
func (c keysRevoke) Run(r *run) error {
	gw, err := r.connect(c.where, opsPlane)
	if err != nil {
		return err
	}
	if err := gw.RevokeKey(r.ctx, c.Key); err != nil {
		return err
	}
	if r.json {
		return r.printJSON(map[string]string{"revoked": c.Key})
	}
	return r.say("%s  %s\n", r.paint(green, "revoked"), clean(c.Key))
}

type keysMint struct {
	Kind string `arg:"" enum:"host,ops" help:"Which: ${enum}."`
}

// Run mints a key that a gateway takes from its environment on a start.
func (c keysMint) Run(r *run) error {
	name, kind := "STET_HOST_KEY", bind.HostKey
	if c.Kind == "ops" {
		name, kind = "STET_OPS_KEY", bind.OpsKey
	}
	secret, _ := bind.Mint(kind)
	if r.json {
		return r.printJSON(map[string]string{"name": name, "secret": secret})
	}
	return r.say("%s=%s\n", name, secret)
}

func keyOrg(k wire.Key) string {
	if k.AllOrgs {
		return "all"
	}
	return k.Org
}
