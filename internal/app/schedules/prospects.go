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

// prospects foresees what booking would come to for one member, session by session.
type prospects struct {
	now           time.Time
	command       booking.Request
	facts         booking.Facts // what is the same for all sessions
	subscriptions []credit.Subscription
	usage         map[bookingdb.Usage]int // by the row with nothing used
	counted       map[civil.Date][]credit.Subscription
	bookings      map[tenant.SessionID]tenant.BookingID
	entries       map[tenant.SessionID]tenant.EntryID
	positions     map[waitlists.QueuePlace]waitlist.Rank
}

// foresee gives nil for callers who are no members.
func foresee(caller tenant.Caller, s bookingdb.Standing, line waitlists.Standings, now time.Time) (*prospects, error) {
	if s.Member == nil {
		return nil, nil
	}
	at, err := waitlists.Positions(line.Rivals, line.Rules, now)
	if err != nil {
		return nil, err
	}
	p := &prospects{
		now: now, command: booking.Request{Channel: catalog.Online, Staff: caller.IsStaff(), Actor: caller.Actor()},
		facts: booking.Facts{Member: *s.Member}, subscriptions: s.Subscriptions, positions: at,
		usage:    make(map[bookingdb.Usage]int, len(s.Usage)),
		counted:  make(map[civil.Date][]credit.Subscription),
		bookings: make(map[tenant.SessionID]tenant.BookingID, len(s.Bookings)),
		entries:  make(map[tenant.SessionID]tenant.EntryID, len(s.Entries)),
	}
	for _, b := range s.Bookings {
		p.bookings[b.Session] = b.ID
		if b.Exclusive {
			p.facts.Busy = append(p.facts.Busy, b.Span)
		}
	}
	for _, e := range s.Entries {
		p.entries[e.Session] = e.ID
	}
	for _, u := range s.Usage {
		used := u.Used
		u.Used = 0
		p.usage[u] = used
	}
	return p, nil
}

// of gives what booking the session would come to; nil where nobody is foreseen anything.
func (p *prospects) of(slot *booking.Slot) *booking.Eligibility {
	if p == nil {
		return nil
	}
	entry := p.entries[slot.ID]
	p.facts.Slot, p.facts.Subscriptions = *slot, p.countedOn(slot.LocalDate)
	p.facts.Booking, p.facts.Entry = p.bookings[slot.ID], entry
	e := booking.EligibilityOf(p.facts, p.command, p.now)
	e.Position = p.positions[waitlists.QueuePlace{Entry: entry, Session: slot.ID}].Position
	return &e
}

// countedOn gives the subscriptions with what they have used on a local day and in its week.
func (p *prospects) countedOn(on civil.Date) []credit.Subscription {
	counted, ok := p.counted[on]
	if !ok {
		counted = make([]credit.Subscription, len(p.subscriptions))
		for i, s := range p.subscriptions {
			rows := bookingdb.UsageOn(s.ID, on)
			s.UsedToday, s.UsedThisWeek = p.usage[rows[0]], p.usage[rows[1]]
			counted[i] = s
		}
		p.counted[on] = counted
	}
	return counted
}

// furnisher makes slots of sessions. What those of one service at one location share it works out once.
type furnisher struct {
	of    tenant.TenantID
	house *booking.Snapshot
	alike map[alike]*booking.Slot
}

type alike struct {
	location tenant.LocationID
	service  tenant.ServiceID
}

func (f *furnisher) slot(s *session.Session) booking.Slot {
	key := alike{s.Location, s.Service}
	shared := f.alike[key]
	if shared == nil {
		complete, _ := f.house.Complete(booking.Slot{Location: s.Location, Service: s.Service}, f.of)
		shared = &complete
		if f.alike == nil {
			f.alike = make(map[alike]*booking.Slot)
		}
		f.alike[key] = shared
	}
	slot := *shared
	slot.ID, slot.Title, slot.StartsAt, slot.EndsAt, slot.LocalDate = s.ID, s.Title, s.StartsAt, s.EndsAt, s.LocalDate
	slot.Capacity, slot.SeatsTaken, slot.Holds = s.Capacity, s.SeatsTaken, s.Holds
	slot.WaitlistCapacity, slot.Waiting, slot.State, slot.Blocked = s.WaitlistCapacity, s.Waiting, s.State, s.Blocked
	return slot
}
