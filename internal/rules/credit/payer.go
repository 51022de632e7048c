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

// ChoosePayer picks the subscription that pays for a booking from those of a member, which the caller has advanced to
// now. If both the subscription and the error are nil, the booking needs no payer.
//
// Candidates are ACTIVE subscriptions and those in DEBT, but never those of COURSE plans. If there is one, it pays. If
// there are several, the member must name one. If there are none, booking fails, unless the tenant takes no payments.
func ChoosePayer(
	subscriptions []Subscription, named tenant.SubscriptionID, takesPayments bool, now time.Time,
) (*Subscription, error) {
	if !named.IsZero() {
		for i := range subscriptions {
			if s := &subscriptions[i]; s.ID == named {
				return s, s.checkUsable(now)
			}
		}
		return nil, fault.Missing(fault.SubscriptionNotFound, "Subscription").WithField("subscription_id")
	}
	var found *Subscription
	var ids []string
	for i := range subscriptions {
		s := &subscriptions[i]
		if !s.isCandidate(now) {
			continue
		}
		found = s
		ids = append(ids, s.ID.String())
	}
	switch {
	case len(ids) > 1:
		return nil, fault.New(fault.FailedPrecondition, fault.PlanChoiceRequired,
			"Several plans are active. Choose one to book on.").
			WithField("subscription_id").WithMetadata("subscription_ids", strings.Join(ids, ",")).
			OwnedBy(found.Member.String())
	case len(ids) == 1:
		return found, found.checkUsable(now)
	case takesPayments:
		return nil, noActivePlan()
	default:
		return nil, nil
	}
}

func noActivePlan() *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.NoActivePlan, "There is no active plan to book on.")
}

func (s *Subscription) isCandidate(now time.Time) bool {
	return s.Plan.Kind != Course && (s.Status == Active || s.Status == Debt) && !now.Before(s.StartsAt)
}

func (s *Subscription) checkUsable(now time.Time) error {
	switch {
	case !s.isCandidate(now):
		return noActivePlan().WithMetadata("status", string(s.Status)).WithField("subscription_id")
	case s.Status == Debt:
		return fault.New(fault.FailedPrecondition, fault.OutstandingBalance,
			"This plan has an outstanding balance. Settle it before booking.")
	default:
		return nil
	}
}

// CheckQuota rejects a booking that exceeds the plan's limits for the local day of the session, or for the week of that
// day, Monday to Sunday.
func (s *Subscription) CheckQuota(on civil.Date) error {
	if limit := s.Plan.DailyLimit; limit != nil && s.UsedToday >= *limit {
		return fault.New(fault.FailedPrecondition, fault.DailyLimit, "Daily booking limit reached (%d per day).", *limit).
			WithMetadata("limit", strconv.Itoa(*limit)).WithMetadata("date", on.String())
	}
	if limit := s.Plan.WeeklyLimit; limit != nil && s.UsedThisWeek >= *limit {
		return fault.New(fault.FailedPrecondition, fault.WeeklyLimit, "Weekly booking limit reached (%d per week).", *limit).
			WithMetadata("limit", strconv.Itoa(*limit)).WithMetadata("week", on.WeekStart().String())
	}
	return nil
}

// NoneLeft means that a subscription has too few credits for a booking.
func NoneLeft() *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.NoCredits, "No credits remaining.")
}

// HasQuota reports whether the plan limits bookings per day or week.
func (p Plan) HasQuota() bool { return p.DailyLimit != nil || p.WeeklyLimit != nil }

// Charge charges a booking, one credit for each seat. It returns the lines with the new one, and the number of credits.
// Only CREDITS plans are charged.
func (s *Subscription) Charge(
	lines []Line, booking tenant.BookingID, seats int, actor string, now time.Time,
) ([]Line, int, error) {
	if s.Plan.Kind != Credits {
		return lines, 0, nil
	}
	if s.Balance < seats {
		return lines, 0, NoneLeft().
			WithMetadata("balance", strconv.Itoa(s.Balance)).WithMetadata("needed", strconv.Itoa(seats)).
			OwnedBy(s.Member.String())
	}
	return s.post(lines, Line{Kind: Booking, Amount: -seats, Booking: booking, Actor: actor, At: now}), seats, nil
}

// Refund refunds the credits of a booking, whatever the status of the subscription is now.
func (s *Subscription) Refund(
	lines []Line, booking tenant.BookingID, credits int, actor, reason string, now time.Time,
) []Line {
	return s.post(lines, Line{Kind: Refund, Amount: credits, Booking: booking, Actor: actor, Reason: reason, At: now})
}

// Adjust grants credits, or removes them if the amount is negative.
func (s *Subscription) Adjust(amount int, actor, reason string, now time.Time) ([]Line, error) {
	if s.Plan.Kind != Credits {
		return nil, fault.New(fault.FailedPrecondition, fault.SubscriptionState, "This plan does not use credits.").
			WithMetadata("kind", string(s.Plan.Kind))
	}
	if s.Status == Expired || s.Status == Cancelled {
		return nil, errEnded(s.Status)
	}
	if s.Balance+amount < 0 {
		return nil, fault.New(fault.FailedPrecondition, fault.NoCredits, "The balance would be negative.").
			WithMetadata("balance", strconv.Itoa(s.Balance)).WithField("amount").OwnedBy(s.Member.String())
	}
	kind := Grant
	if amount < 0 {
		kind = Correction
	}
	return s.post(nil, Line{Kind: kind, Amount: amount, Actor: actor, Reason: reason, At: now}), nil
}

func errEnded(status Status) error {
	return fault.New(fault.FailedPrecondition, fault.SubscriptionState, "The subscription has ended.").
		WithMetadata("status", string(status))
}

// transitions are the changes of status that staff can make. Only the end of the term makes a subscription EXPIRED.
var transitions = map[Status][]Status{
	Active: {Paused, Debt, Cancelled},
	Paused: {Active, Debt, Cancelled},
	Debt:   {Active, Cancelled},
}

// SetStatus changes the status and reports whether anything changed. CANCELLED and EXPIRED are final. The remaining
// credits of a cancelled subscription stay on the ledger, but cannot be used.
func (s *Subscription) SetStatus(to Status) (bool, error) {
	if s.Status == to {
		return false, nil
	}
	if !slices.Contains(transitions[s.Status], to) {
		return false, fault.New(fault.FailedPrecondition, fault.SubscriptionState,
			"A subscription that is %s cannot become %s.", s.Status, to).WithMetadata("status", string(s.Status))
	}
	s.Status = to
	return true, nil
}
