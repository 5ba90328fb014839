package audit

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"stet/arms"
	"stet/gateway/outcome"
)

// Metrics counts what was recorded, after its commit, so that counters and
// rows tell the same story.
type Metrics struct {
	outcomes    *prometheus.CounterVec
	resolutions *prometheus.CounterVec
	unavailable prometheus.Counter
	duration    prometheus.Histogram
	writes      prometheus.Histogram
	platforms   map[string]bool
}

// Labels of the platform column for what is on no platform, or on one that
// this process has no arm for.
const (
	noPlatform    = "none"
	otherPlatform = "other"
)

// NewMetrics registers the trail's metrics with every combination of labels
// that can occur present at 0. open counts the attempts that are open now.
func NewMetrics(reg prometheus.Registerer, platforms []arms.Platform, open func() float64) *Metrics {
	m := &Metrics{
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "stet_outcomes_total",
			Help: "Outcome rows of attempts, by verb, platform, outcome, reason, failure class and dry run.",
		}, []string{"verb", "platform", "outcome", "reason", "failure", "dry_run"}),
		resolutions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "stet_resolutions_total",
			Help: "Verdicts of later looks at ambiguous outcomes.",
		}, []string{"verdict"}),
		unavailable: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "stet_audit_unavailable_total",
			Help: "Requests that ended because the audit trail could not be written in time.",
		}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "stet_audit_commit_duration_seconds",
			Help:    "How long a commit of the audit store took.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
		}),
		writes: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "stet_audit_commit_rows",
			Help:    "How many writes shared a commit of the audit store.",
			Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256},
		}),
		platforms: make(map[string]bool, len(platforms)),
	}
	for _, p := range platforms {
		m.platforms[string(p)] = true
	}
	reg.MustRegister(m.outcomes, m.resolutions, m.unavailable, m.duration, m.writes,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "stet_attempts_open",
			Help: "Attempts that are open, counted in the store.",
		}, open))
	m.zero()
	return m
}

func (m *Metrics) zero() {
	labels := []string{noPlatform, otherPlatform}
	for p := range m.platforms {
		labels = append(labels, p)
	}
	for _, v := range outcome.Verbs() {
		for _, e := range outcome.Ends(v) {
			for _, p := range labels {
				for _, dry := range []string{"false", "true"} {
					m.outcomes.WithLabelValues(string(v), p, string(e.Outcome), string(e.Reason), string(e.Outcome.Failure()), dry)
				}
			}
		}
	}
	for _, v := range Verdicts() {
		m.resolutions.WithLabelValues(string(v))
	}
}

// Commit is the observer of a store's commits.
func (m *Metrics) Commit(writes int, took time.Duration) {
	m.writes.Observe(float64(writes))
	m.duration.Observe(took.Seconds())
}

func (m *Metrics) count(row Row) {
	v, ok := outcome.VerbOf(row.Action)
	if !ok {
		return
	}
	m.outcomes.WithLabelValues(string(v), m.platform(row.Platform), string(row.Outcome),
		string(row.Reason), string(row.Failure), strconv.FormatBool(row.DryRun)).Inc()
}

func (m *Metrics) resolved(v Verdict) { m.resolutions.WithLabelValues(string(v)).Inc() }

func (m *Metrics) platform(p string) string {
	switch {
	case p == "":
		return noPlatform
	case m.platforms[p]:
		return p
	default:
		return otherPlatform
	}
}
