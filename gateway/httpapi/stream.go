package httpapi

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"stet/audit"
	"stet/gateway/wire"
)

const (
	typeNDJSON = "application/x-ndjson"
	typeCSV    = "text/csv"
	typeSSE    = "text/event-stream"
)

var (
	rowType     = reflect.TypeFor[wire.Row]()
	rowPageType = reflect.TypeFor[wire.RowPage]()
)

const (
	// flushEvery is how many rows go out together.
	flushEvery = 100
	// writeTime is how long a client may take to accept what was flushed.
	writeTime = 30 * time.Second
)

// rowWriter writes rows in one form.
type rowWriter interface {
	contentType() string
	// start writes what stands before the rows.
	start() error
	row(wire.Row) error
	// flush hands over what the writer still holds.
	flush() error
}

func newRowWriter(style string, w http.ResponseWriter) rowWriter {
	if style == "csv" {
		return &csvRows{csv.NewWriter(w)}
	}
	return &jsonRows{json.NewEncoder(w)}
}

type jsonRows struct{ enc *json.Encoder }

func (j *jsonRows) contentType() string  { return typeNDJSON }
func (j *jsonRows) start() error         { return nil }
func (j *jsonRows) row(r wire.Row) error { return j.enc.Encode(r) }
func (j *jsonRows) flush() error         { return nil }

type csvRows struct{ w *csv.Writer }

// csvHeader names the columns as the JSON of a row does.
var csvHeader = []string{
	"id", "at", "org", "platform", "workspace", "surface", "principal", "session", "turn", "wake",
	"attempt", "kind", "action", "outcome", "reason", "failure", "status", "code", "dry_run", "detail",
}

func (c *csvRows) contentType() string { return typeCSV + "; charset=utf-8; header=present" }
func (c *csvRows) start() error        { return c.w.Write(csvHeader) }

func (c *csvRows) row(r wire.Row) error {
	return c.w.Write([]string{
		r.ID, r.At.Format(time.RFC3339Nano), r.Org, r.Platform, r.Workspace, r.Surface, r.Principal,
		r.Session, r.Turn, r.Wake, r.Attempt, r.Kind, r.Action, r.Outcome, r.Reason, r.Failure,
		strconv.Itoa(r.Status), r.Code, strconv.FormatBool(r.DryRun), string(r.Detail),
	})
}

func (c *csvRows) flush() error {
	c.w.Flush()
	return c.w.Error()
}

// stream writes every matching row. When the trail fails in the middle, the
// connection is cut: a stream that ends in order is complete.
func (s *server) stream(ctx context.Context, w http.ResponseWriter, rows rowWriter, f audit.Filter, possible bool) {
	sink := &sink{rows: rows, w: w, rc: http.NewResponseController(w)}
	var err error
	if possible {
		err = s.Trail.Each(ctx, f, func(r audit.Row) error { return sink.put(row(r)) })
	}
	switch {
	case err == nil:
		err = sink.finish()
	case !sink.begun:
		writeProblem(w, s.problemOf(ctx, err))
		return
	}
	if err != nil {
		if ctx.Err() == nil && sink.err == nil {
			s.problemOf(ctx, err)
		}
		panic(http.ErrAbortHandler)
	}
}

// sink writes rows to a client and flushes now and then.
type sink struct {
	rows  rowWriter
	w     http.ResponseWriter
	rc    *http.ResponseController
	n     int
	begun bool
	// err is the client's: it could not be written to.
	err error
}

func (k *sink) begin() error {
	if k.begun {
		return nil
	}
	k.begun = true
	k.w.Header().Set("Content-Type", k.rows.contentType())
	k.extend()
	return k.rows.start()
}

// extend gives the client time for the next rows; a writer without deadlines
// has no slow client.
func (k *sink) extend() { _ = k.rc.SetWriteDeadline(time.Now().Add(writeTime)) }

func (k *sink) put(r wire.Row) error {
	if k.err = k.begin(); k.err != nil {
		return k.err
	}
	if k.err = k.rows.row(r); k.err != nil {
		return k.err
	}
	if k.n++; k.n%flushEvery == 0 {
		k.err = k.push()
	}
	return k.err
}

func (k *sink) push() error {
	k.extend()
	if err := k.rows.flush(); err != nil {
		return err
	}
	return k.rc.Flush()
}

func (k *sink) finish() error {
	if k.err = k.begin(); k.err == nil {
		k.err = k.push()
	}
	return k.err
}
