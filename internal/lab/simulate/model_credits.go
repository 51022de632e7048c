package simulate

import (
	"time"

	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

type modelSubscription struct {
	plan    credit.Plan
	status  credit.Status
	ends    time.Time // zero: never
	renews  time.Time // zero: never
	balance int
}

// advance applies the periods that have passed, one after the other.
func (s *modelSubscription) advance(now time.Time) {
	if s.status == credit.Expired || s.status == credit.Cancelled {
		return
	}
	for !s.renews.IsZero() && !now.Before(s.renews) {
		s.balance = s.plan.Credits
		s.renews = s.renews.Add(*s.plan.Period)
	}
	if !s.ends.IsZero() && !now.Before(s.ends) {
		s.status, s.balance = credit.Expired, 0
	}
}

// used counts bookings against the limits of a plan, on the day and in the week of a session.
func (m *modelMember) used(s *modelSubscription, at *modelSession, but *modelBooking) (day, week int) {
	for _, b := range m.bookings {
		if b.sub != s || !b.counted || b == but {
			continue
		}
		if b.session.localDate == at.localDate {
			day++
		}
		if b.session.isoYear == at.isoYear && b.session.isoWeek == at.isoWeek {
			week++
		}
	}
	return day, week
}

// planPayment is what pays for a booking.
type planPayment struct {
	sub       *modelSubscription
	credits   int
	exclusive bool
	counted   bool
}

// mayBook returns the payment of a booking, or why it is refused.
func (m *model) mayBook(
	member *modelMember, s *modelSession, party int, named tenant.SubscriptionID, staff bool,
) (planPayment, string) {
	for _, b := range member.bookings {
		if b.session == s && b.active() {
			return planPayment{}, "has a booking"
		}
	}
	return m.mayPay(member, s, party, named, staff)
}

func (m *model) mayPay(
	member *modelMember, s *modelSession, party int, named tenant.SubscriptionID, staff bool,
) (planPayment, string) {
	if staff && named.IsZero() {
		return planPayment{}, ""
	}
	var usable []*modelSubscription
	for _, u := range member.subs {
		u.advance(m.now)
		if u.plan.Kind != credit.Course && (u.status == credit.Active || u.status == credit.Debt) &&
			(named.IsZero() || m.subs[named] == u) {
			usable = append(usable, u)
		}
	}
	switch {
	case len(usable) == 0:
		return planPayment{}, "has no plan"
	case len(usable) > 1:
		return planPayment{}, "has several plans"
	case usable[0].status == credit.Debt:
		return planPayment{}, "is in debt"
	}
	u := usable[0]
	t := planPayment{sub: u, exclusive: !u.plan.AllowOverlap}
	t.counted = u.plan.DailyLimit != nil || u.plan.WeeklyLimit != nil
	if day, week := member.used(u, s, nil); !staff &&
		(u.plan.DailyLimit != nil && day >= *u.plan.DailyLimit || u.plan.WeeklyLimit != nil && week >= *u.plan.WeeklyLimit) {
		return planPayment{}, "is at a limit"
	}
	if t.exclusive && member.busy(s, nil) {
		return planPayment{}, "has another booking at the time"
	}
	if u.plan.Kind == credit.Credits {
		if u.balance < party {
			return planPayment{}, "has too few credits"
		}
		t.credits = party
	}
	return t, ""
}

// busy reports whether a booking that allows no overlap is at the time of a session.
func (m *modelMember) busy(s *modelSession, but *modelBooking) bool {
	for _, b := range m.bookings {
		if b != but && b.active() && b.exclusive && b.session.starts.Before(s.ends) && s.starts.Before(b.session.ends) {
			return true
		}
	}
	return false
}

func (m *model) subscribed(ev Event) {
	u := m.subs[ev.Subscription]
	if u == nil {
		u = &modelSubscription{plan: ev.plan.Plan, balance: ev.plan.Plan.Credits}
		if u.plan.Kind != credit.Credits {
			u.balance = 0
		} else if u.plan.Period != nil {
			u.renews = ev.At.Add(*u.plan.Period)
		}
		if u.plan.Term != nil {
			u.ends = ev.At.Add(*u.plan.Term)
		}
		m.subs[ev.Subscription] = u
		m.members[ev.Member].subs = append(m.members[ev.Member].subs, u)
	}
	u.advance(ev.At)
	u.status = ev.plan.Status
}

func (m *model) forgetSubscription(id tenant.SubscriptionID) {
	u := m.subs[id]
	delete(m.subs, id)
	for _, member := range m.members {
		member.subs = without(member.subs, u)
	}
}
