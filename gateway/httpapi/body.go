package httpapi

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode"

	"stet/gateway/outcome"
	"stet/gateway/wire"
)

// Limits of a request.
const (
	maxBody = 1 << 20
	// maxPathID is of an id in a path, in bytes.
	maxPathID         = 512
	maxIdempotencyKey = 255
)

const (
	detailTooLarge    = "the body is larger than 1 MiB"
	idempotencyHeader = "Idempotency-Key"
)

// checkPathID holds an id in a path to what may be looked up. Anything else
// that a caller could think of is looked up, and not found.
func checkPathID(name, id string) *problem {
	if len(id) > maxPathID {
		return badRequest("the " + name + " in the path is longer than 512 bytes")
	}
	for _, r := range id {
		if unicode.IsControl(r) {
			return badRequest("the " + name + " in the path holds control characters")
		}
	}
	return nil
}

func checkIdempotencyKey(h http.Header) *problem {
	keys := h.Values(idempotencyHeader)
	if len(keys) == 0 {
		return nil
	}
	if len(keys) > 1 {
		return badRequest("the header Idempotency-Key is there more than once")
	}
	if keys[0] == "" || len(keys[0]) > maxIdempotencyKey {
		return badRequest("the header Idempotency-Key must be 1 to 255 characters")
	}
	for _, c := range []byte(keys[0]) {
		if c < 0x20 || c > 0x7e {
			return badRequest("the header Idempotency-Key must be printable ASCII")
		}
	}
	return nil
}

// readBody reads the whole body within the limits and leaves it to be decoded.
// A route that takes none takes an empty object at most: what a caller means
// to say there must not be dropped in silence.
func readBody(w http.ResponseWriter, r *http.Request, wanted bool) *problem {
	data, p := slurp(w, r)
	if p != nil {
		return p
	}
	if len(bytes.TrimSpace(data)) == 0 {
		if wanted {
			return badRequest("the body is missing: send a JSON object")
		}
		data = nil
	} else if p := checkContentType(r.Header); p != nil {
		return p
	}
	if !wanted && data != nil {
		if err := wire.Decode(data, &struct{}{}); err != nil {
			return badRequest(err.Error())
		}
		data = nil
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	return nil
}

// slurp reads the body, for which [server.outer] set a deadline. The deadline
// ends with the body: it would end the request's context in the middle of the
// handler. After a body that failed it stays, since the library reads on.
func slurp(w http.ResponseWriter, r *http.Request) ([]byte, *problem) {
	if r.ContentLength > maxBody {
		return nil, newProblem(outcome.TooLarge, detailTooLarge)
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, newProblem(outcome.TooLarge, detailTooLarge)
	case err != nil:
		return nil, badRequest("the body did not arrive whole or in time")
	}
	setReadDeadline(w, time.Time{})
	return data, nil
}

// setReadDeadline does nothing to a writer that knows no deadlines, as in
// tests, which has no slow client either.
func setReadDeadline(w http.ResponseWriter, t time.Time) {
	_ = http.NewResponseController(w).SetReadDeadline(t)
}

// checkContentType takes JSON, and what says nothing for JSON.
func checkContentType(h http.Header) *problem {
	const detail = "the body must be JSON: set Content-Type to application/json"
	types := h.Values("Content-Type")
	if h.Get("Content-Encoding") != "" || len(types) > 1 {
		return badRequest(detail)
	}
	if len(types) == 0 {
		return nil
	}
	kind, params, err := mime.ParseMediaType(types[0])
	if err != nil || kind != "application/json" {
		return badRequest(detail)
	}
	if c, ok := params["charset"]; ok && !strings.EqualFold(c, "utf-8") {
		return badRequest("the body must be UTF-8")
	}
	h.Set("Content-Type", kind)
	return nil
}
