// Package session has the rules for sessions and series: valid values, changes of state, edits, and imports. Its
// functions take facts and the time, and return new values or an error. The caller stores them in the transaction that
// read the facts.
package session

import (
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// MaxStartDistance is how far before or after now a session can start.
const MaxStartDistance = 10 * 366 * 24 * time.Hour

// MaxLength is the longest time from a session's start to its end.
const MaxLength = 7 * 24 * time.Hour

// Details are the fields of a session except its time. The sessions of a series share them.
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
	// OccursOn and OccursAt identify the session's occurrence in the series, even after the session was moved. Zero if
	// the pattern no longer has an occurrence for it.
	OccursOn civil.Date
	OccursAt time.Time
	// Detached: edited individually. Edits of the series no longer change it.
	Detached bool

	State       catalog.SessionState
	Blocked     bool
	StateReason string // why it is blocked or was cancelled
	Deleted     bool   // only edits of a series load deleted sessions, so as not to create them again

	SeatsTaken int // by active bookings and live offers
	Waiting    int // waitlist entries
	Holds      int // PENDING bookings
	NoShows    int // bookings whose party did not come; they take no seats

	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time

	// Joined from other tables for display; not columns of the session.
	Delivery  catalog.Delivery
	CoachName string             // empty without a coach
	Workouts  []tenant.WorkoutID // in order
}

// Span returns the session's span.
func (s Session) Span() civil.Span { return civil.Span{Start: s.StartsAt, End: s.EndsAt} }

// SeatsOpen returns the number of open seats; nil means unlimited.
func (s Session) SeatsOpen() *int {
	if s.Capacity == nil {
		return nil
	}
	return new(max(*s.Capacity-s.SeatsTaken, 0))
}

// Started reports whether it has begun.
func (s Session) Started(now time.Time) bool { return !now.Before(s.StartsAt) }

// withSpan returns the session at another time. LocalDate is in the location's zone.
func (s Session) withSpan(span civil.Span, zone *time.Location) Session {
	s.StartsAt, s.EndsAt = span.Start.UTC(), span.End.UTC()
	s.LocalDate = civil.DateOf(s.StartsAt, zone)
	return s
}

// Publish makes a draft bookable. Like the other state changes, it reports whether anything changed.
func (s Session) Publish(now time.Time) (Session, bool, error) {
	if err := s.State.CheckTakesPlace(); err != nil {
		return s, false, err
	}
	if s.State == catalog.Published {
		return s, false, nil
	}
	s.State = catalog.Published
	return s.edited(now), true, nil
}

// Unpublish makes it a draft again, unless it has bookings or waitlist entries.
func (s Session) Unpublish(now time.Time) (Session, bool, error) {
	if err := s.State.CheckTakesPlace(); err != nil {
		return s, false, err
	}
	switch {
	case s.State == catalog.Draft:
		return s, false, nil
	case s.Booked():
		return s, false, s.activeBookings("It cannot become a draft.")
	}
	s.State = catalog.Draft
	return s.edited(now), true, nil
}

// Booked reports whether it has active bookings, no-shows, live offers or waitlist entries.
func (s Session) Booked() bool { return s.SeatsTaken > 0 || s.NoShows > 0 || s.Waiting > 0 }

func (s Session) activeBookings(so string) error {
	refusal := fault.New(fault.FailedPrecondition, fault.ActiveBookings,
		"The session has bookings or waitlist entries. %s", so).
		WithMetadata("seats_taken", strconv.Itoa(s.SeatsTaken)).WithMetadata("waiting", strconv.Itoa(s.Waiting))
	if s.NoShows > 0 {
		refusal = refusal.WithMetadata("no_shows", strconv.Itoa(s.NoShows))
	}
	return refusal
}

// CheckUnbooked rejects deleting a session that is Booked, other than with its bookings: ACTIVE_BOOKINGS.
func (s Session) CheckUnbooked() error {
	if s.Booked() {
		return s.activeBookings("Cancel it, or delete it with its bookings.")
	}
	return nil
}

// ChangeEnded is the permission to cancel and delete sessions that have ended.
const ChangeEnded = "session.change_ended"

// Ended reports whether it is over.
func (s Session) Ended(now time.Time) bool { return !now.Before(s.EndsAt) }

// CheckEnded rejects cancelling or deleting a session that has ended, unless that is meant: SESSION_STATE.
func (s Session) CheckEnded(includeEnded bool, now time.Time) error {
	if !includeEnded && s.Ended(now) {
		return fault.New(fault.FailedPrecondition, fault.SessionState, "The session has ended.").
			WithMetadata("state", "ended")
	}
	return nil
}

// Cancel cancels the session, which is final. The same transaction must cancel its bookings and waitlist entries.
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

// Block stops new bookings. To block it again only changes the reason.
func (s Session) Block(reason string, now time.Time) (Session, bool, error) {
	if err := s.State.CheckTakesPlace(); err != nil {
		return s, false, err
	}
	if s.Blocked && s.StateReason == reason {
		return s, false, nil
	}
	if err := CheckReason(reason); err != nil {
		return s, false, err
	}
	s.Blocked, s.StateReason = true, reason
	return s.edited(now), true, nil
}

// Unblock allows new bookings again.
func (s Session) Unblock(now time.Time) (Session, bool, error) {
	if err := s.State.CheckTakesPlace(); err != nil {
		return s, false, err
	}
	if !s.Blocked {
		return s, false, nil
	}
	s.Blocked, s.StateReason = false, ""
	return s.edited(now), true, nil
}

// edited returns the session with a new version.
func (s Session) edited(now time.Time) Session {
	s.Version++
	s.UpdatedAt = now
	return s
}
