package simulate

import (
	"time"

	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

type mSub struct {
	plan    credit.Plan
	status  credit.Status
	ends    time.Time // zero: never
	renews  time.Time // zero: never
	balance int
}

// advance lets the periods of a subscription pass, one after the other.
func (s *mSub) advance(now time.Time) {
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
func (m *mMember) used(s *mSub, at *mSession, but *mBooking) (day, week int) {
	for _, b := range m.bookings {
		if b.sub != s || !b.counted || b == but {
			continue
		}
		if b.in.local == at.local {
			day++
		}
		if b.in.isoYear == at.isoYear && b.in.isoWeek == at.isoWeek {
			week++
		}
	}
	return day, week
}

// terms are what a booking is paid with.
type terms struct {
	sub       *mSub
	credits   int
	exclusive bool
	counted   bool
}

// mayBook tells what a booking would be paid with, or why it cannot be.
func (m *model) mayBook(who *mMember, s *mSession, party int, named tenant.SubscriptionID, staff bool) (terms, string) {
	for _, b := range who.bookings {
		if b.in == s && b.active() {
			return terms{}, "has a booking"
		}
	}
	return m.mayPay(who, s, party, named, staff)
}

func (m *model) mayPay(who *mMember, s *mSession, party int, named tenant.SubscriptionID, staff bool) (terms, string) {
	if staff && named.IsZero() {
		return terms{}, ""
	}
	var usable []*mSub
	for _, u := range who.subs {
		u.advance(m.now)
		if u.plan.Kind != credit.Course && (u.status == credit.Active || u.status == credit.Debt) &&
			(named.IsZero() || m.subs[named] == u) {
			usable = append(usable, u)
		}
	}
	switch {
	case len(usable) == 0:
		return terms{}, "has no plan"
	case len(usable) > 1:
		return terms{}, "has several plans"
	case usable[0].status == credit.Debt:
		return terms{}, "is in debt"
	}
	u := usable[0]
	t := terms{sub: u, exclusive: !u.plan.AllowOverlap, counted: u.plan.DailyLimit != nil || u.plan.WeeklyLimit != nil}
	if day, week := who.used(u, s, nil); !staff &&
		(u.plan.DailyLimit != nil && day >= *u.plan.DailyLimit || u.plan.WeeklyLimit != nil && week >= *u.plan.WeeklyLimit) {
		return terms{}, "is at a limit"
	}
	if t.exclusive && who.busy(s, nil) {
		return terms{}, "is elsewhere"
	}
	if u.plan.Kind == credit.Credits {
		if u.balance < party {
			return terms{}, "has too few credits"
		}
		t.credits = party
	}
	return t, ""
}

// busy reports whether a booking that tolerates no overlap is on at the time of a session.
func (m *mMember) busy(s *mSession, but *mBooking) bool {
	for _, b := range m.bookings {
		if b != but && b.active() && b.exclusive && b.in.starts.Before(s.ends) && s.starts.Before(b.in.ends) {
			return true
		}
	}
	return false
}

func (m *model) subscribed(f Fact) {
	u := m.subs[f.Subscription]
	if u == nil {
		u = &mSub{plan: f.plan.Plan, balance: f.plan.Plan.Credits}
		if u.plan.Kind != credit.Credits {
			u.balance = 0
		} else if u.plan.Period != nil {
			u.renews = f.At.Add(*u.plan.Period)
		}
		if u.plan.Term != nil {
			u.ends = f.At.Add(*u.plan.Term)
		}
		m.subs[f.Subscription] = u
		m.members[f.Member].subs = append(m.members[f.Member].subs, u)
	}
	u.advance(f.At)
	u.status = f.plan.Status
}

func (m *model) forgetSubscription(id tenant.SubscriptionID) {
	u := m.subs[id]
	delete(m.subs, id)
	for _, who := range m.members {
		who.subs = without(who.subs, u)
	}
}
