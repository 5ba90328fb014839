package cli

import (
	"fmt"
	"strings"
	"time"

	"stet/gateway/wire"
)

// opening says what is there.
func (t *tour) opening() error {
	if t.json {
		return nil
	}
	return t.say("%s\nA real gateway at %s with fresh data. Every step is an HTTP call to it.\n\n",
		t.paint(bold, "Stet, the tour"), t.app.Addr())
}

// show prints a step: what is called, what came back, what it means.
func (t *tour) show(s step, d stepDone) error {
	if t.json {
		return nil
	}
	var b strings.Builder
	gap := max(2, 36-len([]rune(s.title)))
	fmt.Fprintf(&b, "%s %s%s%s%s\n", t.paint(dim, fmt.Sprintf("%2d", d.Step)), t.paint(bold, s.title),
		strings.Repeat(" ", gap), t.paint(cyan, s.call), t.paint(dim, quoted(s.text)))
	sign, colour := "✓", green
	if !d.OK {
		sign, colour = "✗", red
	}
	fmt.Fprintf(&b, "   %s %s\n", t.paint(colour, sign), clean(d.Answer))
	if !d.OK {
		fmt.Fprintf(&b, "     %s\n", t.paint(red, "not as it should be: "+clean(d.Wrong)))
	}
	for _, line := range wrap(s.means, width-5) {
		fmt.Fprintf(&b, "     %s\n", t.paint(dim, line))
	}
	return t.say("%s\n", b.String())
}

// quoted is a text as a step's call shows it.
func quoted(body wire.Text) string {
	if body == "" {
		return ""
	}
	return fmt.Sprintf("  {\"text\": %q}", string(body))
}

// closing prints the trail and the verdict on the tour.
func (t *tour) closing(rows []wire.Row, took time.Duration) error {
	if t.json {
		return t.printJSON(map[string]any{"steps": t.done, "rows": rows, "ok": t.wrong() == 0})
	}
	last := t.done[len(t.done)-1]
	if err := t.show(step{
		title: last.Title, call: last.Call,
		means: "Every attempt above has exactly one outcome row; what was found out later is a note beside it.",
	}, last); err != nil {
		return err
	}
	if err := rowTable(rows).print(t.run); err != nil {
		return err
	}
	if n := t.wrong(); n > 0 {
		return t.say("\n%s\n", t.paint(red, fmt.Sprintf("%d of %d steps didn't come out as they should, see ✗ above.", n, len(t.done))))
	}
	return t.say("\n%s\n", t.paint(green, fmt.Sprintf("All %d steps came out as they should, in %.1f s.", len(t.done), took.Seconds())))
}

// stay says what there is to look at while the gateway goes on.
func (t *tour) stay() {
	base := t.app.Addr()
	t.complain("\nThe gateway goes on until Ctrl-C. Look at\n")
	for _, place := range [][2]string{
		{"the room, as a person sees it", base + "/room/" + string(demoChannel) + "?org=" + demoOrg},
		{"the API, to read", base + "/docs"},
		{"the numbers", base + "/metrics"},
	} {
		t.complain("  %-32s%s\n", place[0], place[1])
	}
	t.complain("or try the client verbs from another shell:\n")
	t.complain("  export STET_DATA=%s\n", t.dir)
	t.complain("  go run ./cmd/stet audit query      (or just stet, once it is built)\n")
}
