// Package berth is a thin client of Berth over gRPC. The services and messages are
// generated from the contract; around them is what every caller would have to write:
// tokens that are renewed in time, calls that are safely sent again, streams that go on where they
// were, lists that page themselves, errors that can be branched on.
//
//	client := berth.New("https://api.berth.example", berth.WithKey(os.Getenv("BERTH_KEY")))
//	answer, err := client.Bookings.HoldBooking(ctx, connect.NewRequest(&v1.HoldBookingRequest{…}))
//
// Calls take as long as their context allows, repetitions included.
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

// Client is all of Berth's services, for one caller. It may be used by any number of goroutines.
type Client struct {
	Access    berthv1connect.AccessServiceClient
	Analytics berthv1connect.AnalyticsServiceClient
	Audit     berthv1connect.AuditServiceClient
	Bookings  berthv1connect.BookingServiceClient
	CheckIn   berthv1connect.CheckInServiceClient
	Credits   berthv1connect.CreditServiceClient
	Events    berthv1connect.EventServiceClient
	Members   berthv1connect.MemberServiceClient
	Sessions  berthv1connect.SessionServiceClient
	Tenants   berthv1connect.TenantServiceClient
	Waitlist  berthv1connect.WaitlistServiceClient

	manners *manners
}

// Option says how to call, and as whom.
type Option func(*settings)

type settings struct {
	source  TokenSource
	key     string
	http    connect.HTTPClient
	retries int
	log     *slog.Logger
	random  func() float64
	pause   func(context.Context, time.Duration) error
	now     func() time.Time
	// grace is how much later than it should a heartbeat may come.
	grace time.Duration
}

// WithKey calls as the service account whose key it is. The key is exchanged for tokens that last minutes.
func WithKey(key string) Option { return func(s *settings) { s.key = key } }

// WithTokens calls with the tokens that source fetches: before the first call, a minute before one
// ends, and once where one is refused. Calls that need it at the same moment share one.
func WithTokens(source TokenSource) Option { return func(s *settings) { s.source = source } }

// WithHTTPClient sends by a client of the caller's own. It must speak HTTP/2.
func WithHTTPClient(client connect.HTTPClient) Option { return func(s *settings) { s.http = client } }

// WithRetries sends a call that failed again at most n times, 4 by default, where that is safe.
func WithRetries(n int) Option { return func(s *settings) { s.retries = n } }

// WithLogger tells of calls that are sent again, and of watches that are taken up again.
func WithLogger(log *slog.Logger) Option { return func(s *settings) { s.log = log } }

// New makes a client. It opens no connection before the first call. Without credentials
// it can call what is open to all.
func New(baseURL string, options ...Option) *Client {
	s := settings{
		http: overHTTP2(), retries: 4, log: slog.New(slog.DiscardHandler),
		random: rand.Float64, pause: pause, now: time.Now, grace: 5 * time.Second,
	}
	for _, option := range options {
		option(&s)
	}
	baseURL = strings.TrimRight(baseURL, "/")
	if s.key != "" {
		nobody := &manners{settings: s, tokens: &tokens{now: s.now}}
		s.source = exchange(berthv1connect.NewAccessServiceClient(s.http, baseURL, nobody.options()...), s.key, s.now)
	}
	m := &manners{settings: s, tokens: newTokens(s.source, s.now)}
	with := m.options()
	return &Client{
		Access:    berthv1connect.NewAccessServiceClient(s.http, baseURL, with...),
		Analytics: berthv1connect.NewAnalyticsServiceClient(s.http, baseURL, with...),
		Audit:     berthv1connect.NewAuditServiceClient(s.http, baseURL, with...),
		Bookings:  berthv1connect.NewBookingServiceClient(s.http, baseURL, with...),
		CheckIn:   berthv1connect.NewCheckInServiceClient(s.http, baseURL, with...),
		Credits:   berthv1connect.NewCreditServiceClient(s.http, baseURL, with...),
		Events:    berthv1connect.NewEventServiceClient(s.http, baseURL, with...),
		Members:   berthv1connect.NewMemberServiceClient(s.http, baseURL, with...),
		Sessions:  berthv1connect.NewSessionServiceClient(s.http, baseURL, with...),
		Tenants:   berthv1connect.NewTenantServiceClient(s.http, baseURL, with...),
		Waitlist:  berthv1connect.NewWaitlistServiceClient(s.http, baseURL, with...),
		manners:   m,
	}
}

func (m *manners) options() []connect.ClientOption {
	return []connect.ClientOption{connect.WithGRPC(), connect.WithInterceptors(m)}
}

// overHTTP2 speaks HTTP/2 with and without TLS, as gRPC wants it, and finds out by itself that a
// connection is dead.
func overHTTP2() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetHTTP2(true)
	transport.Protocols.SetUnencryptedHTTP2(true)
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: 20 * time.Second, PingTimeout: 10 * time.Second}
	return &http.Client{Transport: transport}
}

// exchange gives tokens for a key.
func exchange(access berthv1connect.AccessServiceClient, key string, now func() time.Time) TokenSource {
	return func(ctx context.Context) (Token, error) {
		answer, err := access.ExchangeKey(ctx, connect.NewRequest(&v1.ExchangeKeyRequest{Key: key}))
		if err != nil {
			return Token{}, err
		}
		// Counted from now by our own clock, which may differ from the server's.
		return Token{Value: answer.Msg.GetAccessToken(), ExpiresAt: now().Add(answer.Msg.GetExpiresIn().AsDuration())}, nil
	}
}
