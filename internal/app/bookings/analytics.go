package bookings

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// Period says what is counted; AttendanceDay and Use are the counts.
type (
	Period           = bookingdb.Period
	AttendanceDay    = bookingdb.AttendanceDay
	Utilization      = bookingdb.Utilization
	UtilizationGroup = bookingdb.UtilizationGroup
)

// Sessions are grouped by one of these to count their use.
const (
	UseByService     = bookingdb.ByService
	UseByLocation    = bookingdb.ByLocation
	UseByResource    = bookingdb.ByResource
	UseByWeekdayHour = bookingdb.ByWeekdayHour
)

// GetAttendanceSummary counts sessions, bookings and attendance over a whole period.
func (s *Service) GetAttendanceSummary(ctx context.Context, caller tenant.Caller, p Period) (AttendanceDay, error) {
	days, err := s.countAttendance(ctx, caller, p)
	var sum AttendanceDay
	for _, d := range days {
		sum.Sessions += d.Sessions
		sum.SessionsCancelled += d.SessionsCancelled
		sum.Capacity += d.Capacity
		sum.Booked += d.Booked
		sum.BookedLimited += d.BookedLimited
		sum.Attended += d.Attended
		sum.NoShows += d.NoShows
		sum.Cancelled += d.Cancelled
		sum.LateCancelled += d.LateCancelled
		sum.Waitlisted += d.Waitlisted
		sum.Promoted += d.Promoted
	}
	return sum, err
}

// ListAttendanceDaily counts the same for each day, including days without sessions. It returns at most limit days of
// the period, starting the day after the given one.
func (s *Service) ListAttendanceDaily(
	ctx context.Context, caller tenant.Caller, p Period, after civil.Date, limit int,
) ([]AttendanceDay, error) {
	if err := catalog.CheckPeriod(p.From, p.To); err != nil {
		return nil, err
	}
	part := p
	if !after.IsZero() {
		part.From = after.AddDays(1)
	}
	if last := part.From.AddDays(limit - 1); last.Before(p.To) {
		part.To = last
	}
	if part.From.After(p.To) {
		return nil, nil
	}
	counted, err := s.countAttendance(ctx, caller, part)
	if err != nil {
		return nil, err
	}
	days := make([]AttendanceDay, part.To.DaysSince(part.From)+1)
	for i := range days {
		days[i].Date = part.From.AddDays(i)
	}
	for _, d := range counted {
		days[d.Date.DaysSince(part.From)] = d
	}
	return days, nil
}

func (s *Service) countAttendance(ctx context.Context, caller tenant.Caller, p Period) ([]AttendanceDay, error) {
	if err := catalog.CheckPeriod(p.From, p.To); err != nil {
		return nil, err
	}
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]AttendanceDay) {
		bookingdb.CountAttendanceDaily(b, caller.Tenant, p, into)
	})
}

// TrendPoint counts the bookings made in one day or week.
type TrendPoint struct {
	Date     civil.Date // the day, or the week's Monday
	Bookings int
	Seats    int
	Channels []ChannelCount // only channels with bookings, in the order of catalog.Channels
}

// ChannelCount counts the bookings that came in by one channel.
type ChannelCount struct {
	Channel  catalog.Channel
	Bookings int
	Seats    int
}

// GetBookingTrend counts bookings by the day or week in which they were made, in the time zone of their session's
// location. Days and weeks without bookings are included.
func (s *Service) GetBookingTrend(
	ctx context.Context, caller tenant.Caller, p Period, weekly bool,
) ([]TrendPoint, error) {
	if err := catalog.CheckPeriod(p.From, p.To); err != nil {
		return nil, err
	}
	var made []bookingdb.Made
	err := s.readWithClocks(ctx, caller, p, func(batch *pg.Batch, clocks []coredb.Clock) {
		bookingdb.CountMade(batch, caller.Tenant, p, clocks, &made)
	})
	if err != nil {
		return nil, err
	}
	return trendOf(made, p, weekly), nil
}

// trendOf sums counts by day or week.
func trendOf(made []bookingdb.Made, p Period, weekly bool) []TrendPoint {
	length := 1
	first := p.From
	if weekly {
		length, first = 7, p.From.WeekStart()
	}
	points := make([]TrendPoint, p.To.DaysSince(first)/length+1)
	for i := range points {
		points[i].Date = first.AddDays(i * length)
	}
	for _, m := range made {
		point := &points[m.Date.DaysSince(first)/length]
		point.Bookings += m.Bookings
		point.Seats += m.Seats
		at := slices.IndexFunc(point.Channels, func(c ChannelCount) bool { return c.Channel == m.Channel })
		if at < 0 {
			at = len(point.Channels)
			point.Channels = append(point.Channels, ChannelCount{Channel: m.Channel})
		}
		point.Channels[at].Bookings += m.Bookings
		point.Channels[at].Seats += m.Seats
	}
	order := catalog.Channels()
	for _, point := range points {
		slices.SortFunc(point.Channels, func(a, b ChannelCount) int {
			return slices.Index(order, a.Channel) - slices.Index(order, b.Channel)
		})
	}
	return points
}

// GetUtilization compares the seats taken with the seats offered, for each group of sessions and in total.
func (s *Service) GetUtilization(
	ctx context.Context, caller tenant.Caller, p Period, group UtilizationGroup,
) (groups []Utilization, total Utilization, err error) {
	if err := catalog.CheckPeriod(p.From, p.To); err != nil {
		return nil, Utilization{}, err
	}
	if group == UseByWeekdayHour {
		err = s.readWithClocks(ctx, caller, p, func(batch *pg.Batch, clocks []coredb.Clock) {
			bookingdb.CountUtilization(batch, caller.Tenant, p, group, clocks, &groups)
		})
	} else {
		groups, err = engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]Utilization) {
			bookingdb.CountUtilization(b, caller.Tenant, p, group, nil, into)
		})
	}
	for _, g := range groups {
		total.Sessions += g.Sessions
		total.Unlimited += g.Unlimited
		total.Offered += g.Offered
		total.Taken += g.Taken
	}
	return groups, total, err
}

// readWithClocks runs a query that needs the clocks of all time zones of the period's locations.
func (s *Service) readWithClocks(
	ctx context.Context, caller tenant.Caller, p Period, queue func(*pg.Batch, []coredb.Clock),
) error {
	return s.engine.Snapshot(ctx, caller, func(ctx context.Context, tx *pg.ReadTx) error {
		var zones []string
		var first, second pg.Batch
		bookingdb.ListZones(&first, caller.Tenant, p, &zones)
		if err := tx.Load(ctx, &first); err != nil {
			return err
		}
		clocks, err := coredb.Clocks(zones, p.Instants())
		if err != nil {
			return err
		}
		queue(&second, clocks)
		return tx.Load(ctx, &second)
	})
}
