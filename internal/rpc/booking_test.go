package rpc

import (
	"net/http"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/genproto/googleapis/type/money"
	"google.golang.org/genproto/googleapis/type/timeofday"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// The life of a booking as a gateway sees it, in every protocol: the headers of requests and responses, and the status
// of the slot after each call.
func TestBookingRPCs_HoldConfirmMoveAndCancel(t *testing.T) {
	t.Parallel()
	eachProtocol(t, newStudio(t).bookAndCancel)
}

func (s *studio) bookAndCancel(t *testing.T, web *http.Client, options connect.ClientOption) {
	t.Helper()
	client := berthv1connect.NewBookingServiceClient(web, s.URL, options)
	class := func(ahead time.Duration) string {
		in := s.input(monday.Add(ahead))
		in.Capacity = proto.Int32(1)
		return s.create(t, in, true).GetId()
	}
	in, to := class(48*time.Hour), class(72*time.Hour)
	wantStatus := func(session string, want v1.SlotStatus) {
		t.Helper()
		response, err := s.GetSession(t.Context(), as(s.Token(t, "member"), &v1.GetSessionRequest{SessionId: session}))
		test.True(
			t, err == nil && response.Msg.GetSession().GetSlotStatus() == want,
			test.Sprintf("%v, %v, want %v", response, err, want),
		)
	}
	wantHeaders := func(header http.Header, status, idempotent, key string) {
		t.Helper()
		for name, want := range map[string]string{
			"X-Booking-Status": status, "X-Idempotent": idempotent, "X-Idempotency-Key": key,
		} {
			test.EqOp(t, want, header.Get(name), test.Sprint(name))
		}
	}
	owner := s.Token(t, "owner")
	wantStatus(in, v1.SlotStatus_SLOT_STATUS_AVAILABLE)

	// Hold: the header's channel wins over the body's, and the external reference prevents a second hold.
	hold := func(name string) (*connect.Response[v1.HoldBookingResponse], error) {
		request := as(owner, &v1.HoldBookingRequest{
			SessionId: in, Contact: &v1.Contact{Name: name}, Channel: v1.Channel_CHANNEL_ONLINE, ExternalRef: t.Name(),
			GuestTier: "visitor",
		})
		request.Header().Set("X-Booking-Channel", "phone")
		return client.HoldBooking(t.Context(), request)
	}
	var id string
	for _, idempotent := range []string{"false", "true"} {
		held := expect.Value(hold("John Smith"))(t)
		wantHeaders(held.Header(), "PENDING", idempotent, "")
		b := held.Msg.GetBooking()
		test.True(
			t, b.GetChannel() == v1.Channel_CHANNEL_PHONE && b.GetGuestTier() == "visitor" &&
				b.GetStatus() == v1.BookingStatus_BOOKING_STATUS_PENDING &&
				b.GetPayment().GetStatus() == v1.PaymentStatus_PAYMENT_STATUS_UNPAID && b.GetMemberName() == "John Smith",
			test.Sprintf("%v", b),
		)
		id = b.GetId()
	}
	refused(t, "already_exists EXTERNAL_REF_CONFLICT")(hold("Jane Smith"))
	wantStatus(in, v1.SlotStatus_SLOT_STATUS_HELD)

	// Confirm: with an idempotency key, so a repetition returns the stored response.
	for _, idempotent := range []string{"false", "true"} {
		request := as(
			owner,
			&v1.ConfirmBookingRequest{
				BookingId: id, Payment: &v1.PaymentFacts{Amount: &money.Money{CurrencyCode: "EUR", Units: 50}, Method: "card"},
			},
		)
		request.Header().Set("Idempotency-Key", "confirm-"+id)
		confirmed := expect.Value(client.ConfirmBooking(t.Context(), request))(t)
		wantHeaders(confirmed.Header(), "CONFIRMED", idempotent, "confirm-"+id)
		p := confirmed.Msg.GetBooking().GetPayment()
		test.True(
			t, p.GetStatus() == v1.PaymentStatus_PAYMENT_STATUS_CAPTURED && p.GetPayTime().AsTime().Equal(monday),
			test.Sprintf("%v", p),
		)
	}
	repeated := expect.Value(client.ConfirmBooking(t.Context(), as(owner, &v1.ConfirmBookingRequest{BookingId: id})))(t)
	wantHeaders(repeated.Header(), "CONFIRMED", "true", "")
	wantStatus(in, v1.SlotStatus_SLOT_STATUS_BOOKED)
	refused(t, "resource_exhausted SESSION_FULL")(
		client.HoldBooking(t.Context(), as(s.Token(t, "member"), &v1.HoldBookingRequest{SessionId: in})),
	)

	// Reschedule, then cancel.
	for _, idempotent := range []string{"false", "true"} {
		moved := expect.Value(client.RescheduleBooking(
			t.Context(), as(owner, &v1.RescheduleBookingRequest{BookingId: id, SessionId: to}),
		))(t)
		wantHeaders(moved.Header(), "CONFIRMED", idempotent, "")
	}
	wantStatus(in, v1.SlotStatus_SLOT_STATUS_AVAILABLE)
	for _, idempotent := range []string{"false", "true"} {
		cancelled := expect.Value(
			client.AdminCancelBooking(t.Context(), as(owner, &v1.AdminCancelBookingRequest{BookingId: id})),
		)(t)
		wantHeaders(cancelled.Header(), "CANCELLED", idempotent, "")
		test.EqOp(t, v1.PaymentStatus_PAYMENT_STATUS_CAPTURED, cancelled.Msg.GetBooking().GetPayment().GetStatus())
	}

	// Refund: an act of its own, by those who may.
	record := &v1.RecordPaymentRequest{
		BookingId: id, Payment: &v1.PaymentFacts{Amount: &money.Money{CurrencyCode: "EUR", Units: 50}, Method: "card"},
	}
	known, err := client.RecordPayment(t.Context(), as(s.Token(t, "coach"), record))
	must.NoError(t, err)
	wantHeaders(known.Header(), "CANCELLED", "true", "")
	refund := &v1.RefundPaymentRequest{
		BookingId: id, Amount: &money.Money{CurrencyCode: "EUR", Units: 50}, Reference: "R1",
	}
	refused(t, "permission_denied PERMISSION_DENIED")(client.RefundPayment(t.Context(), as(s.Token(t, "coach"), refund)))
	for _, idempotent := range []string{"false", "true"} {
		refunded, err := client.RefundPayment(t.Context(), as(owner, refund))
		must.NoError(t, err)
		wantHeaders(refunded.Header(), "CANCELLED", idempotent, "")
		test.EqOp(t, v1.PaymentStatus_PAYMENT_STATUS_REFUNDED, refunded.Msg.GetBooking().GetPayment().GetStatus())
	}
	refund.Reference = "R2"
	refused(t, "failed_precondition REFUND_EXCEEDS_CAPTURED")(client.RefundPayment(t.Context(), as(owner, refund)))
	lines, err := client.ListPaymentEntries(t.Context(), as(owner, &v1.ListPaymentEntriesRequest{BookingId: id}))
	must.NoError(t, err)
	test.SliceLen(t, 2, lines.Msg.GetEntries())

	// Release.
	held, err := client.HoldBooking(t.Context(), as(s.Token(t, "member"), &v1.HoldBookingRequest{SessionId: to}))
	must.NoError(t, err)
	for _, units := range []int64{0, 500} {
		refused(
			t, "permission_denied PERMISSION_DENIED",
		)(client.ConfirmBooking(t.Context(), as(s.Token(t, "member"), &v1.ConfirmBookingRequest{
			BookingId: held.Msg.GetBooking().GetId(),
			Payment:   &v1.PaymentFacts{Amount: &money.Money{CurrencyCode: "EUR", Units: units}},
		})))
	}
	for _, idempotent := range []string{"false", "true"} {
		released := expect.Value(client.ReleaseHold(
			t.Context(), as(s.Token(t, "member"), &v1.ReleaseHoldRequest{BookingId: held.Msg.GetBooking().GetId()}),
		))(t)
		wantHeaders(released.Header(), "CANCELLED", idempotent, "")
	}
	expect.OK(t)(s.BlockSession(t.Context(), as(owner, &v1.BlockSessionRequest{SessionId: to})))
	wantStatus(to, v1.SlotStatus_SLOT_STATUS_BLOCKED)
}

// Each error has the code and reason on which clients branch.
func TestBookingRPCs_ReturnReasons(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	client := berthv1connect.NewBookingServiceClient(s.Client, s.URL)
	member := s.Token(t, "member")
	soon, otherTenant := s.create(t, s.input(monday.Add(3*time.Hour)), true).GetId(), s.NewTenant(t, "Other tenant")
	booked := expect.Value(client.Book(t.Context(), as(member, &v1.BookRequest{SessionId: soon})))(t)
	id := booked.Msg.GetBooking().GetId()
	through := func(channel string) *connect.Request[v1.HoldBookingRequest] {
		request := as(member, &v1.HoldBookingRequest{SessionId: soon})
		request.Header().Set("X-Booking-Channel", channel)
		return request
	}
	for want, err := range map[string]error{
		"failed_precondition CANCELLATION_WINDOW": errorOf(
			client.CancelBooking(t.Context(), as(member, &v1.CancelBookingRequest{BookingId: id})),
		),
		"not_found BOOKING_NOT_FOUND": errorOf(
			client.CancelBooking(t.Context(), as(member, &v1.CancelBookingRequest{BookingId: someSession})),
		),
		"not_found SESSION_NOT_FOUND": errorOf(
			client.HoldBooking(t.Context(), as(member, &v1.HoldBookingRequest{SessionId: someSession})),
		),
		"permission_denied TENANT_FORBIDDEN": errorOf(client.HoldBooking(
			t.Context(), as(member, &v1.HoldBookingRequest{TenantId: otherTenant.String(), SessionId: soon}),
		)),
		"permission_denied PERMISSION_DENIED": errorOf(client.HoldBooking( // for others, as a member
			t.Context(), as(member, &v1.HoldBookingRequest{SessionId: soon, MemberId: s.Members["coach"].String()}),
		)),
		"invalid_argument INVALID_FIELD guest_tier": errorOf(client.HoldBooking(t.Context(), as(
			member, &v1.HoldBookingRequest{SessionId: soon, Contact: &v1.Contact{Name: "Me"}, GuestTier: "member"},
		))),
		"invalid_argument INVALID_FIELD X-Booking-Channel": errorOf(client.HoldBooking(t.Context(), through("fax"))),
		"failed_precondition CHANNEL_CLOSED":               errorOf(client.HoldBooking(t.Context(), through("walkIn"))),
	} {
		refused(t, want)(err)
	}
}

// A partner's program books for a guest, and finds, moves and cancels this booking. Another partner's program cannot.
func TestPartner_ReachesOnlyItsOwnBookings(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	client := berthv1connect.NewBookingServiceClient(s.Client, s.URL)
	access := berthv1connect.NewAccessServiceClient(s.Client, s.URL)
	program := func(name string) string {
		created := expect.Value(access.CreateServiceAccount(
			t.Context(), as(s.Token(t, "owner"), &v1.CreateServiceAccountRequest{Name: name, Roles: []string{"partner"}}),
		))(t)
		return expect.Value(
			access.ExchangeKey(t.Context(), connect.NewRequest(&v1.ExchangeKeyRequest{Key: created.Msg.GetKey()})),
		)(t).Msg.GetAccessToken()
	}
	mine, rival := program("Mine"), program("Rival")
	in, to := s.create(
		t, s.input(monday.Add(48*time.Hour)), true,
	).GetId(), s.create(t, s.input(monday.Add(72*time.Hour)), true).GetId()
	held := expect.Value(client.HoldBooking(
		t.Context(), as(mine, &v1.HoldBookingRequest{SessionId: in, Contact: &v1.Contact{Name: "Pat"}}),
	))(t)
	id := held.Msg.GetBooking().GetId()
	list := func(token string) int {
		response := expect.Value(client.ListMyBookings(t.Context(), as(token, &v1.ListMyBookingsRequest{})))(t)
		return len(response.Msg.GetBookings())
	}
	calls := []func(token string) error{
		func(token string) error {
			return errorOf(client.ConfirmBooking(t.Context(), as(token, &v1.ConfirmBookingRequest{BookingId: id})))
		},
		func(token string) error {
			return errorOf(client.GetBooking(t.Context(), as(token, &v1.GetBookingRequest{BookingId: id})))
		},
		func(token string) error {
			return errorOf(client.RescheduleBooking(
				t.Context(), as(token, &v1.RescheduleBookingRequest{BookingId: id, SessionId: to}),
			))
		},
		func(token string) error {
			return errorOf(client.CancelBooking(t.Context(), as(token, &v1.CancelBookingRequest{BookingId: id})))
		},
	}
	for i, call := range calls {
		refused(t, "BOOKING_NOT_FOUND", test.Sprint(i))(call(rival))
		test.NoError(t, call(mine), test.Sprintf("call %d", i))
	}
	if n, none := list(mine), list(rival); n != 1 || none != 0 {
		t.Errorf("%d of mine, %d of the rival's", n, none)
	}
}

// Staff see a member's bookings, devices and notification preferences. Members see only their own.
func TestStaff_ReadDataOfMembers(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	bookings := berthv1connect.NewBookingServiceClient(s.Client, s.URL)
	members := berthv1connect.NewMemberServiceClient(s.Client, s.URL)
	notices := berthv1connect.NewNotificationServiceClient(s.Client, s.URL)
	member, coach := s.Token(t, "member"), s.Token(t, "coach")
	memberID := func(token string) string {
		return expect.Value(members.GetMe(t.Context(), as(token, &v1.GetMeRequest{})))(t).Msg.GetMember().GetId()
	}
	mine, theirs := memberID(member), memberID(coach)
	in := s.create(t, s.input(monday.Add(48*time.Hour)), true).GetId()
	held := expect.Value(bookings.HoldBooking(t.Context(), as(member, &v1.HoldBookingRequest{SessionId: in})))(t)
	expect.OK(t)(members.RegisterDevice(
		t.Context(), as(member, &v1.RegisterDeviceRequest{Kind: v1.DeviceKind_DEVICE_KIND_IOS, Token: "abc"}),
	))
	quiet := &v1.QuietHours{Start: &timeofday.TimeOfDay{Hours: 21}, End: &timeofday.TimeOfDay{Hours: 8}}
	expect.OK(t)(notices.UpdatePreferences(t.Context(), as(member, &v1.UpdatePreferencesRequest{
		Preferences: &v1.NotificationPreferences{QuietHours: quiet}, UpdateMask: mask("quiet_hours"),
	})))

	listed := expect.Value(bookings.ListMyBookings(t.Context(), as(coach, &v1.ListMyBookingsRequest{MemberId: mine})))(t)
	test.True(
		t, len(listed.Msg.GetBookings()) == 1 && listed.Msg.GetBookings()[0].GetId() == held.Msg.GetBooking().GetId(),
		test.Sprintf("bookings: %v", listed),
	)
	own := expect.Value(bookings.ListMyBookings(t.Context(), as(coach, &v1.ListMyBookingsRequest{})))(t)
	test.EqOp(t, 0, len(own.Msg.GetBookings()), test.Sprintf("the coach's own: %v", own))
	memberWithDevices := expect.Value(members.GetMember(t.Context(), as(coach, &v1.GetMemberRequest{MemberId: mine})))(t)
	test.True(
		t, len(memberWithDevices.Msg.GetDevices()) == 1 &&
			memberWithDevices.Msg.GetDevices()[0].GetKind() == v1.DeviceKind_DEVICE_KIND_IOS,
		test.Sprintf("devices: %v", memberWithDevices),
	)
	preferences := expect.Value(
		notices.GetPreferences(t.Context(), as(coach, &v1.GetPreferencesRequest{MemberId: mine})),
	)(t)
	test.True(
		t, proto.Equal(preferences.Msg.GetPreferences().GetQuietHours(), quiet),
		test.Sprintf("preferences: %v", preferences),
	)

	absent := convert.IDText(tenant.New[tenant.MemberID](time.Now()))
	for name, request := range map[string]func(token, id string) error{
		"bookings": func(token, id string) error {
			return errorOf(bookings.ListMyBookings(t.Context(), as(token, &v1.ListMyBookingsRequest{MemberId: id})))
		},
		"preferences": func(token, id string) error {
			return errorOf(notices.GetPreferences(t.Context(), as(token, &v1.GetPreferencesRequest{MemberId: id})))
		},
	} {
		test.NoError(t, request(member, mine), test.Sprintf("%s: the caller's own", name))
		refused(t, "MEMBER_NOT_FOUND", test.Sprint("another's ", name))(request(member, theirs))
		refused(t, "MEMBER_NOT_FOUND", test.Sprint("an absent member's ", name))(request(coach, absent))
	}
}

func TestBenefitProviders_PutAndList(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	client := berthv1connect.NewBookingServiceClient(s.Client, s.URL)
	put := func(token string, r *v1.PutBenefitProviderRequest) (*connect.Response[v1.PutBenefitProviderResponse], error) {
		return client.PutBenefitProvider(t.Context(), as(token, r))
	}
	owner := s.Token(t, "owner")
	card := func(changes *v1.BenefitProvider) *v1.BenefitProvider {
		return with(&v1.BenefitProvider{
			Code: "LINKS", Name: "Links Card", NumberPattern: `M-\d{3}`, DiscountPercent: 20, Active: true,
			Verification: v1.BenefitVerification_BENEFIT_VERIFICATION_NONE,
		}, changes)
	}
	created := expect.Value(
		put(owner, &v1.PutBenefitProviderRequest{Provider: card(&v1.BenefitProvider{}), CreateOnly: true}),
	)(t)
	want := card(&v1.BenefitProvider{Etag: "v1"})
	must.Eq(t, want, created.Msg.GetProvider(), must.Cmp(protocmp.Transform()))
	want.DiscountPercent = 0
	edited := expect.Value(put(owner, &v1.PutBenefitProviderRequest{Provider: want}))(t)
	want.Etag = "v2"
	test.Eq(t, want, edited.Msg.GetProvider(), test.Cmp(protocmp.Transform()))
	for name, c := range map[string]struct {
		token   string
		request *v1.PutBenefitProviderRequest
		want    string
	}{
		"stale etag": {
			owner, &v1.PutBenefitProviderRequest{
				Provider: card(&v1.BenefitProvider{Etag: "v1"}),
			}, "ETAG_MISMATCH etag",
		},
		"exists": {
			owner, &v1.PutBenefitProviderRequest{Provider: card(&v1.BenefitProvider{}), CreateOnly: true},
			"ALREADY_EXISTS provider.code",
		},
		"created with an etag": {owner, &v1.PutBenefitProviderRequest{
			Provider: card(&v1.BenefitProvider{Code: "OTHER", Etag: "v1"}), CreateOnly: true,
		}, "INVALID_FIELD"},
		"no pattern": {
			owner, &v1.PutBenefitProviderRequest{Provider: card(&v1.BenefitProvider{NumberPattern: "("})},
			"INVALID_FIELD provider.number_pattern",
		},
		"by a member": {
			s.Token(t, "member"), &v1.PutBenefitProviderRequest{Provider: card(&v1.BenefitProvider{})},
			"PERMISSION_DENIED",
		},
	} {
		refused(t, c.want, test.Sprint(name))(put(c.token, c.request))
	}
	otherOwner := s.Token(t, "owner", s.NewTenant(t, "Other Club"))
	theirs := expect.Value(client.ListBenefitProviders(
		t.Context(), as(otherOwner, &v1.ListBenefitProvidersRequest{}),
	))(t)
	test.EqOp(t, 0, len(theirs.Msg.GetProviders()), test.Sprintf("%v", theirs))
	for role, pattern := range map[string]string{"owner": want.GetNumberPattern(), "member": ""} {
		want.NumberPattern = pattern // members could make up numbers that match it
		all := expect.Value(client.ListBenefitProviders(
			t.Context(), as(s.Token(t, role), &v1.ListBenefitProvidersRequest{}),
		))(t)
		test.Eq(
			t, []*v1.BenefitProvider{want}, all.Msg.GetProviders(), test.Cmp(protocmp.Transform()), test.Sprint(role),
		)
	}
}
