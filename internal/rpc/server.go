// Package rpc serves the contract: it lets requests in, maps the contract's
// messages to the domain's values and back, and errors to codes. Nothing is
// decided here but who may come in.
package rpc

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/rpc/accountapi"
	"github.com/berthhq/berth/internal/rpc/bookingapi"
	"github.com/berthhq/berth/internal/rpc/catalogapi"
	"github.com/berthhq/berth/internal/rpc/eventapi"
	"github.com/berthhq/berth/internal/rpc/messageapi"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rpc/scheduleapi"
	"github.com/berthhq/berth/internal/rpc/settingsapi"
	"github.com/berthhq/berth/internal/rpc/waitlistapi"
	"github.com/berthhq/berth/internal/token"
)

// Config is what the server is made of. What is not said to be optional is needed.
type Config struct {
	Services *app.Services
	Guard    *access.Guard
	Verifier *token.Verifier
	// Issuer signs the tokens of service accounts; its keys are served as a JWKS.
	Issuer *token.Issuer
	Health *Health
	Now    func() time.Time
	Logger *slog.Logger

	// Metrics is served at /metrics and gets the metrics of the RPCs.
	Metrics *prometheus.Registry
	// Origins are those whose pages may call from a browser, "*" for all. Optional:
	// pages that this server serves itself need none.
	Origins []string
	// TimeLimit bounds unary RPCs, whatever the client asks for. Default 10 s.
	TimeLimit time.Duration
	// MaxBytes bounds a request, on the wire and inflated. Default 6 MiB: the largest
	// file that may be imported, as JSON carries it.
	MaxBytes int64
	// Rest serves what nothing here does. Optional: nobody does.
	Rest http.Handler

	// For tests: what ticks while a stream is silent, and how long a client may leave a message untaken.
	beat        func(every time.Duration) eventapi.Heartbeat
	sendTimeout time.Duration
}

const (
	defaultTimeLimit = 10 * time.Second
	defaultMaxBytes  = 6 << 20
	// Below this, compressing costs more than it saves.
	minCompressed = 1 << 10
	// Messages to watchers are compressed for each of them anew: thousands want the same one at the same moment.
	minCompressedEvents = 16 << 10
)

// New makes the handler of everything that speaks HTTP at the service's port. It
// fails on a contract with an RPC that nobody guards.
func New(c Config) (http.Handler, error) {
	s := c.Services
	h := &handlers{
		Accounts:  &accountapi.Accounts{Accounts: s.Accounts, Guard: c.Guard, Issuer: c.Issuer},
		Bookings:  &bookingapi.Bookings{Bookings: s.Bookings},
		Catalog:   &catalogapi.Catalog{Catalog: s.Catalog},
		Events:    &eventapi.Events{Events: s.Events, Now: c.Now, Beat: c.beat, SendTimeout: c.sendTimeout},
		Messages:  &messageapi.Messages{Messages: s.Messages},
		Schedules: &scheduleapi.Schedules{Schedules: s.Schedules},
		Settings:  &settingsapi.Settings{Settings: s.Settings, Now: c.Now},
		Waitlists: &waitlistapi.Waitlists{Waitlists: s.Waitlists, Now: c.Now},
	}
	return c.serve(services{
		tenant: h, member: h, access: h, session: h, booking: h, credit: h, checkIn: h, waitlist: h, analytics: h, audit: h,
		notification: h, event: h,
	})
}

// handlers serve all RPCs of the contract, area by area. The names of RPCs are unique over all services.
type handlers struct {
	*accountapi.Accounts
	*bookingapi.Bookings
	*catalogapi.Catalog
	*eventapi.Events
	*messageapi.Messages
	*scheduleapi.Schedules
	*settingsapi.Settings
	*waitlistapi.Waitlists
}

// services are the handlers of the contract, one for each service.
type services struct {
	tenant       berthv1connect.TenantServiceHandler
	member       berthv1connect.MemberServiceHandler
	access       berthv1connect.AccessServiceHandler
	session      berthv1connect.SessionServiceHandler
	booking      berthv1connect.BookingServiceHandler
	credit       berthv1connect.CreditServiceHandler
	checkIn      berthv1connect.CheckInServiceHandler
	waitlist     berthv1connect.WaitlistServiceHandler
	analytics    berthv1connect.AnalyticsServiceHandler
	audit        berthv1connect.AuditServiceHandler
	notification berthv1connect.NotificationServiceHandler
	event        berthv1connect.EventServiceHandler
}

func (c Config) serve(s services) (http.Handler, error) {
	c.TimeLimit = cmp.Or(c.TimeLimit, defaultTimeLimit)
	c.MaxBytes = cmp.Or(c.MaxBytes, defaultMaxBytes)
	rules, err := Rules()
	if err != nil {
		return nil, fmt.Errorf("rpc: %w", err)
	}
	compiled, err := validator()
	if err != nil {
		return nil, fmt.Errorf("rpc: %w", err)
	}
	metrics, err := newMetrics(c.Metrics)
	if err != nil {
		return nil, fmt.Errorf("rpc: %w", err)
	}
	guarded := &chain{
		admission: admission{rules: rules, verifier: c.Verifier, guard: c.Guard, validator: compiled},
		metrics:   metrics, log: c.Logger, timeLimit: c.TimeLimit,
	}
	common := connect.WithHandlerOptions(
		gzipUpTo(c.MaxBytes),
		connect.WithCompressMinBytes(minCompressed),
	)
	options := connect.WithHandlerOptions(
		common,
		codecs(),
		connect.WithRequestGate(guarded.gate),
		connect.WithInterceptors(guarded),
	)

	mux := http.NewServeMux()
	cross := crossOrigin(c.Origins)
	mount := func(path string, handler http.Handler) {
		mux.Handle(path, cross(guarded.begin(handler, c.MaxBytes)))
	}
	mount(berthv1connect.NewTenantServiceHandler(s.tenant, options))
	mount(berthv1connect.NewMemberServiceHandler(s.member, options))
	mount(berthv1connect.NewAccessServiceHandler(s.access, options))
	mount(berthv1connect.NewSessionServiceHandler(s.session, options))
	mount(berthv1connect.NewBookingServiceHandler(s.booking, options))
	mount(berthv1connect.NewCreditServiceHandler(s.credit, options))
	mount(berthv1connect.NewCheckInServiceHandler(s.checkIn, options))
	mount(berthv1connect.NewWaitlistServiceHandler(s.waitlist, options))
	mount(berthv1connect.NewAnalyticsServiceHandler(s.analytics, options))
	mount(berthv1connect.NewAuditServiceHandler(s.audit, options))
	mount(berthv1connect.NewNotificationServiceHandler(s.notification, options))
	mount(berthv1connect.NewEventServiceHandler(s.event, options, connect.WithCompressMinBytes(minCompressedEvents)))

	names := serviceNames(rules)
	reflector := grpcreflect.NewStaticReflector(names...)
	mount(grpcreflect.NewHandlerV1(reflector, common))
	mount(grpcreflect.NewHandlerV1Alpha(reflector, common))
	mount(healthService, c.Health.handler(names, common))

	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.Handle("GET /readyz", c.Health)
	mux.Handle("GET /metrics", promhttp.HandlerFor(c.Metrics, promhttp.HandlerOpts{}))
	mux.Handle("GET /.well-known/jwks.json", c.Issuer)
	if c.Rest != nil {
		mux.Handle("/", c.Rest)
	}
	return mux, nil
}

// begin opens the account of a request.
func (c *chain) begin(next http.Handler, maxBytes int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := &request.Call{
			ID: requestID(r.Header), Guard: c.guard, Answer: http.NewResponseController(w), Header: w.Header(),
		}
		w.Header().Set(requestIDHeader, call.ID)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store") // unless revalidate says otherwise
		limitBody(w, r, maxBytes)
		ctx := engine.WithRequest(context.WithValue(r.Context(), request.CallKey{}, call), call.ID)
		next.ServeHTTP(w, r.WithContext(ctx))
		// Connect answers by itself where a request breaks off or breaks the protocol.
		if _, ok := c.rules[r.URL.Path]; ok && !call.Counted {
			c.metrics.count(r.URL.Path, "unread", "")
		}
	})
}

// NewServer wraps the handler in a server with the limits that face strangers.
// It speaks HTTP/1.1 and, without TLS too, HTTP/2, which gRPC needs.
func NewServer(handler http.Handler, log *slog.Logger) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           handler,
		Protocols:         protocols,
		ReadHeaderTimeout: 5 * time.Second,
		// For the request as a whole. It does not touch answers, so streams live on.
		ReadTimeout:    30 * time.Second,
		IdleTimeout:    2 * time.Minute,
		MaxHeaderBytes: 128 << 10,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 1000,
			SendPingTimeout:      30 * time.Second,
			PingTimeout:          15 * time.Second,
			WriteByteTimeout:     30 * time.Second,
		},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
