package session

import (
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/rules/catalog"
)

// Facts returns the editable fields for the audit log, by the names of the contract.
func (s Session) Facts() catalog.AuditFields {
	facts := s.Details.Facts()
	facts["start_time"] = s.StartsAt.UTC().Format(time.RFC3339Nano)
	facts["end_time"] = s.EndsAt.UTC().Format(time.RFC3339Nano)
	facts["state"] = string(s.State)
	facts["blocked"] = s.Blocked
	facts["state_reason"] = s.StateReason
	workouts := make([]string, len(s.Workouts))
	for i, id := range s.Workouts {
		workouts[i] = id.String()
	}
	facts["workout_ids"] = workouts
	return facts
}

// Facts returns the editable fields, like Session.Facts. Unlimited capacity is nil.
func (d Details) Facts() catalog.AuditFields {
	facts := catalog.AuditFields{
		"service_id": d.Service.String(), "location_id": d.Location.String(), "resource_id": nil, "coach_id": nil,
		"title": d.Title, "description": d.Description, "capacity": nil, "waitlist_capacity": d.WaitlistCapacity,
	}
	if !d.Resource.IsZero() {
		facts["resource_id"] = d.Resource.String()
	}
	if !d.Coach.IsZero() {
		facts["coach_id"] = d.Coach.String()
	}
	if d.Capacity != nil {
		facts["capacity"] = *d.Capacity
	}
	return facts
}

// Facts returns the editable fields, like Session.Facts.
func (s Series) Facts() catalog.AuditFields {
	facts := s.Details.Facts()
	facts["rule"] = s.Rule
	facts["start_date"] = s.Date.String()
	facts["start_time_of_day"] = s.Time.String()
	facts["duration"] = strconv.FormatFloat(s.Duration.Seconds(), 'f', -1, 64) + "s"
	excluded := make([]string, len(s.Excluded))
	for i, d := range s.Excluded {
		excluded[i] = d.String()
	}
	facts["excluded_dates"] = excluded
	return facts
}

// sameAs reports whether the editable fields are equal.
func (s Session) sameAs(other Session) bool {
	return s.StartsAt.Equal(other.StartsAt) && s.EndsAt.Equal(other.EndsAt) && s.Details.sameAs(other.Details)
}

func (d Details) sameAs(other Details) bool {
	a, b := d.Capacity, other.Capacity
	d.Capacity, other.Capacity = nil, nil
	return d == other && (a == b || a != nil && b != nil && *a == *b)
}
