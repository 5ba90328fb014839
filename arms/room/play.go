package room

import (
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"stet/arms/armhttp"
)

type applying int

const (
	applyNever applying = iota
	applyNow
	applyLate
)

// play is how a fault is played: when the write applies, and what is answered.
type play struct {
	apply  applying
	answer func(*Server, exchange, Fault, outcome)
}

// plays has every kind; the empty one is an honest request.
var plays = map[FaultKind]play{
	"":                 {applyNow, nil},
	FaultRateLimited:   {applyNever, answerLimited},
	FaultRefused:       {applyNever, answerRefused},
	FaultProxy:         {applyNever, answerHTML},
	FaultErrorBefore:   {applyNever, answerError},
	FaultErrorAfter:    {applyNow, answerError},
	FaultCutBefore:     {applyNever, answerCut},
	FaultCutAfter:      {applyNow, answerCut},
	FaultHangBefore:    {applyNever, answerHang},
	FaultHangAfter:     {applyNow, answerHang},
	FaultGarbageBefore: {applyNever, answerGarbage},
	FaultGarbageAfter:  {applyNow, answerGarbage},
	FaultWrongID:       {applyNow, answerWrongID},
	FaultOversize:      {applyNow, answerOversize},
	FaultRedirect:      {applyNever, answerRedirect},
	FaultLateError:     {applyLate, answerError},
	FaultLateHang:      {applyLate, answerHang},
}

func (s *Server) play(e exchange, f Fault, o outcome) {
	plays[f.Kind].answer(s, e, f, o)
}

func answerLimited(_ *Server, e exchange, f Fault, _ outcome) {
	var body refusal
	body.Error.Code, body.Error.RetryAfter = refuseLimited, f.Wait.Seconds()
	e.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.Wait.Seconds()))))
	writeJSON(e.w, http.StatusTooManyRequests, body)
}

func answerRefused(_ *Server, e exchange, f Fault, _ outcome) {
	code, status := f.ownCode()
	refuse(e.w, code, status)
}

func answerHTML(_ *Server, e exchange, _ Fault, _ outcome) {
	e.w.Header().Set("Content-Type", "text/html")
	e.w.WriteHeader(http.StatusForbidden)
	_, _ = fmt.Fprint(e.w, "<html><body><h1>403 Forbidden</h1></body></html>")
}

func answerError(_ *Server, e exchange, _ Fault, _ outcome) {
	refuse(e.w, refuseInternal, http.StatusInternalServerError)
}

// answerCut resets the connection, as a machine that dies does.
func answerCut(_ *Server, e exchange, _ Fault, _ outcome) {
	c, _, err := http.NewResponseController(e.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

// answerHang says nothing until the client goes away or the server stops.
func answerHang(s *Server, e exchange, _ Fault, _ outcome) {
	select {
	case <-e.r.Context().Done():
	case <-s.stopping:
	}
	panic(http.ErrAbortHandler)
}

func answerGarbage(_ *Server, e exchange, _ Fault, _ outcome) {
	e.w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(e.w, `{"message":{"id":"m0`)
}

func answerWrongID(_ *Server, e exchange, _ Fault, o outcome) {
	if o.refusal == "" {
		o.message.ID = makeID(math.MaxInt32)
		// A post has no id to hold it against; its marker is what was asked for.
		o.message.Marker += "-other"
	}
	respond(e, o)
}

func answerOversize(_ *Server, e exchange, _ Fault, o outcome) {
	_, _ = fmt.Fprint(e.w, strings.Repeat(" ", maxBody))
	respond(e, o)
}

func answerRedirect(_ *Server, e exchange, _ Fault, _ outcome) {
	e.w.Header().Set("Location", "/elsewhere")
	e.w.WriteHeader(http.StatusTemporaryRedirect)
}

// later applies a write after a wait, unless the server stops before.
func (s *Server) later(e exchange, wait time.Duration) {
	leave, ok := s.enter()
	if !ok {
		return
	}
	go func() {
		defer leave()
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-s.stopping:
			return
		case <-t.C:
		}
		res := s.commit.do(job{verb: e.verb, req: e.req, kind: KindBot, apply: true})
		if res.err != nil {
			s.log.Error("room: a late effect was lost", "verb", e.verb, "error", armhttp.Redact(res.err))
		}
	}()
}
