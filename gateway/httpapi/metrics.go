package httpapi

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// noPattern is the route label of a request that no route took.
const noPattern = "none"

// metrics are the door's own. Their labels are routes and classes of status,
// both closed.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	known    map[string]bool
}

func newMetrics(reg prometheus.Registerer, routes []route) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "stet_http_requests_total", Help: "Requests by route and class of status.",
		}, []string{"route", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "stet_http_request_duration_seconds", Help: "Time to answer, by route.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "stet_http_requests_in_flight", Help: "Requests that are being answered.",
		}),
		known: map[string]bool{},
	}
	labels := []string{noPattern}
	for _, rt := range routes {
		labels = append(labels, rt.method+" "+rt.path)
	}
	for _, l := range labels {
		m.known[l] = true
		m.duration.WithLabelValues(l)
		for class := 2; class <= 5; class++ {
			m.requests.WithLabelValues(l, strconv.Itoa(class)+"xx")
		}
	}
	if reg != nil {
		reg.MustRegister(m.requests, m.duration, m.inFlight)
	}
	return m
}

func (m *metrics) done(pattern string, status int, took time.Duration) {
	if !m.known[pattern] {
		pattern = noPattern
	}
	m.requests.WithLabelValues(pattern, strconv.Itoa(status/100)+"xx").Inc()
	m.duration.WithLabelValues(pattern).Observe(took.Seconds())
}
