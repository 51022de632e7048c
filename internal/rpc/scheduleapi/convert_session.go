package scheduleapi

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

const (
	sessionStatePrefix = "SESSION_STATUS_"
	seriesStatusPrefix = "SERIES_STATUS_"
)

func sessionMessage(s session.Session) *v1.Session {
	return &v1.Session{
		Id:               convert.IDText(s.ID),
		ServiceId:        convert.IDText(s.Service),
		LocationId:       convert.IDText(s.Location),
		ResourceId:       convert.IDText(s.Resource),
		CoachId:          convert.IDText(s.Coach),
		CoachName:        s.CoachName,
		SeriesId:         convert.IDText(s.Series),
		Title:            s.Title,
		Description:      s.Description,
		StartTime:        convert.Timestamp(s.StartsAt),
		EndTime:          convert.Timestamp(s.EndsAt),
		TimeZone:         s.TimeZone,
		LocalDate:        convert.DateMessage(s.LocalDate),
		Capacity:         convert.OptionalInt32(s.Capacity),
		WaitlistCapacity: int32(s.WaitlistCapacity),
		SeatsTaken:       int32(s.SeatsTaken),
		SeatsOpen:        convert.OptionalInt32(s.SeatsOpen()),
		WaitlistLength:   int32(s.Waiting),
		Status:           convert.Enum[v1.SessionStatus](v1.SessionStatus_value, sessionStatePrefix, s.State),
		Blocked:          s.Blocked,
		StatusReason:     s.StateReason,
		Delivery:         convert.Enum[v1.DeliveryMode](v1.DeliveryMode_value, convert.DeliveryPrefix, s.Delivery),
		WorkoutIds:       idTexts(s.Workouts),
		Etag:             convert.Etag(s.Version),
		CreateTime:       convert.Timestamp(s.CreatedAt),
		UpdateTime:       convert.Timestamp(s.UpdatedAt),
		SlotStatus: convert.Enum[v1.SlotStatus](v1.SlotStatus_value, "SLOT_STATUS_", booking.Slot{
			State: s.State, Blocked: s.Blocked, Capacity: s.Capacity, SeatsTaken: s.SeatsTaken, Holds: s.Holds,
		}.Availability()),
	}
}

func sessionViewMessage(v schedules.SessionView) *v1.Session {
	m := sessionMessage(v.Session)
	m.Eligibility = eligibilityMessage(v.Eligibility)
	return m
}

// eligibilityMessage returns nil for a nil eligibility, which callers have who are not members.
func eligibilityMessage(e *booking.Eligibility) *v1.BookingEligibility {
	if e == nil {
		return nil
	}
	m := &v1.BookingEligibility{
		Status:         convert.Enum[v1.EligibilityStatus](v1.EligibilityStatus_value, "ELIGIBILITY_STATUS_", e.Status),
		SubscriptionId: convert.IDText(e.Subscription),
		BookingId:      convert.IDText(e.Booking),
		EntryId:        convert.IDText(e.Entry),
	}
	if e.Position > 0 {
		m.WaitlistPosition = new(int32(e.Position))
	}
	if e.Offer != nil {
		m.OfferId, m.OfferExpireTime = convert.IDText(e.Offer.Offer), convert.Timestamp(e.Offer.Until)
		m.OfferSeats, m.OfferFirstToClaim = new(int32(e.Offer.Seats)), e.Offer.Shared
	}
	if e.Refusal != nil {
		m.Reason = convert.Enum[v1.ErrorReason](v1.ErrorReason_value, "ERROR_REASON_", e.Refusal.Reason)
		m.Message, m.Metadata = e.Refusal.Message, e.Refusal.Metadata
	}
	return m
}

// inputValue converts the input of a session. A nil message counts as empty.
func inputValue(m *v1.SessionInput) session.Input {
	if m == nil {
		m = &v1.SessionInput{}
	}
	return session.Input{
		Service:          convert.ID[tenant.ServiceID](m.GetServiceId()),
		Location:         convert.ID[tenant.LocationID](m.GetLocationId()),
		Resource:         convert.ID[tenant.ResourceID](m.GetResourceId()),
		Coach:            convert.ID[tenant.MemberID](m.GetCoachId()),
		Title:            m.GetTitle(),
		Description:      m.GetDescription(),
		StartsAt:         convert.Time(m.GetStartTime()),
		EndsAt:           convert.Time(m.GetEndTime()),
		Capacity:         convert.OptionalInt(m.Capacity),
		Unlimited:        m.GetUnlimited(),
		WaitlistCapacity: convert.OptionalInt(m.WaitlistCapacity),
	}
}

// seriesInputValue converts the input of a series. A nil message counts as empty.
func seriesInputValue(m *v1.SeriesInput) schedules.SeriesInput {
	if m == nil {
		m = &v1.SeriesInput{}
	}
	return schedules.SeriesInput{
		Template: session.Input{
			Service:          convert.ID[tenant.ServiceID](m.GetServiceId()),
			Location:         convert.ID[tenant.LocationID](m.GetLocationId()),
			Resource:         convert.ID[tenant.ResourceID](m.GetResourceId()),
			Coach:            convert.ID[tenant.MemberID](m.GetCoachId()),
			Title:            m.GetTitle(),
			Description:      m.GetDescription(),
			Capacity:         convert.OptionalInt(m.Capacity),
			Unlimited:        m.GetUnlimited(),
			WaitlistCapacity: convert.OptionalInt(m.WaitlistCapacity),
		},
		Pattern: session.Pattern{
			Rule:     m.GetRule(),
			Date:     convert.DateValue(m.GetStartDate()),
			Time:     convert.TimeOfDayValue(m.GetStartTimeOfDay()),
			Duration: convert.DurationValue(m.GetDuration()),
			Excluded: values(m.GetExcludedDates(), convert.DateValue),
		},
	}
}

var inputFields = map[string]session.Fields{
	"service_id":        session.ServiceField,
	"location_id":       session.LocationField,
	"resource_id":       session.ResourceField,
	"coach_id":          session.CoachField,
	"title":             session.TitleField,
	"description":       session.DescriptionField,
	"start_time":        session.StartField,
	"end_time":          session.EndField,
	"capacity":          session.CapacityField,
	"unlimited":         session.CapacityField,
	"waitlist_capacity": session.WaitlistField,
}

var patternFields = map[string]session.SeriesFields{
	"rule":              session.RuleField,
	"start_time_of_day": session.TimeOfDayField,
	"duration":          session.DurationField,
	"excluded_dates":    session.ExcludedField,
}

// fieldsOf returns the fields named by an update mask. The contract's rules have checked the names.
func fieldsOf[F session.Fields | session.SeriesFields](known map[string]F, paths []string) (fields F) {
	for _, path := range paths {
		fields |= known[path]
	}
	return fields
}

func seriesMessage(s session.Series) *v1.Series {
	return &v1.Series{
		Id:                convert.IDText(s.ID),
		ServiceId:         convert.IDText(s.Service),
		LocationId:        convert.IDText(s.Location),
		ResourceId:        convert.IDText(s.Resource),
		CoachId:           convert.IDText(s.Coach),
		Title:             s.Title,
		Description:       s.Description,
		Capacity:          convert.OptionalInt32(s.Capacity),
		WaitlistCapacity:  int32(s.WaitlistCapacity),
		Rule:              s.Rule,
		StartDate:         convert.DateMessage(s.Date),
		StartTimeOfDay:    convert.TimeOfDayMessage(s.Time),
		Duration:          convert.DurationMessage(s.Duration),
		ExcludedDates:     values(s.Excluded, convert.DateMessage),
		TimeZone:          s.TimeZone,
		Publish:           s.Publish,
		MaterializedUntil: convert.DateMessage(s.MaterializedUntil),
		Status:            convert.Enum[v1.SeriesStatus](v1.SeriesStatus_value, seriesStatusPrefix, s.Status),
		CreateTime:        convert.Timestamp(s.CreatedAt),
		UpdateTime:        convert.Timestamp(s.UpdatedAt),
		Etag:              convert.Etag(s.Version),
	}
}

func seriesFilterValue(m *v1.SeriesFilter) session.SeriesFilter {
	return session.SeriesFilter{
		Locations: values(m.GetLocationIds(), convert.ID[tenant.LocationID]),
		Services:  values(m.GetServiceIds(), convert.ID[tenant.ServiceID]),
		Resources: values(m.GetResourceIds(), convert.ID[tenant.ResourceID]),
		Coaches:   values(m.GetCoachIds(), convert.ID[tenant.MemberID]),
		Statuses: values(m.GetStatuses(), func(s v1.SeriesStatus) session.SeriesStatus {
			return convert.EnumName[session.SeriesStatus](seriesStatusPrefix, s)
		}),
	}
}

// FilterValue converts a filter. Empty lists become nil, which matches any value.
func FilterValue(m *v1.SessionFilter) session.Filter {
	return session.Filter{
		From:      convert.Time(m.GetStartsWithin().GetStart()),
		Until:     convert.Time(m.GetStartsWithin().GetEnd()),
		Locations: values(m.GetLocationIds(), convert.ID[tenant.LocationID]),
		Services:  values(m.GetServiceIds(), convert.ID[tenant.ServiceID]),
		Resources: values(m.GetResourceIds(), convert.ID[tenant.ResourceID]),
		Coaches:   values(m.GetCoachIds(), convert.ID[tenant.MemberID]),
		States: values(m.GetStatuses(), func(s v1.SessionStatus) catalog.SessionState {
			return convert.EnumName[catalog.SessionState](sessionStatePrefix, s)
		}),
		Series:   convert.ID[tenant.SeriesID](m.GetSeriesId()),
		Sessions: values(m.GetSessionIds(), convert.ID[tenant.SessionID]),
	}
}

func matchMessage(s schedules.Sample) *v1.BulkSessionMatch {
	return &v1.BulkSessionMatch{
		Session:        convert.SessionSummaryMessage(s.SessionSummary),
		Status:         convert.Enum[v1.SessionStatus](v1.SessionStatus_value, sessionStatePrefix, s.State),
		ActiveBookings: int32(s.Bookings),
	}
}

func workoutMessage(w session.Workout) *v1.Workout {
	return &v1.Workout{
		Id: convert.IDText(w.ID), Name: w.Name, Body: w.Body, Inline: w.Inline, Etag: convert.Etag(w.Version),
		CreateTime: convert.Timestamp(w.CreatedAt), UpdateTime: convert.Timestamp(w.UpdatedAt),
		DeleteTime: convert.Timestamp(w.DeletedAt),
	}
}

func editWorkout(in *v1.WorkoutInput, paths []string) func(*session.Workout) {
	return func(w *session.Workout) {
		convert.Fields{
			"name": convert.Field(&w.Name, in.GetName()),
			"body": convert.Field(&w.Body, in.GetBody()),
		}.Set(paths)
	}
}

func idTexts[I interface {
	~struct{ tenant.UUID }
	IsZero() bool
	String() string
}](ids []I) []string {
	return values(ids, convert.IDText[I])
}

// values converts a list. It returns nil for an empty one.
func values[T, V any](list []T, convert func(T) V) []V {
	if len(list) == 0 {
		return nil
	}
	all := make([]V, len(list))
	for i, v := range list {
		all[i] = convert(v)
	}
	return all
}
