// Package credit decides which subscription pays for a booking, and which lines its ledger gets. The balance is always
// the sum of the ledger's lines and never negative. Each change of the balance is a line. The ledger is append-only.
package credit

import (
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// PlanKind says how bookings on a plan are paid.
type PlanKind string

// The kinds.
const (
	Unlimited PlanKind = "UNLIMITED" // books without credits
	Credits   PlanKind = "CREDITS"   // one credit for each seat
	Course    PlanKind = "COURSE"    // for a course; never pays for a single booking
)

// Plan is a product that members buy: a membership, a pack or a course.
type Plan struct {
	ID           tenant.PlanID
	Name         string
	Description  string
	Kind         PlanKind
	Credits      int            // granted at the start and with each period
	Period       *time.Duration // nil: a pack, granted once
	Term         *time.Duration // nil: until cancelled
	DailyLimit   *int
	WeeklyLimit  *int
	AllowOverlap bool
	Price        Money
	Active       bool
	Version      int
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Money is an amount of money, like google.type.Money.
type Money struct {
	Currency string // ISO 4217
	Units    int64
	Nanos    int32
}

// Status is the status of a subscription.
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
	Lines        int // number of lines in its ledger
	StartsAt     time.Time
	EndsAt       *time.Time // nil: until cancelled
	PeriodEndsAt *time.Time // nil: no periods
	Version      int
	CreatedAt    time.Time
	UpdatedAt    time.Time

	// UsedToday and UsedThisWeek count the active bookings on the local day and in the local week of the session that
	// is to be booked. They are set only if the plan limits them.
	UsedToday, UsedThisWeek int
}

// LineKind is the reason for a ledger line.
type LineKind string

// The kinds of lines.
const (
	Grant      LineKind = "GRANT"      // granted by staff
	Period     LineKind = "PERIOD"     // granted at the start of a subscription or period
	Booking    LineKind = "BOOKING"    // charged for a booking
	Refund     LineKind = "REFUND"     // refunded for a booking
	Expiry     LineKind = "EXPIRY"     // expired at the end of a period or term
	Correction LineKind = "CORRECTION" // removed by staff
)

// Line is a line of the ledger.
type Line struct {
	ID           tenant.CreditLineID
	Subscription tenant.SubscriptionID
	Number       int // from 1, without gaps
	Kind         LineKind
	Amount       int
	Balance      int // after this line
	Booking      tenant.BookingID
	Actor        string
	Reason       string
	At           time.Time
}

// post appends a line to others and updates the balance. A line with amount 0 is left out.
func (s *Subscription) post(lines []Line, line Line) []Line {
	if line.Amount == 0 {
		return lines
	}
	s.Balance += line.Amount
	s.Lines++
	line.Subscription, line.Balance, line.Number = s.ID, s.Balance, s.Lines
	return append(lines, line)
}

// bySystem is a line that no user caused.
func bySystem(kind LineKind, amount int, at time.Time) Line {
	return Line{Kind: kind, Amount: amount, Actor: SystemActor, At: at}
}

// SystemActor is the actor of lines that no user caused.
const SystemActor = "system"

// maxStartDistance is how far from now a subscription can start, in the past and in the future.
const maxStartDistance = 366 * 24 * time.Hour

// StartTime returns when a subscription starts: at the time that was asked for, or now if that is zero. A time that is
// more than a year away is INVALID_FIELD.
func StartTime(asked, now time.Time) (time.Time, error) {
	switch {
	case asked.IsZero():
		return now, nil
	case asked.Sub(now).Abs() > maxStartDistance:
		return time.Time{}, fault.Invalid("subscription.start_time", "A subscription begins within a year of now.")
	}
	return asked, nil
}

// maxEndDistance is how far from now the end of a subscription can be set.
const maxEndDistance = 3660 * day

// CheckEdit rejects an edit of a subscription that has ended: SUBSCRIPTION_STATE. It also rejects an invalid end.
func (s Subscription) CheckEdit(now time.Time) error {
	if s.Status == Expired || s.Status == Cancelled {
		return errEnded(s.Status)
	}
	return CheckEnd(s.StartsAt, s.EndsAt, now)
}

// CheckEnd rejects an end of a subscription that is not in the future, not after the start, or more than ten years
// away: INVALID_FIELD.
func CheckEnd(startsAt time.Time, endsAt *time.Time, now time.Time) error {
	const field = "subscription.end_time"
	switch {
	case endsAt == nil:
		return nil
	case !endsAt.After(now):
		return fault.Invalid(field, "A subscription ends in the future. To end it now, cancel it.")
	case !endsAt.After(startsAt):
		return fault.Invalid(field, "A subscription ends after it starts.")
	case endsAt.Sub(now) > maxEndDistance:
		return fault.Invalid(field, "A subscription ends within 3,660 days from now.")
	}
	return nil
}

// AuditFields are the fields that staff can edit, as the audit log has them.
func (s Subscription) AuditFields() map[string]any {
	if s.EndsAt == nil {
		return map[string]any{"end_time": nil}
	}
	return map[string]any{"end_time": s.EndsAt.UTC().Format(time.RFC3339)}
}

// Start begins a subscription: its status, its end and first period, and its first credits. Without an end, it ends
// after the plan's term.
func Start(
	id tenant.SubscriptionID, member tenant.MemberID, plan Plan, startsAt time.Time, endsAt *time.Time, now time.Time,
) (Subscription, []Line) {
	s := Subscription{
		ID: id, Member: member, Plan: plan, Status: Active, StartsAt: startsAt, EndsAt: endsAt,
		Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	if endsAt == nil && plan.Term != nil {
		s.EndsAt = new(startsAt.Add(*plan.Term))
	}
	if plan.Kind != Credits {
		return s, nil
	}
	if plan.Period != nil {
		s.PeriodEndsAt = new(startsAt.Add(*plan.Period))
	}
	lines := s.post(nil, bySystem(Period, plan.Credits, now))
	current, more := Advance(s, now)
	return current, append(lines, more...)
}

// Advance brings a subscription up to date. After its term, the subscription and the remaining credits expire. After
// its period, the remaining credits expire and new ones are granted. Several periods since the last call count as one,
// because the credits of all but the last would have expired.
func Advance(s Subscription, now time.Time) (Subscription, []Line) {
	if s.Status == Expired || s.Status == Cancelled {
		return s, nil
	}
	if s.EndsAt != nil && !now.Before(*s.EndsAt) {
		s.Status = Expired
		s.PeriodEndsAt = nil
		lines := s.post(nil, bySystem(Expiry, -s.Balance, now))
		return s, lines
	}
	if s.PeriodEndsAt == nil || now.Before(*s.PeriodEndsAt) || s.Plan.Period == nil {
		return s, nil
	}
	periods := int64(now.Sub(*s.PeriodEndsAt) / *s.Plan.Period) + 1
	s.PeriodEndsAt = new(s.PeriodEndsAt.Add(time.Duration(periods) * *s.Plan.Period))
	lines := s.post(nil, bySystem(Expiry, -s.Balance, now))
	lines = s.post(lines, bySystem(Period, s.Plan.Credits, now))
	return s, lines
}

// OpenStatuses are those of subscriptions that have not ended.
func OpenStatuses() []Status { return []Status{Active, Paused, Debt} }

// AvailableCredits returns the total balance of the active subscriptions, and whether one of them books without
// credits.
func AvailableCredits(subscriptions []Subscription) (balance int, unlimited bool) {
	for _, s := range subscriptions {
		if s.Status != Active {
			continue
		}
		balance += s.Balance
		unlimited = unlimited || s.Plan.Kind == Unlimited
	}
	return balance, unlimited
}
