package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"stet/audit"
)

var (
	messageID = regexp.MustCompile(`m[0-9a-z]{9}[a-z2-7]{4}`)
	attemptID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

// about is everything that happened to the messages that a violation names, in
// the order of time, for the person who has to find out why.
func (h history) about(violation string) string {
	messages, attempts := map[string]bool{}, map[string]bool{}
	for _, id := range messageID.FindAllString(violation, -1) {
		messages[id] = true
	}
	named := attemptID.FindAllString(violation, -1)
	for _, a := range h.trail.attempts {
		if slices.Contains(named, a.id) {
			attempts[a.id], messages[a.reply] = true, true
		}
	}
	delete(messages, "")
	for _, e := range h.truth.Applied {
		if attempts[e.Marker] {
			messages[e.Message] = true
		}
	}
	for _, a := range h.trail.attempts {
		attempts[a.id] = attempts[a.id] || messages[a.reply]
	}
	for _, e := range h.truth.Applied {
		attempts[e.Marker] = attempts[e.Marker] || messages[e.Message]
	}
	return h.timeline(attempts)
}

type moment struct {
	at   time.Time
	what string
}

func (h history) timeline(attempts map[string]bool) string {
	var all []moment
	for _, a := range h.trail.attempts {
		if attempts[a.id] {
			all = append(all, moment{a.opened, fmt.Sprintf("%s %s opened, number %d, boot %s, text %x", a.id, a.verb, a.seq, a.boot, short(a.digest))})
		}
	}
	for _, r := range h.truth.Received {
		if attempts[r.Marker] {
			all = append(all, moment{r.At, r.Marker + " received by the room"})
		}
	}
	for _, e := range h.truth.Applied {
		if attempts[e.Marker] {
			all = append(all, moment{e.At, fmt.Sprintf("%s applied in the room to %s, text %x", e.Marker, e.Message, short(digest(e.Text)))})
		}
	}
	for _, r := range h.trail.rows {
		switch {
		case !attempts[r.Attempt]:
		case r.Kind == audit.Outcome:
			all = append(all, moment{r.At, fmt.Sprintf("%s row: %s %s %s", r.Attempt, r.Outcome, r.Reason, r.Code)})
		default:
			all = append(all, moment{r.At, fmt.Sprintf("%s note: %s by %s", r.Attempt, detail(r).Verdict, detail(r).Evidence)})
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int { return a.at.Compare(b.at) })
	var b strings.Builder
	for _, m := range all {
		fmt.Fprintf(&b, "\t%s %s\n", m.at.UTC().Format("15:04:05.000000"), m.what)
	}
	return b.String()
}

func short(digest string) string { return digest[:min(4, len(digest))] }
