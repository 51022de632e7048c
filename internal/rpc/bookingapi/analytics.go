package bookingapi

import (
	"context"
	"math"

	"google.golang.org/genproto/googleapis/type/dayofweek"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/tenant"
)

// GetAttendanceSummary handles AnalyticsService.GetAttendanceSummary.
func (s *Bookings) GetAttendanceSummary(
	ctx context.Context, req *v1.GetAttendanceSummaryRequest,
) (*v1.GetAttendanceSummaryResponse, error) {
	sum, err := s.Service.GetAttendanceSummary(ctx, request.Caller(ctx), periodValue(req.GetFilter()))
	if err != nil {
		return nil, err
	}
	return &v1.GetAttendanceSummaryResponse{Counts: countsMessage(sum)}, nil
}

// ListAttendanceDaily handles AnalyticsService.ListAttendanceDaily.
func (s *Bookings) ListAttendanceDaily(
	ctx context.Context, req *v1.ListAttendanceDailyRequest,
) (*v1.ListAttendanceDailyResponse, error) {
	page, err := convert.ParsePage[civil.Date](req)
	if err != nil {
		return nil, err
	}
	var after civil.Date
	if page.After != nil {
		after = *page.After
	}
	days, err := s.Service.ListAttendanceDaily(ctx, request.Caller(ctx), periodValue(req.GetFilter()), after, page.Limit())
	if err != nil {
		return nil, err
	}
	days, next := convert.Paginate(page, days, func(d bookings.AttendanceDay) civil.Date { return d.Date })
	return &v1.ListAttendanceDailyResponse{Days: convert.Messages(days, dayMessage), NextPageToken: next}, nil
}

// GetBookingTrend handles AnalyticsService.GetBookingTrend.
func (s *Bookings) GetBookingTrend(
	ctx context.Context, req *v1.GetBookingTrendRequest,
) (*v1.GetBookingTrendResponse, error) {
	weekly := req.GetBucket() == v1.TrendBucket_TREND_BUCKET_WEEK
	points, err := s.Service.GetBookingTrend(ctx, request.Caller(ctx), periodValue(req.GetFilter()), weekly)
	if err != nil {
		return nil, err
	}
	return &v1.GetBookingTrendResponse{Points: convert.Messages(points, pointMessage)}, nil
}

// GetUtilization handles AnalyticsService.GetUtilization.
func (s *Bookings) GetUtilization(
	ctx context.Context, req *v1.GetUtilizationRequest,
) (*v1.GetUtilizationResponse, error) {
	group := convert.EnumName[bookings.UtilizationGroup]("UTILIZATION_GROUP_", req.GetGroupBy())
	if group == "" {
		group = bookings.UseByService
	}
	groups, total, err := s.Service.GetUtilization(ctx, request.Caller(ctx), periodValue(req.GetFilter()), group)
	if err != nil {
		return nil, err
	}
	rows := convert.Messages(
		groups, func(u bookings.Utilization) *v1.UtilizationRow { return utilizationMessage(group, u) },
	)
	return &v1.GetUtilizationResponse{Rows: rows, Total: utilizationMessage("", total)}, nil
}

func periodValue(m *v1.AnalyticsFilter) bookings.Period {
	p := bookings.Period{From: convert.DateValue(m.GetStartDate()), To: convert.DateValue(m.GetEndDate())}
	for _, text := range m.GetLocationIds() {
		p.Locations = append(p.Locations, convert.ID[tenant.LocationID](text))
	}
	for _, text := range m.GetServiceIds() {
		p.Services = append(p.Services, convert.ID[tenant.ServiceID](text))
	}
	return p
}

func countsMessage(a bookings.AttendanceDay) *v1.AttendanceCounts {
	return &v1.AttendanceCounts{
		Sessions:             int32(a.Sessions),
		SessionsCancelled:    int32(a.SessionsCancelled),
		Capacity:             count(a.Capacity),
		Booked:               count(a.Booked),
		BookedLimited:        count(a.BookedLimited),
		Attended:             count(a.Attended),
		NoShows:              count(a.NoShows),
		Cancelled:            count(a.Cancelled),
		LateCancelled:        count(a.LateCancelled),
		Waitlisted:           count(a.Waitlisted),
		Promoted:             count(a.Promoted),
		AttendanceRate:       rate(a.Attended, a.Attended+a.NoShows),
		NoShowRate:           rate(a.NoShows, a.Attended+a.NoShows),
		FillRate:             rate(a.BookedLimited, a.Capacity),
		CancellationRate:     rate(a.Cancelled, a.Booked+a.Cancelled),
		LateCancellationRate: rate(a.LateCancelled, a.Cancelled),
	}
}

// count returns the largest int32 instead of a larger number, so that no sum ever wraps around.
func count(n int) int32 { return int32(min(n, math.MaxInt32)) }

// rate returns nil instead of dividing by 0.
func rate(part, whole int) *float64 {
	if whole == 0 {
		return nil
	}
	return new(float64(part) / float64(whole))
}

func dayMessage(a bookings.AttendanceDay) *v1.AttendanceDay {
	return &v1.AttendanceDay{Date: convert.DateMessage(a.Date), Counts: countsMessage(a)}
}

func pointMessage(p bookings.TrendPoint) *v1.BookingTrendPoint {
	m := &v1.BookingTrendPoint{Date: convert.DateMessage(p.Date), Bookings: count(p.Bookings), Seats: count(p.Seats)}
	for _, c := range p.Channels {
		m.Channels = append(m.Channels, &v1.BookingChannelCount{
			Channel: convert.Enum[v1.BookingChannel](
				v1.BookingChannel_value,
				convert.ChannelPrefix,
				c.Channel,
			),
			Bookings: count(c.Bookings),
			Seats:    count(c.Seats),
		})
	}
	return m
}

func utilizationMessage(group bookings.UtilizationGroup, u bookings.Utilization) *v1.UtilizationRow {
	m := &v1.UtilizationRow{
		Name:              u.Name,
		Weekday:           dayofweek.DayOfWeek(u.Weekday), // in both, Monday is 1
		Sessions:          int32(u.Sessions),
		SessionsUnlimited: int32(u.Unlimited),
		SeatsOffered:      count(u.Offered),
		SeatsTaken:        count(u.Taken),
		Rate:              rate(u.Taken, u.Offered),
	}
	switch group {
	case bookings.UseByWeekdayHour:
		m.Hour = new(int32(u.Hour))
	case bookings.UseByService:
		m.ServiceId = convert.UUIDText(u.ID)
	case bookings.UseByLocation:
		m.LocationId = convert.UUIDText(u.ID)
	case bookings.UseByResource:
		m.ResourceId = convert.UUIDText(u.ID)
	default:
	}
	return m
}
