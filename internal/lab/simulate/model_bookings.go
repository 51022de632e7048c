package simulate

import (
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

type mBooking struct {
	id        tenant.BookingID
	in        *mSession
	who       *mMember
	party     int
	status    booking.Status
	sub       *mSub
	credits   int
	counted   bool
	exclusive bool
	until     time.Time // of a hold
	grace     time.Time
}

func (b *mBooking) active() bool {
	return b.status == booking.Pending || b.status == booking.Confirmed || b.status == booking.Attended
}

func (b *mBooking) take(t terms) {
	b.sub, b.credits, b.exclusive, b.counted = t.sub, t.credits, t.exclusive, t.counted
	if t.sub != nil {
		t.sub.balance -= t.credits
	}
}

func (m *model) booked(f Fact, s *mSession, e *mEntry) error {
	who := m.members[f.Member]
	b := &mBooking{id: f.Booking, in: s, who: who, party: f.Party, status: booking.Confirmed, grace: f.Until}
	switch {
	case !who.active && f.Offer.IsZero(): // an offer stays good
		return fmt.Errorf("the member is gone")
	case !s.onSale():
		return fmt.Errorf("the session is off sale")
	case !f.Promoted && !f.At.Before(s.starts.Add(-s.under.policy.BookingCloses)):
		return fmt.Errorf("booking has closed")
	case !f.Promoted && f.At.Before(s.starts.Add(-s.under.policy.Advance)):
		return fmt.Errorf("booking has not opened")
	case f.Promoted && f.Offer.IsZero() && !m.granted[f.Entry]:
		return fmt.Errorf("no decision promoted the entry")
	case f.Promoted && (e == nil || !e.Status.Active()):
		return fmt.Errorf("the entry does not wait")
	case f.What == Held:
		b.status, b.until, b.grace = booking.Pending, f.Until, time.Time{}
		if until := f.At.Add(s.under.policy.HoldTTL); !f.Until.Equal(until) &&
			(!until.After(s.starts) || !f.Until.Equal(s.starts)) {
			return fmt.Errorf("it holds until %s", f.Until)
		}
	}
	for _, other := range who.entries {
		if other != e && other.Session == s.id && !f.Promoted {
			return fmt.Errorf("the member waits for the session already")
		}
	}
	if f.What == Held {
		if _, refusal := m.mayBook(who, s, 0, tenant.SubscriptionID{}, true); refusal != "" {
			return fmt.Errorf("the member %s", refusal)
		}
	} else {
		paid, refusal := m.mayBook(who, s, f.Party, f.Subscription, f.Staff)
		if refusal != "" {
			return fmt.Errorf("the member %s", refusal)
		}
		b.take(paid)
	}
	if e != nil && f.Promoted {
		delete(m.granted, f.Entry)
		m.close(e, waitlist.Booked)
	}
	m.bookings[b.id] = b
	s.bookings, who.bookings = append(s.bookings, b), append(who.bookings, b)
	return s.fits()
}

func (m *model) confirmed(f Fact, s *mSession, b *mBooking) error {
	if b.status != booking.Pending || !f.At.Before(b.until) {
		return fmt.Errorf("it was %s until %s", b.status, b.until)
	}
	if !f.On {
		paid, refusal := m.mayPay(b.who, s, b.party, tenant.SubscriptionID{}, false)
		if refusal != "" {
			return fmt.Errorf("the member %s", refusal)
		}
		b.take(paid)
	}
	b.status = booking.Confirmed
	return nil
}

// ended is what becomes of a booking that gives its seats up.
func (m *model) ended(f Fact, s *mSession, b *mBooking) error {
	wasActive := b.active()
	switch f.What {
	case Released, HoldExpired:
		if b.status != booking.Pending || f.At.Before(b.until) == (f.What == HoldExpired) {
			return fmt.Errorf("it was %s until %s", b.status, b.until)
		}
		b.status = booking.Expired
	case NoShow:
		if b.status != booking.Confirmed || f.At.Before(s.starts) {
			return fmt.Errorf("it was %s", b.status)
		}
		b.status = booking.NoShow
		if !f.Staff {
			return nil // the session is over: its seats are nobody's
		}
	default:
		if err := m.cancelled(f, s, b); err != nil {
			return err
		}
	}
	if wasActive && !f.Gone {
		m.freed(s)
	}
	return nil
}

func (m *model) cancelled(f Fact, s *mSession, b *mBooking) error {
	policy := s.under.policy
	notice := policy.Cancellation
	if tier := policy.Tiers[b.who.Tier]; tier.Cancellation != nil {
		notice = *tier.Cancellation
	}
	deadline := s.starts.Add(-notice)
	if b.grace.After(deadline) {
		deadline = b.grace
	}
	late := f.At.After(deadline) && !f.Gone
	switch {
	case late && !f.Staff && !policy.AllowLateCancellation:
		return fmt.Errorf("it was too late to cancel")
	case late != f.Late:
		return fmt.Errorf("late is %v, and the deadline was %s", f.Late, deadline)
	case !b.active() && !f.Gone:
		return fmt.Errorf("it was %s", b.status)
	}
	if b.sub != nil && !late {
		b.sub.advance(f.At)
		b.sub.balance += b.credits
		b.credits = 0
	}
	b.status, b.counted = booking.Cancelled, false
	return nil
}

func (m *model) rescheduled(f Fact, s *mSession, b *mBooking) error {
	to := m.sessions[f.To]
	if day, week := b.who.used(b.sub, to, b); b.counted && !f.Staff &&
		(b.sub.plan.DailyLimit != nil && day >= *b.sub.plan.DailyLimit || b.sub.plan.WeeklyLimit != nil &&
			week >= *b.sub.plan.WeeklyLimit) {
		return fmt.Errorf("the member is at a limit there")
	}
	s.bookings = without(s.bookings, b)
	to.bookings = append(to.bookings, b)
	b.in, b.grace = to, time.Time{}
	if b.exclusive && b.who.busy(to, b) {
		return fmt.Errorf("the member is elsewhere")
	}
	m.freed(s)
	to.mayDecide++
	return to.fits()
}
