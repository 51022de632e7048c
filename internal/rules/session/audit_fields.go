package session

import (
	"slices"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
)

// AuditFields returns the editable fields for the audit log, by the names of the contract.
func (s Session) AuditFields() catalog.AuditFields {
	fields := s.Details.AuditFields()
	fields["start_time"] = s.StartsAt.UTC().Format(time.RFC3339Nano)
	fields["end_time"] = s.EndsAt.UTC().Format(time.RFC3339Nano)
	fields["state"] = string(s.State)
	fields["blocked"] = s.Blocked
	fields["state_reason"] = s.StateReason
	workouts := make([]string, len(s.Workouts))
	for i, id := range s.Workouts {
		workouts[i] = id.String()
	}
	fields["workout_ids"] = workouts
	return fields
}

// Changes returns the fields in which a session differs from what an edit made of it, as AuditFields has them.
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

// Created returns what the event says about a new session. The description can be long and is left out.
func (s Session) Created(batch tenant.BatchID) event.SessionCreated {
	after := Session{}.Changes(s).After
	var unchanged event.Field[string]
	after.Description = unchanged
	return event.SessionCreated{Series: s.Series, Batch: batch, After: after}
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

// AuditFields returns the editable fields, like Session.AuditFields. Unlimited capacity is nil.
func (d Details) AuditFields() catalog.AuditFields {
	fields := catalog.AuditFields{
		"service_id": d.Service.String(), "location_id": d.Location.String(), "resource_id": nil, "coach_id": nil,
		"title": d.Title, "description": d.Description, "capacity": nil, "waitlist_capacity": d.WaitlistCapacity,
	}
	if !d.Resource.IsZero() {
		fields["resource_id"] = d.Resource.String()
	}
	if !d.Coach.IsZero() {
		fields["coach_id"] = d.Coach.String()
	}
	if d.Capacity != nil {
		fields["capacity"] = *d.Capacity
	}
	return fields
}

// AuditFields returns the editable fields, like Session.AuditFields.
func (s Series) AuditFields() catalog.AuditFields {
	fields := s.Details.AuditFields()
	fields["rule"] = s.Rule
	fields["start_date"] = s.Date.String()
	fields["start_time_of_day"] = s.Time.String()
	fields["duration"] = strconv.FormatFloat(s.Duration.Seconds(), 'f', -1, 64) + "s"
	excluded := make([]string, len(s.Excluded))
	for i, d := range s.Excluded {
		excluded[i] = d.String()
	}
	fields["excluded_dates"] = excluded
	return fields
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
