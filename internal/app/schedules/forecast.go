package schedules

import (
	"time"

	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// forecast tells for one member what the result of booking would be, session by session.
type forecast struct {
	now           time.Time
	command       booking.Request
	facts         booking.Facts // what is the same for all sessions
	subscriptions []credit.Subscription
	usage         map[bookingdb.Usage]int // by the row with Used zero
	counted       map[civil.Date][]credit.Subscription
	bookings      map[tenant.SessionID]tenant.BookingID
	entries       map[tenant.SessionID]tenant.EntryID
	offers        map[tenant.SessionID]*booking.OfferedSeats
	positions     map[waitlists.PlaceKey]waitlist.Rank
}

// newForecast returns nil for callers who are not members.
func newForecast(
	caller tenant.Caller, member bookingdb.MemberFacts, facts waitlists.PositionFacts, now time.Time,
) (*forecast, error) {
	if member.Member == nil {
		return nil, nil
	}
	positions, err := waitlists.Positions(facts.Rivals, facts.Rules, now)
	if err != nil {
		return nil, err
	}
	f := &forecast{
		now: now, command: booking.Request{
			Channel: catalog.Online, May: caller.May, Free: caller.May[booking.OwnFree], Actor: caller.Actor(),
		},
		facts: booking.Facts{Member: *member.Member}, subscriptions: member.Subscriptions,
		positions: positions,
		usage:     make(map[bookingdb.Usage]int, len(member.Usage)),
		counted:   make(map[civil.Date][]credit.Subscription),
		bookings:  make(map[tenant.SessionID]tenant.BookingID, len(member.Bookings)),
		entries:   make(map[tenant.SessionID]tenant.EntryID, len(member.Entries)),
		offers:    make(map[tenant.SessionID]*booking.OfferedSeats, len(member.Offers)),
	}
	for _, b := range member.Bookings {
		f.bookings[b.Session] = b.ID
		if b.Exclusive {
			f.facts.Busy = append(f.facts.Busy, b.Span)
		}
	}
	for _, e := range member.Entries {
		f.entries[e.Session] = e.ID
	}
	for _, o := range member.Offers {
		if o.Until.After(now) {
			f.offers[o.Session] = &o.OfferedSeats
		}
	}
	for _, u := range member.Usage {
		used := u.Used
		u.Used = 0
		f.usage[u] = used
	}
	return f, nil
}

// eligibility returns the result that booking the session would have. It is nil if the forecast is nil.
func (f *forecast) eligibility(slot *booking.Slot) *booking.Eligibility {
	if f == nil {
		return nil
	}
	entry := f.entries[slot.ID]
	f.facts.Slot, f.facts.Subscriptions = *slot, f.countedOn(slot.LocalDate)
	f.facts.Booking, f.facts.Entry, f.facts.Offer = f.bookings[slot.ID], entry, f.offers[slot.ID]
	e := booking.EligibilityOf(f.facts, f.command, f.now)
	e.Position = f.positions[waitlists.PlaceKey{Entry: entry, Session: slot.ID}].Position
	return &e
}

// countedOn returns the subscriptions with their use on a local day and in its week.
func (f *forecast) countedOn(day civil.Date) []credit.Subscription {
	counted, ok := f.counted[day]
	if !ok {
		counted = make([]credit.Subscription, len(f.subscriptions))
		for i, s := range f.subscriptions {
			rows := bookingdb.UsageOn(s.ID, day)
			s.UsedToday, s.UsedThisWeek = f.usage[rows[0]], f.usage[rows[1]]
			counted[i] = s
		}
		f.counted[day] = counted
	}
	return counted
}

// slotBuilder makes slots of sessions. It computes only once what sessions of one service at one location share.
type slotBuilder struct {
	tenant   tenant.TenantID
	snapshot *booking.Snapshot
	shared   map[slotKey]*booking.Slot
}

type slotKey struct {
	location tenant.LocationID
	service  tenant.ServiceID
}

func (b *slotBuilder) build(s *session.Session) booking.Slot {
	key := slotKey{s.Location, s.Service}
	shared := b.shared[key]
	if shared == nil {
		complete, _ := b.snapshot.Complete(booking.Slot{Location: s.Location, Service: s.Service}, b.tenant)
		shared = &complete
		if b.shared == nil {
			b.shared = make(map[slotKey]*booking.Slot)
		}
		b.shared[key] = shared
	}
	slot := *shared
	slot.ID, slot.Title, slot.StartsAt, slot.EndsAt, slot.LocalDate = s.ID, s.Title, s.StartsAt, s.EndsAt, s.LocalDate
	slot.Capacity, slot.SeatsTaken, slot.Holds = s.Capacity, s.SeatsTaken, s.Holds
	slot.WaitlistCapacity, slot.Waiting, slot.State, slot.Blocked = s.WaitlistCapacity, s.Waiting, s.State, s.Blocked
	return slot
}
