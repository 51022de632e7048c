package admission

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	validatepb "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
)

func bookStub(context.Context, *v1.BookRequest) (*v1.BookResponse, error) {
	return &v1.BookResponse{Outcome: &v1.BookResponse_Booking{Booking: &v1.Booking{}}}, nil
}

func TestAdmit_ResolvesTenantAndCaller(t *testing.T) {
	t.Parallel()
	w := newStubServer(t)
	var seen sync.Map // callers by request id
	w.booking.get = func(ctx context.Context, r *v1.GetBookingRequest) (*v1.GetBookingResponse, error) {
		test.EqOp(
			t, request.Caller(ctx).Tenant.String(), r.TenantId,
			test.Sprintf("the request names %q, the caller is in %s", r.TenantId, request.Caller(ctx).Tenant),
		)
		seen.Store(request.ID(ctx), request.Caller(ctx))
		return &v1.GetBookingResponse{}, nil
	}
	client := berthv1connect.NewBookingServiceClient(http1, w.url)
	// GetBooking is for one's own bookings, and with booking.read for everyone's.
	for _, tc := range []struct {
		name    string
		token   string
		tenant  string
		want    tenant.Caller
		refused apiError
	}{
		{
			name: "staff", token: w.token(t, "coach", tenantA),
			want: tenant.Caller{Tenant: tenantA, Subject: "coach", Member: memberIDOf("coach"), Roles: []string{"coach"}},
		},
		{
			name: "member for own things", token: w.token(t, "member", tenantA),
			want: tenant.Caller{
				Tenant: tenantA, Subject: "member", Member: memberIDOf("member"), Roles: []string{"member"}, SelfOnly: true,
			},
		},
		{
			name: "role without any permission for own things", token: w.token(t, "gardener", tenantA),
			want: tenant.Caller{
				Tenant: tenantA, Subject: "gardener", Member: memberIDOf("gardener"), Roles: []string{"gardener"}, SelfOnly: true,
			},
		},
		{
			name: "one of several tenants", token: w.token(t, "member", tenantA, tenantB), tenant: tenantB.String(),
			want: tenant.Caller{
				Tenant: tenantB, Subject: "member", Member: memberIDOf("member"), Roles: []string{"member"}, SelfOnly: true,
			},
		},
		{
			name: "upper case", token: w.token(t, "owner", tenantA), tenant: strings.ToUpper(tenantA.String()),
			want: tenant.Caller{Tenant: tenantA, Subject: "owner", Member: memberIDOf("owner"), Roles: []string{"owner"}},
		},
		{
			name: "which tenant", token: w.token(t, "member", tenantA, tenantB),
			refused: apiError{
				Code: connect.CodeInvalidArgument, Reason: "TENANT_REQUIRED", Metadata: map[string]string{"field": "tenant_id"},
			},
		},
		{
			name: "other tenant", token: w.token(t, "owner", tenantA), tenant: tenantB.String(),
			refused: apiError{Code: connect.CodePermissionDenied, Reason: "TENANT_FORBIDDEN"},
		},
		{
			name: "no tenant at all", token: w.token(t, "owner"),
			refused: apiError{Code: connect.CodePermissionDenied, Reason: "TENANT_FORBIDDEN"},
		},
		{
			name: "no UUID", token: w.token(t, "owner", tenantA), tenant: "' or 1=1",
			refused: apiError{
				Code: connect.CodeInvalidArgument, Reason: "INVALID_FIELD", Metadata: map[string]string{"field": "tenant_id"},
			},
		},
		{
			name: "service account for what it created", token: w.token(t, "sa:partner", tenantA),
			want: tenant.Caller{Tenant: tenantA, Subject: "sa:partner", Roles: []string{tenant.RolePartner}, SelfOnly: true},
		},
		{
			name: "left", token: w.token(t, "left", tenantA),
			refused: apiError{Code: connect.CodePermissionDenied, Reason: "MEMBER_INACTIVE"},
		},
		{
			name: "stranger", token: w.token(t, "stranger", tenantA),
			refused: apiError{
				Code: connect.CodePermissionDenied, Reason: "PERMISSION_DENIED",
				Metadata: map[string]string{"permission": "booking.read"},
			},
		},
		{name: "no token", refused: apiError{Code: connect.CodeUnauthenticated, Reason: "UNAUTHENTICATED"}},
		{
			name: "forged", token: tamperSignature(t, w.token(t, "owner", tenantA)),
			refused: apiError{Code: connect.CodeUnauthenticated, Reason: "UNAUTHENTICATED"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			request := as(tc.token, &v1.GetBookingRequest{TenantId: tc.tenant, BookingId: someSession})
			request.Header().Set("X-Request-Id", strings.ReplaceAll(tc.name, " ", "-"))
			_, err := client.GetBooking(t.Context(), request)
			if tc.refused.Code != 0 {
				test.Eq(t, tc.refused, apiErrorOf(t, err))
			} else if err != nil {
				t.Error(err)
			}
			value, _ := seen.Load(request.Header().Get("X-Request-Id"))
			got, _ := value.(tenant.Caller)
			if tc.refused.Code == 0 {
				test.Eq(t, grant.PermissionsOf(tc.want.Roles...), got.May)
			}
			got.May = nil
			test.True(t, cmp.Equal(tc.want, got), test.Sprint(cmp.Diff(tc.want, got)))
		})
	}
}

// tamperSignature changes one bit of a token's signature.
func tamperSignature(t *testing.T, raw string) string {
	t.Helper()
	at := strings.LastIndexByte(raw, '.') + 10
	other := byte('A')
	if raw[at] == other {
		other = 'B'
	}
	return raw[:at] + string(other) + raw[at+1:]
}

// Service accounts, which have no member ID, are admitted to access what they created, if the contract says so.
func TestAdmit_RuleSelfNeedsActiveMember(t *testing.T) {
	t.Parallel()
	w := newStubServer(t)
	w.booking.cancel = func(ctx context.Context, _ *v1.CancelBookingRequest) (*v1.CancelBookingResponse, error) {
		by := request.Caller(ctx)
		test.EqOp(t, !slices.Contains(by.Roles, tenant.RoleOwner), by.SelfOnly,
			test.Sprintf("%s: only booking.cancel_any widens CancelBooking", by.Subject))
		return &v1.CancelBookingResponse{}, nil
	}
	client := berthv1connect.NewBookingServiceClient(http1, w.url)
	for subject, allowed := range map[string]bool{
		"owner": true, "member": true, "sa:partner": true, "left": false, "stranger": false,
	} {
		_, err := client.CancelBooking(
			t.Context(), as(w.token(t, subject, tenantA), &v1.CancelBookingRequest{BookingId: someSession}),
		)
		test.EqOp(t, (err == nil), allowed, test.Sprintf("%s: %v", subject, err))
		if err != nil {
			want := apiError{
				Code: connect.CodePermissionDenied, Reason: "PERMISSION_DENIED",
				Metadata: map[string]string{"permission": "booking.cancel_any"},
			}
			if subject == "left" {
				want = apiError{Code: connect.CodePermissionDenied, Reason: "MEMBER_INACTIVE"}
			}
			test.Eq(t, want, apiErrorOf(t, err), test.Sprint(subject))
		}
	}
}

// A service account has no profile. It may not call an RPC with RULE_SELF that does not declare service_accounts.
func TestAdmit_RejectsServiceAccountsUnlessDeclared(t *testing.T) {
	t.Parallel()
	w := newStubServer(t)
	client := berthv1connect.NewMemberServiceClient(http1, w.url)
	for subject, want := range map[string]connect.Code{
		"member": connect.CodeUnimplemented, "sa:partner": connect.CodePermissionDenied,
	} {
		_, err := client.GetMe(t.Context(), as(w.token(t, subject, tenantA), &v1.GetMeRequest{}))
		test.EqOp(t, want, connect.CodeOf(err), test.Sprintf("%s: %v, want", subject, err))
	}
}

func TestAdmit_PublicRPCsNeedNoToken(t *testing.T) {
	t.Parallel()
	url := newStubServer(t).url
	client := berthv1connect.NewAccessServiceClient(http1, url)
	for _, token := range []string{"", "nonsense"} {
		refused(t, "INVALID_FIELD key", test.Sprint(token))(
			client.ExchangeKey(t.Context(), as(token, &v1.ExchangeKeyRequest{})),
		)
	}
	refused(t, "INVALID_FIELD sender")(errorFromResponse(t, send(
		t, http1, http.MethodPost, url+berthv1connect.AccessServiceExchangeKeyProcedure,
		http.Header{"Content-Type": {"application/json"}}, `{"key":"berth_x","sender":"kiosk"}`,
	)))
}

func TestErrors_AreTheSameInEveryProtocol(t *testing.T) {
	t.Parallel()
	w := newStubServer(t)
	w.booking.book = bookStub
	w.booking.get = func(context.Context, *v1.GetBookingRequest) (*v1.GetBookingResponse, error) {
		return nil, fault.Missing(fault.BookingNotFound, "booking")
	}
	w.events.watch = func(
		context.Context, *v1.WatchEventsRequest, *connect.ServerStream[v1.WatchEventsResponse],
	) error {
		return fault.New(fault.InvalidArgument, fault.ImportInvalid, "The file has no header.").WithMetadata("line", "1")
	}
	get := func(
		ctx context.Context, client *http.Client, options connect.ClientOption, token string, message *v1.GetBookingRequest,
	) error {
		return errorOf(berthv1connect.NewBookingServiceClient(client, w.url, options).GetBooking(ctx, as(token, message)))
	}
	stream := func(
		ctx context.Context, client *http.Client, options connect.ClientOption, token string,
		message *v1.WatchEventsRequest,
	) error {
		return streamError(berthv1connect.NewEventServiceClient(client, w.url, options).
			WatchEvents(ctx, as(token, message)))
	}
	eachProtocol(t, func(t *testing.T, client *http.Client, options connect.ClientOption) {
		t.Helper()
		for name, tc := range map[string]struct {
			err  error
			want apiError
		}{
			"no token": {
				get(t.Context(), client, options, "", &v1.GetBookingRequest{}),
				apiError{Code: connect.CodeUnauthenticated, Reason: "UNAUTHENTICATED"},
			},
			"denied before it is validated": {
				get(t.Context(), client, options, w.token(t, "stranger", tenantA), &v1.GetBookingRequest{BookingId: "x"}),
				apiError{
					Code: connect.CodePermissionDenied, Reason: "PERMISSION_DENIED",
					Metadata: map[string]string{"permission": "booking.read"},
				},
			},
			"invalid": {
				get(t.Context(), client, options, w.token(t, "member", tenantA), &v1.GetBookingRequest{BookingId: "x"}),
				apiError{
					Code: connect.CodeInvalidArgument, Reason: "INVALID_FIELD", Metadata: map[string]string{"field": "booking_id"},
				},
			},
			"the handler's": {
				get(t.Context(), client, options, w.token(t, "member", tenantA), &v1.GetBookingRequest{BookingId: someSession}),
				apiError{Code: connect.CodeNotFound, Reason: "BOOKING_NOT_FOUND"},
			},
			"stream, no token": {
				stream(t.Context(), client, options, "", &v1.WatchEventsRequest{}),
				apiError{Code: connect.CodeUnauthenticated, Reason: "UNAUTHENTICATED"},
			},
			"stream, denied": {
				stream(t.Context(), client, options, w.token(t, "stranger", tenantA), &v1.WatchEventsRequest{}),
				apiError{
					Code: connect.CodePermissionDenied, Reason: "PERMISSION_DENIED",
					Metadata: map[string]string{"permission": "event.read"},
				},
			},
			"stream, other tenant": {
				stream(
					t.Context(), client, options, w.token(t, "owner", tenantA), &v1.WatchEventsRequest{TenantId: tenantB.String()},
				),
				apiError{Code: connect.CodePermissionDenied, Reason: "TENANT_FORBIDDEN"},
			},
			"stream, invalid": {
				stream(
					t.Context(), client, options, w.token(t, "owner", tenantA),
					&v1.WatchEventsRequest{Cursor: strings.Repeat("x", 201)},
				),
				apiError{
					Code: connect.CodeInvalidArgument, Reason: "INVALID_FIELD", Metadata: map[string]string{"field": "cursor"},
				},
			},
			"stream, the handler's": {
				stream(t.Context(), client, options, w.token(t, "owner", tenantA), &v1.WatchEventsRequest{}),
				apiError{Code: connect.CodeInvalidArgument, Reason: "IMPORT_INVALID", Metadata: map[string]string{"line": "1"}},
			},
		} {
			test.Eq(t, tc.want, apiErrorOf(t, tc.err), test.Sprint(name))
		}
	})
}

func TestErrors_ListEveryViolation(t *testing.T) {
	t.Parallel()
	w := newStubServer(t)
	_, err := berthv1connect.NewBookingServiceClient(http1, w.url).
		Book(t.Context(), as(w.token(t, "member", tenantA), &v1.BookRequest{SessionId: "x", PartySize: new(int32(-1))}))
	var wire *connect.Error
	must.True(t, errors.As(err, &wire), must.Sprint(err))
	test.Eq(t, []string{"session_id", "party_size"}, violatedFields(t, wire))
	test.EqOp(t, "session_id", infoOf(t, wire).GetMetadata()["field"], test.Sprint("the first field"))
}

// What was stored before a later rule is sent back with other edits, and is not in their way.
func TestValidate_LeavesTextsThatAnUpdateKeeps(t *testing.T) {
	t.Parallel()
	w := newStubServer(t)
	const id = "0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b"
	bad := &v1.MemberInput{Email: "ana\u200b@example.com", TimeZone: "Mars ", Notes: "x"}
	for mask, want := range map[string]connect.Code{
		"notes": connect.CodeUnimplemented, "notes,email": connect.CodeInvalidArgument,
		"notes,time_zone": connect.CodeInvalidArgument, "*": connect.CodeInvalidArgument, "": connect.CodeInvalidArgument,
	} {
		req := &v1.UpdateMemberRequest{MemberId: id, Member: bad}
		if mask != "" {
			req.UpdateMask = &fieldmaskpb.FieldMask{Paths: strings.Split(mask, ",")}
		}
		_, err := berthv1connect.NewMemberServiceClient(http1, w.url).
			UpdateMember(t.Context(), as(w.token(t, "owner", tenantA), req))
		test.EqOp(t, want, connect.CodeOf(err), test.Sprintf("%s: %v", mask, err))
	}
	long := &v1.UpdateMemberRequest{
		MemberId: id, Member: &v1.MemberInput{Name: strings.Repeat("x", 201)},
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"notes"}},
	}
	_, err := berthv1connect.NewMemberServiceClient(http1, w.url).
		UpdateMember(t.Context(), as(w.token(t, "owner", tenantA), long))
	test.EqOp(t, connect.CodeInvalidArgument, connect.CodeOf(err), test.Sprint("bounds hold in any case"))
}

// violatedFields returns the fields of an error's Violations detail.
func violatedFields(t *testing.T, wire *connect.Error) (fields []string) {
	t.Helper()
	for _, detail := range wire.Details() {
		if violations, ok := expect.Value(detail.Value())(t).(*validatepb.Violations); ok {
			for _, v := range violations.GetViolations() {
				fields = append(fields, protovalidate.FieldPathString(v.GetField()))
			}
		}
	}
	return fields
}

func TestErrors_HideInternalCauses(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]func(context.Context) error{
		"panic":    func(context.Context) error { panic("secret: 1234") },
		"bug":      func(context.Context) error { return errors.New("secret: 1234") },
		"internal": func(context.Context) error { return fault.New(fault.Internal, fault.InternalError, "secret: 1234") },
		"wrapped":  func(context.Context) error { return fmt.Errorf("booking: %w", errors.New("secret: 1234")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newStubServer(t)
			w.booking.book = func(ctx context.Context, _ *v1.BookRequest) (*v1.BookResponse, error) {
				return nil, broken(ctx)
			}
			w.events.watch = func(
				ctx context.Context, _ *v1.WatchEventsRequest, _ *connect.ServerStream[v1.WatchEventsResponse],
			) error {
				return broken(ctx)
			}
			request := as(w.token(t, "owner", tenantA), &v1.BookRequest{SessionId: someSession})
			request.Header().Set("X-Request-Id", "abc-1")
			_, err := berthv1connect.NewBookingServiceClient(http1, w.url).Book(t.Context(), request)
			want := apiError{Code: connect.CodeInternal, Reason: "INTERNAL", Metadata: map[string]string{"request_id": "abc-1"}}
			test.Eq(t, want, apiErrorOf(t, err))
			text := err.Error()
			test.StrNotContains(t, text, "secret")
			test.StrContains(t, text, "abc-1")
			watching := as(w.token(t, "owner", tenantA), &v1.WatchEventsRequest{})
			watching.Header().Set("X-Request-Id", "abc-1")
			failsAs(t, want)(streamError(
				berthv1connect.NewEventServiceClient(http1, w.url).WatchEvents(t.Context(), watching),
			))
			log := w.log.String()
			test.EqOp(t, 2, strings.Count(log, "secret: 1234"))
			test.EqOp(t, 2, strings.Count(log, `"request_id":"abc-1"`))
			test.EqOp(t, 2, strings.Count(log, `"level":"ERROR"`))
			test.EqOp(t, 2, strings.Count(log, `"tenant_id":"`+tenantA.String()))
			test.StrNotContains(t, log, "Bearer")
			test.False(
				t, name == "panic" && !strings.Contains(log, "interceptor_test.go"), test.Sprintf("no stack in %s", log),
			)
		})
	}
}

func TestErrors_HideFailuresOfRoleSource(t *testing.T) {
	t.Parallel()
	w := newStubServer(t)
	_, err := berthv1connect.NewBookingServiceClient(http1, w.url).
		Book(t.Context(), as(w.token(t, "broken", tenantA), &v1.BookRequest{SessionId: someSession}))
	test.EqOp(t, "INTERNAL", apiErrorOf(t, err).Reason)
	test.StrNotContains(t, err.Error(), "fire")
	ctx := request.WithCall(t.Context(), &request.Call{
		Guard: access.New(stubRoles{}), Caller: tenant.Caller{Tenant: tenantA, Subject: "broken"}, Admitted: true,
	})
	test.ErrorContains(t, errorOf(request.Permitted(ctx, request.Caller(ctx), []string{"session.read"})), "fire")
	test.ErrorContains(t, request.RequirePermission(ctx, "session.read"), "fire")
}

func TestUnary_TimesOut(t *testing.T) {
	t.Parallel()
	w := newStubServer(t, func(c *Config) { c.TimeLimit = 50 * time.Millisecond })
	w.booking.book = func(ctx context.Context, _ *v1.BookRequest) (*v1.BookResponse, error) {
		<-ctx.Done()
		return nil, fmt.Errorf("booking: %w", ctx.Err())
	}
	eachProtocol(t, func(t *testing.T, client *http.Client, options connect.ClientOption) {
		t.Helper()
		failsAs(
			t, apiError{Code: connect.CodeDeadlineExceeded, Reason: "DEADLINE_EXCEEDED"},
		)(berthv1connect.NewBookingServiceClient(client, w.url, options).
			Book(t.Context(), as(w.token(t, "member", tenantA), &v1.BookRequest{SessionId: someSession})))
		test.StrContains(t, w.log.String(), `"level":"WARN"`)
	})
}

func TestErrors_WarnOfTimeLimitsOfTheServerOnly(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for _, cause := range []error{errTimeout, context.DeadlineExceeded, context.Canceled} {
		ctx, cancel := context.WithCancelCause(request.WithCall(t.Context(), new(request.Call)))
		cancel(cause)
		(&Chain{log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}).logError(
			ctx, "Book", errTimeout,
		)
	}
	test.Eq(t, []string{"level=WARN", "level=DEBUG", "level=DEBUG"},
		regexp.MustCompile(`level=\w+`).FindAllString(log.String(), -1))
}

func TestUnary_CancelledCallerCancelsHandler(t *testing.T) {
	t.Parallel()
	w := newStubServer(t)
	begun, ended := make(chan struct{}), make(chan error, 1)
	w.booking.book = func(ctx context.Context, _ *v1.BookRequest) (*v1.BookResponse, error) {
		close(begun)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	_, err := berthv1connect.NewBookingServiceClient(http2, w.url, connect.WithGRPC()).
		Book(ctx, as(w.token(t, "member", tenantA), &v1.BookRequest{SessionId: someSession}))
	test.EqOp(t, connect.CodeCanceled, connect.CodeOf(err), test.Sprint(err))
	test.ErrorIs(t, <-ended, context.Canceled)
}

func TestEncodeError_MapsFaults(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithTimeout(t.Context(), -1)
	t.Cleanup(cancel)
	for name, tc := range map[string]struct {
		ctx  context.Context //nolint:containedctx // a table
		err  error
		want apiError
		text string
	}{
		"fault": {
			err: fault.New(
				fault.FailedPrecondition, fault.AdvanceWindow, "Too early.",
			).WithMetadata("opens_at", "2026-03-29T01:00:00Z"),
			want: apiError{
				Code: connect.CodeFailedPrecondition, Reason: "ADVANCE_WINDOW",
				Metadata: map[string]string{"opens_at": "2026-03-29T01:00:00Z"},
			},
			text: "Too early.",
		},
		"wrapped fault with a cause": {
			err: fmt.Errorf(
				"book: %w", fault.New(fault.Unavailable, fault.Contention, "Try again.").WithCause(errors.New("secret")),
			),
			want: apiError{Code: connect.CodeUnavailable, Reason: "CONTENTION"}, text: "Try again.",
		},
		"field": {
			err: fault.Invalid("session.start", "start is wrong."),
			want: apiError{
				Code: connect.CodeInvalidArgument, Reason: "INVALID_FIELD", Metadata: map[string]string{"field": "session.start"},
			},
			text: "start is wrong.",
		},
		"encoded already": {
			err: fmt.Errorf("read: %w", tooLarge(7)),
			want: apiError{
				Code: connect.CodeResourceExhausted, Reason: "REQUEST_TOO_LARGE", Metadata: map[string]string{"limit_bytes": "7"},
			},
			text: "The request is larger than 7 bytes.",
		},
		"commit unknown": {
			err: fmt.Errorf("book: %w: %w", pg.ErrCommitUnknown, errors.New("secret")),
			want: apiError{
				Code: connect.CodeDeadlineExceeded, Reason: "DEADLINE_EXCEEDED", Metadata: map[string]string{"outcome": "unknown"},
			},
		},
		"caller left": {
			ctx: ended, err: errors.New("secret"), want: apiError{Code: connect.CodeCanceled, Reason: "CANCELED"},
		},
		"late": {
			ctx: late, err: errors.New("secret"),
			want: apiError{Code: connect.CodeDeadlineExceeded, Reason: "DEADLINE_EXCEEDED"},
		},
		"late inside": {
			err:  fmt.Errorf("x: %w", context.DeadlineExceeded),
			want: apiError{Code: connect.CodeDeadlineExceeded, Reason: "DEADLINE_EXCEEDED"},
		},
		"a fault, though late": {
			ctx: late, err: fault.Missing(fault.PlanNotFound, "plan"),
			want: apiError{Code: connect.CodeNotFound, Reason: "PLAN_NOT_FOUND"},
		},
		"connect's argument": {
			err:  connect.NewError(connect.CodeInvalidArgument, errors.New("odd")),
			want: apiError{Code: connect.CodeInvalidArgument, Reason: "INVALID_FIELD"}, text: "odd",
		},
		"connect's size": {
			err:  connect.NewError(connect.CodeResourceExhausted, errors.New("big")),
			want: apiError{Code: connect.CodeResourceExhausted, Reason: "REQUEST_TOO_LARGE"}, text: "big",
		},
		"connect's own trouble": {
			err:  connect.NewError(connect.CodeUnknown, errors.New("secret")),
			want: apiError{Code: connect.CodeInternal, Reason: "INTERNAL", Metadata: map[string]string{"request_id": "r1"}},
		},
		"anything": {
			err: errors.New("secret"), want: apiError{
				Code: connect.CodeInternal, Reason: "INTERNAL", Metadata: map[string]string{"request_id": "r1"},
			},
			text: "Something went wrong. The request ID is r1.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := tc.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			ctx = request.WithCall(ctx, &request.Call{ID: "r1", Principal: token.Principal{}})
			wire := encodeError(ctx, faultOf(ctx, tc.err))
			test.Eq(t, tc.want, apiErrorOf(t, wire))
			if tc.want.Reason == "INVALID_FIELD" {
				test.Eq(t, []string{tc.want.Metadata["field"]}, violatedFields(t, wire))
			}
			test.StrNotContains(t, wire.Message(), "secret", test.Sprintf("the sentence is %q", wire.Message()))
			test.True(t, tc.text == "" || tc.text == wire.Message(), test.Sprintf("the sentence is %q", wire.Message()))
		})
	}
}

// In every request, what is updated comes before its mask.
func TestValidate_KnowsWhatAMaskIsOf(t *testing.T) {
	t.Parallel()
	masks := 0
	protoregistry.GlobalTypes.RangeMessages(func(m protoreflect.MessageType) bool {
		fields := m.Descriptor().Fields()
		mask := fields.ByName("update_mask")
		if mask == nil || m.Descriptor().ParentFile().Package() != "berth.v1" {
			return true
		}
		masks++
		must.Positive(t, mask.Index(), must.Sprint(m.Descriptor().Name()))
		test.EqOp(t, protoreflect.MessageKind, fields.Get(mask.Index()-1).Kind(), test.Sprint(m.Descriptor().Name()))
		return true
	})
	test.Greater(t, 10, masks)
}
