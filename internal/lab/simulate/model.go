package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// model computes the expected state from events alone. It keeps no counters: seats, balances, quotas and queues are
// computed from the events whenever they are needed, independently of the rules.
type model struct {
	sessions map[tenant.SessionID]*modelSession
	bookings map[tenant.BookingID]*modelBooking
	entries  map[tenant.EntryID]*modelEntry
	offers   map[tenant.OfferID]*modelOffer
	rounds   map[tenant.RoundID]*modelRound
	members  map[tenant.MemberID]*modelMember
	subs     map[tenant.SubscriptionID]*modelSubscription

	undecided map[tenant.SessionID]int // seats were freed, and no decision followed yet
	granted   map[tenant.EntryID]bool  // by a decision that was not applied yet
	// taken are the entries whose members have booked what they wait for, and which have to end with that booking.
	taken map[tenant.EntryID]tenant.BookingID
	// gaveUp are the members who gave seats of a session up, in this transaction.
	gaveUp map[tenant.SessionID][]*modelMember
	// rechecks are the members whose entries have to be checked again, and since when. Unchecked are the sessions that a
	// recheck has to fill, and when it began.
	rechecks  map[*modelMember]time.Time
	unchecked map[*modelSession]time.Time
	now       time.Time
}

type modelMember struct {
	*memberRow // name, tier, tags and zone
	active     bool
	bookings   []*modelBooking
	entries    []*modelEntry
	subs       []*modelSubscription
}

func newModel() *model {
	return &model{
		sessions: make(map[tenant.SessionID]*modelSession), bookings: make(map[tenant.BookingID]*modelBooking),
		entries: make(map[tenant.EntryID]*modelEntry),
		offers:  make(map[tenant.OfferID]*modelOffer), rounds: make(map[tenant.RoundID]*modelRound),
		members: make(map[tenant.MemberID]*modelMember),
		subs:    make(map[tenant.SubscriptionID]*modelSubscription), undecided: make(map[tenant.SessionID]int),
		granted: make(map[tenant.EntryID]bool), taken: make(map[tenant.EntryID]tenant.BookingID),
		rechecks: make(map[*modelMember]time.Time), unchecked: make(map[*modelSession]time.Time),
	}
}

// apply takes in the events of a transaction. It returns an error if they cannot have happened.
func (m *model) apply(events []Event, now time.Time) error {
	m.now, m.gaveUp = now, make(map[tenant.SessionID][]*modelMember)
	if err := m.checkRechecks(now); err != nil {
		return err
	}
	for _, ev := range events {
		if s := m.sessions[ev.Session]; s != nil {
			s.decisions, s.maxDecisions = 0, 0
		}
		if s := m.sessions[ev.To]; s != nil {
			s.decisions, s.maxDecisions = 0, 0
		}
	}
	for _, ev := range events {
		if err := m.applyOne(ev); err != nil {
			return fmt.Errorf("%s: %w", ev, err)
		}
		if mayEndReasons(ev) {
			m.changed(ev)
		}
	}
	for entry := range m.granted {
		return fmt.Errorf("a decision granted seats to entry %s, which did not get them", short(entry.UUID))
	}
	for entry := range m.taken {
		return fmt.Errorf("the member of entry %s has booked what it waits for, and it still waits", short(entry.UUID))
	}
	for session := range m.undecided {
		delete(m.undecided, session)
		s := m.sessions[session]
		open, unlimited := s.open()
		if (open > 0 || unlimited) && s.onSale() && now.Before(s.ends) && s.service.waitlist.Enabled &&
			len(m.waitingFor(s)) > 0 {
			return fmt.Errorf(
				"%d seats of session %s are open, entries wait for them, and no decision followed", open, short(session.UUID),
			)
		}
	}
	return nil
}

// applyOne takes in one event.
func (m *model) applyOne(ev Event) error {
	s, b, e := m.sessions[ev.Session], m.bookings[ev.Booking], m.entries[ev.Entry]
	switch ev.Kind {
	case Published:
		at := ev.schedule.StartsAt.In(ev.schedule.location.zone)
		s = &modelSession{
			id: ev.Session, service: ev.schedule.service, starts: ev.schedule.StartsAt, ends: ev.schedule.EndsAt,
			capacity:  ev.Capacity,
			localDate: at.Format(time.DateOnly), localTime: at.Format("15:04"), coach: ev.schedule.Coach,
		}
		s.isoYear, s.isoWeek = at.ISOWeek()
		m.sessions[s.id] = s
		m.seatsFreed(s)
		s.published = ev.At
	case BookingOpened:
		return m.bookingOpened(s)
	case Blocked:
		s.blocked = true
	case Unblocked:
		s.blocked = false
		if !ev.At.Before(s.opens()) {
			s.published = ev.At // it was off sale when booking opened, and all its seats are given now
		}
		m.seatsFreed(s)
	case Resized:
		raised := s.capacity != nil && *ev.Capacity > *s.capacity
		if s.capacity = ev.Capacity; raised {
			m.seatsFreed(s)
		}
	case SessionCancelled:
		return m.sessionCancelled(s)
	case RulesEdited, Renewed:
	case Subscribed, SubscriptionChanged:
		m.subscribed(ev)
	case MemberChanged:
		m.members[ev.Member].active = ev.On
	case Booked, Held:
		if !ev.Promoted && m.waitedForOpening(s) {
			return fmt.Errorf("others have waited for its opening, and got nothing yet")
		}
		return m.booked(ev, s, e)
	case Confirmed:
		return m.confirmed(ev, s, b)
	case Released, HoldExpired, Cancelled, NoShow:
		return m.ended(ev, s, b)
	case Rescheduled:
		return m.rescheduled(ev, s, b)
	case CheckedIn:
		if b.status != booking.Confirmed {
			return fmt.Errorf("it was %s", b.status)
		}
		b.status = booking.Attended
	case NoShowUndone:
		b.status = booking.Confirmed
	case Joined:
		return m.joined(ev)
	case Flagged:
		e.Flagged = ev.On
	case Left, Requeued:
		return m.entryLeft(ev, e)
	case Decided:
		return m.decided(ev, s)
	case Rechecked:
		m.recheckBegan(ev)
	case OpenRefill:
		m.openRefill(ev, s)
	case Offered:
		return m.offered(ev, s, e)
	case OfferExtended:
		return m.offerExtended(ev)
	case GraceStarted:
		return m.graceStarted(ev, s)
	case OfferEnded:
		return m.offerEnded(ev, s, e)
	case SeatsReleased:
		return m.seatsReleased(ev, s)
	}
	return nil
}

func (m *model) forget(session tenant.SessionID) {
	s := m.sessions[session]
	delete(m.sessions, session)
	for _, b := range s.bookings {
		delete(m.bookings, b.id)
		b.member.bookings = without(b.member.bookings, b)
	}
	for id, r := range m.rounds {
		if slices.Contains(s.rounds, r) {
			delete(m.rounds, id)
		}
	}
}
