package bind

import (
	"unicode"
	"unicode/utf8"

	"stet/gateway/locus"
)

// Limits on what a host names.
const (
	// MaxPlatformID is the longest id of a platform's own (channel, thread,
	// message, organization), in characters: some platforms' conversation ids
	// are longer than our own may be.
	MaxPlatformID = 512
	// MaxServiceURL is the longest service URL, in characters.
	MaxServiceURL = 2048
	// MaxRefs is how many refs a wake may have.
	MaxRefs = 32
)

// checkID holds an id of the host's to [MaxHostID].
func checkID(field, id string) error {
	if id == "" {
		return invalid(field, "must not be empty")
	}
	return checkText(field, id, MaxHostID)
}

// checkText holds a value that may be empty to a length in characters, and
// keeps control characters out.
func checkText(field, v string, limit int) error {
	if !utf8.ValidString(v) {
		return invalid(field, "must be UTF-8")
	}
	if utf8.RuneCountInString(v) > limit {
		return invalid(field, "must be at most %d characters", limit)
	}
	for _, r := range v {
		if unicode.IsControl(r) {
			return invalid(field, "must not hold control characters")
		}
	}
	return nil
}

func checkLocus(field string, l locus.Locus) error {
	if l.Platform == "" {
		return invalid(field+".platform", "must not be empty")
	}
	if l.Channel == "" {
		return invalid(field+".channel", "must not be empty")
	}
	for _, v := range []struct {
		name, value string
		limit       int
	}{
		{"platform", string(l.Platform), MaxHostID},
		{"workspace", l.Workspace, MaxHostID},
		{"channel", string(l.Channel), MaxPlatformID},
		{"thread", string(l.Thread), MaxPlatformID},
		{"service_url", l.ServiceURL, MaxServiceURL},
		{"organization", l.Organization, MaxPlatformID},
	} {
		if err := checkText(field+"."+v.name, v.value, v.limit); err != nil {
			return err
		}
	}
	return nil
}

func checkRefs(field string, refs map[string]string) error {
	if len(refs) > MaxRefs {
		return invalid(field, "must have at most %d keys", MaxRefs)
	}
	for k, v := range refs {
		if err := checkID(field, k); err != nil {
			return err
		}
		if err := checkText(field, v, MaxPlatformID); err != nil {
			return err
		}
	}
	return nil
}

// first answers the first error.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
