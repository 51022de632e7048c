package credit

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// Payer finds the subscription for a booking among a member's, which the
// caller has advanced to now. A nil payer with a nil error means that the booking needs none.
//
// Active subscriptions and those in debt are candidates: one is taken, of several one
// must be named, and without any only a tenant that takes no payments lets a
// member book. COURSE subscriptions are never candidates.
func Payer(subscriptions []Subscription, named tenant.SubscriptionID, takesPayments bool, now time.Time) (*Subscription, error) {
	if !named.IsZero() {
		for i := range subscriptions {
			if s := &subscriptions[i]; s.ID == named {
				return s, s.usable(now)
			}
		}
		return nil, fault.Missing(fault.SubscriptionNotFound, "Subscription").In("subscription_id")
	}
	var found *Subscription
	var ids []string
	for i := range subscriptions {
		s := &subscriptions[i]
		if !s.candidate(now) {
			continue
		}
		found = s
		ids = append(ids, s.ID.String())
	}
	switch {
	case len(ids) > 1:
		return nil, fault.New(fault.FailedPrecondition, fault.PlanChoiceRequired,
			"Several plans are active: say which one to book on.").
			In("subscription_id").With("subscription_ids", strings.Join(ids, ","))
	case len(ids) == 1:
		return found, found.usable(now)
	case takesPayments:
		return nil, noActivePlan()
	default:
		return nil, nil
	}
}

func noActivePlan() *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.NoActivePlan, "There is no active plan to book on.")
}

func (s *Subscription) candidate(now time.Time) bool {
	return s.Plan.Kind != Course && (s.Status == Active || s.Status == Debt) && !now.Before(s.StartsAt)
}

func (s *Subscription) usable(now time.Time) error {
	switch {
	case !s.candidate(now):
		return noActivePlan().With("status", string(s.Status)).In("subscription_id")
	case s.Status == Debt:
		return fault.New(fault.FailedPrecondition, fault.OutstandingBalance,
			"There is an outstanding balance on this plan: settle it before booking.")
	default:
		return nil
	}
}

// CheckQuota refuses a booking beyond the plan's limits for the session's local
// day and the week, Monday to Sunday, around it.
func (s *Subscription) CheckQuota(on civil.Date) error {
	if limit := s.Plan.DailyLimit; limit != nil && s.UsedToday >= *limit {
		return fault.New(fault.ResourceExhausted, fault.DailyLimit, "Daily booking limit reached (%d per day).", *limit).
			With("limit", strconv.Itoa(*limit)).With("date", on.String())
	}
	if limit := s.Plan.WeeklyLimit; limit != nil && s.UsedThisWeek >= *limit {
		return fault.New(fault.ResourceExhausted, fault.WeeklyLimit, "Weekly booking limit reached (%d per week).", *limit).
			With("limit", strconv.Itoa(*limit)).With("week", on.WeekStart().String())
	}
	return nil
}

// Limited reports whether bookings on the plan are counted by day or week.
func (p Plan) Limited() bool { return p.DailyLimit != nil || p.WeeklyLimit != nil }

// Take moves the credits of a booking off the subscription, one for each seat.
// Only CREDITS plans move any.
func (s *Subscription) Take(entries []Entry, booking tenant.BookingID, seats int, actor string, now time.Time) ([]Entry, int, error) {
	if s.Plan.Kind != Credits {
		return entries, 0, nil
	}
	if s.Balance < seats {
		return entries, 0, fault.New(fault.ResourceExhausted, fault.NoCredits, "No credits remaining.").
			With("balance", strconv.Itoa(s.Balance)).With("needed", strconv.Itoa(seats))
	}
	return s.move(entries, Entry{Kind: Booking, Amount: -seats, Booking: booking, Actor: actor, At: now}), seats, nil
}

// GiveBack moves a booking's credits back, whatever became of the subscription since.
func (s *Subscription) GiveBack(entries []Entry, booking tenant.BookingID, credits int, actor, reason string, now time.Time) []Entry {
	return s.move(entries, Entry{Kind: Refund, Amount: credits, Booking: booking, Actor: actor, Reason: reason, At: now})
}

// Adjust grants credits, or takes them back with an amount below zero.
func (s *Subscription) Adjust(amount int, actor, reason string, now time.Time) ([]Entry, error) {
	if s.Plan.Kind != Credits {
		return nil, fault.New(fault.FailedPrecondition, fault.SubscriptionState, "Bookings on this plan take no credits.").
			With("kind", string(s.Plan.Kind))
	}
	if s.Status == Expired || s.Status == Cancelled {
		return nil, fault.New(fault.FailedPrecondition, fault.SubscriptionState, "The subscription has ended.").
			With("status", string(s.Status))
	}
	if s.Balance+amount < 0 {
		return nil, fault.New(fault.ResourceExhausted, fault.NoCredits, "The balance would fall below zero.").
			With("balance", strconv.Itoa(s.Balance)).In("amount")
	}
	kind := Grant
	if amount < 0 {
		kind = Correction
	}
	return s.move(nil, Entry{Kind: kind, Amount: amount, Actor: actor, Reason: reason, At: now}), nil
}

// follows is what staff can make of a subscription in each status. Only time makes one expire.
var follows = map[Status][]Status{
	Active: {Paused, Debt, Cancelled},
	Paused: {Active, Debt, Cancelled},
	Debt:   {Active, Cancelled},
}

// SetStatus moves a subscription to another status; it reports whether anything changed.
// Cancelled and expired ones stay so. What is left when one is cancelled stays on the
// ledger, where it cannot be booked with.
func (s *Subscription) SetStatus(to Status) (bool, error) {
	if s.Status == to {
		return false, nil
	}
	if !slices.Contains(follows[s.Status], to) {
		return false, fault.New(fault.FailedPrecondition, fault.SubscriptionState,
			"A subscription that is %s cannot become %s.", s.Status, to).With("status", string(s.Status))
	}
	s.Status = to
	return true, nil
}
