package cli

import (
	"net/http"
	"os"
	"path/filepath"

	"stet/gateway/client"
)

// lookAtServer asks a running gateway how it is. None is no fault, unless an
// address was named.
func (x *examination) lookAtServer(w where) {
	addr := x.address(w)
	gw, err := client.New(addr, client.WithKey(x.credential(w, opsPlane)), client.WithHTTPClient(&http.Client{Timeout: lookTime}))
	if err != nil {
		x.find(mend, "gateway", err.Error())
		return
	}
	ready, err := gw.Ready(x.ctx)
	switch {
	case client.IsUnreachable(err) && w.URL == "":
		x.find(note, "gateway", "none answers at "+addr+left(w))
		return
	case err != nil:
		x.find(mend, "gateway", addr+": "+err.Error())
		return
	}
	if ready.Ready {
		x.find(well, "gateway", addr+" is ready")
	} else {
		x.find(mend, "gateway", addr+" is not ready, see below")
	}
	for _, c := range ready.Checks {
		switch {
		case !c.OK && c.Needed:
			x.find(mend, c.Name, orNone(c.Detail, "not well"))
		case !c.OK:
			x.find(note, c.Name, orNone(c.Detail, "not well"))
		default:
			x.find(well, c.Name, orNone(c.Detail, "well"))
		}
	}
}

// left tells when a gateway that died left its address behind.
func left(w where) string {
	path := filepath.Join(w.Data, "address")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return "; " + path + " was left by one that ended without a goodbye"
}
