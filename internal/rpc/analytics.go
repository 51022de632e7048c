package rpc

import (
	"context"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/type/dayofweek"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app"
	appbookings "github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/tenant"
)

// analyticsService serves berth.v1.AnalyticsService.
type analyticsService struct{ app *app.App }

func (s *analyticsService) GetAttendanceSummary(ctx context.Context, req *connect.Request[v1.GetAttendanceSummaryRequest]) (*connect.Response[v1.GetAttendanceSummaryResponse], error) {
	sum, err := s.app.Bookings.AttendanceSummary(ctx, caller(ctx), periodValue(req.Msg.GetFilter()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.GetAttendanceSummaryResponse{Counts: countsMessage(sum)})
}

func (s *analyticsService) ListAttendanceDaily(ctx context.Context, req *connect.Request[v1.ListAttendanceDailyRequest]) (*connect.Response[v1.ListAttendanceDailyResponse], error) {
	page, err := openPage[civil.Date](req.Msg)
	if err != nil {
		return nil, err
	}
	var after civil.Date
	if page.After != nil {
		after = *page.After
	}
	days, err := s.app.Bookings.AttendanceDaily(ctx, caller(ctx), periodValue(req.Msg.GetFilter()), after, page.Size+1)
	if err != nil {
		return nil, err
	}
	days, next, err := cut(page, days, func(d appbookings.AttendanceDay) civil.Date { return d.Date })
	if err != nil {
		return nil, err
	}
	return reply(&v1.ListAttendanceDailyResponse{Days: messages(days, dayMessage), NextPageToken: next})
}

func (s *analyticsService) GetBookingTrend(ctx context.Context, req *connect.Request[v1.GetBookingTrendRequest]) (*connect.Response[v1.GetBookingTrendResponse], error) {
	weekly := req.Msg.GetBucket() == v1.TrendBucket_TREND_BUCKET_WEEK
	points, err := s.app.Bookings.BookingTrend(ctx, caller(ctx), periodValue(req.Msg.GetFilter()), weekly)
	if err != nil {
		return nil, err
	}
	return reply(&v1.GetBookingTrendResponse{Points: messages(points, pointMessage)})
}

func (s *analyticsService) GetUtilization(ctx context.Context, req *connect.Request[v1.GetUtilizationRequest]) (*connect.Response[v1.GetUtilizationResponse], error) {
	group := word[appbookings.UseGroup]("UTILIZATION_GROUP_", req.Msg.GetGroupBy())
	if group == "" {
		group = appbookings.UseByService
	}
	groups, total, err := s.app.Bookings.Utilization(ctx, caller(ctx), periodValue(req.Msg.GetFilter()), group)
	if err != nil {
		return nil, err
	}
	rows := messages(groups, func(u appbookings.Use) *v1.UtilizationRow { return useMessage(group, u) })
	return reply(&v1.GetUtilizationResponse{Rows: rows, Total: useMessage("", total)})
}

func periodValue(m *v1.AnalyticsFilter) appbookings.Period {
	p := appbookings.Period{From: civilDate(m.GetStartDate()), To: civilDate(m.GetEndDate())}
	for _, text := range m.GetLocationIds() {
		p.Locations = append(p.Locations, id[tenant.LocationID](text))
	}
	for _, text := range m.GetServiceIds() {
		p.Services = append(p.Services, id[tenant.ServiceID](text))
	}
	return p
}

func countsMessage(a appbookings.AttendanceDay) *v1.AttendanceCounts {
	return &v1.AttendanceCounts{
		Sessions:             int32(a.Sessions),
		SessionsCancelled:    int32(a.SessionsCancelled),
		Capacity:             int64(a.Capacity),
		Booked:               int64(a.Booked),
		BookedLimited:        int64(a.BookedLimited),
		Attended:             int64(a.Attended),
		NoShows:              int64(a.NoShows),
		Cancelled:            int64(a.Cancelled),
		LateCancelled:        int64(a.LateCancelled),
		Waitlisted:           int64(a.Waitlisted),
		Promoted:             int64(a.Promoted),
		AttendanceRate:       rate(a.Attended, a.Attended+a.NoShows),
		NoShowRate:           rate(a.NoShows, a.Attended+a.NoShows),
		FillRate:             rate(a.BookedLimited, a.Capacity),
		CancellationRate:     rate(a.Cancelled, a.Booked+a.Cancelled),
		LateCancellationRate: rate(a.LateCancelled, a.Cancelled),
	}
}

// rate is absent where it would divide by 0.
func rate(part, whole int) *float64 {
	if whole == 0 {
		return nil
	}
	return new(float64(part) / float64(whole))
}

func dayMessage(a appbookings.AttendanceDay) *v1.AttendanceDay {
	return &v1.AttendanceDay{Date: dateMessage(a.Date), Counts: countsMessage(a)}
}

func pointMessage(p appbookings.TrendPoint) *v1.BookingTrendPoint {
	m := &v1.BookingTrendPoint{Date: dateMessage(p.Date), Bookings: int64(p.Bookings), Seats: int64(p.Seats)}
	for _, c := range p.Channels {
		m.Channels = append(m.Channels, &v1.ChannelCount{
			Channel: enum[v1.Channel](v1.Channel_value, channelPrefix, c.Channel), Bookings: int64(c.Bookings), Seats: int64(c.Seats),
		})
	}
	return m
}

func useMessage(group appbookings.UseGroup, u appbookings.Use) *v1.UtilizationRow {
	m := &v1.UtilizationRow{
		Name:              u.Name,
		Weekday:           dayofweek.DayOfWeek(u.Weekday), // both count from Monday, which is 1
		Hour:              int32(u.Hour),
		Sessions:          int32(u.Sessions),
		SessionsUnlimited: int32(u.Unlimited),
		SeatsOffered:      int64(u.Offered),
		SeatsTaken:        int64(u.Taken),
		Rate:              rate(u.Taken, u.Offered),
	}
	switch group {
	case appbookings.UseByService:
		m.ServiceId = targetText(u.ID)
	case appbookings.UseByLocation:
		m.LocationId = targetText(u.ID)
	case appbookings.UseByResource:
		m.ResourceId = targetText(u.ID)
	default:
	}
	return m
}
