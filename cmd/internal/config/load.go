package config

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"stet/arms/armhttp"
)

// Getenv looks up an environment variable; empty when it isn't set.
type Getenv func(string) string

// The variables that carry secrets; each may also come as a path in …_FILE.
const (
	EnvHostKey     = "STET_HOST_KEY"
	EnvOpsKey      = "STET_OPS_KEY"
	EnvRedisURL    = "STET_REDIS_URL"
	EnvDatabaseURL = "STET_DATABASE_URL"
)

// Load completes settings that hold the flags: it decodes the file that they
// name over them, adds the secrets of the environment, and validates. The error
// joins everything that is wrong; none shows a secret's value.
func Load(s Settings, env Getenv, sections Sections) (Settings, error) {
	var fromFile keys
	if s.ConfigPath != "" {
		var err error
		if s, fromFile, err = readFile(s, s.ConfigPath, sections); err != nil {
			return s, prefixed(s.ConfigPath+": ", err)
		}
	} else {
		s.Arms = sections
	}
	errs := []error{
		resolveKey(&s.HostKey, env, given{EnvHostKey, "keys.host", fromFile.Host, fromFile.HostFile}),
		resolveKey(&s.OpsKey, env, given{EnvOpsKey, "keys.ops", fromFile.Ops, fromFile.OpsFile}),
		resolveURL(&s.RedisURL, env, EnvRedisURL),
		resolveURL(&s.DatabaseURL, env, EnvDatabaseURL),
		s.Validate(),
	}
	return s, errors.Join(errs...)
}

// given is a secret's places: an environment variable and two fields of the file.
type given struct{ env, field, value, path string }

// resolveKey takes a key from the one place that has it.
func resolveKey(into *armhttp.Secret, env Getenv, g given) error {
	inEnv, err := oneOf(g.env, env(g.env), g.env+"_FILE", env(g.env+"_FILE"))
	if err != nil {
		return err
	}
	inFile, err := oneOf(g.field, g.value, g.field+"_file", g.path)
	if err != nil {
		return err
	}
	switch {
	case inEnv != "" && inFile != "":
		return fmt.Errorf("%s and %s are both set: keep one", g.env, g.field)
	case inEnv != "":
		*into = inEnv
	case inFile != "":
		*into = inFile
	}
	return nil
}

// resolveURL adds a URL from its …_FILE variant; the plain variable is the flag's.
func resolveURL(into *armhttp.Secret, env Getenv, name string) error {
	v, err := oneOf(name, into.Reveal(), name+"_FILE", env(name+"_FILE"))
	if err == nil {
		*into = v
	}
	return err
}

// oneOf reads a secret that is given as itself or as a path, not both.
func oneOf(name, value, pathName, path string) (armhttp.Secret, error) {
	if path == "" {
		return armhttp.Secret(value), nil
	}
	if value != "" {
		return "", fmt.Errorf("%s and %s are both set: keep one", name, pathName)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", pathName, err)
	}
	secret := strings.TrimSpace(string(raw))
	if secret == "" {
		return "", fmt.Errorf("%s: the file is empty", pathName)
	}
	return armhttp.Secret(secret), nil
}
