package session

import (
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// Busy is a span for which a resource, a staff member, or both are taken.
type Busy struct {
	Resource tenant.ResourceID
	Coach    tenant.MemberID
	Span     civil.Span
}

// ResourceTaken refuses a resource that has another session in the span.
func ResourceTaken() *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.ResourceBusy, "The resource has another session at that time.").In("resource_id")
}

// CoachTaken refuses a staff member who has another session in the span.
func CoachTaken() *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.StaffBusy, "The staff member has another session at that time.").In("coach_id")
}

// Clash is a session that finds its resource or staff member taken.
type Clash struct {
	Session int        // its index
	With    int        // the other's index; -1 where it is one of the busy spans
	Span    civil.Span // the other's
	Coach   bool       // the staff member is taken, else the resource
}

// Clashes tells, in order, which sessions cannot take place beside what is busy and
// beside the sessions before them. Without those that it names, the rest can.
func Clashes(sessions []Session, busy []Busy) []Clash {
	resources := make(map[tenant.ResourceID][]taken)
	coaches := make(map[tenant.MemberID][]taken)
	for _, b := range busy {
		take(resources, b.Resource, taken{-1, b.Span})
		take(coaches, b.Coach, taken{-1, b.Span})
	}
	var clashes []Clash
	for i, s := range sessions {
		own := taken{i, s.Span()}
		if other, ok := take(resources, s.Resource, own); !ok {
			clashes = append(clashes, Clash{Session: i, With: other.session, Span: other.span})
		}
		if other, ok := take(coaches, s.Coach, own); !ok {
			clashes = append(clashes, Clash{Session: i, With: other.session, Span: other.span, Coach: true})
		}
	}
	return clashes
}

type taken struct {
	session int
	span    civil.Span
}

// take notes a span, and gives the first noted before that overlaps it, with false.
func take[K interface {
	comparable
	IsZero() bool
}](by map[K][]taken, key K, own taken) (other taken, free bool) {
	if key.IsZero() {
		return taken{}, true
	}
	all := by[key]
	by[key] = append(all, own)
	for _, other := range all {
		if other.span.Overlaps(own.span) {
			return other, false
		}
	}
	return taken{}, true
}

// Window is the span that all the sessions lie in.
func Window(sessions []Session) civil.Span {
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
