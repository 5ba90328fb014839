package gateway

import (
	"slices"
	"strings"
	"testing"
)

// The lists are the documentation: a change of order has to be meant.
func TestTheStagesOfEachVerb(t *testing.T) {
	g := &Gateway{}
	for verb, c := range map[string]struct {
		list []stage
		want string
	}{
		"reply":   {g.replyStages(), "admit locate arm guard measure approve open dispatch settle"},
		"edit":    {g.editStages(), "admit locate arm own guard measure approve open dispatch settle"},
		"retract": {g.retractStages(), "admit locate arm own approve open dispatch settle"},
	} {
		var names []string
		for _, s := range c.list {
			names = append(names, s.name)
			if !slices.Contains(stages, s.name) {
				t.Errorf("%s: the stage %s has no series of its duration", verb, s.name)
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s walks %s, want %s", verb, got, c.want)
		}
	}
}

// Whoever reads the copy may be a model: it must neither learn nor be told
// what isn't there.
func TestTheCopyNamesNoPlatformAndLeavesNoReasonWithoutWords(t *testing.T) {
	for r, text := range advice {
		if len(text) < 30 {
			t.Errorf("%s: %q", r, text)
		}
		for _, name := range []string{"slack", "discord", "teams", "linear"} {
			if strings.Contains(strings.ToLower(text), name) {
				t.Errorf("%s names %s", r, name)
			}
		}
	}
}
