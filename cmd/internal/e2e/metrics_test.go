package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stet/audit"
	"stet/gateway/outcome"
)

// scrape reads the program's counters and gauges, by their whole line up to
// the value.
func scrape(t testing.TB, base string) map[string]float64 {
	t.Helper()
	resp, err := http.Get(base + "/metrics")
	must(t, err)
	defer resp.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	all := map[string]float64{}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		line := lines.Text()
		cut := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || cut < 0 {
			continue
		}
		v, err := strconv.ParseFloat(line[cut+1:], 64)
		must(t, err)
		all[line[:cut]] = v
	}
	must(t, lines.Err())
	return all
}

var label = regexp.MustCompile(`(\w+)="([^"]*)"`)

// labels takes a series apart.
func labels(series string) map[string]string {
	all := map[string]string{}
	for _, m := range label.FindAllStringSubmatch(series, -1) {
		all[m[1]] = m[2]
	}
	return all
}

// counted sums a counter's series by what their labels say.
func counted(metrics map[string]float64, name string, by ...string) map[string]int {
	sums := map[string]int{}
	for series, v := range metrics {
		if !strings.HasPrefix(series, name+"{") || v == 0 {
			continue
		}
		l := labels(series)
		words := make([]string, len(by))
		for i, b := range by {
			words[i] = l[b]
		}
		sums[strings.Join(words, " ")] += int(v)
	}
	return sums
}

func rowIDs(rows []audit.Row) map[string]bool {
	ids := make(map[string]bool, len(rows))
	for _, r := range rows {
		ids[r.ID] = true
	}
	return ids
}

// differences holds what one process counted against the rows that it wrote,
// which are all but those that were there before it.
func differences(metrics map[string]float64, rows []audit.Row, before map[string]bool) (found []string) {
	outcomes, looks := map[string]int{}, map[string]int{}
	for _, r := range rows {
		v, ok := outcome.VerbOf(r.Action)
		switch {
		case before[r.ID]:
		case r.Action == audit.ActionResolved:
			looks[string(detail(r).Verdict)]++
		case ok && r.Kind == audit.Outcome:
			platform := r.Platform
			if platform == "" {
				platform = "none"
			}
			outcomes[fmt.Sprint(string(v), " ", platform, " ", r.Outcome, " ", r.Reason, " ", r.Failure, " ", r.DryRun)]++
		}
	}
	got := counted(metrics, "stet_outcomes_total", "verb", "platform", "outcome", "reason", "failure", "dry_run")
	for _, name := range names(outcomes, got) {
		if outcomes[name] != got[name] {
			found = append(found, fmt.Sprintf("outcomes %q: %d rows, %d counted", name, outcomes[name], got[name]))
		}
	}
	resolved := counted(metrics, "stet_resolutions_total", "verdict")
	for _, name := range names(looks, resolved) {
		if looks[name] != resolved[name] {
			found = append(found, fmt.Sprintf("verdict %q: %d rows, %d counted", name, looks[name], resolved[name]))
		}
	}
	return found
}

func names(all ...map[string]int) []string {
	set := map[string]bool{}
	for _, m := range all {
		for k := range m {
			set[k] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// pendings counts the attempts that are open or in doubt.
func pendings(ctx context.Context, path string) (n int, err error) {
	db, err := openFile(path, "mode=ro")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return n, db.QueryRowContext(ctx, `select count(*) from pending`).Scan(&n)
}

// summary counts what a history shows, for people.
func (h history) summary() string {
	outcomes, answers := map[string]int{}, map[string]int{}
	for _, r := range h.trail.rows {
		name := string(r.Outcome)
		if r.Action == audit.ActionResolved {
			name = "verdict " + string(detail(r).Verdict)
		}
		if r.Reason == outcome.Interrupted {
			name = "interrupted"
		}
		outcomes[name]++
	}
	for _, t := range h.told {
		switch {
		case t.applied:
			answers["applied"]++
		case t.outcome != "":
			answers[t.outcome+" "+t.reason]++
		default:
			answers[t.reason]++
		}
	}
	return fmt.Sprintf("%d attempts, %d answers to %d requests, %d wire requests, %d effects\nrows: %v\nanswers: %v",
		len(h.trail.attempts), len(h.told), len(h.asked), len(h.truth.Received), len(h.truth.Applied), outcomes, answers)
}
