package gateway

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"stet/arms"
	"stet/gateway/outcome"
	"stet/guards"
	"stet/ledger"
)

// Metrics measures the way of a write.
type Metrics struct {
	attempts  *prometheus.HistogramVec
	stages    *prometheus.HistogramVec
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	lookups   *prometheus.CounterVec
	approvals *prometheus.CounterVec
	withheld  *prometheus.CounterVec
}

var (
	fine    = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	methods = []string{"post", "edit", "retract", "fetch", "find"}
	results = []string{"ok", string(arms.NotSent), string(arms.Rejected), string(arms.Ambiguous)}
	stages  = []string{
		"admit", "locate", "arm", "own", "guard", "measure", "approve", "open", "dispatch", "settle",
	}
)

// NewMetrics registers the gateway's metrics with every combination of labels
// that can occur present at 0.
func NewMetrics(reg prometheus.Registerer, platforms []arms.Platform) *Metrics {
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: fine}, labels)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &Metrics{
		attempts:  histogram("stet_attempt_duration_seconds", "How long an attempt took, waits included.", "verb", "platform"),
		stages:    histogram("stet_stage_duration_seconds", "How long a stage took.", "stage"),
		requests:  counter("stet_platform_requests_total", "Requests to a platform's message interface, by what they prove.", "platform", "method", "result"),
		durations: histogram("stet_platform_request_duration_seconds", "How long a platform took to answer.", "platform", "method"),
		lookups:   counter("stet_ledger_lookups_total", "Looks at the own-post ledger, by store and what it said. Each goes to one store, or to redis and then sql.", "store", "result"),
		approvals: counter("stet_approvals_total", "Who answered whether a write may go out, and how.", "by", "decision"),
		withheld:  counter("stet_claims_withheld_total", "Claims taken out of texts that went out, by guard and cause.", "guard", "cause"),
	}
	reg.MustRegister(m.attempts, m.stages, m.requests, m.durations, m.lookups, m.approvals, m.withheld)
	m.zero(platforms)
	unmoved(reg, platforms)
	return m
}

// unmoved registers the metrics of the contract that no part of this build
// moves yet, so that a dashboard shows 0 and not a hole.
func unmoved(reg prometheus.Registerer, platforms []arms.Platform) {
	reads := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "stet_reads_total", Help: "Reads of a conversation, by how they ended.",
	}, []string{"platform", "result"})
	for _, p := range platforms {
		for _, r := range results {
			reads.WithLabelValues(string(p), r)
		}
	}
	reg.MustRegister(reads,
		prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "stet_drafts_pending", Help: "Drafts that wait for a person.",
		}),
		prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "stet_rate_limit_wait_seconds", Help: "How long writes waited for a platform's budget.", Buckets: fine,
		}))
}

func (m *Metrics) zero(platforms []arms.Platform) {
	for _, s := range stages {
		m.stages.WithLabelValues(s)
	}
	for _, r := range []string{"own", "not-own", "error"} {
		m.lookups.WithLabelValues("sql", r)
	}
	for _, r := range ledger.Earlies() {
		m.lookups.WithLabelValues("redis", string(r))
	}
	for _, by := range []string{"open", "rule", "refusal", "reviewer", "person"} {
		for _, d := range []string{"allow", "deny", "stage"} {
			m.approvals.WithLabelValues(by, d)
		}
	}
	for _, guard := range []string{"memory", "approval", "request"} {
		for _, cause := range []string{"no-evidence", "expired", "other-subject", "pending"} {
			m.withheld.WithLabelValues(guard, cause)
		}
	}
	for _, v := range outcome.Verbs() {
		m.attempts.WithLabelValues(string(v), "none")
	}
	for _, p := range platforms {
		for _, v := range outcome.Verbs() {
			m.attempts.WithLabelValues(string(v), string(p))
		}
		for _, method := range methods {
			m.durations.WithLabelValues(string(p), method)
			for _, r := range results {
				m.requests.WithLabelValues(string(p), method, r)
			}
		}
	}
}

// attempt observes a whole attempt. An attempt that found no arm is on no
// platform, whatever its locus says.
func (m *Metrics) attempt(a *attempt, took time.Duration) {
	platform := "none"
	if a.arm != nil {
		platform = string(a.place.Platform)
	}
	m.attempts.WithLabelValues(string(a.verb), platform).Observe(took.Seconds())
}

func (m *Metrics) stage(name string, took time.Duration) {
	m.stages.WithLabelValues(name).Observe(took.Seconds())
}

func (m *Metrics) requested(p arms.Platform, method string, f *arms.Fault, took time.Duration) {
	result := "ok"
	if f != nil {
		result = string(f.Certainty)
	}
	m.requests.WithLabelValues(string(p), method, result).Inc()
	m.durations.WithLabelValues(string(p), method).Observe(took.Seconds())
}

func (m *Metrics) looked(d ledger.Decision, err error) {
	result := "not-own"
	switch {
	case err != nil:
		result = "error"
	case d.Own:
		result = "own"
	}
	if d.Early != ledger.NoCache {
		m.lookups.WithLabelValues("redis", string(d.Early)).Inc()
	}
	if d.Early != ledger.EarlyOwn {
		m.lookups.WithLabelValues("sql", result).Inc()
	}
}

// struck counts the claims that were taken out of a text that went out.
func (m *Metrics) struck(withheld []Withheld) {
	for _, w := range withheld {
		m.withheld.WithLabelValues(w.Guard, w.Cause).Inc()
	}
}

func (m *Metrics) decided(d guards.Decision) {
	decision := "deny"
	switch {
	case d.Allow:
		decision = "allow"
	case d.Stage:
		decision = "stage"
	}
	m.approvals.WithLabelValues(d.By, decision).Inc()
}
