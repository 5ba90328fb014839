package room

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const (
	defaultHeartbeat = 15 * time.Second
	writeLimit       = 10 * time.Second
)

var eventNames = map[string]string{VerbPost: "new", VerbEdit: "edit", VerbRetract: "retract"}

// events is the feed of a channel: server-sent events named new, edit and
// retract, each with the message as it is now. The feed goes on after the
// Last-Event-ID header, else after the query after=; without either it starts
// with what happens next.
func (p *pages) events(v visit) {
	rev, err := p.startOf(v)
	if err != nil {
		http.Error(v.w, "That is no event id.", http.StatusBadRequest)
		return
	}
	f := feed{w: v.w, rc: http.NewResponseController(v.w)}
	v.w.Header().Set("Content-Type", "text/event-stream")
	v.w.WriteHeader(http.StatusOK)
	if f.write(": here\n\n") != nil {
		return
	}
	beat := time.NewTicker(p.heartbeat)
	defer beat.Stop()
	for {
		wake := p.hub.wait()
		news, err := p.read.since(v.r.Context(), v.org, v.channel, rev)
		if err != nil || f.send(news) != nil {
			return
		}
		if len(news) > 0 {
			// There may be more than one read returns.
			rev = news[len(news)-1].rev
			continue
		}
		select {
		case <-wake:
		case <-beat.C:
			if f.write(": still here\n\n") != nil {
				return
			}
		case <-v.r.Context().Done():
			return
		case <-p.feedsEnd:
			return
		}
	}
}

func (p *pages) startOf(v visit) (int64, error) {
	mark := v.r.Header.Get("Last-Event-ID")
	if mark == "" {
		mark = v.r.URL.Query().Get("after")
	}
	if mark == "" {
		return p.read.mark(v.r.Context())
	}
	return strconv.ParseInt(mark, 10, 64)
}

// feed writes events with a limit of their own: the server's is meant for
// answers that end.
type feed struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

func (f feed) send(news []happening) error {
	for _, h := range news {
		body, err := json.Marshal(h.message)
		if err != nil {
			return err
		}
		if err := f.write(fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", h.rev, eventNames[h.verb], body)); err != nil {
			return err
		}
	}
	return nil
}

func (f feed) write(s string) error {
	// Not every ResponseWriter has deadlines; the feed then ends with its request.
	_ = f.rc.SetWriteDeadline(time.Now().Add(writeLimit))
	if _, err := f.w.Write([]byte(s)); err != nil {
		return err
	}
	return f.rc.Flush()
}

// CloseFeeds ends every page feed, now and from now on, and leaves the rest of
// the room at work. A program that drains calls it before it waits for its
// HTTP server, since a feed ends by itself only when its reader leaves.
func (s *Server) CloseFeeds() {
	s.closeFeeds.Do(func() { close(s.feedsEnd) })
}
