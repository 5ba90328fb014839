package client

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"stet/gateway/wire"
)

// maxEvent is the longest line of an event stream.
const maxEvent = 1 << 20

// readEvents reads a server-sent event stream until it ends or yield has had
// enough. Comments and unknown fields are skipped, as the standard says.
func readEvents(r io.Reader, yield func(wire.Event, error) bool) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxEvent)
	var data []string
	for lines.Scan() {
		line := lines.Text()
		if line != "" {
			if v, ok := strings.CutPrefix(line, "data:"); ok {
				data = append(data, strings.TrimPrefix(v, " "))
			}
			continue
		}
		if len(data) == 0 {
			continue
		}
		var e wire.Event
		err := json.Unmarshal([]byte(strings.Join(data, "\n")), &e)
		data = nil
		if err != nil {
			yield(wire.Event{}, &Unreachable{fmt.Errorf("an event could not be read: %w", err)})
			return
		}
		if !yield(e, nil) {
			return
		}
	}
	if err := lines.Err(); err != nil {
		yield(wire.Event{}, &Unreachable{fmt.Errorf("the stream broke: %w", err)})
	}
}
