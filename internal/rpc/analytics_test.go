package rpc

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/genproto/googleapis/type/date"
	"google.golang.org/genproto/googleapis/type/dayofweek"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// analyticsTest is a test server whose tenant has two sessions on Monday, 16 March 2026, at 18:00 in Berlin: a class
// of 8 seats, of which 2 are attended, 1 is a no-show, 3 are booked and 2 were cancelled, 1 of them late; and one
// without a limit, with 1 seat. All were booked on that day, online except for the last.
type analyticsTest struct {
	*tenantTest
	berthv1connect.AnalyticsServiceClient
	location, service string
}

func newAnalyticsTest(t *testing.T) *analyticsTest {
	t.Helper()
	clock := testkit.NewClock(time.Date(2026, 3, 16, 9, 0, 0, 0, time.UTC))
	o := newTenantTest(t, func(c *app.Config) { c.Now = clock.Now })
	studio := o.Studio(t, clock)
	studio.Location = studio.AddLocation(catalog.Location{Name: "Pier 1"})
	studio.Service = studio.AddService(catalog.Service{Name: "Vinyasa", MaxParty: 3})
	studio.SetPolicy(func(p *catalog.Policy) { p.Cancellation = new(time.Hour) })
	at := time.Date(2026, 3, 16, 17, 0, 0, 0, time.UTC)
	class := studio.AddSession(testkit.Session{Starts: at, Capacity: 8})
	for _, b := range []testkit.Booking{
		{Who: o.caller("owner"), Status: booking.Attended, Party: 2},
		{Who: o.caller("admin"), Status: booking.NoShow},
		{Who: o.caller("coach"), Party: 3},
		{Who: o.caller("member"), Status: booking.Cancelled, Late: true},
		{Who: o.caller("member"), Status: booking.Cancelled},
	} {
		studio.AddBooking(class, b)
	}
	studio.AddBooking(studio.AddSession(testkit.Session{Starts: at, Capacity: -1}), testkit.Booking{
		Who: o.caller("member"), Channel: catalog.WalkIn,
	})
	return &analyticsTest{
		tenantTest: o, AnalyticsServiceClient: berthv1connect.NewAnalyticsServiceClient(o.Client, o.URL),
		location: studio.Location.String(), service: studio.Service.String(),
	}
}

func dateMessage(year, month, day int32) *date.Date {
	return &date.Date{Year: year, Month: month, Day: day}
}

func marchFilter(from, to int32) *v1.AnalyticsFilter {
	return &v1.AnalyticsFilter{StartDate: dateMessage(2026, 3, from), EndDate: dateMessage(2026, 3, to)}
}

var mondayCounts = &v1.AttendanceCounts{
	Sessions: 2, Capacity: 8, Booked: 7, BookedLimited: 6, Attended: 2, NoShows: 1, Cancelled: 2, LateCancelled: 1,
	AttendanceRate: new(2.0 / 3), NoShowRate: new(1.0 / 3), FillRate: new(6.0 / 8),
	CancellationRate: new(2.0 / 9), LateCancellationRate: new(1.0 / 2),
}

func TestAttendance_CountsSeats(t *testing.T) {
	t.Parallel()
	s := newAnalyticsTest(t)
	sum := expect.Value(s.GetAttendanceSummary(
		t.Context(), as(s.owner, &v1.GetAttendanceSummaryRequest{Filter: marchFilter(1, 31)}),
	))(t)
	test.Eq(t, mondayCounts, sum.Msg.GetCounts(), test.Cmp(protocmp.Transform()))
	filter := with(
		marchFilter(1, 31), &v1.AnalyticsFilter{LocationIds: []string{s.location}, ServiceIds: []string{someSession}},
	)
	sum = expect.Value(
		s.GetAttendanceSummary(t.Context(), as(s.owner, &v1.GetAttendanceSummaryRequest{Filter: filter})),
	)(t)
	test.Eq(t, &v1.AttendanceCounts{}, sum.Msg.GetCounts(), test.Cmp(protocmp.Transform()),
		test.Sprint("without sessions, no rate is set:"))

	var days []*v1.AttendanceDay
	all := pages[*v1.ListAttendanceDailyResponse](
		t, s, s.owner, &v1.ListAttendanceDailyRequest{Filter: marchFilter(14, 18), PageSize: 2},
	)
	must.SliceLen(t, 3, all)
	for _, page := range all {
		days = append(days, page.GetDays()...)
	}
	refused(t, "invalid_argument INVALID_FIELD page_token")(s.call(t, s.owner, &v1.ListAttendanceDailyRequest{
		Filter: marchFilter(13, 18), PageToken: all[0].GetNextPageToken(),
	}))
	want := make([]*v1.AttendanceDay, 5)
	for i := range want {
		want[i] = &v1.AttendanceDay{Date: dateMessage(2026, 3, int32(14+i)), Counts: &v1.AttendanceCounts{}}
	}
	want[2].Counts = mondayCounts
	test.Eq(t, want, days, test.Cmp(protocmp.Transform()))
}

func TestGetBookingTrend_CountsByBucketAndChannel(t *testing.T) {
	t.Parallel()
	s := newAnalyticsTest(t)
	created := &v1.BookingTrendPoint{
		Date: dateMessage(2026, 3, 16), Bookings: 6, Seats: 9, Channels: []*v1.ChannelCount{
			{Channel: v1.Channel_CHANNEL_ONLINE, Bookings: 5, Seats: 8},
			{Channel: v1.Channel_CHANNEL_WALK_IN, Bookings: 1, Seats: 1},
		},
	}
	for bucket, want := range map[v1.TrendBucket][]*v1.BookingTrendPoint{
		v1.TrendBucket_TREND_BUCKET_UNSPECIFIED: {
			{Date: dateMessage(2026, 3, 15)}, created, {Date: dateMessage(2026, 3, 17)},
		},
		v1.TrendBucket_TREND_BUCKET_DAY: {
			{Date: dateMessage(2026, 3, 15)}, created, {Date: dateMessage(2026, 3, 17)},
		},
		v1.TrendBucket_TREND_BUCKET_WEEK: {{Date: dateMessage(2026, 3, 9)}, created},
	} {
		trend := expect.Value(s.GetBookingTrend(
			t.Context(), as(s.owner, &v1.GetBookingTrendRequest{Filter: marchFilter(15, 17), Bucket: bucket}),
		))(t)
		test.Eq(t, want, trend.Msg.GetPoints(), test.Cmp(protocmp.Transform()), test.Sprintf("%s", bucket))
	}
}

func TestGetUtilization_GroupsSeats(t *testing.T) {
	t.Parallel()
	s := newAnalyticsTest(t)
	row := func(of *v1.UtilizationRow) *v1.UtilizationRow {
		return with(of, &v1.UtilizationRow{
			Sessions: 1, SessionsUnlimited: 1, SeatsOffered: 8, SeatsTaken: 6, Rate: new(0.75),
		})
	}
	service := row(&v1.UtilizationRow{ServiceId: s.service, Name: "Vinyasa"})
	for group, want := range map[v1.UtilizationGroup]*v1.UtilizationRow{
		v1.UtilizationGroup_UTILIZATION_GROUP_UNSPECIFIED: service,
		v1.UtilizationGroup_UTILIZATION_GROUP_SERVICE:     service,
		v1.UtilizationGroup_UTILIZATION_GROUP_LOCATION: row(
			&v1.UtilizationRow{LocationId: s.location, Name: "Pier 1"},
		),
		v1.UtilizationGroup_UTILIZATION_GROUP_RESOURCE: row(&v1.UtilizationRow{}),
		v1.UtilizationGroup_UTILIZATION_GROUP_WEEKDAY_HOUR: row(
			&v1.UtilizationRow{Weekday: dayofweek.DayOfWeek_MONDAY, Hour: 18},
		),
	} {
		used := expect.Value(s.GetUtilization(
			t.Context(), as(s.owner, &v1.GetUtilizationRequest{Filter: marchFilter(1, 31), GroupBy: group}),
		))(t)
		response := &v1.GetUtilizationResponse{Rows: []*v1.UtilizationRow{want}, Total: row(&v1.UtilizationRow{})}
		test.Eq(t, response, used.Msg, test.Cmp(protocmp.Transform()), test.Sprintf("%s", group))
	}
}

func TestAnalytics_RejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	s := newAnalyticsTest(t)
	for name, filter := range map[string]*v1.AnalyticsFilter{
		"none":             nil,
		"no dates":         {},
		"no such day":      {StartDate: dateMessage(2026, 2, 29), EndDate: dateMessage(2026, 3, 1)},
		"no end":           {StartDate: dateMessage(2026, 2, 28)},
		"month alone":      {StartDate: dateMessage(2026, 2, 0), EndDate: dateMessage(2026, 3, 1)},
		"backwards":        marchFilter(2, 1),
		"more than a year": {StartDate: dateMessage(2026, 1, 1), EndDate: dateMessage(2027, 1, 2)},
		"no id": {
			StartDate: dateMessage(2026, 1, 1), EndDate: dateMessage(2026, 1, 1), LocationIds: []string{"Pier 1"},
		},
		"id twice": {
			StartDate: dateMessage(2026, 1, 1), EndDate: dateMessage(2026, 1, 1), ServiceIds: []string{someSession, someSession},
		},
	} {
		for _, request := range []proto.Message{
			&v1.GetAttendanceSummaryRequest{Filter: filter}, &v1.ListAttendanceDailyRequest{Filter: filter},
			&v1.GetBookingTrendRequest{Filter: filter}, &v1.GetUtilizationRequest{Filter: filter},
		} {
			refused(t, "invalid_argument INVALID_FIELD", test.Sprintf("%T, %s", request, name))(s.call(t, s.owner, request))
		}
	}
	for _, role := range []string{"coach", "member"} {
		refused(t, "PERMISSION_DENIED", test.Sprint(role))(s.GetAttendanceSummary(
			t.Context(), as(s.Token(t, role), &v1.GetAttendanceSummaryRequest{Filter: marchFilter(1, 2)}),
		))
	}
	// A filter by another tenant's location matches nothing.
	stranger := s.Token(t, "owner", s.NewTenant(t, "Quay Golf"))
	filter := with(marchFilter(1, 31), &v1.AnalyticsFilter{LocationIds: []string{s.location}})
	sum := expect.Value(
		s.GetAttendanceSummary(t.Context(), as(stranger, &v1.GetAttendanceSummaryRequest{Filter: filter})),
	)(t)
	test.True(t, proto.Equal(sum.Msg.GetCounts(), &v1.AttendanceCounts{}), test.Sprint(sum))
}
