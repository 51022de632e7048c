package session

import (
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// BusySpan is a span in which a resource, a coach, or both have another session.
type BusySpan struct {
	Resource tenant.ResourceID
	Coach    tenant.MemberID
	Span     civil.Span
}

// ResourceBusy means that the resource has another session that overlaps in time.
func ResourceBusy() *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.ResourceBusy, "The resource has another session at that time.").
		WithField("resource_id")
}

// CoachBusy means that the coach has another session that overlaps in time.
func CoachBusy() *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.StaffBusy, "The coach has another session at that time.").
		WithField("coach_id")
}

// Clash is a session whose resource or coach has another session at the same time.
type Clash struct {
	Session int        // its index
	With    int        // the index of the other session; -1 for a busy span
	Span    civil.Span // of the other session
	Coach   bool       // the coach clashes, else the resource
}

// Clashes returns, in order, the sessions that clash with a busy span or with an earlier session. Without them, no two
// of the remaining sessions clash.
func Clashes(sessions []Session, busy []BusySpan) []Clash {
	resources := make(map[tenant.ResourceID][]reservation)
	coaches := make(map[tenant.MemberID][]reservation)
	for _, b := range busy {
		reserve(resources, b.Resource, reservation{-1, b.Span})
		reserve(coaches, b.Coach, reservation{-1, b.Span})
	}
	var clashes []Clash
	for i, s := range sessions {
		own := reservation{i, s.Span()}
		if other, ok := reserve(resources, s.Resource, own); !ok {
			clashes = append(clashes, Clash{Session: i, With: other.session, Span: other.span})
		}
		if other, ok := reserve(coaches, s.Coach, own); !ok {
			clashes = append(clashes, Clash{Session: i, With: other.session, Span: other.span, Coach: true})
		}
	}
	return clashes
}

type reservation struct {
	session int // -1: a busy span
	span    civil.Span
}

// reserve adds a reservation for a key. It returns the first earlier one that overlaps, with false.
func reserve[K interface {
	comparable
	IsZero() bool
}](reservations map[K][]reservation, key K, own reservation) (other reservation, free bool) {
	if key.IsZero() {
		return reservation{}, true
	}
	earlier := reservations[key]
	reservations[key] = append(earlier, own)
	for _, other := range earlier {
		if other.span.Overlaps(own.span) {
			return other, false
		}
	}
	return reservation{}, true
}

// Bounds returns the span from the first start to the last end of the sessions.
func Bounds(sessions []Session) civil.Span {
	var w civil.Span
	for i, s := range sessions {
		if i == 0 || s.StartsAt.Before(w.Start) {
			w.Start = s.StartsAt
		}
		if i == 0 || s.EndsAt.After(w.End) {
			w.End = s.EndsAt
		}
	}
	return w
}
