package redisstore

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// operation is a kind of call; a closed set.
type operation string

const (
	opFind    operation = "find"
	opKeep    operation = "keep"
	opDrop    operation = "drop"
	opProbe   operation = "probe"
	opSurvey  operation = "survey"
	opRebuild operation = "rebuild"
)

func operations() []operation {
	return []operation{opFind, opKeep, opDrop, opProbe, opSurvey, opRebuild}
}

// metrics measures the calls to Redis.
type metrics struct {
	failures *prometheus.CounterVec
	duration *prometheus.HistogramVec
	spoilt   prometheus.Counter
	open     prometheus.Gauge
	rebuilds *prometheus.CounterVec
	entries  prometheus.Counter
}

// newMetrics registers the metrics; reg nil: nobody reads them.
func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "stet_redis_failures_total", Help: "Calls to Redis that failed, by kind of call and reason.",
		}, []string{"operation", "reason"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "stet_redis_call_duration_seconds", Help: "How long calls to Redis on the way of an attempt took.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1},
		}, []string{"operation"}),
		spoilt: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "stet_redis_spoilt_total", Help: "Values in Redis that could not be used: garbage, or about another message.",
		}),
		open: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "stet_redis_breaker_open", Help: "1 while Redis isn't asked because it failed; SQL answers alone.",
		}),
		rebuilds: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "stet_redis_rebuilds_total", Help: "Times that Redis was filled from SQL again, by how it ended.",
		}, []string{"result"}),
		entries: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "stet_redis_rebuilt_entries_total", Help: "Entries that were copied to Redis while it was filled again.",
		}),
	}
	for _, op := range operations() {
		for _, r := range Reasons() {
			m.failures.WithLabelValues(string(op), string(r))
		}
	}
	for _, op := range []operation{opFind, opKeep, opDrop} {
		m.duration.WithLabelValues(string(op))
	}
	for _, r := range []string{"done", "failed"} {
		m.rebuilds.WithLabelValues(r)
	}
	if reg != nil {
		reg.MustRegister(m.failures, m.duration, m.spoilt, m.open, m.rebuilds, m.entries)
	}
	return m
}

func (m *metrics) took(op operation, d time.Duration) {
	m.duration.WithLabelValues(string(op)).Observe(d.Seconds())
}

func (m *metrics) failed(op operation, r Reason) {
	m.failures.WithLabelValues(string(op), string(r)).Inc()
}

func (m *metrics) rebuilt(err error) {
	result := "done"
	if err != nil {
		result = "failed"
	}
	m.rebuilds.WithLabelValues(result).Inc()
}
