package rpc

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/accountapi"
	"github.com/berthhq/berth/internal/rpc/bookingapi"
	"github.com/berthhq/berth/internal/rpc/catalogapi"
	"github.com/berthhq/berth/internal/rpc/eventapi"
	"github.com/berthhq/berth/internal/rpc/messageapi"
	"github.com/berthhq/berth/internal/rpc/scheduleapi"
	"github.com/berthhq/berth/internal/rpc/settingsapi"
	"github.com/berthhq/berth/internal/rpc/waitlistapi"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/internal/traffic"
)

var (
	tenantA = tenant.MustParse[tenant.TenantID]("0190a000-0000-7000-8000-00000000000a")
	tenantB = tenant.MustParse[tenant.TenantID]("0190a000-0000-7000-8000-00000000000b")
)

const someSession = "0190a000-0000-7000-8000-000000000001"

// stubRoles is an access.Source. In every tenant, a subject named like a built-in role has this role.
type stubRoles struct{}

func (stubRoles) Roles(context.Context, tenant.TenantID) ([]access.Role, error) {
	return []access.Role{{Name: "gardener"}}, nil
}

func (stubRoles) Holder(_ context.Context, _ tenant.TenantID, subject string) (access.Holder, error) {
	holder := access.Holder{Member: memberIDOf(subject), Roles: []string{subject}, Active: true}
	switch subject {
	case "sa:partner":
		return access.Holder{Roles: []string{tenant.RolePartner}, Active: true}, nil
	case tenant.RoleOwner, tenant.RoleAdmin, tenant.RoleCoach, tenant.RoleMember, "gardener":
		return holder, nil
	case "left":
		return access.Holder{Member: memberIDOf(subject), Roles: []string{tenant.RoleOwner}}, nil
	case "broken":
		return access.Holder{}, errors.New("secret: the directory is on fire")
	}
	if strings.HasPrefix(subject, "member-") {
		return access.Holder{Member: memberIDOf(subject), Roles: []string{tenant.RoleMember}, Active: true}, nil
	}
	return access.Holder{}, nil
}

// memberIDOf derives a member ID from a subject.
func memberIDOf(subject string) tenant.MemberID {
	var id tenant.MemberID
	copy(id.UUID[:], "member:"+subject)
	return id
}

// stubServer is a server on the loopback interface whose handlers are set by the test.
type stubServer struct {
	url     string
	issuer  *token.Issuer
	metrics *prometheus.Registry
	health  *Health
	log     *logBuffer
	booking *stubBookings
	members *stubMembers
	session *stubSessions
}

func newStubServer(t *testing.T, adapt ...func(*Config)) *stubServer {
	t.Helper()
	w := &stubServer{
		metrics: prometheus.NewRegistry(),
		health:  NewHealth(func(context.Context) error { return nil }),
		log:     new(logBuffer),
		booking: new(stubBookings), members: new(stubMembers), session: new(stubSessions),
	}
	w.issuer = expect.Value(
		token.OpenIssuer(filepath.Join(t.TempDir(), "key.pem"), "https://berth.test", "berth", time.Now),
	)(t)
	c := Config{
		Guard: access.New(stubRoles{}), Issuer: w.issuer, Health: w.health, Now: time.Now,
		Verifier: expect.Value(token.NewVerifier(time.Now, w.issuer.AsTrusted()))(t),
		Logger:   slog.New(slog.NewJSONHandler(w.log, nil)), Metrics: w.metrics,
		Origins: []string{"https://app.test"},
	}
	for _, f := range adapt {
		f(&c)
	}
	h := &handlers{
		Accounts: &accountapi.Accounts{}, Bookings: &bookingapi.Bookings{}, Catalog: &catalogapi.Catalog{},
		Events: &eventapi.Events{}, Messages: &messageapi.Messages{},
		Schedules: &scheduleapi.Schedules{}, Settings: &settingsapi.Settings{}, Waitlists: &waitlistapi.Waitlists{},
	}
	handler := expect.Value(c.serve(services{
		tenant: h, member: w.members, access: h, session: w.session, booking: w.booking,
		credit: h, checkIn: h, waitlist: h, analytics: h, audit: h, event: h, notification: h,
	}))(t)
	w.url = listen(t, handler, traffic.ConnLimits{})
	return w
}

func listen(t testing.TB, handler http.Handler, limits traffic.ConnLimits) string {
	t.Helper()
	listener := expect.Value(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	server := NewServer(handler, slog.New(slog.DiscardHandler), limits)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		test.ErrorIs(t, <-done, http.ErrServerClosed)
	})
	return "http://" + listener.Addr().String()
}

// token signs a token for a subject in tenants.
func (w *stubServer) token(t *testing.T, subject string, tenants ...tenant.TenantID) string {
	t.Helper()
	return issue(t, w.issuer, token.Claims{Subject: subject, Tenants: tenants}, time.Hour)
}

// logBuffer is a log writer that tests can read.
type logBuffer struct {
	mu   sync.Mutex
	text []byte
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	return len(p), nil
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// stubBookings, stubMembers and stubSessions call the functions that the test sets.
type stubBookings struct {
	berthv1connect.UnimplementedBookingServiceHandler

	book   func(context.Context, *v1.BookRequest) (*v1.BookResponse, error)
	get    func(context.Context, *v1.GetBookingRequest) (*v1.GetBookingResponse, error)
	cancel func(context.Context, *v1.CancelBookingRequest) (*v1.CancelBookingResponse, error)
}

func (b *stubBookings) Book(ctx context.Context, r *v1.BookRequest) (*v1.BookResponse, error) {
	return b.book(ctx, r)
}

func (b *stubBookings) GetBooking(ctx context.Context, r *v1.GetBookingRequest) (*v1.GetBookingResponse, error) {
	return b.get(ctx, r)
}

func (b *stubBookings) CancelBooking(
	ctx context.Context, r *v1.CancelBookingRequest,
) (*v1.CancelBookingResponse, error) {
	return b.cancel(ctx, r)
}

type stubMembers struct {
	berthv1connect.UnimplementedMemberServiceHandler

	importMembers func(
		context.Context, *v1.ImportMembersRequest, *connect.ServerStream[v1.ImportMembersResponse],
	) error
}

func (m *stubMembers) ImportMembers(
	ctx context.Context, r *v1.ImportMembersRequest, s *connect.ServerStream[v1.ImportMembersResponse],
) error {
	return m.importMembers(ctx, r, s)
}

type stubSessions struct {
	berthv1connect.UnimplementedSessionServiceHandler

	list func(context.Context, *v1.ListSessionsRequest) (*v1.ListSessionsResponse, error)
}

func (s *stubSessions) ListSessions(ctx context.Context, r *v1.ListSessionsRequest) (*v1.ListSessionsResponse, error) {
	return s.list(ctx, r)
}
