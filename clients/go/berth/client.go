// Package berth is a thin client of Berth over gRPC. The services and messages are generated from the API contract.
// The package adds what every caller needs: tokens that are renewed in time, safe retries, streams that resume,
// lists that fetch their pages, and errors with reasons.
//
//	client := berth.New("https://api.berth.example", berth.WithKey(os.Getenv("BERTH_KEY")))
//	answer, err := client.Bookings.HoldBooking(ctx, connect.NewRequest(&v1.HoldBookingRequest{…}))
//
// A call may take as long as its context allows, including retries. Without a deadline in the context that is 30 s.
// Streams have no such limit.
package berth

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
)

// Client has all of Berth's services for one caller. It is safe for concurrent use.
type Client struct {
	Access        berthv1connect.AccessServiceClient
	Analytics     berthv1connect.AnalyticsServiceClient
	Audit         berthv1connect.AuditServiceClient
	Bookings      berthv1connect.BookingServiceClient
	Catalog       berthv1connect.CatalogServiceClient
	CheckIn       berthv1connect.CheckInServiceClient
	Credits       berthv1connect.CreditServiceClient
	Events        berthv1connect.EventServiceClient
	Imports       berthv1connect.ImportServiceClient
	SignIns       berthv1connect.SignInServiceClient
	Invitations   berthv1connect.InvitationServiceClient
	Members       berthv1connect.MemberServiceClient
	Notifications berthv1connect.NotificationServiceClient
	Sessions      berthv1connect.SessionServiceClient
	Tenants       berthv1connect.TenantServiceClient
	Waitlist      berthv1connect.WaitlistServiceClient
	Workouts      berthv1connect.WorkoutServiceClient

	interceptor *interceptor
}

// Option configures a Client.
type Option func(*settings)

type settings struct {
	source  TokenSource
	key     string
	http    connect.HTTPClient
	retries int
	timeout time.Duration
	log     *slog.Logger
	random  func() float64
	sleep   func(context.Context, time.Duration) error
	now     func() time.Time
	// grace is how late a heartbeat may be.
	grace time.Duration
}

// WithKey calls as a service account. Its key is exchanged for tokens that are valid for minutes.
func WithKey(key string) Option { return func(s *settings) { s.key = key } }

// WithTokens calls with the tokens that source returns. It is called before the first call, a minute before a token
// expires, and once if a token is rejected. Concurrent calls share one token.
func WithTokens(source TokenSource) Option { return func(s *settings) { s.source = source } }

// WithHTTPClient uses the given HTTP client, which must support HTTP/2.
func WithHTTPClient(client connect.HTTPClient) Option { return func(s *settings) { s.http = client } }

// WithRetries limits the retries of a failed call to n, if it is safe to retry. The default is 4.
func WithRetries(n int) Option { return func(s *settings) { s.retries = n } }

// WithTimeout limits calls with their retries to d if its context has no deadline.
// The default is 30 s; 0 means no limit.
func WithTimeout(d time.Duration) Option { return func(s *settings) { s.timeout = d } }

// WithLogger logs retries of calls and reconnects of watches.
func WithLogger(log *slog.Logger) Option { return func(s *settings) { s.log = log } }

// New returns a client. It connects with the first call. Without credentials it can only call public methods.
func New(baseURL string, options ...Option) *Client {
	s := settings{
		http: newHTTPClient(), retries: 4, timeout: 30 * time.Second, log: slog.New(slog.DiscardHandler),
		random: rand.Float64, sleep: sleep, now: time.Now, grace: 5 * time.Second,
	}
	for _, option := range options {
		option(&s)
	}
	baseURL = strings.TrimRight(baseURL, "/")
	if s.key != "" {
		anonymous := &interceptor{settings: s, tokens: &tokens{now: s.now}}
		s.source = exchange(berthv1connect.NewAccessServiceClient(s.http, baseURL, anonymous.options()...), s.key, s.now)
	}
	m := &interceptor{settings: s, tokens: newTokens(s.source, s.now)}
	clientOptions := m.options()
	return &Client{
		Access:        berthv1connect.NewAccessServiceClient(s.http, baseURL, clientOptions...),
		Analytics:     berthv1connect.NewAnalyticsServiceClient(s.http, baseURL, clientOptions...),
		Audit:         berthv1connect.NewAuditServiceClient(s.http, baseURL, clientOptions...),
		Bookings:      berthv1connect.NewBookingServiceClient(s.http, baseURL, clientOptions...),
		Catalog:       berthv1connect.NewCatalogServiceClient(s.http, baseURL, clientOptions...),
		CheckIn:       berthv1connect.NewCheckInServiceClient(s.http, baseURL, clientOptions...),
		Credits:       berthv1connect.NewCreditServiceClient(s.http, baseURL, clientOptions...),
		Events:        berthv1connect.NewEventServiceClient(s.http, baseURL, clientOptions...),
		Imports:       berthv1connect.NewImportServiceClient(s.http, baseURL, clientOptions...),
		SignIns:       berthv1connect.NewSignInServiceClient(s.http, baseURL, clientOptions...),
		Invitations:   berthv1connect.NewInvitationServiceClient(s.http, baseURL, clientOptions...),
		Members:       berthv1connect.NewMemberServiceClient(s.http, baseURL, clientOptions...),
		Notifications: berthv1connect.NewNotificationServiceClient(s.http, baseURL, clientOptions...),
		Sessions:      berthv1connect.NewSessionServiceClient(s.http, baseURL, clientOptions...),
		Tenants:       berthv1connect.NewTenantServiceClient(s.http, baseURL, clientOptions...),
		Waitlist:      berthv1connect.NewWaitlistServiceClient(s.http, baseURL, clientOptions...),
		Workouts:      berthv1connect.NewWorkoutServiceClient(s.http, baseURL, clientOptions...),
		interceptor:   m,
	}
}

func (i *interceptor) options() []connect.ClientOption {
	return []connect.ClientOption{connect.WithGRPC(), connect.WithInterceptors(i)}
}

// newHTTPClient returns a client for HTTP/2 with and without TLS, which gRPC needs.
// It detects dead connections with pings.
func newHTTPClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetHTTP2(true)
	transport.Protocols.SetUnencryptedHTTP2(true)
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: 20 * time.Second, PingTimeout: 10 * time.Second}
	return &http.Client{Transport: transport}
}

// exchange returns a source of tokens for a key.
func exchange(access berthv1connect.AccessServiceClient, key string, now func() time.Time) TokenSource {
	return func(ctx context.Context) (Token, error) {
		answer, err := access.ExchangeKey(ctx, connect.NewRequest(&v1.ExchangeKeyRequest{Key: key}))
		if err != nil {
			return Token{}, err
		}
		// The lifetime counts from now, because our clock may differ from the server's.
		expires := now().Add(answer.Msg.GetExpiresIn().AsDuration())
		return Token{Value: answer.Msg.GetAccessToken(), ExpiresAt: expires}, nil
	}
}
