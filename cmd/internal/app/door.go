package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"stet/arms"
	"stet/arms/room"
	"stet/gateway/bind"
	"stet/gateway/httpapi"
	"stet/gateway/wire"
)

// Limits of a connection. An answer has no limit of its own: event streams and
// exports are long, and an attempt bounds itself.
const (
	headerTime  = 5 * time.Second
	readTime    = 30 * time.Second
	idleTime    = 2 * time.Minute
	headerBytes = 64 << 10
)

// Addr is where the door listens, as a URL.
func (a *App) Addr() string { return "http://" + a.listener.Addr().String() }

// Room is the built-in platform.
func (a *App) Room() *room.Server { return a.room }

func (a *App) openDoor(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", a.o.Settings.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", a.o.Settings.Listen, err)
	}
	a.listener = listener
	a.onStop("listener", func(context.Context) error { _ = listener.Close(); return nil })
	a.reg.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), buildInfo(a.o.Version),
	)
	local := loopback(listener.Addr())
	handler, err := httpapi.New(httpapi.Options{
		Verbs: a.gateway, Bind: a.bind, Trail: a.store, Ledger: a.ledger, Capabilities: a.capabilities,
		Ready: a.ready, Events: a.events,
		Metrics: promhttp.HandlerFor(a.reg, promhttp.HandlerOpts{EnableOpenMetrics: true}),
		Room:    a.roomPages(local), Registerer: a.reg, Logger: a.log, Version: a.o.Version,
		Loopback: local, Draining: a.draining.Load,
	})
	if err != nil {
		return err
	}
	a.server = &http.Server{
		Handler: a.endStreams(handler), ReadHeaderTimeout: headerTime, ReadTimeout: readTime,
		IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
	}
	return nil
}

func buildInfo(version string) prometheus.Collector {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "stet_build_info", Help: "Always 1; the label says which build runs.",
	}, []string{"version"})
	g.WithLabelValues(version).Set(1)
	return g
}

// loopback reports that only this machine reaches the listener.
func loopback(addr net.Addr) bool {
	ap, err := netip.ParseAddrPort(addr.String())
	return err == nil && ap.Addr().IsLoopback()
}

// endStreams ends event streams when draining begins: they would keep the
// server open for ever. Other requests keep their own context.
func (a *App) endStreams(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/events") {
			next.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(a.drained, cancel)()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

func (a *App) capabilities(p arms.Platform, place arms.Place) (arms.Capabilities, bool) {
	arm, ok := a.registry.Arm(p)
	if !ok {
		return arms.Capabilities{}, false
	}
	return arm.Capabilities(place), true
}

// roomPages is the room for people. Off loopback a browser asks for a key, any
// that may read the trail. A loopback listener behind a proxy, or reached by a
// name that somebody pointed at it, isn't only this machine's: what the browser
// calls the host tells.
func (a *App) roomPages(local bool) http.Handler {
	allowed := func(r *http.Request) (string, bool) {
		if local && ownName(r.Host) {
			return "", true
		}
		return a.mayWatch(r)
	}
	pages := a.room.Pages(room.PageOptions{Authorize: allowed})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := allowed(r); !ok {
			w.Header().Set("WWW-Authenticate", `Basic realm="stet room: any name, an ops key as the password"`)
		}
		pages.ServeHTTP(w, r)
	})
}

func (a *App) mayWatch(r *http.Request) (org string, ok bool) {
	key, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found {
		if _, key, found = r.BasicAuth(); !found {
			return "", false
		}
	}
	caller, err := a.bind.Authenticate(r.Context(), key)
	if err != nil || !(caller.Key.Has(bind.ScopeOps) || caller.Key.Has(bind.ScopeReviewer)) {
		return "", false
	}
	return caller.Key.Org, true
}

// ownName reports a host that only this machine is called by.
func ownName(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	host = strings.Trim(host, "[]")
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.IsLoopback())
}

// ready says whether the gateway can do its work. A platform that isn't well
// shows in the detail and changes nothing else.
func (a *App) ready(ctx context.Context) wire.Ready {
	checks := []wire.Check{
		{Name: "audit store", Needed: true, OK: a.trail.Available()},
		{Name: "draining", Needed: true, OK: !a.draining.Load()},
	}
	if !checks[0].OK {
		checks[0].Detail = "can't be written: look at the disk's space and at who locks the database"
	}
	checks = slices.Insert(checks, 1, a.ledgerChecks()...)
	ready := true
	for _, c := range checks {
		ready = ready && (c.OK || !c.Needed)
	}
	a.probing.Lock()
	defer a.probing.Unlock()
	for _, p := range a.registry.Platforms() {
		c := wire.Check{Name: "platform " + string(p), OK: true}
		if f := a.probes.ask(ctx, p); f != nil {
			c.OK, c.Detail = false, f.Code.Sentence()
		}
		checks = append(checks, c)
	}
	return wire.Ready{Ready: ready, Checks: checks}
}
