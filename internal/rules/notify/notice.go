package notify

import (
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// Notice is something that one recipient is to hear through one lane. There is one for each recipient, thing,
// topic, revision and lane, however often it is planned.
type Notice struct {
	ID    tenant.NoticeID
	Topic Topic
	Lane  Lane

	// Member is the recipient; zero for a guest, whom the contact of the booking reaches.
	Member  tenant.MemberID
	Session tenant.SessionID
	Booking tenant.BookingID
	Entry   tenant.EntryID
	Offer   tenant.OfferID
	// Thing is what it is about, and Revision which state of it.
	Thing    tenant.UUID
	Revision string

	StartsAt  time.Time // of the session, as the message says it; zero where it says none
	DueAt     time.Time
	ExpiresAt time.Time // from then on it is of no use
	At        time.Time // when what it tells happened
	Details   Details

	// What has become of it so far.
	Tried    []Channel // that have failed
	Attempts int       // on the channel that is tried now
	Unsure   int       // attempts of which nobody knows whether they arrived
	Last     bool      // of an attempt under way: no other channel may be used, or reaches the recipient
}

// Details are what happened that nobody can look up later.
type Details struct {
	Reason   string        `json:"reason,omitempty"`
	Refunded bool          `json:"refunded,omitempty"`
	Late     bool          `json:"late,omitempty"`
	Waitlist bool          `json:"waitlist,omitempty"` // a place on the waitlist, not a booking
	Position int           `json:"position,omitempty"`
	OldStart time.Time     `json:"old_start,omitzero"`
	Lead     time.Duration `json:"lead,omitempty"` // of a reminder
	Balance  int           `json:"balance,omitempty"`
	Payer    tenant.UUID   `json:"payer,omitzero"` // the subscription whose credits are low
	Note     string        `json:"note,omitempty"`
}

// Recipient is the key under which what reaches one person is counted: the member's id, or for a guest the booking's.
func (n Notice) Recipient() tenant.UUID {
	if !n.Member.IsZero() {
		return n.Member.UUID
	}
	return n.Booking.UUID
}

// The types of events from which messages come.
const (
	onBookingConfirmed   = "booking.confirmed"
	onBookingCancelled   = "booking.cancelled"
	onBookingRescheduled = "booking.rescheduled"
	onSessionUpdated     = "session.updated"
	onWaitlistJoined     = "waitlist.joined"
	onWaitlistLeft       = "waitlist.left"
	onWaitlistPromoted   = "waitlist.promoted"
	onOfferCreated       = "offer.created"
	onCreditsChanged     = "credits.changed"
	onStaffNote          = "waitlist.staff_note"
)

// Tells reports whether anybody may hear of events of this type.
func Tells(event string) bool {
	switch event {
	case onBookingConfirmed, onBookingCancelled, onBookingRescheduled, onSessionUpdated, onWaitlistJoined, onWaitlistLeft,
		onWaitlistPromoted, onOfferCreated, onCreditsChanged, onStaffNote:
		return true
	}
	return false
}

// Event is something that happened.
type Event struct {
	ID      tenant.EventID
	Type    string
	Session tenant.SessionID
	Booking tenant.BookingID
	Member  tenant.MemberID
	Entry   tenant.EntryID
	Offer   tenant.OfferID
	Payer   tenant.UUID // the subscription that it is about
	Moved   bool        // session.updated: its time, place or resource
	Gone    bool        // booking.cancelled: because the session does not take place
	Spent   int         // credits.changed: by how many there are fewer
	Silent  bool        // nobody is to be told that it happened
	Details Details
	At      time.Time
}

// Party is someone whom an event concerns, as they are now.
type Party struct {
	Member  tenant.MemberID
	Session tenant.SessionID
	Booking tenant.BookingID
	Entry   tenant.EntryID
	Chosen  Preferences

	Coming       bool      // the booking is confirmed
	StartsAt     time.Time // of the session; zero where there is none yet
	EndsAt       time.Time
	SessionGone  bool // cancelled or deleted
	CheckInOpens time.Time

	// Payer is the subscription with credits that the booking, or the event, is about; zero: there is none.
	Payer   tenant.UUID
	Balance int
	Taken   int // credits that the booking took
}

const (
	// usable is how long news without a date of its own are worth telling.
	usable = 24 * time.Hour
	// kept is how long a mail may follow a session that is gone or a balance that is low.
	kept = 7 * 24 * time.Hour
)

// Plan gives the notices that an event leads to, for each party in each lane: some at once, some later, such as
// reminders. Whether one is sent in the end is judged when it is due.
func Plan(e Event, parties []Party, s Settings, now time.Time) []Notice {
	p := planner{event: e, settings: s, now: now}
	for _, party := range parties {
		p.tell(party)
	}
	return p.notices
}

type planner struct {
	event    Event
	settings Settings
	now      time.Time
	notices  []Notice
}

func (p *planner) tell(who Party) {
	start := who.StartsAt
	switch p.event.Type {
	case onBookingConfirmed:
		p.add(who, BookingConfirmed, start)
		p.remind(who)
		p.runningLow(who, who.Taken)
	case onWaitlistPromoted:
		p.add(who, Promoted, start)
		p.remind(who)
		p.runningLow(who, who.Taken)
	case onBookingRescheduled:
		p.add(who, Rescheduled, start)
		p.remind(who)
	case onSessionUpdated:
		if p.event.Moved && who.Coming {
			p.add(who, Rescheduled, start)
			p.remind(who)
		}
	case onWaitlistJoined:
		if start.IsZero() { // the wish is for days and times
			start = p.now.Add(usable)
		}
		p.add(who, Waitlisted, start)
	case onBookingCancelled, onWaitlistLeft:
		if p.event.Gone || (who.SessionGone && p.event.Type == onWaitlistLeft) {
			p.add(who, SessionCancelled, start)
		} else {
			p.add(who, BookingCancelled, p.now.Add(usable))
		}
	case onOfferCreated:
		if !start.After(p.now) {
			start = who.EndsAt // seats may be given after the start
		}
		p.add(who, Offered, start)
	case onCreditsChanged:
		p.runningLow(who, p.event.Spent)
	case onStaffNote:
		p.add(who, StaffNote, latest(start, p.now.Add(usable)))
	}
}

// add plans a notice for now in each lane that the party uses.
func (p *planner) add(who Party, topic Topic, expires time.Time) {
	e := p.event
	if e.Silent || p.now.Sub(e.At) > usable {
		return // where nothing ran for a day it is no news any more
	}
	n := Notice{
		Topic: topic, Member: who.Member, Session: who.Session, Booking: who.Booking, Entry: who.Entry, Offer: e.Offer,
		Thing: thing(e, who), Revision: e.ID.String(), StartsAt: who.StartsAt, DueAt: p.now, ExpiresAt: expires, At: e.At, Details: e.Details,
	}
	p.inLanes(n, who.Chosen)
}

func (p *planner) inLanes(n Notice, chosen Preferences) {
	for _, lane := range chosen.lanes(n.Topic) {
		n := n
		n.Lane = lane
		if lane == Mail && (n.Topic == SessionCancelled || n.Topic == BookingCancelled) {
			// Late as it may be, it takes the entry out of the calendar.
			n.ExpiresAt = latest(n.ExpiresAt, p.now.Add(kept))
		}
		p.notices = append(p.notices, n)
	}
}

// thing gives what an event is about for a party.
func thing(e Event, who Party) tenant.UUID {
	switch {
	case !e.Offer.IsZero():
		return e.Offer.UUID
	case !who.Booking.IsZero():
		return who.Booking.UUID
	case !who.Entry.IsZero():
		return who.Entry.UUID
	case !e.Payer.IsZero():
		return e.Payer
	}
	return who.Session.UUID
}

// remind plans what comes before the session begins, whoever was told of what has brought it about. What would be due already is left
// out: the confirmation has just said it. The revision is the start, so that a session which moves away and back is not told twice.
func (p *planner) remind(who Party) {
	n := Notice{
		Member: who.Member, Session: who.Session, Booking: who.Booking, Thing: who.Booking.UUID,
		StartsAt: who.StartsAt, ExpiresAt: who.StartsAt, At: p.event.At,
	}
	for _, lead := range p.settings.Reminders {
		n.Topic, n.DueAt = Reminder, who.StartsAt.Add(-lead)
		n.Details = Details{Lead: lead}
		n.Revision = who.StartsAt.UTC().Format(time.RFC3339) + "-" + lead.String()
		if n.DueAt.After(p.now) {
			p.inLanes(n, who.Chosen)
		}
	}
	if who.CheckInOpens.After(p.now) && who.CheckInOpens.Before(who.StartsAt) {
		n.Topic, n.DueAt, n.Details = CheckInOpen, who.CheckInOpens, Details{}
		n.Revision = who.StartsAt.UTC().Format(time.RFC3339)
		p.inLanes(n, who.Chosen)
	}
}

// runningLow plans a word about credits when they fall to the mark, and again when the last one goes.
func (p *planner) runningLow(who Party, taken int) {
	low := p.settings.CreditsLowAt
	if p.event.Silent || who.Payer.IsZero() || taken <= 0 || who.Balance > low || (who.Balance+taken <= low && who.Balance > 0) {
		return
	}
	p.inLanes(Notice{
		Topic: CreditsLow, Member: who.Member, Thing: who.Payer, Revision: p.event.ID.String(), DueAt: p.now, ExpiresAt: p.now.Add(kept), At: p.event.At,
		Details: Details{Balance: who.Balance, Payer: who.Payer},
	}, who.Chosen)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
