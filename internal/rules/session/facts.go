package session

import (
	"slices"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
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

// Changes returns the fields in which a session differs from what an edit made of it, as Facts has them.
func (s Session) Changes(after Session) event.SessionUpdated {
	var e event.SessionUpdated
	was, is := &e.Before, &e.After
	change(&was.Service, &is.Service, &s.Service, &after.Service)
	change(&was.Location, &is.Location, &s.Location, &after.Location)
	change(&was.Resource, &is.Resource, unlessZero(s.Resource), unlessZero(after.Resource))
	change(&was.Coach, &is.Coach, unlessZero(s.Coach), unlessZero(after.Coach))
	change(&was.Title, &is.Title, &s.Title, &after.Title)
	change(&was.Description, &is.Description, &s.Description, &after.Description)
	change(&was.Capacity, &is.Capacity, s.Capacity, after.Capacity)
	change(&was.WaitlistCapacity, &is.WaitlistCapacity, &s.WaitlistCapacity, &after.WaitlistCapacity)
	changeTime(&was.Start, &is.Start, s.StartsAt, after.StartsAt)
	changeTime(&was.End, &is.End, s.EndsAt, after.EndsAt)
	change(&was.State, &is.State, new(string(s.State)), new(string(after.State)))
	change(&was.Blocked, &is.Blocked, &s.Blocked, &after.Blocked)
	change(&was.StateReason, &is.StateReason, &s.StateReason, &after.StateReason)
	if !slices.Equal(s.Workouts, after.Workouts) {
		was.Workouts = event.Changed(new(append([]tenant.WorkoutID{}, s.Workouts...)))
		is.Workouts = event.Changed(new(append([]tenant.WorkoutID{}, after.Workouts...)))
	}
	return e
}

// change sets a field as it was and as it is, if an edit changed it.
func change[T comparable](was, is *event.Field[T], before, after *T) {
	if before != after && (before == nil || after == nil || *before != *after) {
		*was, *is = event.Changed(before), event.Changed(after)
	}
}

func changeTime(was, is *event.Field[time.Time], before, after time.Time) {
	if !before.Equal(after) {
		*was, *is = event.Changed(new(before.UTC())), event.Changed(new(after.UTC()))
	}
}

func unlessZero[I comparable](id I) *I {
	if id == *new(I) {
		return nil
	}
	return &id
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
