package rpc

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

const sessionStatePrefix = "SESSION_STATE_"

func sessionMessage(s session.Session) *v1.Session {
	return &v1.Session{
		Id:               idText(s.ID),
		ServiceId:        idText(s.Service),
		LocationId:       idText(s.Location),
		ResourceId:       idText(s.Resource),
		CoachId:          idText(s.Coach),
		CoachName:        s.CoachName,
		SeriesId:         idText(s.Series),
		Title:            s.Title,
		Description:      s.Description,
		StartTime:        timestamp(s.StartsAt),
		EndTime:          timestamp(s.EndsAt),
		TimeZone:         s.TimeZone,
		LocalDate:        dateMessage(s.LocalDate),
		Capacity:         optionalInt(s.Capacity),
		WaitlistCapacity: int32(s.WaitlistCapacity),
		SeatsTaken:       int32(s.SeatsTaken),
		SeatsOpen:        optionalInt(s.SeatsOpen()),
		WaitlistLength:   int32(s.Waiting),
		State:            enum[v1.SessionState](v1.SessionState_value, sessionStatePrefix, s.State),
		Blocked:          s.Blocked,
		StateReason:      s.StateReason,
		Delivery:         enum[v1.Delivery](v1.Delivery_value, deliveryPrefix, s.Delivery),
		WorkoutIds:       idTexts(s.Workouts),
		Etag:             etag(s.Version),
		CreateTime:       timestamp(s.CreatedAt),
		UpdateTime:       timestamp(s.UpdatedAt),
		SlotStatus: enum[v1.SlotStatus](v1.SlotStatus_value, "SLOT_STATUS_", booking.Slot{
			State: s.State, Blocked: s.Blocked, Capacity: s.Capacity, SeatsTaken: s.SeatsTaken, Holds: s.Holds,
		}.View()),
	}
}

func offeredMessage(o schedules.Offered) *v1.Session {
	m := sessionMessage(o.Session)
	m.Eligibility = eligibilityMessage(o.Eligibility)
	return m
}

// eligibilityMessage gives nil for callers who are no members.
func eligibilityMessage(e *booking.Eligibility) *v1.BookingEligibility {
	if e == nil {
		return nil
	}
	m := &v1.BookingEligibility{
		Status:           enum[v1.EligibilityStatus](v1.EligibilityStatus_value, "ELIGIBILITY_STATUS_", e.Outlook),
		SubscriptionId:   idText(e.Subscription),
		BookingId:        idText(e.Booking),
		EntryId:          idText(e.Entry),
		WaitlistPosition: int32(e.Position),
	}
	if e.Refusal != nil {
		m.Reason, m.Message, m.Metadata = string(e.Refusal.Reason), e.Refusal.Message, e.Refusal.Metadata
	}
	return m
}

// inputValue takes an absent message for an empty one.
func inputValue(m *v1.SessionInput) session.Input {
	if m == nil {
		m = &v1.SessionInput{}
	}
	return session.Input{
		Service:          id[tenant.ServiceID](m.GetServiceId()),
		Location:         id[tenant.LocationID](m.GetLocationId()),
		Resource:         id[tenant.ResourceID](m.GetResourceId()),
		Coach:            id[tenant.MemberID](m.GetCoachId()),
		Title:            m.GetTitle(),
		Description:      m.GetDescription(),
		StartsAt:         instant(m.GetStartTime()),
		EndsAt:           instant(m.GetEndTime()),
		Capacity:         intPointer(m.Capacity),
		Unlimited:        m.GetUnlimited(),
		WaitlistCapacity: intPointer(m.WaitlistCapacity),
	}
}

func detailsMessage(d session.Details) *v1.SessionInput {
	return &v1.SessionInput{
		ServiceId:        idText(d.Service),
		LocationId:       idText(d.Location),
		ResourceId:       idText(d.Resource),
		CoachId:          idText(d.Coach),
		Title:            d.Title,
		Description:      d.Description,
		Capacity:         optionalInt(d.Capacity),
		Unlimited:        d.Capacity == nil,
		WaitlistCapacity: optionalInt(&d.WaitlistCapacity),
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

// masked gives the fields that an update mask names. Names are checked by the contract.
func masked[F session.Fields | session.SeriesFields](known map[string]F, paths []string) (fields F) {
	for _, path := range paths {
		fields |= known[path]
	}
	return fields
}

func seriesMessage(s session.Series) *v1.Series {
	return &v1.Series{
		Id:                idText(s.ID),
		Template:          detailsMessage(s.Details),
		Rule:              s.Rule,
		StartDate:         dateMessage(s.Date),
		StartTimeOfDay:    timeOfDayMessage(s.Time),
		Duration:          duration(s.Duration),
		ExcludedDates:     values(s.Excluded, dateMessage),
		MaterializedUntil: dateMessage(s.MaterializedUntil),
		Etag:              etag(s.Version),
	}
}

// filterValue leaves the lists that are empty nil: they mean any.
func filterValue(m *v1.SessionFilter) session.Filter {
	return session.Filter{
		From:      instant(m.GetStartsWithin().GetStart()),
		Until:     instant(m.GetStartsWithin().GetEnd()),
		Locations: values(m.GetLocationIds(), id[tenant.LocationID]),
		Services:  values(m.GetServiceIds(), id[tenant.ServiceID]),
		Resources: values(m.GetResourceIds(), id[tenant.ResourceID]),
		Coaches:   values(m.GetCoachIds(), id[tenant.MemberID]),
		States: values(m.GetStates(), func(s v1.SessionState) catalog.SessionState {
			return word[catalog.SessionState](sessionStatePrefix, s)
		}),
		Series:   id[tenant.SeriesID](m.GetSeriesId()),
		Sessions: values(m.GetSessionIds(), id[tenant.SessionID]),
	}
}

func matchMessage(s schedules.Sample) *v1.BulkMatch {
	return &v1.BulkMatch{
		SessionId:      idText(s.ID),
		Title:          s.Title,
		StartTime:      timestamp(s.StartsAt),
		State:          enum[v1.SessionState](v1.SessionState_value, sessionStatePrefix, s.State),
		ActiveBookings: int32(s.Bookings),
	}
}

func workoutMessage(w session.Workout) *v1.Workout {
	return &v1.Workout{
		Id: idText(w.ID), Name: w.Name, Body: w.Body, Inline: w.Inline, Etag: etag(w.Version),
		CreateTime: timestamp(w.CreatedAt), UpdateTime: timestamp(w.UpdatedAt), DeleteTime: timestamp(w.DeletedAt),
	}
}

func editWorkout(name, body string, paths []string) func(*session.Workout) {
	return func(w *session.Workout) {
		for _, path := range paths {
			switch path {
			case "name":
				w.Name = name
			case "body":
				w.Body = body
			}
		}
	}
}

// importRows gives the header a row of its own where it is wrong.
func importRows(r schedules.SessionImport) []*v1.ImportRow {
	var rows []*v1.ImportRow
	if len(r.Header) > 0 {
		rows = append(rows, &v1.ImportRow{Row: 1, Problems: messages(r.Header, problemMessage)})
	}
	for i, row := range r.Rows {
		m := &v1.ImportRow{Row: int32(row.Number), Problems: messages(row.Problems, problemMessage)}
		if i < len(r.Sessions) {
			m.SessionId = idText(r.Sessions[i])
		}
		rows = append(rows, m)
	}
	return rows
}

func problemMessage(p session.ImportProblem) *v1.ImportProblem {
	return &v1.ImportProblem{Column: p.Column, Message: p.Message}
}

func idTexts[I interface {
	~struct{ tenant.UUID }
	IsZero() bool
	String() string
}](ids []I) []string {
	return values(ids, idText[I])
}

// values converts a list; an empty one is nil.
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
