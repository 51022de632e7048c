// Package rpc serves the contract over HTTP. Of the packages below it, admission decides which calls are answered, and
// those of the areas convert messages to values of the domain and back, and call the use cases.
package rpc

import (
	"cmp"
	"log/slog"
	"net"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/accountapi"
	"github.com/berthhq/berth/internal/rpc/admission"
	"github.com/berthhq/berth/internal/rpc/bookingapi"
	"github.com/berthhq/berth/internal/rpc/catalogapi"
	"github.com/berthhq/berth/internal/rpc/eventapi"
	"github.com/berthhq/berth/internal/rpc/importapi"
	"github.com/berthhq/berth/internal/rpc/messageapi"
	"github.com/berthhq/berth/internal/rpc/scheduleapi"
	"github.com/berthhq/berth/internal/rpc/settingsapi"
	"github.com/berthhq/berth/internal/rpc/waitlistapi"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/internal/traffic"
)

// Config configures the server. A field is required unless its comment says otherwise.
type Config struct {
	// Admission decides which calls are answered. The services give it StepUp, BindIssuer and ActorNames.
	Admission admission.Config
	Services  *app.Services
	// Issuer signs the tokens of service accounts; its keys are served as a JWKS.
	Issuer *token.Issuer
	Health *Health
	// Reflection serves gRPC reflection.
	Reflection bool
	// Fallback serves all other paths. Optional: without it they are not found.
	Fallback http.Handler

	// For tests: the ticker of a stream's heartbeats.
	newHeartbeat func(every time.Duration) eventapi.Heartbeat
}

// Events are compressed for each stream separately, and thousands of streams may send the same event at the same time.
const minCompressedEvents = 16 << 10

// New returns the handler of everything served over HTTP on the service's port. It fails if the contract has an RPC
// without a rule.
func New(c Config) (http.Handler, error) {
	s, now := c.Services, c.Admission.Now
	h := &handlers{
		Accounts:  &accountapi.Accounts{Service: s.Accounts, Guard: c.Admission.Guard, Issuer: c.Issuer},
		Bookings:  &bookingapi.Bookings{Service: s.Bookings, Now: now},
		Catalog:   &catalogapi.Catalog{Service: s.Catalog},
		Events:    &eventapi.Events{Service: s.Events, Now: now, NewHeartbeat: c.newHeartbeat},
		Imports:   &importapi.Imports{Service: s.Imports},
		Messages:  &messageapi.Messages{Service: s.Messages},
		Schedules: &scheduleapi.Schedules{Service: s.Schedules},
		Settings:  &settingsapi.Settings{Service: s.Settings, Now: now},
		Waitlists: &waitlistapi.Waitlists{Service: s.Waitlists, Now: now},
	}
	c.Admission.Made = func(message any) string { return made(s, message) }
	c.Admission.StepUp, c.Admission.BindIssuer = s.Accounts.StepUp, s.Accounts.BindIssuer
	c.Admission.ActorNames = s.Accounts.ActorNames
	calls, err := admission.New(c.Admission)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mount := func(path string, handler http.Handler) { mux.Handle(path, calls.Handle(handler)) }
	options := calls.Options()
	mount(berthv1connect.NewTenantServiceHandler(h, options))
	mount(berthv1connect.NewCatalogServiceHandler(h, options))
	mount(berthv1connect.NewMemberServiceHandler(h, options))
	mount(berthv1connect.NewSignInServiceHandler(h, options))
	mount(berthv1connect.NewInvitationServiceHandler(h, options))
	mount(berthv1connect.NewAccessServiceHandler(h, options))
	mount(berthv1connect.NewSessionServiceHandler(h, options))
	mount(berthv1connect.NewWorkoutServiceHandler(h, options))
	mount(berthv1connect.NewImportServiceHandler(h, options))
	mount(berthv1connect.NewBookingServiceHandler(h, options))
	mount(berthv1connect.NewCreditServiceHandler(h, options))
	mount(berthv1connect.NewCheckInServiceHandler(h, options))
	mount(berthv1connect.NewWaitlistServiceHandler(h, options))
	mount(berthv1connect.NewAnalyticsServiceHandler(h, options))
	mount(berthv1connect.NewAuditServiceHandler(h, options))
	mount(berthv1connect.NewNotificationServiceHandler(h, options))
	mount(berthv1connect.NewEventServiceHandler(h, options, connect.WithCompressMinBytes(minCompressedEvents)))

	names := calls.Services()
	if c.Reflection {
		reflector := grpcreflect.NewStaticReflector(names...)
		mount(grpcreflect.NewHandlerV1(reflector, calls.Sizes()))
		mount(grpcreflect.NewHandlerV1Alpha(reflector, calls.Sizes()))
	}
	mount(healthService, c.Health.handler(names, calls.Sizes()))

	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok\n")) // a closed connection needs no answer
	})
	mux.Handle("GET /readyz", c.Health)
	mux.Handle("GET /.well-known/jwks.json", c.Issuer)
	if c.Fallback != nil {
		mux.Handle("/", c.Fallback)
	}
	return mux, nil
}

// made returns the key or link in a message if a service made it.
func made(by *app.Services, message any) string {
	text, isMade := "", func(string) bool { return false }
	switch m := message.(type) {
	case *v1.ExchangeKeyRequest:
		text, isMade = m.GetKey(), by.Accounts.MadeKey
	case *v1.GetCheckInDisplayRequest:
		text, isMade = m.GetToken(), by.Bookings.MadeDisplay
	case *v1.GetWaitlistClaimRequest:
		text, isMade = m.GetToken(), by.Waitlists.MadeClaim
	case *v1.AnswerWaitlistClaimRequest:
		text, isMade = m.GetToken(), by.Waitlists.MadeClaim
	}
	if text == "" || !isMade(text) {
		return ""
	}
	return text
}

// handlers handles all RPCs of the contract, area by area. Each RPC has a name that no other service uses.
type handlers struct {
	*accountapi.Accounts
	*bookingapi.Bookings
	*catalogapi.Catalog
	*eventapi.Events
	*importapi.Imports
	*messageapi.Messages
	*scheduleapi.Schedules
	*settingsapi.Settings
	*waitlistapi.Waitlists
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
