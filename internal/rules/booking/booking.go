// Package booking decides who gets a place in a session, and what giving it up
// means. Its functions take facts and the time and return a plan or a refusal;
// whoever calls them applies the plan in the transaction that read the facts.
package booking

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// Status is where a booking is in its life.
type Status string

// The statuses.
const (
	Pending   Status = "PENDING" // a hold that expires
	Confirmed Status = "CONFIRMED"
	Attended  Status = "ATTENDED"
	NoShow    Status = "NO_SHOW"
	Cancelled Status = "CANCELLED"
	Expired   Status = "EXPIRED"
)

// Active reports whether a booking takes seats and stands in the way of another
// by the same member.
func (s Status) Active() bool { return s == Pending || s == Confirmed || s == Attended }

// Booking is a party's place in a session.
type Booking struct {
	ID            tenant.BookingID
	Session       tenant.SessionID
	Member        tenant.MemberID
	Party         int
	Status        Status
	Channel       catalog.Channel
	Subscription  tenant.SubscriptionID
	Credits       int  // held now
	Counted       bool // against the quotas of its subscription
	ExternalRef   string
	RequestHash   []byte
	Note          string
	Promoted      bool       // came off the waitlist
	GraceUntil    *time.Time // until then no penalty for cancelling
	LateCancelled bool
	CancelReason  string
	StartsAt      time.Time // the session's
	EndsAt        time.Time // the session's
	Exclusive     bool      // its plan forbids bookings that overlap in time
	CreatedBy     string
	CreatedAt     time.Time
	CancelledAt   *time.Time
	CheckedInAt   *time.Time
	CheckInMethod string
	HoldUntil     *time.Time // a hold keeps its seats until then; nil for whatever is, or was, more than a hold
	ConfirmedAt   *time.Time
	Contact       Contact
	GuestTier     string // whose policy a guest follows; empty for members
	Payment       Payment
	Benefit       Benefit
	HasItems      bool // whether or not Items were read along
	Items         []Line

	// Read along for those who look at it; not part of its own row.
	MemberName   string
	MemberTier   string // the guest's, for guests
	SessionTitle string
	TimeZone     string
	LocalDate    civil.Date
	Rules        catalog.Rules
}

// Contact is how to reach whoever booked. A guest has nothing else.
type Contact struct {
	Name  string `json:"name"`
	Email string `json:"email"`
	Phone string `json:"phone"`
}

// PaymentStatus is where a payment stands.
type PaymentStatus string

// The statuses of a payment.
const (
	Unpaid     PaymentStatus = "UNPAID"
	Authorized PaymentStatus = "AUTHORIZED"
	Captured   PaymentStatus = "CAPTURED"
	Refunded   PaymentStatus = "REFUNDED"
)

// Payment is what is known about the money. Berth charges nobody.
type Payment struct {
	Status PaymentStatus
	Amount credit.Money
	Method string
	PaidAt *time.Time
}

// Benefit is the membership elsewhere that a booking was confirmed with.
type Benefit struct {
	Code    string // the provider's; empty: none
	Number  string
	Percent int
}

// Due reports whether a hold has run out. It then holds nothing, whether or not anybody has noticed.
func (b Booking) Due(now time.Time) bool {
	return b.Status == Pending && b.HoldUntil != nil && !now.Before(*b.HoldUntil)
}

// CancellableUntil is the end of the time in which cancelling costs nothing.
func (b Booking) CancellableUntil() time.Time {
	deadline := b.StartsAt.Add(-b.Rules.For(b.MemberTier).Cancellation)
	if b.GraceUntil != nil && b.GraceUntil.After(deadline) {
		return *b.GraceUntil
	}
	return deadline
}

// Slot is what a booking needs to know of a session.
type Slot struct {
	ID               tenant.SessionID
	Service          tenant.ServiceID
	Location         tenant.LocationID
	Title            string
	StartsAt         time.Time
	EndsAt           time.Time
	TimeZone         string // IANA, of the location
	LocalDate        civil.Date
	Capacity         *int // nil: unlimited
	SeatsTaken       int
	WaitlistCapacity int
	Waiting          int
	// Queued counts the entries in the queue of the session's day, for it and for windows; nil: nobody has looked.
	Queued        *int
	Holds         int // bookings that are PENDING
	State         catalog.SessionState
	Blocked       bool
	MinParty      int
	MaxParty      int
	Delivery      catalog.Delivery
	Point         *catalog.Point // of the location
	Channels      []catalog.Channel
	TakesPayments bool // the tenant
	Rules         catalog.Rules
}

// Fits reports whether seats are open for a party.
func (s Slot) Fits(party int) bool { return s.Capacity == nil || s.SeatsTaken+party <= *s.Capacity }

// SeatsOpen counts the seats that are open; nil means unlimited.
func (s Slot) SeatsOpen() *int {
	if s.Capacity == nil {
		return nil
	}
	return new(max(*s.Capacity-s.SeatsTaken, 0))
}

// Member is what a booking needs to know of a member.
type Member struct {
	ID     tenant.MemberID
	Name   string
	Tier   string
	Active bool
}
