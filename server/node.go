package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	browser "github.com/berthhq/berth/clients/console"
	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rpc"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/internal/web"
	"github.com/berthhq/berth/internal/worker"
)

// node is one running server: everything that is opened at the start and closed at the end.
type node struct {
	log      *slog.Logger
	db       *pg.DB
	issuer   *token.Issuer
	verifier *token.Verifier
	guard    *access.Guard
	relay    *outbox.Relay
	app      *app.App
	courier  *worker.Courier
	sends    bool // messages
	claims   waitlist.ClaimKey
	health   *rpc.Health
	handler  http.Handler
	drain    time.Duration

	// life ends when the node closes; what runs in the background ends with it.
	life       context.Context //nolint:containedctx // it is the node's, not a request's
	end        context.CancelFunc
	background sync.WaitGroup
	keysRead   atomic.Bool
	newer      sync.Once // it was said that the schema is
}

// openNode connects and wires everything, and takes no requests yet. The caller
// closes the node.
func openNode(ctx context.Context, log *slog.Logger, databaseURL string, keys keyConfig, listen listenConfig) (_ *node, err error) {
	n := &node{log: log, drain: listen.Drain}
	n.life, n.end = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			n.close()
		}
	}()
	if n.issuer, err = keys.openIssuer(); err != nil {
		return nil, err
	}
	if n.verifier, err = keys.openVerifier(n.issuer); err != nil {
		return nil, err
	}
	signs, err := openSigning(keys.checkInKey())
	if err != nil {
		return nil, err
	}
	messageKeys, err := openMessageKeys(keys.messageKey())
	if err != nil {
		return nil, err
	}
	n.claims = signs.claims
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if n.db, err = pg.Open(ctx, pg.Config{
		URL: databaseURL, Registerer: registry, Logger: log, StatementTimeout: listen.Patience, LockTimeout: listen.Patience, IdleTimeout: listen.Patience,
	}); err != nil {
		return nil, err
	}
	if err := n.connect(ctx); err != nil {
		return nil, err
	}
	n.guard = access.New(app.AccessSource(n.db))
	if n.relay, err = outbox.NewRelay(outbox.RelayConfig{DB: n.db, Log: log, Metrics: registry, RolesChanged: n.guard.Invalidate}); err != nil {
		return nil, err
	}
	waits, err := newWaitlistMetrics(registry)
	if err != nil {
		return nil, err
	}
	n.app = app.New(app.Config{
		DB: n.db, Now: func() time.Time { return time.Now().Add(listen.ClockOffset) }, CheckInKeys: signs.checkIn, Claims: n.claims, PublicURL: listen.PublicURL,
		Tally: waits.count, Committed: n.relay.Committed, RolesChanged: n.guard.Invalidate, Relay: n.relay, Lanes: listen.Lanes,
		Seals: messageKeys, Carriers: keys.Senders.carriers(), MailFrom: keys.Senders.SMTPFrom,
		Post: func(ctx context.Context, in tenant.TenantID, out []app.Outgoing) []app.Attempted {
			return n.courier.Post(ctx, in, out)
		},
	})
	if n.courier, err = keys.Senders.open(ctx, n.app, log, registry); err != nil {
		return nil, err
	}
	n.sends = !keys.Senders.Elsewhere
	n.health = rpc.NewHealth(n.ready)
	apps, err := web.Console(browser.Files(), keys.signIn())
	if err != nil {
		return nil, err
	}
	contract, err := rpc.New(rpc.Config{
		App: n.app, Guard: n.guard, Verifier: n.verifier, Issuer: n.issuer, Health: n.health, Now: time.Now,
		Logger: log, Metrics: registry, Origins: listen.Origins, Rest: apps, TimeLimit: listen.Patience,
	})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	pages := web.Handler(web.Config{App: n.app, Log: log, PublicURL: listen.PublicURL, TwilioToken: keys.Senders.TwilioToken})
	for _, path := range []string{app.DisplayPath, app.ClaimPath, app.CalendarPath, app.UnsubscribePath, app.TwilioPath} {
		mux.Handle(path, pages)
	}
	mux.Handle("/", contract)
	n.handler = mux
	return n, nil
}

// connectFor is how long a database that is starting is waited for.
const connectFor = 30 * time.Second

// connect opens all connections, so that the first rush does not pay for it.
func (n *node) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectFor)
	defer cancel()
	for {
		err := n.checkSchema(ctx)
		if err == nil {
			err = n.db.Warm(ctx)
		}
		if err == nil || !pg.Unreachable(err) {
			return err
		}
		n.log.WarnContext(ctx, "database not reached", slog.Any("error", err))
		if pause(ctx, time.Second) != nil {
			return fmt.Errorf("database not reached: %w", err)
		}
	}
}

// checkSchema lets pass what migrations of a newer release have added: whoever upgrades migrates first, and until the last node
// is replaced the old ones go on, and start again if they must.
func (n *node) checkSchema(ctx context.Context) error {
	err := checkSchema(ctx, n.db)
	if !errors.Is(err, pg.ErrSchemaAhead) {
		return err
	}
	n.newer.Do(func() { n.log.WarnContext(ctx, "going on with a newer schema", slog.Any("found", err)) })
	return nil
}

// ready says whether requests can be answered: keys were read, and the database answers and is still the one that was begun with.
func (n *node) ready(ctx context.Context) error {
	if !n.keysRead.Load() {
		return errors.New("the keys of the sign-in service have not been read yet")
	}
	return n.checkSchema(ctx)
}

// sweepEvery is how often a node looks for what fell due and nobody asked for.
const sweepEvery = time.Minute

// start runs what a node does besides answering requests.
func (n *node) start() {
	n.background.Go(func() {
		_ = n.db.Listen(n.life, app.AccessChannel, func(payload string) {
			if id, err := tenant.Parse[tenant.TenantID](payload); err == nil {
				n.guard.Invalidate(id)
			}
		}, n.guard.InvalidateAll)
	})
	n.background.Go(func() { n.relay.Run(n.life) })
	if n.sends {
		n.background.Go(func() { n.relay.RunConsumer(n.life, n.app.NoticeConsumer()) })
		n.background.Go(func() { n.courier.Run(n.life) })
	}
	n.background.Go(func() {
		ticker := time.NewTicker(sweepEvery)
		defer ticker.Stop()
		n.app.RunSweeps(n.life, ticker.C, n.log)
	})
	n.background.Go(func() { n.app.RunAlarms(n.life, n.log) })
	n.background.Go(func() {
		for n.verifier.Refresh(n.life) != nil {
			if pause(n.life, time.Second) != nil {
				return
			}
		}
		n.keysRead.Store(true)
		n.verifier.Run(n.life, n.log)
	})
}

// serve answers requests until ctx ends or failed is closed. Then it stops
// taking new ones, lets those that are being answered come to their end for as
// long as the drain time allows, and cuts off the rest.
func (n *node) serve(ctx context.Context, listener net.Listener, failed <-chan struct{}) error {
	lasting := context.WithoutCancel(ctx)
	requests, cut := context.WithCancel(lasting)
	defer cut()
	server := rpc.NewServer(n.handler, n.log)
	server.BaseContext = func(net.Listener) context.Context { return requests }
	n.start()
	tuneMemory()
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()

	var cause error
	select {
	case err := <-done:
		return err
	case <-failed:
		cause = errors.New("the database has ended by itself; its log is in the data folder")
	case <-ctx.Done():
	}
	n.log.InfoContext(lasting, "stopping", slog.String("drain", n.drain.String()))
	n.health.Drain()
	n.relay.Drain() // streams do not come to an end by themselves
	limit, cancel := context.WithTimeout(lasting, n.drain)
	defer cancel()
	if err := server.Shutdown(limit); err != nil {
		n.log.WarnContext(lasting, "requests are cut off", slog.String("after", n.drain.String()))
		cut()
		_ = server.Close()
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		cause = errors.Join(cause, err)
	}
	return cause
}

// close ends what runs in the background and gives everything back.
func (n *node) close() {
	n.end()
	n.background.Wait()
	if n.app != nil {
		n.app.Drain()
	}
	if n.relay != nil {
		n.relay.Close()
	}
	if n.db != nil {
		n.db.Close()
	}
}

// pause waits, or gives the error of a context that ends meanwhile.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
