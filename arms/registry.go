package arms

import (
	"fmt"
	"slices"
)

// Registry holds the arms of one process. It is filled once, by the
// composition root, and read from then on.
type Registry struct {
	arms map[Platform]Arm
}

// NewRegistry makes a registry of arms; two of one platform are an error.
func NewRegistry(all ...Arm) (*Registry, error) {
	r := &Registry{arms: make(map[Platform]Arm, len(all))}
	for _, a := range all {
		p := a.Platform()
		if _, dup := r.arms[p]; dup {
			return nil, fmt.Errorf("arms: two arms for platform %q", p)
		}
		r.arms[p] = a
	}
	return r, nil
}

// Arm finds the arm of a platform.
func (r *Registry) Arm(p Platform) (Arm, bool) {
	a, ok := r.arms[p]
	return a, ok
}

// Platforms lists the platforms in alphabetical order.
func (r *Registry) Platforms() []Platform {
	ps := make([]Platform, 0, len(r.arms))
	for p := range r.arms {
		ps = append(ps, p)
	}
	slices.Sort(ps)
	return ps
}
