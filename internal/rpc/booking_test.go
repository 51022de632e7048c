package rpc

import (
	"net/http"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/genproto/googleapis/type/timeofday"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// In every protocol, a hold's channel is the one of the header, and the headers of its response tell its status, and
// whether an earlier call with the external reference made it.
func TestHoldBooking_ReadsAndSetsHeaders(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	session := s.create(t, s.input(monday.Add(48*time.Hour))).GetId()
	eachProtocol(t, func(t *testing.T, web *http.Client, options connect.ClientOption) {
		t.Helper()
		client := berthv1connect.NewBookingServiceClient(web, s.URL, options)
		for _, idempotent := range []string{"false", "true"} {
			request := as(s.Token(t, "owner"), &v1.HoldBookingRequest{
				SessionId: session, Contact: &v1.Contact{Name: "John Smith"}, Channel: v1.Channel_CHANNEL_ONLINE,
				ExternalRef: t.Name(),
			})
			request.Header().Set("X-Booking-Channel", "phone")
			held := expect.Value(client.HoldBooking(t.Context(), request))(t)
			test.EqOp(t, v1.Channel_CHANNEL_PHONE, held.Msg.GetBooking().GetChannel())
			test.EqOp(t, "PENDING", held.Header().Get("X-Booking-Status"))
			test.EqOp(t, idempotent, held.Header().Get("X-Idempotent"))
		}
	})
}

// Each error has the code and reason on which clients branch.
func TestBookingRPCs_ReturnReasons(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	client := berthv1connect.NewBookingServiceClient(s.Client, s.URL)
	member := s.Token(t, "member")
	soon, otherTenant := s.create(t, s.input(monday.Add(3*time.Hour))).GetId(), s.NewTenant(t, "Other tenant")
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
		t, s.input(monday.Add(48*time.Hour)),
	).GetId(), s.create(t, s.input(monday.Add(72*time.Hour))).GetId()
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
	in := s.create(t, s.input(monday.Add(48*time.Hour))).GetId()
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
