package room

import (
	"net/http"
	"time"
)

// faultJSON is a [Fault] with its wait in Go's notation ("250ms").
type faultJSON struct {
	Kind    FaultKind `json:"kind"`
	Verb    string    `json:"verb,omitempty"`
	Org     string    `json:"org,omitempty"`
	Channel string    `json:"channel,omitempty"`
	Times   int       `json:"times,omitempty"`
	Wait    string    `json:"wait,omitempty"`
	Code    string    `json:"code,omitempty"`
}

func (s *Server) showScript(w http.ResponseWriter, _ *http.Request) {
	left := []faultJSON{}
	for _, f := range s.script.left() {
		j := faultJSON{Kind: f.Kind, Verb: f.Verb, Org: f.Org, Channel: f.Channel, Times: f.Times, Code: f.Code}
		if f.Wait > 0 {
			j.Wait = f.Wait.String()
		}
		left = append(left, j)
	}
	writeJSON(w, http.StatusOK, left)
}

// replaceScript takes a whole script; an empty list clears it.
func (s *Server) replaceScript(w http.ResponseWriter, r *http.Request) {
	var given []faultJSON
	if !decode(w, r, &given) {
		refuse(w, refuseInvalid, http.StatusBadRequest)
		return
	}
	faults := make([]Fault, 0, len(given))
	for _, j := range given {
		f, err := j.fault()
		if err != nil || f.validate(s.config.SettleTime) != nil {
			refuse(w, refuseInvalid, http.StatusBadRequest)
			return
		}
		faults = append(faults, f)
	}
	s.script.replace(faults)
	s.showScript(w, r)
}

func (j faultJSON) fault() (Fault, error) {
	f := Fault{Kind: j.Kind, Verb: j.Verb, Org: j.Org, Channel: j.Channel, Times: j.Times, Code: j.Code}
	if j.Wait == "" {
		return f, nil
	}
	var err error
	f.Wait, err = time.ParseDuration(j.Wait)
	return f, err
}
