// Package rpc serves the contract: it authenticates and authorizes callers, validates requests, and maps errors to
// codes. The packages below it convert messages to values of the domain and back, and call the use cases.
package rpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"github.com/prometheus/client_golang/prometheus"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/accountapi"
	"github.com/berthhq/berth/internal/rpc/bookingapi"
	"github.com/berthhq/berth/internal/rpc/catalogapi"
	"github.com/berthhq/berth/internal/rpc/eventapi"
	"github.com/berthhq/berth/internal/rpc/messageapi"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rpc/scheduleapi"
	"github.com/berthhq/berth/internal/rpc/settingsapi"
	"github.com/berthhq/berth/internal/rpc/waitlistapi"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/internal/traffic"
)

// Config configures the server. A field is required unless its comment says otherwise.
type Config struct {
	Services *app.Services
	Guard    *access.Guard
	Verifier *token.Verifier
	// Issuer signs the tokens of service accounts; its keys are served as a JWKS.
	Issuer *token.Issuer
	Health *Health
	Now    func() time.Time
	Logger *slog.Logger

	// Metrics is where the server registers the metrics of the RPCs.
	Metrics prometheus.Registerer
	// Origins are the origins of pages that may call from a browser, "*" for all. Optional: pages that this server
	// itself serves need none.
	Origins []string
	// Reflection serves gRPC reflection.
	Reflection bool
	// TimeLimit limits unary RPCs, whatever deadline the client sets. Default 10 s.
	TimeLimit time.Duration
	// MaxBytes limits a request, on the wire and decompressed. Default 6 MiB: the largest file that can be imported,
	// encoded in JSON.
	MaxBytes int64
	// Memory limits what callers have in progress.
	Memory Memory
	// Rates limits calls. Optional.
	Rates Rates
	// HoldBack is how long a call above a limit waits for its answer. To refuse is quick, and those who ask again at once
	// would otherwise keep a processor busy.
	HoldBack time.Duration
	// FormerIssuers are issuers of the sign-in service until now. Their members are those of the issuer that it has now.
	FormerIssuers []string
	// Fallback serves all other paths. Optional: without it they are not found.
	Fallback http.Handler

	stepUp func(context.Context, tenant.TenantID) (catalog.StepUp, error)
	// bindIssuer: see admission.
	bindIssuer func(ctx context.Context, by tenant.Caller, issuer string, others []string) error

	// For tests: the ticker of a stream's heartbeats.
	newHeartbeat func(every time.Duration) eventapi.Heartbeat
}

// HoldBack is a value for Config.HoldBack: shorter than the second after which callers may try again.
const HoldBack = 500 * time.Millisecond

const (
	defaultTimeLimit = 10 * time.Second
	defaultMaxBytes  = 6 << 20
	// Compressing smaller messages costs more than it saves.
	minCompressed = 1 << 10
	// Events are compressed for each stream separately, and thousands of streams may send the same event at the same
	// time.
	minCompressedEvents = 16 << 10
)

// takesFiles are the procedures to which people upload files.
var takesFiles = map[string]bool{
	berthv1connect.MemberServiceImportMembersProcedure:   true,
	berthv1connect.SessionServiceImportSessionsProcedure: true,
}

// New returns the handler of everything served over HTTP on the service's port. It fails if the contract has an RPC
// without a rule.
func New(c Config) (http.Handler, error) {
	s := c.Services
	h := &handlers{
		Accounts:  &accountapi.Accounts{Service: s.Accounts, Guard: c.Guard, Issuer: c.Issuer},
		Bookings:  &bookingapi.Bookings{Service: s.Bookings},
		Catalog:   &catalogapi.Catalog{Service: s.Catalog},
		Events:    &eventapi.Events{Service: s.Events, Now: c.Now, NewHeartbeat: c.newHeartbeat},
		Messages:  &messageapi.Messages{Service: s.Messages},
		Schedules: &scheduleapi.Schedules{Service: s.Schedules},
		Settings:  &settingsapi.Settings{Service: s.Settings, Now: c.Now},
		Waitlists: &waitlistapi.Waitlists{Service: s.Waitlists, Now: c.Now},
	}
	c.stepUp, c.bindIssuer = s.Accounts.StepUp, s.Accounts.BindIssuer
	return c.serve(services{
		tenant: h, member: h, access: h, session: h, booking: h, credit: h, checkIn: h, waitlist: h, analytics: h, audit: h,
		notification: h, event: h,
	})
}

// handlers handles all RPCs of the contract, area by area. Each RPC has a name that no other service uses.
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

// services are the handlers of the contract's services.
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
	rules, noRules := Rules()
	compiled, noValidator := validator()
	if err := errors.Join(noRules, noValidator); err != nil {
		return nil, fmt.Errorf("rpc: %w", err)
	}
	calls := &interceptor{
		admission: admission{rules: rules, verifier: c.Verifier, guard: c.Guard, validator: compiled,
			limits: requestLimits(rules), rates: newRates(c.Rates, c.Now), stepUp: c.stepUp, bindIssuer: c.bindIssuer,
			issuers: append([]string{""}, c.FormerIssuers...), now: c.Now},
		metrics: newMetrics(c.Metrics), security: newSecurity(c.Metrics, c.Logger, c.Now), log: c.Logger,
		timeLimit: c.TimeLimit,
		memory:    newMemory(c.Memory), maxBytes: c.MaxBytes, holdBack: c.HoldBack,
	}
	common := connect.WithHandlerOptions(
		limitedGzip(c.MaxBytes, maxInflated),
		connect.WithConditionalHandlerOptions(func(spec connect.Spec) []connect.HandlerOption {
			if !takesFiles[spec.Procedure] {
				return nil
			}
			return []connect.HandlerOption{limitedGzip(c.MaxBytes, 0)}
		}),
		connect.WithCompressMinBytes(minCompressed),
	)
	options := connect.WithHandlerOptions(
		common,
		codecs(),
		connect.WithRequestGate(calls.gate),
		connect.WithInterceptors(calls),
	)

	mux := http.NewServeMux()
	cors := newCORS(c.Origins)
	mount := func(path string, handler http.Handler) {
		mux.Handle(path, cors(calls.startCall(handler)))
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
	if c.Reflection {
		reflector := grpcreflect.NewStaticReflector(names...)
		mount(grpcreflect.NewHandlerV1(reflector, common))
		mount(grpcreflect.NewHandlerV1Alpha(reflector, common))
	}
	mount(healthService, c.Health.handler(names, common))

	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.Handle("GET /readyz", c.Health)
	mux.Handle("GET /.well-known/jwks.json", c.Issuer)
	if c.Fallback != nil {
		mux.Handle("/", c.Fallback)
	}
	return mux, nil
}

// startCall adds a Call to the context of each request and sets the headers that all responses have.
func (c *interceptor) startCall(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rule, inContract := c.rules[r.URL.Path]
		call := &request.Call{
			ID: requestID(r.Header), Client: c.rates.addresses.Proxies.Client(r), Guard: c.guard, ResponseHeader: w.Header(),
			Program: clientName(r.UserAgent()), Ready: func() {}, Answered: func(error) {},
		}
		limit := c.maxBytes
		if !inContract || rule.Kind == v1.Access_RULE_PUBLIC {
			limit = min(limit, maxPublicBytes)
		}
		held := c.memory.hold(call, r, limit)
		defer held.leave()
		call.Enter = held.enter
		w.Header().Set(requestIDHeader, call.ID)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store") // unless revalidate overwrites it
		r.Body = limitedBody{http.MaxBytesReader(w, r.Body, limit), held}
		ctx := engine.WithRequest(request.WithCall(r.Context(), call), auditedRequest(call))
		if !inContract { // others are counted once their caller is known
			if err := call.Enter(); err != nil {
				http.Error(w, err.Error(), http.StatusTooManyRequests)
				return
			}
		}
		response := readyWriter{w, held, r.Context().Done()}
		defer response.ready() // an error over gRPC is sent when the handler returns
		next.ServeHTTP(response, r.WithContext(ctx))
		// Connect itself responds if a request breaks off or violates the protocol.
		if inContract && !call.Counted {
			c.metrics.count(r.URL.Path, "unread", "")
		}
	})
}

// Server is an http.Server with limits for public traffic.
type Server struct {
	*http.Server

	limits traffic.ConnLimits
}

// NewServer returns a server for the handler. It serves HTTP/1.1, and HTTP/2 without TLS, which gRPC needs.
func NewServer(handler http.Handler, log *slog.Logger, limits traffic.ConnLimits) *Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return &Server{limits: limits, Server: &http.Server{
		Handler: traffic.LimitRequests(
			traffic.LimitStalls(handler, limits.WriteTimeout), limits.Proxies, limits.Requests),
		Protocols:         protocols,
		ReadHeaderTimeout: 5 * time.Second,
		// Limits reading the whole request. Writing is limited by the connection, so that streams can last longer.
		ReadTimeout:    30 * time.Second,
		IdleTimeout:    2 * time.Minute,
		MaxHeaderBytes: 32 << 10,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: cmp.Or(limits.Streams, traffic.DefaultStreams),
			SendPingTimeout:      30 * time.Second,
			PingTimeout:          15 * time.Second,
		},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}}
}

// Serve serves the connections of a listener, within the limits.
func (s *Server) Serve(on net.Listener) error { return s.Server.Serve(s.limits.Listen(on)) }
