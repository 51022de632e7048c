package rpc

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/type/latlng"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/tenant"
)

// door is a session that starts at begin, with its check-in service.
type door struct {
	*testServer
	berthv1connect.CheckInServiceClient

	begin    time.Time
	now      *atomic.Pointer[time.Time]
	location tenant.LocationID
	session  string
}

func newDoor(t *testing.T) *door {
	t.Helper()
	d := &door{
		begin: time.Now().UTC().Truncate(time.Second), now: new(atomic.Pointer[time.Time]),
		location: tenant.New[tenant.LocationID](time.Now()),
	}
	d.at(0)
	d.testServer = newTestServer(t, func(c *app.Config) { c.Now = func() time.Time { return *d.now.Load() } })
	d.CheckInServiceClient = berthv1connect.NewCheckInServiceClient(d.Client, d.URL)
	d.exec(t, `
with l as (insert into locations (tenant_id, id, name, time_zone, latitude, longitude, created_at, updated_at) values ($1, $2, 'Pier 1', 'Europe/Berlin', 52.5, 13.4, $3, $3))
insert into services (tenant_id, id, name, duration_seconds, created_at, updated_at) values ($1, $2, 'Vinyasa', 3600, $3, $3)`, d.Tenant, d.location, d.begin)
	d.session = d.add(t, 0)
	return d
}

// at sets the clock, so long after the session's start.
func (d *door) at(after time.Duration) { d.now.Store(new(d.begin.Add(after))) }

func (d *door) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := d.DB.Owner.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// add makes another session, which starts so much later.
func (d *door) add(t *testing.T, later time.Duration) string {
	t.Helper()
	id := tenant.New[tenant.SessionID](time.Now())
	d.exec(t, `
insert into sessions (tenant_id, id, service_id, location_id, coach_id, title, starts_at, ends_at, local_date, capacity, state, created_at, updated_at)
values ($1, $2, $3, $3, $4, 'Vinyasa', $5, $6, $5::timestamptz::date, 10, 'PUBLISHED', $5, $5)`,
		d.Tenant, id, d.location, d.Members["coach"], d.begin.Add(later), d.begin.Add(later+time.Hour))
	return id.String()
}

// book gives a role's member a booking.
func (d *door) book(t *testing.T, role, session string) string {
	t.Helper()
	id := tenant.New[tenant.BookingID](time.Now())
	d.exec(t, `
insert into bookings (tenant_id, id, session_id, member_id, party_size, status, channel, starts_at, ends_at, created_by, created_at, updated_at)
select tenant_id, $2, id, $3, 2, 'CONFIRMED', 'ONLINE', starts_at, ends_at, 'test', starts_at, starts_at from sessions where tenant_id = $1 and id = $4`,
		d.Tenant, id, d.Members[role], session)
	return id.String()
}

func (d *door) scan(t *testing.T) *v1.SelfCheckInRequest {
	t.Helper()
	qr, err := d.GetQrToken(t.Context(), as(d.Token(t, "coach"), &v1.GetQrTokenRequest{SessionId: d.session}))
	if err != nil {
		t.Fatal(err)
	}
	return &v1.SelfCheckInRequest{SessionId: d.session, Proof: &v1.SelfCheckInRequest_QrToken{QrToken: qr.Msg.GetToken()}}
}

func (d *door) near(latitude float64) *v1.SelfCheckInRequest {
	return &v1.SelfCheckInRequest{
		SessionId: d.session,
		Proof:     &v1.SelfCheckInRequest_Position{Position: &latlng.LatLng{Latitude: latitude, Longitude: 13.4}},
	}
}

// came is what a booking says of an arrival.
func came(b *v1.Booking) *v1.Booking {
	return &v1.Booking{
		Id: b.GetId(), Status: b.GetStatus(), CheckInTime: b.GetCheckInTime(), CheckInMethod: b.GetCheckInMethod(),
	}
}

func TestArrivalsTravelWhole(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	id := d.book(t, "member", d.session)
	confirmed := &v1.Booking{Id: id, Status: v1.BookingStatus_BOOKING_STATUS_CONFIRMED}
	attended := func(method v1.CheckInMethod) *v1.Booking {
		return &v1.Booking{
			Id: id, Status: v1.BookingStatus_BOOKING_STATUS_ATTENDED, CheckInTime: timestamppb.New(d.begin),
			CheckInMethod: method,
		}
	}
	undo := func() {
		t.Helper()
		undone, err := d.UndoCheckIn(t.Context(), as(d.Token(t, "coach"), &v1.UndoCheckInRequest{BookingId: id}))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(confirmed, came(undone.Msg.GetBooking()), protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
	}
	for _, already := range []bool{false, true} {
		in, err := d.CheckIn(t.Context(), as(d.Token(t, "coach"), &v1.CheckInRequest{BookingId: id}))
		if err != nil || in.Msg.GetAlreadyCheckedIn() != already {
			t.Fatal(in, err)
		}
		if diff := cmp.Diff(
			attended(v1.CheckInMethod_CHECK_IN_METHOD_MANUAL), came(in.Msg.GetBooking()), protocmp.Transform(),
		); diff != "" {
			t.Error(diff)
		}
	}
	for method, proof := range map[v1.CheckInMethod]*v1.SelfCheckInRequest{
		v1.CheckInMethod_CHECK_IN_METHOD_QR: d.scan(t), v1.CheckInMethod_CHECK_IN_METHOD_GPS: d.near(52.5),
	} {
		undo()
		for _, already := range []bool{false, true} {
			in, err := d.SelfCheckIn(t.Context(), as(d.Token(t, "member"), proof))
			if err != nil || in.Msg.GetAlreadyCheckedIn() != already {
				t.Fatal(in, err)
			}
			if diff := cmp.Diff(attended(method), came(in.Msg.GetBooking()), protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
		}
	}
}

func TestCheckInRefusalsAreTold(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.book(t, "member", d.session)
	late := d.scan(t)
	d.at(checkInCloses)
	for name, tt := range map[string]struct {
		after   time.Duration
		request *v1.SelfCheckInRequest
		want    told
	}{
		"too far": {
			0, d.near(52.6),
			told{
				connect.CodeFailedPrecondition, "GPS_TOO_FAR", map[string]string{"distance_meters": "11120", "max_meters": "200"},
			},
		},
		"no place": {
			0, d.near(91), told{connect.CodeInvalidArgument, "INVALID_FIELD", map[string]string{"field": "position"}},
		},
		"no proof": {
			0, &v1.SelfCheckInRequest{SessionId: d.session},
			told{connect.CodeInvalidArgument, "INVALID_FIELD", map[string]string{"field": "proof"}},
		},
		"no session": {
			0, &v1.SelfCheckInRequest{SessionId: aSession, Proof: late.Proof},
			told{connect.CodeNotFound, "SESSION_NOT_FOUND", nil},
		},
		"an old code": {10 * time.Minute, late, told{connect.CodeFailedPrecondition, "QR_INVALID", nil}},
		"a huge code": {0, &v1.SelfCheckInRequest{
			SessionId: d.session, Proof: &v1.SelfCheckInRequest_QrToken{QrToken: strings.Repeat("A", 501)},
		},
			told{connect.CodeInvalidArgument, "INVALID_FIELD", map[string]string{"field": "qr_token"}}},
		"too late": {checkInCloses, late, told{connect.CodeFailedPrecondition, "CHECKIN_WINDOW", map[string]string{
			"opens_at":  d.begin.Add(-time.Hour).Format(time.RFC3339),
			"closes_at": d.begin.Add(checkInCloses).Format(time.RFC3339),
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			// The clock is shared, so these take turns.
			d.at(tt.after)
			_, err := d.SelfCheckIn(t.Context(), as(d.Token(t, "member"), tt.request))
			if diff := cmp.Diff(tt.want, tell(t, err)); diff != "" {
				t.Error(diff)
			}
		})
	}
	_, err := d.CheckIn(t.Context(), as(d.Token(t, "coach"), &v1.CheckInRequest{BookingId: aSession}))
	if got := tell(t, err); got.Reason != "BOOKING_NOT_FOUND" {
		t.Error(got)
	}
}

// checkInCloses is when that is by default, after the start of an hour's session.
const checkInCloses = 90 * time.Minute

// Who may tick off, and see codes, is in testdata/access.golden; that a refusal comes before anything is looked up,
// here.
func TestMembersNeitherTickOffNorSeeCodes(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	id := d.book(t, "member", d.session)
	by := d.Token(t, "member")
	for name, call := range map[string]func(context.Context) error{
		"check-in": func(ctx context.Context) error {
			_, err := d.CheckIn(ctx, as(by, &v1.CheckInRequest{BookingId: id}))
			return err
		},
		"undo": func(ctx context.Context) error {
			_, err := d.UndoCheckIn(ctx, as(by, &v1.UndoCheckInRequest{BookingId: id}))
			return err
		},
		"code": func(ctx context.Context) error {
			_, err := d.GetQrToken(ctx, as(by, &v1.GetQrTokenRequest{SessionId: d.session}))
			return err
		},
		"display": func(ctx context.Context) error {
			_, err := d.CreateDisplayUrl(ctx, as(by, &v1.CreateDisplayUrlRequest{SessionId: d.session}))
			return err
		},
		"attendance": func(ctx context.Context) error {
			_, err := d.ListAttendance(ctx, as(by, &v1.ListAttendanceRequest{MemberId: convert.IDText(d.Members["member"])}))
			return err
		},
	} {
		if got := tell(t, call(t.Context())); got.Reason != "PERMISSION_DENIED" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestTheDisplayIsPublicAndWhole(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	id := d.book(t, "member", d.session)
	d.book(t, "admin", d.session)
	if _, err := d.CheckIn(t.Context(), as(d.Token(t, "coach"), &v1.CheckInRequest{BookingId: id})); err != nil {
		t.Fatal(err)
	}
	link, err := d.CreateDisplayUrl(
		t.Context(), as(d.Token(t, "coach"), &v1.CreateDisplayUrlRequest{SessionId: d.session}),
	)
	if err != nil {
		t.Fatal(err)
	}
	if link.Msg.GetUrl() != "https://berth.test/display/"+link.Msg.GetToken() ||
		!link.Msg.GetExpireTime().AsTime().Equal(d.begin.Add(10*time.Minute)) {
		t.Error(link.Msg)
	}
	eachProtocol(t, func(t *testing.T, client *http.Client, options connect.ClientOption) {
		t.Helper()
		public := berthv1connect.NewCheckInServiceClient(client, d.URL, options)
		answer, err := public.GetDisplay(t.Context(), connect.NewRequest(&v1.GetDisplayRequest{Token: link.Msg.GetToken()}))
		if err != nil {
			t.Fatal(err)
		}
		got := answer.Msg
		if got.GetQrToken() == "" || got.GetNextToken() == "" {
			t.Error(got)
		}
		want := &v1.GetDisplayResponse{
			Title: "Vinyasa", LocationName: "Pier 1", CoachName: "Coach", TimeZone: "Europe/Berlin", Expected: 4, Arrived: 2,
			StartTime: timestamppb.New(d.begin), EndTime: timestamppb.New(d.begin.Add(time.Hour)),
			Arrivals: []*v1.DisplayArrival{
				{DisplayName: "Member", PartySize: 2, CheckInTime: timestamppb.New(d.begin)},
			},
			RefreshTime:       timestamppb.New(d.begin.Add(30 * time.Second)),
			CheckinOpensTime:  timestamppb.New(d.begin.Add(-time.Hour)),
			CheckinClosesTime: timestamppb.New(d.begin.Add(checkInCloses)),
		}
		if diff := cmp.Diff(
			want, got, protocmp.Transform(), protocmp.IgnoreFields(want, "qr_token", "next_token"),
		); diff != "" {
			t.Error(diff)
		}
		_, err = public.GetDisplay(t.Context(), connect.NewRequest(&v1.GetDisplayRequest{Token: got.GetQrToken()}))
		if told := tell(t, err); told.Reason != "LINK_INVALID" || told.Code != connect.CodeFailedPrecondition {
			t.Error(told)
		}
	})
}

func TestAttendanceIsReadPageByPage(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	var want []string
	for day := range 5 {
		want = append(want, d.book(t, "member", d.add(t, -time.Duration(day+1)*24*time.Hour)))
	}
	d.exec(t, `update bookings set status = 'NO_SHOW' where id = $1`, want[4])
	d.book(t, "member", d.add(t, time.Hour)) // to come
	ask := &v1.ListAttendanceRequest{MemberId: convert.IDText(d.Members["member"]), PageSize: 2}
	var got []string
	for page := 1; ; page++ {
		answer, err := d.ListAttendance(t.Context(), as(d.Token(t, "coach"), ask))
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range answer.Msg.GetBookings() {
			got = append(got, b.GetId())
		}
		if answer.Msg.GetNoShows() != 1 || answer.Msg.GetAttended() != 0 {
			t.Error(answer.Msg)
		}
		if ask.PageToken = answer.Msg.GetNextPageToken(); ask.GetPageToken() == "" || page > len(want) {
			break
		}
		if page == 1 {
			other := &v1.ListAttendanceRequest{MemberId: convert.IDText(d.Members["admin"]), PageToken: ask.GetPageToken()}
			_, err := d.ListAttendance(t.Context(), as(d.Token(t, "coach"), other))
			if told := tell(t, err); told.Reason != "INVALID_FIELD" || told.Metadata["field"] != "page_token" {
				t.Error(told)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, err := d.ListAttendance(t.Context(), as(d.Token(t, "coach"), &v1.ListAttendanceRequest{MemberId: aSession}))
	if told := tell(t, err); told.Reason != "MEMBER_NOT_FOUND" {
		t.Error(told)
	}
}
