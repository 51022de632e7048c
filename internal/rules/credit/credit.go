// Package credit decides which subscription pays for a booking, and what moves
// on its ledger. A balance is always the sum of the ledger's lines and never
// below zero; each change is a line, and lines are only ever appended.
package credit

import (
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// PlanKind is how a plan is counted.
type PlanKind string

// The kinds.
const (
	Unlimited PlanKind = "UNLIMITED" // books without credits
	Credits   PlanKind = "CREDITS"   // one credit for each seat
	Course    PlanKind = "COURSE"    // belongs to a course; never picked for a booking
)

// Plan is what can be bought.
type Plan struct {
	ID           tenant.PlanID
	Name         string
	Description  string
	Kind         PlanKind
	Credits      int            // given at the start and with each period
	Period       *time.Duration // nil: a pack, given once
	Term         *time.Duration // nil: until it is cancelled
	DailyLimit   *int
	WeeklyLimit  *int
	AllowOverlap bool
	Price        Money
	Active       bool
	Version      int
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Money is an amount as google.type.Money counts it.
type Money struct {
	Currency string // ISO 4217
	Units    int64
	Nanos    int32
}

// Status is where a subscription is in its life.
type Status string

// The statuses.
const (
	Active    Status = "ACTIVE"
	Paused    Status = "PAUSED"
	Debt      Status = "DEBT"
	Expired   Status = "EXPIRED"
	Cancelled Status = "CANCELLED"
)

// Subscription is one member's purchase of a plan.
type Subscription struct {
	ID           tenant.SubscriptionID
	Member       tenant.MemberID
	Plan         Plan
	Status       Status
	Balance      int
	Lines        int // on its ledger
	StartsAt     time.Time
	EndsAt       *time.Time // nil: until it is cancelled
	PeriodEndsAt *time.Time // nil: no periods
	Version      int
	CreatedAt    time.Time
	UpdatedAt    time.Time

	// UsedToday and UsedThisWeek count active bookings on the local day and in the
	// local week of the session in question. They are known where the plan limits them.
	UsedToday, UsedThisWeek int
}

// EntryKind is why credits moved.
type EntryKind string

// The kinds of lines.
const (
	Grant      EntryKind = "GRANT"      // given by staff
	Period     EntryKind = "PERIOD"     // given with the start of a subscription or period
	Booking    EntryKind = "BOOKING"    // taken by a booking
	Refund     EntryKind = "REFUND"     // given back when a booking ended
	Expiry     EntryKind = "EXPIRY"     // lapsed at the end of a period or term
	Correction EntryKind = "CORRECTION" // taken back by staff
)

// Entry is a line of the ledger.
type Entry struct {
	ID           tenant.CreditEntryID
	Subscription tenant.SubscriptionID
	Line         int // from 1, without gaps
	Kind         EntryKind
	Amount       int
	Balance      int // after this line
	Booking      tenant.BookingID
	Actor        string
	Reason       string
	At           time.Time
}

// move appends a line to entries and keeps the balance equal to their sum.
func (s *Subscription) move(entries []Entry, line Entry) []Entry {
	if line.Amount == 0 {
		return entries
	}
	s.Balance += line.Amount
	s.Lines++
	line.Subscription, line.Balance, line.Line = s.ID, s.Balance, s.Lines
	return append(entries, line)
}

// bySystem is a line that nobody asked for.
func bySystem(kind EntryKind, amount int, at time.Time) Entry {
	return Entry{Kind: kind, Amount: amount, Actor: SystemActor, At: at}
}

// SystemActor stands on lines that nobody asked for.
const SystemActor = "system"

// Start begins a subscription: its status, term and first period, and its first credits.
func Start(id tenant.SubscriptionID, member tenant.MemberID, plan Plan, startsAt, now time.Time) (Subscription, []Entry) {
	s := Subscription{
		ID: id, Member: member, Plan: plan, Status: Active, StartsAt: startsAt,
		Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	if plan.Term != nil {
		s.EndsAt = new(startsAt.Add(*plan.Term))
	}
	if plan.Kind != Credits {
		return s, nil
	}
	if plan.Period != nil {
		s.PeriodEndsAt = new(startsAt.Add(*plan.Period))
	}
	entries := s.move(nil, bySystem(Period, plan.Credits, now))
	caughtUp, more := Advance(s, now)
	return caughtUp, append(entries, more...)
}

// Advance brings a subscription up to date: past its term it is expired and what
// is left lapses; past its period what is left lapses and credits are given anew.
// Periods that went by unseen count as one: what they gave would have lapsed.
func Advance(s Subscription, now time.Time) (Subscription, []Entry) {
	if s.Status == Expired || s.Status == Cancelled {
		return s, nil
	}
	if s.EndsAt != nil && !now.Before(*s.EndsAt) {
		s.Status = Expired
		s.PeriodEndsAt = nil
		entries := s.move(nil, bySystem(Expiry, -s.Balance, now))
		return s, entries
	}
	if s.PeriodEndsAt == nil || now.Before(*s.PeriodEndsAt) || s.Plan.Period == nil {
		return s, nil
	}
	begun := int64(now.Sub(*s.PeriodEndsAt) / *s.Plan.Period) + 1
	s.PeriodEndsAt = new(s.PeriodEndsAt.Add(time.Duration(begun) * *s.Plan.Period))
	entries := s.move(nil, bySystem(Expiry, -s.Balance, now))
	entries = s.move(entries, bySystem(Period, s.Plan.Credits, now))
	return s, entries
}

// Bookable sums what active subscriptions hold, and tells whether one of them books without credits.
func Bookable(subscriptions []Subscription) (balance int, unlimited bool) {
	for _, s := range subscriptions {
		if s.Status != Active {
			continue
		}
		balance += s.Balance
		unlimited = unlimited || s.Plan.Kind == Unlimited
	}
	return balance, unlimited
}
