package session

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// Input is what staff decide about a session.
type Input struct {
	Service          tenant.ServiceID
	Location         tenant.LocationID
	Resource         tenant.ResourceID // zero: none
	Coach            tenant.MemberID   // zero: none
	Title            string            // empty: the service's name
	Description      string
	StartsAt         time.Time
	EndsAt           time.Time // zero: the start plus the service's duration
	Capacity         *int      // nil: the service's default
	Unlimited        bool      // whatever Capacity says
	WaitlistCapacity *int      // nil: the service's default
}

// Fields says which parts of an Input are meant.
type Fields uint16

// The fields.
const (
	ServiceField Fields = 1 << iota
	LocationField
	ResourceField
	CoachField
	TitleField
	DescriptionField
	StartField
	EndField
	CapacityField // with Unlimited
	WaitlistField

	allFields = 1<<iota - 1
)

// TimeFields are those that a series does not take from its template.
const TimeFields = StartField | EndField

// Has reports whether any of the fields is meant.
func (f Fields) Has(fields Fields) bool { return f&fields != 0 }

// Setting is what a session refers to, as it stands now. What the tenant does not
// have is not active; the rest about it is empty then.
type Setting struct {
	Service  ServiceSetting
	Location LocationSetting
	Resource ResourceSetting
	Coach    CoachSetting
}

// ServiceSetting is what a session takes from its service.
type ServiceSetting struct {
	Active           bool
	Name             string
	Duration         time.Duration
	Capacity         *int
	WaitlistCapacity int
	Delivery         catalog.Delivery
}

// LocationSetting is what a session takes from its location.
type LocationSetting struct {
	Active   bool
	TimeZone string
	Zone     *time.Location // the same, loaded
}

// ResourceSetting is what there is to know of a resource.
type ResourceSetting struct {
	Active   bool
	Location tenant.LocationID
}

// CoachSetting is what there is to know of who is to lead.
type CoachSetting struct {
	Leads bool // an active owner, admin or coach
	Name  string
}

// New makes a draft.
func New(id tenant.SessionID, in Input, at Setting, now time.Time) (Session, error) {
	s := Session{ID: id, State: catalog.Draft, CreatedAt: now}
	return s.Edit(in, allFields, at, now)
}

// NewDetails makes the details of a series' sessions.
func NewDetails(in Input, at Setting) (Details, error) {
	return Details{}.Edit(in, allFields&^TimeFields, at)
}

// Target tells what the session will refer to once the edit is made, so that the
// caller can load its Setting.
func (d Details) Target(in Input, fields Fields) Details {
	if fields.Has(ServiceField) {
		d.Service = in.Service
	}
	if fields.Has(LocationField) {
		d.Location = in.Location
	}
	if fields.Has(ResourceField) {
		d.Resource = in.Resource
	}
	if fields.Has(CoachField) {
		d.Coach = in.Coach
	}
	return d
}

// Edit gives the session as staff want it. The setting is that of its target.
// The session itself is returned where the edit changes nothing.
//
// Errors: SESSION_STATE for a cancelled one, INVALID_FIELD for times that cannot
// be, CAPACITY_BELOW_TAKEN, and those of Details.Edit.
func (s Session) Edit(in Input, fields Fields, at Setting, now time.Time) (Session, error) {
	if s.State == catalog.Cancelled {
		return s, wrongState(s)
	}
	details, err := s.Details.Edit(in, fields, at)
	if err != nil {
		return s, err
	}
	span, err := s.reschedule(in, fields, at.Service)
	if err != nil {
		return s, err
	}
	after := s.At(span, at.Location.Zone)
	after.Details, after.TimeZone, after.Delivery, after.CoachName = details, at.Location.TimeZone, at.Service.Delivery, at.Coach.Name
	if !after.StartsAt.Equal(s.StartsAt) {
		if err := withinReach(after.StartsAt, now); err != nil {
			return s, err
		}
	}
	if err := after.holdsItsPeople(); err != nil {
		return s, err
	}
	if s.sameAs(after) {
		return s, nil
	}
	return after.edited(now), nil
}

// Follow gives the session of a series as an edit of the series wants it.
func (s Session) Follow(series Series, at Setting, span civil.Span, now time.Time) (Session, error) {
	after := s.At(span, at.Location.Zone)
	after.Details, after.TimeZone, after.Delivery, after.CoachName = series.Details, at.Location.TimeZone, at.Service.Delivery, at.Coach.Name
	if err := after.holdsItsPeople(); err != nil {
		return s, err
	}
	if s.sameAs(after) {
		return s, nil
	}
	return after.edited(now), nil
}

// Edit gives the details as staff want them. References that stay as they were
// are not judged again: what was switched off since does not forbid other edits.
//
// Errors: SERVICE_NOT_FOUND, LOCATION_NOT_FOUND, RESOURCE_NOT_FOUND for what is absent, not
// active, or, for the resource, of another location; COACH_INVALID.
func (d Details) Edit(in Input, fields Fields, at Setting) (Details, error) {
	to := d.Target(in, fields)
	if err := to.Refer(d, at); err != nil {
		return d, err
	}
	if fields.Has(TitleField) {
		to.Title = strings.TrimSpace(in.Title)
	}
	if to.Title == "" {
		to.Title = at.Service.Name
	}
	if fields.Has(DescriptionField) {
		to.Description = in.Description
	}
	if err := cmp.Or(line("title", to.Title, maxTitle), lines("description", to.Description, maxDescription)); err != nil {
		return d, err
	}
	if fields.Has(CapacityField) {
		switch {
		case in.Unlimited:
			to.Capacity = nil
		case in.Capacity != nil:
			to.Capacity = new(*in.Capacity)
		default:
			to.Capacity = at.Service.Capacity
		}
	}
	if fields.Has(WaitlistField) {
		to.WaitlistCapacity = at.Service.WaitlistCapacity
		if in.WaitlistCapacity != nil {
			to.WaitlistCapacity = *in.WaitlistCapacity
		}
	}
	return to, nil
}

// Refer judges the references that differ from those before: the first errors of Edit.
func (d Details) Refer(before Details, at Setting) error {
	switch {
	case d.Service.IsZero():
		return fault.Invalid("service_id", "A session needs a service.")
	case d.Service != before.Service && !at.Service.Active:
		return fault.Missing(fault.ServiceNotFound, "Service").In("service_id")
	case d.Location.IsZero():
		return fault.Invalid("location_id", "A session needs a location.")
	case d.Location != before.Location && !at.Location.Active:
		return fault.Missing(fault.LocationNotFound, "Location").In("location_id")
	case d.Resource.IsZero():
	case (d.Resource != before.Resource || d.Location != before.Location) && (!at.Resource.Active || at.Resource.Location != d.Location):
		return fault.Missing(fault.ResourceNotFound, "Resource").In("resource_id")
	}
	if d.Coach != before.Coach && !d.Coach.IsZero() && !at.Coach.Leads {
		return fault.New(fault.FailedPrecondition, fault.CoachInvalid,
			"Who leads a session must be an active owner, admin or coach.").In("coach_id")
	}
	return nil
}

// reschedule tells when the session is to take place. A start alone moves it as a whole.
func (s Session) reschedule(in Input, fields Fields, at ServiceSetting) (civil.Span, error) {
	span := s.Span()
	if fields.Has(StartField) {
		if in.StartsAt.IsZero() {
			return span, fault.Invalid("start_time", "A session needs a start.")
		}
		length := span.Length()
		span.Start = in.StartsAt.Truncate(time.Microsecond)
		span.End = span.Start.Add(length)
	}
	if fields.Has(EndField) {
		span.End = in.EndsAt.Truncate(time.Microsecond)
		if in.EndsAt.IsZero() {
			span.End = span.Start.Add(at.Duration)
		}
	}
	if length := span.Length(); length <= 0 || length > MaxLength {
		return span, fault.Invalid("end_time", "A session ends after its start, at most 7 days later.")
	}
	return span, nil
}

// withinReach refuses starts that can only be a slip of the pen.
func withinReach(start, now time.Time) error {
	if start.Before(now.Add(-MaxReach)) || start.After(now.Add(MaxReach)) {
		return fault.Invalid("start_time", "A session starts within ten years of now.")
	}
	return nil
}

// holdsItsPeople refuses capacities below what is taken.
func (s Session) holdsItsPeople() error {
	if s.Capacity != nil && *s.Capacity < s.SeatsTaken {
		return BelowTaken().With("session_id", s.ID.String()).With("seats_taken", strconv.Itoa(s.SeatsTaken)).In("capacity")
	}
	if s.WaitlistCapacity < s.Waiting {
		return BelowTaken().With("session_id", s.ID.String()).With("waiting", strconv.Itoa(s.Waiting)).In("waitlist_capacity")
	}
	return nil
}

// BelowTaken refuses a capacity below the places that people have already, in the
// session or in its queue.
func BelowTaken() *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.CapacityBelowTaken, "The capacity would be below the places that are taken.")
}

// Raised reports whether an edit has made room for somebody who waits.
func (s Session) Raised(before Session) bool {
	return before.Capacity != nil && (s.Capacity == nil || *s.Capacity > *before.Capacity)
}
