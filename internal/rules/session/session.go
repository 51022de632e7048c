// Package session decides about the schedule: what a session may look like, the
// states it goes through, which sessions an edit of a series reaches, and what an
// imported file says. Its functions take facts and the time and return values or
// a refusal; whoever calls them applies these in the transaction that read the facts.
package session

import (
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// What one bulk operation reaches at most: it is one transaction, and what it
// cancels and tells must fit into that.
const (
	// MaxBulk counts sessions.
	MaxBulk = 2000
	// MaxPlaces counts the seats taken in them, and the entries that wait.
	MaxPlaces = 10_000
)

// MaxReach bounds, in both directions from now, when a session may start.
const MaxReach = 10 * 366 * 24 * time.Hour

// MaxLength bounds the time from a session's start to its end.
const MaxLength = 7 * 24 * time.Hour

// Details are what a session is apart from when it takes place. The sessions of a
// series have them in common.
type Details struct {
	Service          tenant.ServiceID
	Location         tenant.LocationID
	Resource         tenant.ResourceID // zero: none
	Coach            tenant.MemberID   // zero: none
	Title            string
	Description      string
	Capacity         *int // nil: unlimited
	WaitlistCapacity int
}

// Session is one scheduled, bookable span.
type Session struct {
	ID tenant.SessionID
	Details
	StartsAt  time.Time
	EndsAt    time.Time
	TimeZone  string     // IANA, of the location
	LocalDate civil.Date // of the start, at the location

	Series tenant.SeriesID // zero: none
	// OccursOn and OccursAt name the occurrence of the series that it stands for, wherever
	// it was moved since. Zero where the pattern has none for it any more.
	OccursOn civil.Date
	OccursAt time.Time
	// Detached: edited by itself. The series no longer decides about it.
	Detached bool

	State       catalog.SessionState
	Blocked     bool
	StateReason string // why it is blocked or was cancelled
	Deleted     bool   // seen by edits of a series alone, which must not make it anew

	SeatsTaken int // by active bookings and live offers
	Waiting    int // entries
	Holds      int // bookings that are only held

	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time

	// Read along for those who look at it; not part of its own row.
	Delivery  catalog.Delivery
	CoachName string             // empty where nobody leads it
	Workouts  []tenant.WorkoutID // in order
}

// Span is when it takes place.
func (s Session) Span() civil.Span { return civil.Span{Start: s.StartsAt, End: s.EndsAt} }

// Booked reports whether anybody has a place in it or waits for one.
func (s Session) Booked() bool { return s.SeatsTaken > 0 || s.Waiting > 0 }

// SeatsOpen counts the seats that can be booked; nil means unlimited.
func (s Session) SeatsOpen() *int {
	if s.Capacity == nil {
		return nil
	}
	return new(max(*s.Capacity-s.SeatsTaken, 0))
}

// Started reports whether it has begun.
func (s Session) Started(now time.Time) bool { return !now.Before(s.StartsAt) }

// At places the session in time. The day is counted in the location's zone.
func (s Session) At(span civil.Span, zone *time.Location) Session {
	s.StartsAt, s.EndsAt = span.Start.UTC(), span.End.UTC()
	s.LocalDate = civil.DateOf(s.StartsAt, zone)
	return s
}

// Publish puts a draft on sale. It reports whether anything changed, as the
// other changes of state do.
func (s Session) Publish(now time.Time) (Session, bool, error) {
	if s.State == catalog.Cancelled {
		return s, false, wrongState(s)
	}
	if s.State == catalog.Published {
		return s, false, nil
	}
	s.State = catalog.Published
	return s.edited(now), true, nil
}

// Unpublish makes it a draft again, unless somebody has a place in it or waits for one.
func (s Session) Unpublish(now time.Time) (Session, bool, error) {
	switch {
	case s.State == catalog.Cancelled:
		return s, false, wrongState(s)
	case s.State == catalog.Draft:
		return s, false, nil
	case s.Booked():
		return s, false, fault.New(fault.FailedPrecondition, fault.ActiveBookings,
			"Somebody has booked the session or waits for a place in it: it cannot become a draft.").
			With("seats_taken", strconv.Itoa(s.SeatsTaken)).With("waiting", strconv.Itoa(s.Waiting))
	}
	s.State = catalog.Draft
	return s.edited(now), true, nil
}

// Cancel calls it off for good. Its bookings and entries must go in the same transaction.
func (s Session) Cancel(reason string, now time.Time) (Session, bool, error) {
	if s.State == catalog.Cancelled {
		return s, false, nil
	}
	if err := CheckReason(reason); err != nil {
		return s, false, err
	}
	s.State, s.StateReason = catalog.Cancelled, reason
	s.SeatsTaken, s.Waiting = 0, 0
	return s.edited(now), true, nil
}

// Block takes it off sale. Blocking it again changes the reason alone.
func (s Session) Block(reason string, now time.Time) (Session, bool, error) {
	switch {
	case s.State == catalog.Cancelled:
		return s, false, wrongState(s)
	case s.Blocked && s.StateReason == reason:
		return s, false, nil
	}
	if err := CheckReason(reason); err != nil {
		return s, false, err
	}
	s.Blocked, s.StateReason = true, reason
	return s.edited(now), true, nil
}

// Unblock puts it back on sale.
func (s Session) Unblock(now time.Time) (Session, bool, error) {
	switch {
	case s.State == catalog.Cancelled:
		return s, false, wrongState(s)
	case !s.Blocked:
		return s, false, nil
	}
	s.Blocked, s.StateReason = false, ""
	return s.edited(now), true, nil
}

func (s Session) edited(now time.Time) Session {
	s.Version++
	s.UpdatedAt = now
	return s
}

func wrongState(s Session) error {
	return fault.New(fault.FailedPrecondition, fault.SessionState, "The session is cancelled.").With("state", string(s.State))
}
