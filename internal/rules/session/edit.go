package session

import (
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// Input is what staff enter for a session.
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
	Unlimited        bool      // overrides Capacity
	WaitlistCapacity *int      // nil: the service's default
}

// Fields is a set of fields of an Input that an edit changes.
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

// TimeFields are the fields that a series computes for each session.
const TimeFields = StartField | EndField

// Has reports whether the set has any of the fields.
func (f Fields) Has(fields Fields) bool { return f&fields != 0 }

// References has the current state of what a session refers to. Something that the tenant does not have is inactive and
// otherwise empty.
type References struct {
	Service  ServiceReference
	Location LocationReference
	Resource ResourceReference
	Coach    CoachReference
}

// ServiceReference has the fields of a service that a session uses.
type ServiceReference struct {
	Active           bool
	Name             string
	Duration         time.Duration
	Capacity         *int
	WaitlistCapacity int
	Delivery         catalog.Delivery
}

// LocationReference has the fields of a location that a session uses.
type LocationReference struct {
	Active   bool
	TimeZone string         // IANA
	Zone     *time.Location // TimeZone, loaded
}

// ResourceReference has the fields of a resource that a session uses.
type ResourceReference struct {
	Active   bool
	Location tenant.LocationID
}

// CoachReference has the fields of a coach that a session uses.
type CoachReference struct {
	CanLead bool // an active owner, admin or coach
	Name    string
}

// New makes a draft session.
func New(id tenant.SessionID, in Input, at References, now time.Time) (Session, error) {
	s := Session{ID: id, State: catalog.Draft, CreatedAt: now}
	return s.Edit(in, allFields, at, now)
}

// NewDetails makes the details of the sessions of a series.
func NewDetails(in Input, at References) (Details, error) {
	return Details{}.Edit(in, allFields&^TimeFields, at)
}

// WithReferences returns the details with the references after an edit, so that the caller can load the Setting.
func (d Details) WithReferences(in Input, fields Fields) Details {
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

// Edit returns the session after an edit. The setting is that of its Target. An edit that changes nothing returns the
// same session, with the same version.
//
// The errors are SESSION_STATE for a cancelled session, INVALID_FIELD for invalid times, CAPACITY_BELOW_TAKEN, and
// those of Details.Edit.
func (s Session) Edit(in Input, fields Fields, at References, now time.Time) (Session, error) {
	if err := s.State.CheckTakesPlace(); err != nil {
		return s, err
	}
	details, err := s.Details.Edit(in, fields, at)
	if err != nil {
		return s, err
	}
	span, err := s.reschedule(in, fields, at.Service)
	if err != nil {
		return s, err
	}
	if !span.Start.Equal(s.StartsAt) {
		if err := checkStart(span.Start, now); err != nil {
			return s, err
		}
	}
	return s.update(details, span, at, now)
}

// ApplySeries returns the session of a series after an edit of the series.
func (s Session) ApplySeries(series Series, at References, span civil.Span, now time.Time) (Session, error) {
	return s.update(series.Details, span, at, now)
}

// update returns the session with other details and another span, or the same session if nothing changes.
func (s Session) update(details Details, span civil.Span, at References, now time.Time) (Session, error) {
	after := s.withSpan(span, at.Location.Zone)
	after.Details, after.CoachName = details, at.Coach.Name
	after.TimeZone, after.Delivery = at.Location.TimeZone, at.Service.Delivery
	if err := after.checkCapacity(); err != nil {
		return s, err
	}
	if s.sameAs(after) {
		return s, nil
	}
	return after.edited(now), nil
}

// Edit returns the details after an edit. References that do not change are not checked again, so that something that
// was deactivated later does not block other edits.
//
// The errors are SERVICE_NOT_FOUND, LOCATION_NOT_FOUND and RESOURCE_NOT_FOUND for what is absent, inactive or, for a
// resource, at another location, and COACH_INVALID.
func (d Details) Edit(in Input, fields Fields, at References) (Details, error) {
	to := d.WithReferences(in, fields)
	if err := to.CheckReferences(d, at); err != nil {
		return d, err
	}
	if fields.Has(TitleField) && in.Title != d.Title {
		var err error
		if to.Title, err = line("title", in.Title, maxTitle); err != nil {
			return d, err
		}
	}
	if to.Title == "" {
		to.Title = at.Service.Name
	}
	if fields.Has(DescriptionField) && in.Description != d.Description {
		to.Description = in.Description
		if err := lines("description", to.Description, maxDescription); err != nil {
			return d, err
		}
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

// CheckReferences checks the references that differ from those before. Edit lists its errors.
func (d Details) CheckReferences(before Details, at References) error {
	switch {
	case d.Service.IsZero():
		return fault.Invalid("service_id", "A session needs a service.")
	case d.Service != before.Service && !at.Service.Active:
		return fault.Missing(fault.ServiceNotFound, "Service").WithField("service_id")
	case d.Location.IsZero():
		return fault.Invalid("location_id", "A session needs a location.")
	case d.Location != before.Location && !at.Location.Active:
		return fault.Missing(fault.LocationNotFound, "Location").WithField("location_id")
	case d.Resource.IsZero():
	case d.Resource == before.Resource && d.Location == before.Location:
	case !at.Resource.Active || at.Resource.Location != d.Location:
		return fault.Missing(fault.ResourceNotFound, "Resource").WithField("resource_id")
	}
	if d.Coach != before.Coach && !d.Coach.IsZero() && !at.Coach.CanLead {
		return fault.New(fault.FailedPrecondition, fault.CoachInvalid,
			"The coach of a session must be an active owner, admin or coach.").WithField("coach_id")
	}
	return nil
}

// reschedule returns the span after an edit. A new start without a new end keeps the length.
func (s Session) reschedule(in Input, fields Fields, at ServiceReference) (civil.Span, error) {
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

// checkStart rejects a start so far away that it must be a typing error.
func checkStart(start, now time.Time) error {
	if start.Before(now.Add(-MaxStartDistance)) || start.After(now.Add(MaxStartDistance)) {
		return fault.Invalid("start_time", "A session starts within ten years of now.")
	}
	return nil
}

// checkCapacity rejects capacities below the number of taken seats and waitlist entries.
func (s Session) checkCapacity() error {
	if s.Capacity != nil && *s.Capacity < s.SeatsTaken {
		return CapacityTooLow().WithMetadata("session_id", s.ID.String()).
			WithMetadata("seats_taken", strconv.Itoa(s.SeatsTaken)).WithField("capacity")
	}
	if s.WaitlistCapacity < s.Waiting {
		return CapacityTooLow().WithMetadata("session_id", s.ID.String()).
			WithMetadata("waiting", strconv.Itoa(s.Waiting)).WithField("waitlist_capacity")
	}
	return nil
}

// CapacityTooLow means that a capacity would be below the number of taken seats or waitlist entries.
func CapacityTooLow() *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.CapacityBelowTaken,
		"The capacity would be below the number of places taken.")
}

// CapacityRaised reports whether an edit raised the capacity, so that the waitlist can be filled.
func (s Session) CapacityRaised(before Session) bool {
	return before.Capacity != nil && (s.Capacity == nil || *s.Capacity > *before.Capacity)
}
