package room

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"stet/arms/armhttp"
)

// maxBody is the largest request, in bytes: the longest text with every
// character escaped fits many times.
const maxBody = 1 << 20

// api is the message interface.
func (s *Server) api() http.Handler {
	mux := http.NewServeMux()
	for _, verb := range []string{VerbPost, VerbEdit, VerbRetract} {
		mux.HandleFunc("POST /api/"+verb, s.call(verb, s.write))
	}
	mux.HandleFunc("POST /api/"+VerbFetch, s.call(VerbFetch, s.reading(s.fetch)))
	mux.HandleFunc("POST /api/"+VerbFind, s.call(VerbFind, s.reading(s.find)))
	mux.HandleFunc("POST /api/"+VerbRead, s.call(VerbRead, s.reading(s.page)))
	mux.HandleFunc("POST /api/"+VerbProbe, s.call(VerbProbe, s.reading(probe)))
	mux.HandleFunc("GET /control/script", s.showScript)
	mux.HandleFunc("PUT /control/script", s.replaceScript)
	return s.authorized(mux)
}

func (s *Server) authorized(next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(s.token.Reveal()))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got := sha256.Sum256([]byte(given))
		if !ok || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			refuse(w, refuseAuth, http.StatusUnauthorized)
			return
		}
		leave, ok := s.enter()
		if !ok {
			refuse(w, refuseInternal, http.StatusServiceUnavailable)
			return
		}
		defer leave()
		next.ServeHTTP(w, r)
	})
}

// exchange is one call under way.
type exchange struct {
	w    http.ResponseWriter
	r    *http.Request
	verb string
	req  request
}

func (s *Server) call(verb string, handle func(exchange)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		e := exchange{w: w, r: r, verb: verb}
		if !decode(w, r, &e.req) {
			refuse(w, refuseInvalid, http.StatusBadRequest)
			return
		}
		handle(e)
	}
}

func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil || !utf8.Valid(body) {
		return false
	}
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if d.Decode(into) != nil {
		return false
	}
	_, err = d.Token()
	return errors.Is(err, io.EOF)
}

func (e exchange) answer(a answer) { writeJSON(e.w, http.StatusOK, a) }

func (e exchange) refuse(code string) {
	refuse(e.w, code, own[code].status)
}

func (s *Server) failed(e exchange, err error) {
	s.log.Error("room: the message file failed", "verb", e.verb, "error", armhttp.Redact(err))
	refuse(e.w, refuseInternal, http.StatusInternalServerError)
}

func refuse(w http.ResponseWriter, code string, status int) {
	var body refusal
	body.Error.Code = code
	writeJSON(w, status, body)
}

// writeJSON answers. A client that is gone can't be told so, hence no error.
func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
