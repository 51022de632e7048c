package simulate

import (
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

type modelBooking struct {
	id        tenant.BookingID
	session   *modelSession
	member    *modelMember
	party     int
	status    booking.Status
	sub       *modelSubscription
	credits   int
	counted   bool
	exclusive bool
	until     time.Time // of a hold
	grace     time.Time
}

func (b *modelBooking) active() bool {
	return b.status == booking.Pending || b.status == booking.Confirmed || b.status == booking.Attended
}

func (b *modelBooking) charge(t planPayment) {
	b.sub, b.credits, b.exclusive, b.counted = t.sub, t.credits, t.exclusive, t.counted
	if t.sub != nil {
		t.sub.balance -= t.credits
	}
}

func (m *model) booked(ev Event, s *modelSession, e *modelEntry) error {
	member := m.members[ev.Member]
	b := &modelBooking{
		id: ev.Booking, session: s, member: member, party: ev.Party, status: booking.Confirmed, grace: ev.Until,
	}
	switch {
	case !member.active && ev.Offer.IsZero(): // a deactivated member can still accept an offer
		return fmt.Errorf("the member is inactive")
	case !s.onSale():
		return fmt.Errorf("the session is off sale")
	case !ev.Promoted && !ev.At.Before(s.starts.Add(-s.service.policy.BookingClosesBefore)):
		return fmt.Errorf("booking has closed")
	case !ev.Promoted && ev.At.Before(s.starts.Add(-s.service.policy.AdvanceWindow)):
		return fmt.Errorf("booking has not opened")
	case ev.Promoted && ev.Offer.IsZero() && !m.granted[ev.Entry]:
		return fmt.Errorf("no decision promoted the entry")
	case ev.Promoted && ev.Offer.IsZero() && !ev.Until.Equal(s.starts):
		return fmt.Errorf("it cannot be cancelled for free until the member is told")
	case ev.Promoted && (e == nil || !e.Status.Active()):
		return fmt.Errorf("the entry does not wait")
	case ev.Kind == Held:
		b.status, b.until, b.grace = booking.Pending, ev.Until, time.Time{}
		if until := ev.At.Add(s.service.policy.HoldTTL); !ev.Until.Equal(until) &&
			(!until.After(s.starts) || !ev.Until.Equal(s.starts)) {
			return fmt.Errorf("it holds until %s", ev.Until)
		}
	}
	if ev.Kind == Held {
		if _, refusal := m.mayBook(member, s, 0, tenant.SubscriptionID{}, true); refusal != "" {
			return fmt.Errorf("the member %s", refusal)
		}
	} else {
		paid, refusal := m.mayBook(member, s, ev.Party, ev.Subscription, ev.Staff)
		if refusal != "" {
			return fmt.Errorf("the member %s", refusal)
		}
		b.charge(paid)
	}
	if e != nil && ev.Promoted {
		delete(m.granted, ev.Entry)
		m.close(e, waitlist.Booked)
	}
	if ev.Kind == Booked {
		m.take(member, s, b.id)
	}
	m.bookings[b.id] = b
	s.bookings, member.bookings = append(s.bookings, b), append(member.bookings, b)
	return s.checkCapacity()
}

// graceStarted takes in that the member of a promotion was told, and can cancel for free for a while from then on.
func (m *model) graceStarted(ev Event, s *modelSession) error {
	b, rules := m.bookings[ev.Booking], s.service.waitlist.Rules
	until := addTimeAwake(rules, ev.At, rules.PromotionGrace, s.starts, zones[ev.Zone])
	if until.After(s.starts) {
		until = s.starts
	}
	if b.grace.IsZero() || !ev.Until.Equal(until) {
		return fmt.Errorf("its grace ends at %s, and should at %s", ev.Until, until)
	}
	b.grace = ev.Until
	return nil
}

func (m *model) confirmed(ev Event, s *modelSession, b *modelBooking) error {
	if b.status != booking.Pending || !ev.At.Before(b.until) {
		return fmt.Errorf("it was %s until %s", b.status, b.until)
	}
	if !ev.On {
		paid, refusal := m.mayPay(b.member, s, b.party, tenant.SubscriptionID{}, false)
		if refusal != "" {
			return fmt.Errorf("the member %s", refusal)
		}
		b.charge(paid)
	}
	b.status = booking.Confirmed
	m.take(b.member, s, b.id)
	return nil
}

// ended takes in the end of a booking.
func (m *model) ended(ev Event, s *modelSession, b *modelBooking) error {
	wasActive := b.active()
	switch ev.Kind {
	case Released, HoldExpired:
		if b.status != booking.Pending || ev.At.Before(b.until) == (ev.Kind == HoldExpired) {
			return fmt.Errorf("it was %s until %s", b.status, b.until)
		}
		b.status = booking.Expired
	case NoShow:
		if b.status != booking.Confirmed || ev.At.Before(s.starts) {
			return fmt.Errorf("it was %s", b.status)
		}
		b.status = booking.NoShow
		policy := s.service.policy
		switch inTime := ev.At.Before(s.ends); {
		case !ev.Staff && !inTime:
			return nil // the session is over: its seats go to no other member
		case !ev.Staff && (policy.AutoNoShowAfterStart == 0 || ev.At.Before(s.starts.Add(policy.AutoNoShowAfterStart))):
			return fmt.Errorf("it was marked before its party is late")
		}
	default:
		if err := m.cancelled(ev, s, b); err != nil {
			return err
		}
	}
	if wasActive && !ev.SessionCancelled {
		m.seatsFreed(s)
	}
	if ev.Kind != NoShow {
		m.gaveUp[s.id] = append(m.gaveUp[s.id], b.member)
	}
	return nil
}

func (m *model) cancelled(ev Event, s *modelSession, b *modelBooking) error {
	policy := s.service.policy
	deadline := s.starts.Add(-s.cancellationWindow(b.member))
	if b.grace.After(deadline) {
		deadline = b.grace
	}
	if deadline.After(s.starts) {
		deadline = s.starts
	}
	late := ev.At.After(deadline) && !ev.SessionCancelled
	switch {
	case late && !ev.Staff && !policy.AllowLateCancellation:
		return fmt.Errorf("it was too late to cancel")
	case late != ev.Late:
		return fmt.Errorf("late is %v, and the deadline was %s", ev.Late, deadline)
	case !b.active() && !ev.SessionCancelled:
		return fmt.Errorf("it was %s", b.status)
	}
	if b.sub != nil && !late {
		b.sub.advance(ev.At)
		b.sub.balance += b.credits
		b.credits = 0
	}
	b.status, b.counted = booking.Cancelled, false
	return nil
}

func (m *model) rescheduled(ev Event, s *modelSession, b *modelBooking) error {
	to := m.sessions[ev.To]
	if day, week := b.member.used(b.sub, to, b); b.counted && !ev.Staff &&
		(b.sub.plan.DailyLimit != nil && day >= *b.sub.plan.DailyLimit || b.sub.plan.WeeklyLimit != nil &&
			week >= *b.sub.plan.WeeklyLimit) {
		return fmt.Errorf("the member is at a limit there")
	}
	s.bookings = without(s.bookings, b)
	to.bookings = append(to.bookings, b)
	b.session, b.grace = to, time.Time{}
	if b.exclusive && b.member.busy(to, b) {
		return fmt.Errorf("the member has another booking at the time")
	}
	m.seatsFreed(s)
	m.gaveUp[s.id] = append(m.gaveUp[s.id], b.member)
	if !ev.Offer.IsZero() {
		m.close(m.entries[ev.Entry], waitlist.Booked)
	}
	m.take(b.member, to, b.id)
	return to.checkCapacity()
}
