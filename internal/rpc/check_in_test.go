package rpc

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"google.golang.org/genproto/googleapis/type/latlng"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// checkInTest is a test server with a session that starts at begin, and a client of its CheckInService.
type checkInTest struct {
	*testServer
	berthv1connect.CheckInServiceClient

	begin   time.Time
	studio  *testkit.Studio
	session string
}

func newCheckInTest(t *testing.T) *checkInTest {
	t.Helper()
	s := &checkInTest{begin: time.Now().UTC().Truncate(time.Second)}
	clock := testkit.NewClock(s.begin)
	s.testServer = newTestServer(t, func(c *app.Config) { c.Now = clock.Now })
	s.CheckInServiceClient = berthv1connect.NewCheckInServiceClient(s.Client, s.URL)
	s.studio = s.Studio(t, clock)
	s.studio.Location = s.studio.AddLocation(catalog.Location{
		Name: "Pier 1", Point: &catalog.Point{Latitude: 52.5, Longitude: 13.4},
	})
	s.studio.Service = s.studio.AddService(catalog.Service{Name: "Vinyasa", MaxParty: 2})
	s.session = s.addSession(t, 0)
	return s
}

// setTime sets the clock to a time relative to the session's start.
func (s *checkInTest) setTime(after time.Duration) { s.studio.Clock.Set(s.begin.Add(after)) }

// addSession creates another session, which starts later than the first by a duration.
func (s *checkInTest) addSession(t *testing.T, later time.Duration) string {
	t.Helper()
	return s.studio.AddSession(testkit.Session{Starts: s.begin.Add(later), Coach: s.studio.Coach}).String()
}

// book creates a booking of the member with a role.
func (s *checkInTest) book(t *testing.T, role, session string) string {
	t.Helper()
	return s.bookAs(t, role, session, booking.Confirmed)
}

func (s *checkInTest) bookAs(t *testing.T, role, session string, status booking.Status) string {
	t.Helper()
	in := s.studio.GetSession(tenant.MustParse[tenant.SessionID](session))
	return s.studio.AddBooking(in.ID, testkit.Booking{
		Who: s.caller(role), Status: status, Party: 2, Made: in.StartsAt.Add(-time.Hour),
	}).String()
}

func (s *checkInTest) qrRequest(t *testing.T) *v1.SelfCheckInRequest {
	t.Helper()
	qr := expect.Value(s.GetQrToken(t.Context(), as(s.Token(t, "coach"), &v1.GetQrTokenRequest{SessionId: s.session})))(t)
	return &v1.SelfCheckInRequest{SessionId: s.session, Proof: &v1.SelfCheckInRequest_QrToken{QrToken: qr.Msg.GetToken()}}
}

func (s *checkInTest) positionRequest(latitude float64) *v1.SelfCheckInRequest {
	return &v1.SelfCheckInRequest{
		SessionId: s.session,
		Proof:     &v1.SelfCheckInRequest_Position{Position: &latlng.LatLng{Latitude: latitude, Longitude: 13.4}},
	}
}

func TestSelfCheckIn_ReturnsReasons(t *testing.T) {
	t.Parallel()
	s := newCheckInTest(t)
	s.book(t, "member", s.session)
	late := s.qrRequest(t)
	s.setTime(checkInCloses)
	for name, tt := range map[string]struct {
		after   time.Duration
		request *v1.SelfCheckInRequest
		want    apiError
	}{
		"too far": {
			0, s.positionRequest(52.6),
			apiError{
				connect.CodeFailedPrecondition, "GPS_TOO_FAR", map[string]string{"distance_meters": "11120", "max_meters": "200"},
			},
		},
		"no place": {
			0, s.positionRequest(91), apiError{
				connect.CodeInvalidArgument, "INVALID_FIELD", map[string]string{"field": "position"},
			},
		},
		"no proof": {
			0, &v1.SelfCheckInRequest{SessionId: s.session},
			apiError{connect.CodeInvalidArgument, "INVALID_FIELD", map[string]string{"field": "proof"}},
		},
		"no session": {
			0, &v1.SelfCheckInRequest{SessionId: someSession, Proof: late.Proof},
			apiError{connect.CodeNotFound, "SESSION_NOT_FOUND", nil},
		},
		"an old code": {10 * time.Minute, late, apiError{connect.CodeFailedPrecondition, "QR_INVALID", nil}},
		"a huge code": {0, &v1.SelfCheckInRequest{
			SessionId: s.session, Proof: &v1.SelfCheckInRequest_QrToken{QrToken: strings.Repeat("A", 501)},
		},
			apiError{connect.CodeInvalidArgument, "INVALID_FIELD", map[string]string{"field": "qr_token"}}},
		"too late": {checkInCloses, late, apiError{connect.CodeFailedPrecondition, "CHECKIN_WINDOW", map[string]string{
			"opens_at":  s.begin.Add(-time.Hour).Format(time.RFC3339),
			"closes_at": s.begin.Add(checkInCloses).Format(time.RFC3339),
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			// The tests share a clock, so they run one after the other.
			s.setTime(tt.after)
			failsAs(t, tt.want)(s.SelfCheckIn(t.Context(), as(s.Token(t, "member"), tt.request)))
		})
	}
	refused(t, "BOOKING_NOT_FOUND")(
		s.CheckIn(t.Context(), as(s.Token(t, "coach"), &v1.CheckInRequest{BookingId: someSession})),
	)
}

// checkInCloses is when check-in closes by default, after the start of a session of one hour.
const checkInCloses = 90 * time.Minute

// testdata/access.golden has who may check members in and read QR codes. Here, the error comes before any lookup.
func TestCheckIn_RejectsMembersBeforeLookup(t *testing.T) {
	t.Parallel()
	s := newCheckInTest(t)
	id := s.book(t, "member", s.session)
	ctx, by := t.Context(), s.Token(t, "member")
	for name, err := range map[string]error{
		"check-in": errorOf(s.CheckIn(ctx, as(by, &v1.CheckInRequest{BookingId: id}))),
		"undo":     errorOf(s.UndoCheckIn(ctx, as(by, &v1.UndoCheckInRequest{BookingId: id}))),
		"code":     errorOf(s.GetQrToken(ctx, as(by, &v1.GetQrTokenRequest{SessionId: s.session}))),
		"display":  errorOf(s.CreateDisplayUrl(ctx, as(by, &v1.CreateDisplayUrlRequest{SessionId: s.session}))),
		"attendance": errorOf(s.ListAttendance(
			ctx, as(by, &v1.ListAttendanceRequest{MemberId: convert.IDText(s.Members["member"])}),
		)),
	} {
		refused(t, "PERMISSION_DENIED", test.Sprint(name))(err)
	}
}

func TestGetDisplay_IsPublicAndComplete(t *testing.T) {
	t.Parallel()
	s := newCheckInTest(t)
	id := s.book(t, "member", s.session)
	s.book(t, "admin", s.session)
	expect.OK(t)(s.CheckIn(t.Context(), as(s.Token(t, "coach"), &v1.CheckInRequest{BookingId: id})))
	link := expect.Value(s.CreateDisplayUrl(
		t.Context(), as(s.Token(t, "coach"), &v1.CreateDisplayUrlRequest{SessionId: s.session}),
	))(t)
	test.True(
		t, link.Msg.GetUrl() == "https://berth.test/display/"+link.Msg.GetToken() &&
			link.Msg.GetExpireTime().AsTime().Equal(s.begin.Add(10*time.Minute)),
		test.Sprint(link.Msg),
	)
	eachProtocol(t, func(t *testing.T, client *http.Client, options connect.ClientOption) {
		t.Helper()
		public := berthv1connect.NewCheckInServiceClient(client, s.URL, options)
		got := expect.Value(
			public.GetDisplay(t.Context(), connect.NewRequest(&v1.GetDisplayRequest{Token: link.Msg.GetToken()})),
		)(t).Msg
		test.True(t, got.GetQrToken() != "" && got.GetNextToken() != "", test.Sprint(got))
		want := &v1.GetDisplayResponse{
			Title: "Vinyasa", LocationName: "Pier 1", CoachName: "Coach", TimeZone: "Europe/Berlin", Expected: 4, Arrived: 2,
			StartTime: timestamppb.New(s.begin), EndTime: timestamppb.New(s.begin.Add(time.Hour)),
			Arrivals: []*v1.DisplayArrival{
				{DisplayName: "Member", PartySize: 2, CheckInTime: timestamppb.New(s.begin)},
			},
			RefreshTime:       timestamppb.New(s.begin.Add(30 * time.Second)),
			ExpireTime:        link.Msg.GetExpireTime(),
			CheckinOpensTime:  timestamppb.New(s.begin.Add(-time.Hour)),
			CheckinClosesTime: timestamppb.New(s.begin.Add(checkInCloses)),
		}
		test.Eq(t, want, got, test.Cmp(protocmp.Transform(), protocmp.IgnoreFields(want, "qr_token", "next_token")))
		refused(t, "failed_precondition LINK_INVALID")(
			public.GetDisplay(t.Context(), connect.NewRequest(&v1.GetDisplayRequest{Token: got.GetQrToken()})),
		)
	})
}
