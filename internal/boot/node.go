// Package boot opens a node: it reads configuration and keys, connects to the database, and sets up the handlers of
// requests and the background work. The server's commands, the lab and tests start nodes with it.
package boot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	browser "github.com/berthhq/berth/clients/console"
	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/mails"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/provider"
	"github.com/berthhq/berth/internal/provider/fcm"
	"github.com/berthhq/berth/internal/provider/localbox"
	"github.com/berthhq/berth/internal/rpc"
	"github.com/berthhq/berth/internal/rpc/admission"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/internal/traffic"
	"github.com/berthhq/berth/internal/web"
	"github.com/berthhq/berth/internal/worker"
)

// Node is one running server, with everything that Open opens and Close closes.
type Node struct {
	App      *app.Services
	DB       *pg.DB
	Guard    *access.Guard
	Issuer   *token.Issuer
	Verifier *token.Verifier
	Relay    *outbox.Relay
	Claims   waitlist.ClaimKey // signs the links of waitlist offers
	Seals    seal.Keys         // seals what is stored, and marks keys of service accounts
	Handler  http.Handler      // serves requests; a command may wrap it before Serve
	Metrics  prometheus.Gatherer
	Box      localbox.Box // mails about signing in, in development

	log        *slog.Logger
	secrets    Secrets
	dispatcher *worker.Dispatcher
	mails      *worker.PlatformMails
	sends      bool // whether this node plans and sends messages
	health     *rpc.Health
	lameDuck   time.Duration
	drain      time.Duration
	limits     traffic.ConnLimits
	profiles   bool // whether the admin address serves profiles

	// ctx ends when the node closes, which stops the background work.
	ctx         context.Context //nolint:containedctx // it belongs to the node, not to a request
	cancel      context.CancelFunc
	background  sync.WaitGroup
	newerSchema sync.Once // logs once that the schema is newer than this binary
}

// Open connects and sets up everything. It starts no background work and accepts no requests: Serve does.
// The caller closes the node.
func Open(
	ctx context.Context, log *slog.Logger, databaseURL string, keys KeyConfig, listen ListenConfig,
) (_ *Node, err error) {
	n := &Node{log: log, lameDuck: listen.LameDuck, drain: listen.Drain, profiles: listen.Profiles}
	n.ctx, n.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			n.Close()
		}
	}()
	registry := prometheus.NewRegistry()
	n.Metrics = registry
	registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registerBuildInfo(registry)
	if n.limits, err = listen.Traffic.connLimits(registry); err != nil {
		return nil, err
	}
	files := keys.Files()
	source := countFailures(files, registry)
	if n.Issuer, err = keys.OpenIssuer(ctx, source); err != nil {
		return nil, err
	}
	if n.Verifier, err = keys.OpenVerifier(n.Issuer); err != nil {
		return nil, err
	}
	if n.secrets, err = keys.OpenSecrets(ctx, source); err != nil {
		return nil, err
	}
	n.Claims, n.Seals = n.secrets.Claims, n.secrets.Seals
	commands, reads, err := listen.Pools.Sizes()
	if err == nil {
		err = listen.checkShares(commands, reads)
	}
	if err != nil {
		return nil, err
	}
	if n.DB, err = pg.Open(ctx, pg.Config{
		CommandConns: int32(commands), ReadConns: int32(reads),
		URL: databaseURL, Registerer: registry, Logger: log, Tracer: pg.LogStatements(ctx, log, requestAttrs),
		StatementTimeout: listen.TimeLimit, LockTimeout: listen.TimeLimit, IdleTimeout: listen.TimeLimit,
	}); err != nil {
		return nil, err
	}
	if err := n.connect(ctx); err != nil {
		return nil, err
	}
	n.Guard = access.New(accounts.AccessSource(n.DB))
	if n.Relay, err = outbox.NewRelay(outbox.RelayConfig{
		DB: n.DB, Log: log, Metrics: registry, RolesChanged: n.Guard.Invalidate,
	}); err != nil {
		return nil, err
	}
	metrics, err := newWaitlistMetrics(registry)
	if err != nil {
		return nil, err
	}
	events, err := traffic.SecurityEvents(registry)
	if err != nil {
		return nil, err
	}
	n.App = app.New(app.Config{
		DB: n.DB, Now: func() time.Time { return time.Now().Add(listen.ClockOffset) },
		CheckInKeys: n.secrets.CheckIn, Claims: n.Claims, PublicURL: listen.PublicURL,
		LinkByEmail: keys.LinkByEmail, InvitationChanged: func() { events.WithLabelValues("invitation_changed", "").Inc() },
		Stats: metrics.count, Committed: n.Relay.NotifyCommit, RolesChanged: n.Guard.Invalidate, Relay: n.Relay,
		Width: listen.Concurrency, Widest: commands - transactConns, Quotas: listen.Traffic.quotas(),
		Seals: n.Seals, PlatformSenders: keys.Senders.providers(), MailFrom: keys.Senders.SMTPFrom,
		SendingQuotas: keys.Senders.quotas(), ReportTo: keys.Senders.ReportTo,
		CheckFCMKey: fcm.CheckKey, LookupTXT: provider.TXT(keys.Senders.DNS),
		HasIdentityProvider: keys.IdentityIssuer != "",
		Send: func(ctx context.Context, in tenant.TenantID, out []messages.Outgoing) []messages.AttemptResult {
			return n.dispatcher.SendAll(ctx, in, out)
		},
	})
	if n.dispatcher, n.mails, err = keys.Senders.open(
		ctx, n.App, n.secrets, &n.Box, log, registry,
	); err != nil {
		return nil, err
	}
	n.sends = keys.Senders.sends()
	n.health = rpc.NewHealth(n.ready)
	apps, err := web.Console(browser.Files(), keys.SignIn())
	if err != nil {
		return nil, err
	}
	rates, holdBack := listen.Traffic.rates(n.limits.Proxies, reads), &traffic.HoldBack{For: traffic.DefaultHoldBack}
	contract, err := rpc.New(rpc.Config{
		Admission: admission.Config{
			Guard: n.Guard, Verifier: n.Verifier, Now: time.Now, Logger: log, Metrics: registry, Origins: listen.Origins,
			TimeLimit: listen.TimeLimit, Rates: rates, HoldBack: holdBack, FormerIssuers: keys.FormerIssuers,
			TrustEmails: keys.LinkByEmail,
		},
		Services: n.App, Issuer: n.Issuer, Health: n.health, Reflection: listen.Reflection, Fallback: apps,
	})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	config := web.Config{
		Services: n.App, Log: log, PublicURL: listen.PublicURL, Metrics: registry, Addresses: rates.Addresses,
		Passkeys: listen.Traffic.passkeys(n.limits.Proxies),
		HoldBack: holdBack, Codes: listen.Traffic.codes(n.limits.Proxies), Provider: keys.SignIn().Issuer != "",
		TwilioToken: textOf(n.secrets.Twilio, keys.Senders.TwilioToken),
	}
	if keys.SignsIn() {
		config.Issuer = n.Issuer
	}
	pages := web.Handler(config)
	for _, path := range []string{
		bookings.DisplayPath, waitlists.ClaimPath, accounts.ConfirmPath, accounts.AddressPath, accounts.InvitePath,
		messages.CalendarPath, messages.UnsubscribePath, messages.TwilioPath, "POST " + web.AuthPath,
	} {
		mux.Handle(path, pages)
	}
	mux.Handle("/", contract)
	n.Handler = hsts(listen.PublicURL, mux)
	return n, nil
}

// requestAttrs names the request of a context in the log. A shared transaction has several, so it has none.
func requestAttrs(ctx context.Context) []slog.Attr {
	if call := request.CallFrom(ctx); call != nil {
		return []slog.Attr{slog.String("request_id", call.ID)}
	}
	return nil
}

// connectTimeout is how long Open waits for a database that is starting.
const connectTimeout = 30 * time.Second

// connect opens all connections of the pools, so that the first requests find them open.
func (n *Node) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	for {
		err := n.DB.CheckPooler(ctx)
		if err == nil {
			err = n.checkSchema(ctx)
		}
		if err == nil {
			err = n.DB.Warm(ctx)
		}
		if err == nil || !pg.IsUnreachable(err) {
			return err
		}
		n.log.WarnContext(ctx, "cannot reach the database; retrying", slog.Any("error", err))
		if wait(ctx, time.Second) != nil {
			return fmt.Errorf("cannot reach the database: %w", err)
		}
	}
}

// checkSchema accepts a newer schema. The migrations of a release run before its nodes start. Until the last old node
// is replaced, old nodes keep working and must be able to restart.
func (n *Node) checkSchema(ctx context.Context) error {
	err := CheckSchema(ctx, n.DB)
	if !errors.Is(err, pg.ErrSchemaAhead) {
		return err
	}
	n.newerSchema.Do(func() {
		n.log.WarnContext(ctx, "the schema is newer than this version; continuing", slog.Any("error", err))
	})
	return nil
}

// ready returns an error while the node cannot serve requests: until the keys of the sign-in service have been read,
// and while the database does not respond or has another schema than at the start.
func (n *Node) ready(ctx context.Context) error {
	if !n.Verifier.Ready() {
		return errors.New("the keys of the sign-in service have not been read yet")
	}
	return n.checkSchema(ctx)
}

// sweepInterval is how often a node looks for due work that neither a request nor an alarm has done.
const sweepInterval = time.Minute

// start runs the node's background work until Close.
func (n *Node) start() {
	n.background.Go(func() {
		// It ends with n.ctx. Until then it connects again, and logs why.
		_ = n.DB.Listen(n.ctx, accounts.AccessChannel, func(payload string) {
			if id, err := tenant.Parse[tenant.TenantID](payload); err == nil {
				n.Guard.Invalidate(id)
			}
		}, n.Guard.InvalidateAll)
	})
	n.background.Go(func() { n.Relay.Run(n.ctx) })
	n.background.Go(func() { n.secrets.Run(n.ctx, n.log) })
	if n.sends {
		n.background.Go(func() { n.Relay.RunConsumer(n.ctx, n.App.Messages.NoticeConsumer()) })
		n.background.Go(func() { n.dispatcher.Run(n.ctx) })
		n.background.Go(func() {
			_ = n.DB.Listen(n.ctx, mails.Channel, func(payload string) {
				if id, err := tenant.Parse[tenant.TenantID](payload); err == nil {
					n.App.Mails.SetAlarm(id, 0)
				}
			}, func() {}) // what was queued before, sweeps find
		})
		n.background.Go(func() { n.mails.Run(n.ctx) })
	}
	n.background.Go(func() {
		ticker := time.NewTicker(sweepInterval)
		defer ticker.Stop()
		n.App.Housekeeping.RunSweeps(n.ctx, ticker.C, n.log)
	})
	n.background.Go(func() { n.App.Housekeeping.RunAlarms(n.ctx, n.log) })
	n.background.Go(func() { n.App.Messages.RunDomainChecks(n.ctx, n.log) })
	n.background.Go(func() {
		for n.Verifier.Refresh(n.ctx) != nil {
			if wait(n.ctx, time.Second) != nil {
				return
			}
		}
		n.Verifier.Run(n.ctx, n.log)
	})
}

// Serve starts the background work and serves requests until ctx ends or failed is closed. Then it says that it is not
// ready, and goes on until load balancers must have noticed. Then it accepts no new requests, waits for running ones
// until the drain time is over, and cancels the rest.
// A closed failed means that the development database has stopped; it may be nil.
func (n *Node) Serve(ctx context.Context, on Listeners, failed <-chan struct{}) error {
	detached := context.WithoutCancel(ctx)
	requests, cancelRequests := context.WithCancel(detached)
	defer cancelRequests()
	server := rpc.NewServer(n.Handler, n.log, n.limits)
	server.BaseContext = func(net.Listener) context.Context { return requests }
	if err := TuneForLoad(); err != nil {
		return err
	}
	n.start()
	if on.Admin != nil {
		admin := rpc.NewServer(n.AdminHandler(), n.log, traffic.ConnLimits{})
		go func() {
			if err := admin.Serve(on.Admin); !errors.Is(err, http.ErrServerClosed) {
				n.log.ErrorContext(detached, "serving the admin address failed", slog.Any("error", err))
			}
		}()
		defer admin.Close() // last, so that operators see how the node drains
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(on.Public) }()

	var cause error
	select {
	case err := <-done:
		return err
	case <-failed:
		cause = errors.New("the database stopped unexpectedly; its log is in the data folder")
	case <-ctx.Done():
	}
	n.log.InfoContext(detached, "stopping",
		slog.String("lame_duck", n.lameDuck.String()), slog.String("drain", n.drain.String()))
	n.health.Drain()
	if cause == nil { // without the database there is nothing to serve
		timer := time.NewTimer(n.lameDuck)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-failed:
		case err := <-done:
			return err
		}
	}
	n.Relay.Drain() // streams do not end by themselves
	limit, cancel := context.WithTimeout(detached, n.drain)
	defer cancel()
	if err := server.Shutdown(limit); err != nil {
		n.log.WarnContext(detached, "cancelling requests that are still running", slog.String("after", n.drain.String()))
		cancelRequests()
		_ = server.Close() // its error is that of Shutdown, or of a connection that is cut
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		cause = errors.Join(cause, err)
	}
	return cause
}

// Close stops the background work and closes what Open opened.
func (n *Node) Close() {
	n.cancel()
	n.background.Wait()
	if n.App != nil {
		n.App.Engine.Drain()
	}
	if n.Relay != nil {
		n.Relay.Close()
	}
	if n.DB != nil {
		n.DB.Close()
	}
}

// wait returns after d, or with the error of a context that ends first.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
