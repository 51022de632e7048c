// Package booking has the rules for booking, holding, rescheduling and cancelling. Its functions take facts and the
// time, and return what to do or an error. The caller does it in the transaction that read the facts.
package booking

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/tenant"
)

// Status is the status of a booking.
type Status string

// The statuses.
const (
	Pending   Status = "PENDING" // a hold, which expires
	Confirmed Status = "CONFIRMED"
	Attended  Status = "ATTENDED"
	NoShow    Status = "NO_SHOW"
	Cancelled Status = "CANCELLED"
	Expired   Status = "EXPIRED"
)

// Statuses returns all statuses.
func Statuses() []Status { return []Status{Pending, Confirmed, Attended, NoShow, Cancelled, Expired} }

// Active reports whether a booking takes seats and rules out a second booking by the same member.
func (s Status) Active() bool { return s == Pending || s == Confirmed || s == Attended }

// Booking is a booking of a session for a party.
type Booking struct {
	ID            tenant.BookingID
	Session       tenant.SessionID
	Member        tenant.MemberID
	Party         int
	Status        Status
	Channel       catalog.Channel
	Subscription  tenant.SubscriptionID
	Credits       int  // charged and not refunded
	Counted       bool // counts toward the quotas of its subscription
	ExternalRef   string
	RequestHash   []byte
	Note          string
	Promoted      bool       // from the waitlist
	GraceUntil    *time.Time // cancelling is free until then, whatever the policy says
	LateCancelled bool
	CancelReason  string
	StartsAt      time.Time // the session's
	EndsAt        time.Time // the session's
	Exclusive     bool      // its plan forbids another booking that overlaps in time
	CreatedBy     string
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Version       int // counts its changes, from 1
	CancelledAt   *time.Time
	CheckedInAt   *time.Time
	CheckInMethod string
	HoldUntil     *time.Time // when the hold expires; nil once it is confirmed, and for bookings without a hold
	ConfirmedAt   *time.Time
	Contact       Contact
	GuestTier     string // the tier whose policy applies to a guest; empty for members
	Payment       payment.Payment
	Benefit       Benefit
	HasItems      bool // set even if Items was not loaded
	Items         []ItemLine

	// Joined from other tables for display; not columns of the booking.
	MemberName   string
	MemberTier   string // for guests, GuestTier
	SessionTitle string
	CoachName    string // of the session; empty without a coach
	Service      tenant.ServiceID
	Location     tenant.LocationID
	LocationName string
	TimeZone     string
	LocalDate    civil.Date
	Policy       catalog.BookingPolicy
}

// Summary returns what is shown of the session.
func (b Booking) Summary() catalog.SessionSummary {
	return catalog.SessionSummary{
		ID: b.Session, Title: b.SessionTitle, StartsAt: b.StartsAt, EndsAt: b.EndsAt, CoachName: b.CoachName,
		Service: b.Service, Location: b.Location, LocationName: b.LocationName, TimeZone: b.TimeZone,
	}
}

// Summary returns what is shown of the session.
func (s Slot) Summary() catalog.SessionSummary {
	return catalog.SessionSummary{
		ID: s.ID, Title: s.Title, StartsAt: s.StartsAt, EndsAt: s.EndsAt, CoachName: s.CoachName, Service: s.Service,
		Location: s.Location, LocationName: s.LocationName, TimeZone: s.TimeZone,
	}
}

// In returns the booking with the facts of its session.
func (b Booking) In(s Slot) Booking {
	b.Session, b.StartsAt, b.EndsAt, b.LocalDate = s.ID, s.StartsAt, s.EndsAt, s.LocalDate
	b.SessionTitle, b.CoachName, b.Service = s.Title, s.CoachName, s.Service
	b.Location, b.LocationName, b.TimeZone, b.Policy = s.Location, s.LocationName, s.TimeZone, s.Policy
	return b
}

// Contact says how to reach the person who booked. For a guest it is the only record of them.
type Contact struct {
	Name  string `json:"name"`
	Email string `json:"email"`
	Phone string `json:"phone"`
}

// Details are what can be edited in a booking, whatever its status is.
type Details struct {
	Note    string
	Contact Contact
}

// Edit returns the booking with other details.
func Edit(b Booking, edit func(*Details)) (Booking, error) {
	d := Details{Note: b.Note, Contact: b.Contact}
	edit(&d)
	contact, err := CheckBooker(b.Member, b.Member.IsZero(), d.Contact, b.Contact, b.GuestTier)
	if err != nil {
		return Booking{}, err
	}
	b.Note, b.Contact = d.Note, contact
	return b, nil
}

// Benefit is the benefit membership that a booking was confirmed with.
type Benefit struct {
	Code     string // of the provider; empty: none
	Number   string // of the membership
	Percent  int    // the discount
	Verified bool   // the number was on the provider's list
}

// NeverDue says why no money is ever due for the booking; empty if it may be.
func (b Booking) NeverDue() payment.Due {
	switch {
	case b.Payment.Status == payment.WrittenOff:
		return payment.Waived
	case !b.Subscription.IsZero():
		return payment.PaidByPlan
	default:
		return ""
	}
}

// EndedAt returns when the booking was cancelled or its hold expired; nil if it was not.
func (b Booking) EndedAt(now time.Time) *time.Time {
	switch {
	case b.Status == Cancelled, b.Status == Expired:
		return b.CancelledAt
	case b.HoldExpired(now):
		return b.HoldUntil
	default:
		return nil
	}
}

// HoldExpired reports whether the hold has expired. It then keeps no seats, even if its status is still PENDING.
func (b Booking) HoldExpired(now time.Time) bool {
	return b.Status == Pending && b.HoldUntil != nil && !now.Before(*b.HoldUntil)
}

// CancelDeadline returns until when cancelling is free: the end of the cancellation window or of the grace period,
// whichever is later, and the start at the latest. A session that is moved can start before the grace ends.
func (b Booking) CancelDeadline() time.Time {
	deadline := b.StartsAt.Add(-b.Policy.For(b.MemberTier).CancellationWindow)
	if b.GraceUntil == nil || !b.GraceUntil.After(deadline) {
		return deadline
	}
	if b.GraceUntil.After(b.StartsAt) {
		return b.StartsAt
	}
	return *b.GraceUntil
}

// Slot is what the rules need to know about a session.
type Slot struct {
	ID               tenant.SessionID
	Service          tenant.ServiceID
	Location         tenant.LocationID
	Title            string
	CoachName        string // empty without a coach
	LocationName     string
	StartsAt         time.Time
	EndsAt           time.Time
	TimeZone         string     // IANA, of the location
	LocalDate        civil.Date // of the start, in TimeZone
	Capacity         *int       // nil: unlimited
	SeatsTaken       int        // by active bookings and live offers
	WaitlistCapacity int
	Waiting          int // waitlist entries
	// Queued counts the waitlist entries for the session's day: for the session, and for time windows. Nil: not loaded.
	Queued *int
	Holds  int // PENDING bookings
	// OpeningDue: entries wait for it, and when booking opens, the first of them get seats.
	OpeningDue    bool
	State         catalog.SessionState
	Blocked       bool
	MinParty      int
	MaxParty      int
	Delivery      catalog.Delivery
	Point         *catalog.Point    // of the location
	Channels      []catalog.Channel // that the location takes bookings through
	TakesPayments bool              // the tenant's setting: booking needs an active plan
	Policy        catalog.BookingPolicy
}

// Fits reports whether there are enough open seats for a party.
func (s Slot) Fits(party int) bool { return s.Capacity == nil || s.SeatsTaken+party <= *s.Capacity }

// Opens returns when members can first book the session.
func (s Slot) Opens() time.Time { return s.StartsAt.Add(-s.Policy.AdvanceWindow) }

// SeatsOpen returns the number of open seats; nil means unlimited.
func (s Slot) SeatsOpen() *int {
	if s.Capacity == nil {
		return nil
	}
	return new(max(*s.Capacity-s.SeatsTaken, 0))
}

// HoldUntil returns when a hold that is made now expires: after the policy's hold_ttl, but no later than the start.
func (s Slot) HoldUntil(now time.Time) time.Time {
	if until := now.Add(s.Policy.HoldTTL); until.Before(s.StartsAt) {
		return until
	}
	return s.StartsAt
}

// Member is what the rules need to know about a member.
type Member struct {
	ID     tenant.MemberID
	Name   string
	Tier   string
	Active bool
	Waits  bool // has entries on a waitlist
}
