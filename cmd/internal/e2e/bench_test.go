package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stet/gateway/wire"
)

var benchCallers = []int{1, 16, 64}

// BenchmarkEdit edits through the whole program over real HTTP, each caller
// its own message.
func BenchmarkEdit(b *testing.B) {
	for _, callers := range benchCallers {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			prog := boot(b)
			agents, ids := make([]agentOf, callers), make([]string, callers)
			for i := range agents {
				agents[i] = prog.turn(in{session: fmt.Sprint("session-", i)})
				ids[i] = prog.post(agents[i], "hello")
			}
			measure(b, callers, func(caller, n int) error {
				_, err := agents[caller].Edit(b.Context(), ids[caller], wire.EditRequest{Text: wire.Text(fmt.Sprint("text ", n))})
				return err
			})
		})
	}
}

// BenchmarkRoomEdit edits at the room's own endpoint: what the gateway adds is
// the difference to BenchmarkEdit.
func BenchmarkRoomEdit(b *testing.B) {
	for _, callers := range benchCallers {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			prog := boot(b)
			agent := prog.turn()
			ids := make([]string, callers)
			for i := range ids {
				ids[i] = prog.post(agent, "hello")
			}
			measure(b, callers, func(caller, n int) error {
				return prog.editDirectly(ids[caller], fmt.Sprint("text ", n))
			})
		})
	}
}

func (b *booted) editDirectly(id, text string) error {
	base, token := b.app.Room().Endpoint()
	body, err := json.Marshal(map[string]string{"org": "acme", "channel": "lobby", "id": id, "text": text, "marker": "direct"})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, base+"/api/edit", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token.Reveal())
	req.Header.Set("Content-Type", "application/json")
	resp, err := b.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d, %w", resp.StatusCode, err)
	}
	return nil
}

// measure spreads b.N calls over callers and reports what benchstat reads.
func measure(b *testing.B, callers int, call func(caller, n int) error) {
	took := make([][]time.Duration, callers)
	var next atomic.Int64
	var all sync.WaitGroup
	b.ResetTimer()
	began := time.Now()
	for i := range callers {
		all.Go(func() {
			for n := int(next.Add(1)); n <= b.N; n = int(next.Add(1)) {
				start := time.Now()
				if err := call(i, n); err != nil {
					b.Errorf("call %d: %v", n, err)
					return
				}
				took[i] = append(took[i], time.Since(start))
			}
		})
	}
	all.Wait()
	b.StopTimer()
	every := slices.Concat(took...)
	slices.Sort(every)
	if len(every) == 0 {
		return
	}
	b.ReportMetric(float64(len(every))/time.Since(began).Seconds(), "edits/s")
	b.ReportMetric(float64(every[len(every)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(every[len(every)*99/100].Microseconds()), "p99-µs")
}
