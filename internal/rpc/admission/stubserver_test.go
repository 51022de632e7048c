package admission

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/accountapi"
	"github.com/berthhq/berth/internal/rpc/rpctest"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
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
	log     *logBuffer
	booking *stubBookings
	members *stubMembers
	events  *stubEvents
}

func newStubServer(t *testing.T, adapt ...func(*Config)) *stubServer {
	t.Helper()
	w := &stubServer{
		metrics: prometheus.NewRegistry(), log: new(logBuffer), booking: new(stubBookings), members: new(stubMembers),
		events: new(stubEvents),
	}
	w.issuer = expect.Value(
		token.OpenIssuer(filepath.Join(t.TempDir(), "key.pem"), "https://berth.test", "berth", time.Now),
	)(t)
	c := Config{
		Guard: access.New(stubRoles{}), Now: time.Now,
		Verifier: expect.Value(token.NewVerifier(time.Now, w.issuer.AsTrusted()))(t),
		Logger:   slog.New(slog.NewJSONHandler(w.log, nil)), Metrics: w.metrics,
		Origins: []string{"https://app.test"},
	}
	for _, f := range adapt {
		f(&c)
	}
	calls := expect.Value(New(c))(t)
	mux := http.NewServeMux()
	mount := func(path string, handler http.Handler) { mux.Handle(path, calls.Handle(handler)) }
	mount(berthv1connect.NewAccessServiceHandler(new(accountapi.Accounts), calls.Options()))
	mount(berthv1connect.NewBookingServiceHandler(w.booking, calls.Options()))
	mount(berthv1connect.NewMemberServiceHandler(w.members, calls.Options()))
	mount(berthv1connect.NewEventServiceHandler(w.events, calls.Options()))
	mount(berthv1connect.NewSessionServiceHandler(
		berthv1connect.UnimplementedSessionServiceHandler{}, calls.Options(),
	))
	mount("/not.in.the.Contract/Call", connect.NewUnaryHandlerSimple("/not.in.the.Contract/Call",
		func(context.Context, *v1.GetMeRequest) (*v1.GetMeResponse, error) { return new(v1.GetMeResponse), nil },
		calls.Sizes(),
	))
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	w.url = rpctest.Listen(t, &http.Server{Handler: mux, Protocols: protocols, ReadHeaderTimeout: time.Minute})
	return w
}

// token signs a token for a subject in tenants.
func (s *stubServer) token(t *testing.T, subject string, tenants ...tenant.TenantID) string {
	t.Helper()
	return rpctest.Issue(t, s.issuer, token.Claims{Subject: subject, Tenants: tenants}, time.Hour)
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

// stubBookings, stubMembers and stubEvents call the functions that the test sets.
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

	importMembers func(context.Context, *v1.ImportMembersRequest) (*v1.ImportMembersResponse, error)
}

func (m *stubMembers) ImportMembers(
	ctx context.Context, r *v1.ImportMembersRequest,
) (*v1.ImportMembersResponse, error) {
	return m.importMembers(ctx, r)
}

type stubEvents struct {
	berthv1connect.UnimplementedEventServiceHandler

	watch func(context.Context, *v1.WatchEventsRequest, *connect.ServerStream[v1.WatchEventsResponse]) error
}

func (e *stubEvents) WatchEvents(
	ctx context.Context, r *v1.WatchEventsRequest, s *connect.ServerStream[v1.WatchEventsResponse],
) error {
	return e.watch(ctx, r, s)
}
