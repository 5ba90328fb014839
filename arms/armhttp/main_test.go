package armhttp_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/goleak"

	"stet/arms"
	"stet/arms/armhttp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs a handler and a client of the given options against it.
func serve(t *testing.T, o armhttp.Options, h http.HandlerFunc) (*armhttp.Client, string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c := armhttp.New(o)
	t.Cleanup(c.CloseIdle)
	return c, s.URL
}

func wantFault(t *testing.T, f *arms.Fault, certainty arms.Certainty, code arms.Code) {
	t.Helper()
	if f == nil || f.Certainty != certainty || f.Code != code {
		t.Errorf("got %v, want %s, %s", f, certainty, code)
	}
}

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
