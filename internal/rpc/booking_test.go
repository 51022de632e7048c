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
		request := as(s.Token(t, "member"), &v1.GetSessionRequest{SessionId: session})
		test.EqOp(t, want, expect.Value(s.GetSession(t.Context(), request))(t).Msg.GetSession().GetSlotStatus())
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
	known := expect.Value(client.RecordPayment(t.Context(), as(s.Token(t, "coach"), record)))(t)
	wantHeaders(known.Header(), "CANCELLED", "true", "")
	refund := &v1.RefundPaymentRequest{
		BookingId: id, Amount: &money.Money{CurrencyCode: "EUR", Units: 50}, Reference: "R1",
	}
	refused(t, "permission_denied PERMISSION_DENIED")(client.RefundPayment(t.Context(), as(s.Token(t, "coach"), refund)))
	for _, idempotent := range []string{"false", "true"} {
		refunded := expect.Value(client.RefundPayment(t.Context(), as(owner, refund)))(t)
		wantHeaders(refunded.Header(), "CANCELLED", idempotent, "")
		test.EqOp(t, v1.PaymentStatus_PAYMENT_STATUS_REFUNDED, refunded.Msg.GetBooking().GetPayment().GetStatus())
	}
	refund.Reference = "R2"
	refused(t, "failed_precondition REFUND_EXCEEDS_CAPTURED")(client.RefundPayment(t.Context(), as(owner, refund)))
	test.SliceLen(t, 2, s.items(t, owner, &v1.ListPaymentEntriesRequest{BookingId: id}, "reference"))

	// Release.
	held := expect.Value(
		client.HoldBooking(t.Context(), as(s.Token(t, "member"), &v1.HoldBookingRequest{SessionId: to})),
	)(t)
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
	id := ask[*v1.BookResponse](t, s, member, &v1.BookRequest{SessionId: soon}).GetBooking().GetId()
	for want, request := range map[string]proto.Message{
		"failed_precondition CANCELLATION_WINDOW": &v1.CancelBookingRequest{BookingId: id},
		"not_found BOOKING_NOT_FOUND":             &v1.CancelBookingRequest{BookingId: someSession},
		"not_found SESSION_NOT_FOUND":             &v1.HoldBookingRequest{SessionId: someSession},
		"permission_denied TENANT_FORBIDDEN":      &v1.HoldBookingRequest{TenantId: otherTenant.String(), SessionId: soon},
		"permission_denied PERMISSION_DENIED": &v1.HoldBookingRequest{ // for others, as a member
			SessionId: soon, MemberId: s.Members["coach"].String(),
		},
		"invalid_argument INVALID_FIELD guest_tier": &v1.HoldBookingRequest{
			SessionId: soon, Contact: &v1.Contact{Name: "Me"}, GuestTier: "member",
		},
	} {
		refused(t, want)(s.call(t, member, request))
	}
	for channel, want := range map[string]string{
		"fax": "invalid_argument INVALID_FIELD X-Booking-Channel", "walkIn": "failed_precondition CHANNEL_CLOSED",
	} {
		request := as(member, &v1.HoldBookingRequest{SessionId: soon})
		request.Header().Set("X-Booking-Channel", channel)
		refused(t, want)(client.HoldBooking(t.Context(), request))
	}
}

// A partner's program books for a guest, and finds, moves and cancels this booking. Another partner's program cannot.
func TestPartner_ReachesOnlyItsOwnBookings(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	program := func(name string) string {
		request := &v1.CreateServiceAccountRequest{Name: name, Roles: []string{"partner"}}
		key := ask[*v1.CreateServiceAccountResponse](t, s, s.Token(t, "owner"), request).GetKey()
		return ask[*v1.ExchangeKeyResponse](t, s, "", &v1.ExchangeKeyRequest{Key: key}).GetAccessToken()
	}
	mine, rival := program("Mine"), program("Rival")
	in, to := s.create(
		t, s.input(monday.Add(48*time.Hour)), true,
	).GetId(), s.create(t, s.input(monday.Add(72*time.Hour)), true).GetId()
	id := ask[*v1.HoldBookingResponse](
		t, s, mine, &v1.HoldBookingRequest{SessionId: in, Contact: &v1.Contact{Name: "Pat"}},
	).GetBooking().GetId()
	for _, request := range []proto.Message{
		&v1.ConfirmBookingRequest{BookingId: id}, &v1.GetBookingRequest{BookingId: id},
		&v1.RescheduleBookingRequest{BookingId: id, SessionId: to}, &v1.CancelBookingRequest{BookingId: id},
	} {
		refused(t, "BOOKING_NOT_FOUND", test.Sprintf("%T", request))(s.call(t, rival, request))
		expect.OK(t)(s.call(t, mine, request))
	}
	test.Eq(t, []string{id}, s.items(t, mine, &v1.ListMyBookingsRequest{}, "id"))
	test.SliceEmpty(t, s.items(t, rival, &v1.ListMyBookingsRequest{}, "id"))
}

// Staff see a member's bookings, devices and notification preferences. Members see only their own.
func TestStaff_ReadDataOfMembers(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	member, coach := s.Token(t, "member"), s.Token(t, "coach")
	mine, theirs := convert.IDText(s.Members["member"]), convert.IDText(s.Members["coach"])
	in := s.create(t, s.input(monday.Add(48*time.Hour)), true).GetId()
	id := ask[*v1.HoldBookingResponse](t, s, member, &v1.HoldBookingRequest{SessionId: in}).GetBooking().GetId()
	expect.OK(t)(s.call(t, member, &v1.RegisterDeviceRequest{Kind: v1.DeviceKind_DEVICE_KIND_IOS, Token: "abc"}))
	quiet := &v1.QuietHours{Start: &timeofday.TimeOfDay{Hours: 21}, End: &timeofday.TimeOfDay{Hours: 8}}
	expect.OK(t)(s.call(t, member, &v1.UpdatePreferencesRequest{
		Preferences: &v1.NotificationPreferences{QuietHours: quiet}, UpdateMask: mask("quiet_hours"),
	}))

	test.Eq(t, []string{id}, s.items(t, coach, &v1.ListMyBookingsRequest{MemberId: mine}, "id"))
	test.SliceEmpty(t, s.items(t, coach, &v1.ListMyBookingsRequest{}, "id"), test.Sprint("the coach's own"))
	memberWithDevices := ask[*v1.GetMemberResponse](t, s, coach, &v1.GetMemberRequest{MemberId: mine})
	test.True(
		t, len(memberWithDevices.GetDevices()) == 1 &&
			memberWithDevices.GetDevices()[0].GetKind() == v1.DeviceKind_DEVICE_KIND_IOS,
		test.Sprintf("devices: %v", memberWithDevices),
	)
	preferences := ask[*v1.GetPreferencesResponse](t, s, coach, &v1.GetPreferencesRequest{MemberId: mine})
	test.True(
		t, proto.Equal(preferences.GetPreferences().GetQuietHours(), quiet),
		test.Sprintf("preferences: %v", preferences),
	)

	absent := convert.IDText(tenant.New[tenant.MemberID](time.Now()))
	for name, request := range map[string]func(id string) proto.Message{
		"bookings":    func(id string) proto.Message { return &v1.ListMyBookingsRequest{MemberId: id} },
		"preferences": func(id string) proto.Message { return &v1.GetPreferencesRequest{MemberId: id} },
	} {
		expect.OK(t)(s.call(t, member, request(mine)))
		refused(t, "MEMBER_NOT_FOUND", test.Sprint("another's ", name))(s.call(t, member, request(theirs)))
		refused(t, "MEMBER_NOT_FOUND", test.Sprint("an absent member's ", name))(s.call(t, coach, request(absent)))
	}
}

func TestBenefitProviders_PutAndList(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	owner := s.Token(t, "owner")
	card := func(changes *v1.BenefitProvider) *v1.BenefitProvider {
		return with(&v1.BenefitProvider{
			Code: "LINKS", Name: "Links Card", NumberPattern: `M-\d{3}`, DiscountPercent: 20, Active: true,
			Verification: v1.BenefitVerification_BENEFIT_VERIFICATION_NONE,
		}, changes)
	}
	created := ask[*v1.PutBenefitProviderResponse](t, s, owner, &v1.PutBenefitProviderRequest{
		Provider: card(&v1.BenefitProvider{}), CreateOnly: true,
	})
	want := card(&v1.BenefitProvider{Etag: "v1"})
	must.Eq(t, want, created.GetProvider(), must.Cmp(protocmp.Transform()))
	want.DiscountPercent = 0
	edited := ask[*v1.PutBenefitProviderResponse](t, s, owner, &v1.PutBenefitProviderRequest{Provider: want})
	want.Etag = "v2"
	test.Eq(t, want, edited.GetProvider(), test.Cmp(protocmp.Transform()))
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
		refused(t, c.want, test.Sprint(name))(s.call(t, c.token, c.request))
	}
	otherOwner := s.Token(t, "owner", s.NewTenant(t, "Other Club"))
	test.SliceEmpty(t, s.items(t, otherOwner, &v1.ListBenefitProvidersRequest{}, "code"))
	for role, pattern := range map[string]string{"owner": want.GetNumberPattern(), "member": ""} {
		want.NumberPattern = pattern // members could make up numbers that match it
		all := ask[*v1.ListBenefitProvidersResponse](t, s, s.Token(t, role), &v1.ListBenefitProvidersRequest{})
		test.Eq(
			t, []*v1.BenefitProvider{want}, all.GetProviders(), test.Cmp(protocmp.Transform()), test.Sprint(role),
		)
	}
}
