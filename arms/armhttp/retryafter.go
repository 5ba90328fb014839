package armhttp

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter is the longest wait that [RetryAfter] reports.
const MaxRetryAfter = time.Hour

// RetryAfter reads how long a platform asks to wait: Retry-After as seconds
// (whole or with a fraction) or as an HTTP date, else X-RateLimit-Reset-After
// as seconds. It is between 0 and [MaxRetryAfter]; what is absent, past,
// negative or unreadable is 0.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if v := strings.TrimSpace(h.Get("Retry-After")); v != "" {
		if d, ok := seconds(v); ok {
			return d
		}
		if at, err := http.ParseTime(v); err == nil {
			return clampWait(at.Sub(now))
		}
	}
	d, _ := seconds(strings.TrimSpace(h.Get("X-RateLimit-Reset-After")))
	return d
}

func seconds(v string) (time.Duration, bool) {
	f, err := strconv.ParseFloat(v, 64)
	if math.IsNaN(f) || err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return Seconds(f), true
}

// Seconds turns a platform's number of seconds into a wait, rounded up to the
// next millisecond and within the bounds of [RetryAfter].
func Seconds(f float64) time.Duration {
	switch {
	case math.IsNaN(f), f <= 0:
		return 0
	case f >= MaxRetryAfter.Seconds():
		return MaxRetryAfter
	}
	return time.Duration(math.Ceil(f*1000)) * time.Millisecond
}

func clampWait(d time.Duration) time.Duration {
	return min(max(d, 0), MaxRetryAfter)
}
