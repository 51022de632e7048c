package notify

import (
	"time"

	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
)

// Event is an event of the event log, with what EventOf reads in its data.
type Event struct {
	ID      tenant.EventID
	Session tenant.SessionID
	Booking tenant.BookingID
	Member  tenant.MemberID
	Entry   tenant.EntryID
	Offer   tenant.OfferID
	Data    event.Data
	At      time.Time

	Payer   tenant.UUID     // of CreditsChanged: the subscription
	Actor   tenant.MemberID // of AccessChanged: who changed them; zero: not a member
	Moved   bool            // by SessionUpdated: to another time, location or resource
	Gone    bool            // of BookingCancelled: because the session is cancelled
	Spent   int             // of CreditsChanged: by how much the balance fell
	Silent  bool            // send no message about the event itself; reminders still change
	Details Details
	// TellUntil is set if a WaitlistLeft says that the entry could no longer get a seat: it is news until then.
	TellUntil time.Time
}

// EventOf adds to an event what messages need of its data. The actor is who caused it.
func EventOf(e Event, actor string) Event {
	e.Details.Waitlist = !e.Entry.IsZero() && e.Booking.IsZero()
	switch d := e.Data.(type) {
	case event.BookingConfirmed:
		e.Silent = d.Imported
	case event.BookingCancelled:
		e.Gone, e.Silent = d.SessionGone, !d.Notify
		e.Details.Reason, e.Details.Refunded, e.Details.Late = d.Reason, d.Refunded, d.Late
	case event.BookingRescheduled:
		e.Silent, e.Details.OldStart = !d.Notify, d.FromStart
	case event.SessionUpdated:
		is := d.After
		e.Moved = is.Start.Changed || is.End.Changed || is.Location.Changed || is.Resource.Changed
		if was := d.Before.Start.Value; was != nil {
			e.Details.OldStart = *was
		}
	case event.WaitlistJoined:
		e.Details.Position = d.Position
	case event.WaitlistLeft:
		e.Silent, e.Details.Reason, e.TellUntil = !d.Notify, d.Reason, d.TellUntil
	case event.WaitlistStaffNote:
		e.Details.Note = d.Note
	case event.DisplaySecondScreen:
		e.Details.Screen = true
	case event.CreditsChanged:
		e.Payer, e.Spent = d.Subscription.UUID, -d.Amount
	case event.AccessChanged:
		if d.Change == "" {
			break
		}
		e.Details.Access = &AccessChange{Kind: AccessChangeKind(d.Change), Role: d.Role}
		if e.Actor = d.FromMember; e.Details.Access.Kind != TransferConfirmed {
			e.Actor, _ = tenant.Parse[tenant.MemberID](actor) // zero: not a member
		}
	}
	return e
}

const (
	// newsLifetime is how long a message is worth sending if nothing else limits it.
	newsLifetime = 24 * time.Hour
	// mailLifetime is how long a mail about a cancellation or a low balance is worth sending.
	mailLifetime = 7 * 24 * time.Hour
)

// plans say which notices an event of a type leads to, for each of the people whom it concerns.
var plans = map[event.Type]func(p *planner, who Person){
	typeOf[event.BookingConfirmed](): func(p *planner, who Person) {
		p.addNow(who, BookingConfirmed, who.StartsAt)
		p.addReminders(who)
		p.addCreditsLow(who, who.Taken)
	},
	typeOf[event.WaitlistPromoted](): func(p *planner, who Person) {
		p.addNow(who, Promoted, who.StartsAt)
		p.addReminders(who)
		p.addCreditsLow(who, who.Taken)
	},
	typeOf[event.BookingRescheduled](): func(p *planner, who Person) {
		p.addNow(who, Rescheduled, who.StartsAt)
		p.addReminders(who)
	},
	typeOf[event.SessionUpdated](): func(p *planner, who Person) {
		if p.event.Moved && who.Booked {
			p.addNow(who, Rescheduled, who.StartsAt)
			p.addReminders(who)
		}
	},
	typeOf[event.BookingCancelled](): func(p *planner, who Person) { p.addGone(who, p.event.Gone) },
	typeOf[event.WaitlistLeft](): func(p *planner, who Person) {
		if until := p.event.TellUntil; !until.IsZero() && !who.SessionGone {
			p.addNow(who, WaitlistEnded, until)
			return
		}
		p.addGone(who, who.SessionGone)
	},
	typeOf[event.WaitlistJoined](): func(p *planner, who Person) {
		expires := who.StartsAt
		if expires.IsZero() { // the entry is for a time window, not a session
			expires = p.now.Add(newsLifetime)
		}
		p.addNow(who, Waitlisted, expires)
	},
	typeOf[event.OfferCreated](): func(p *planner, who Person) {
		expires := who.StartsAt
		if !expires.After(p.now) {
			expires = who.EndsAt // the rules can allow offers after the start
		}
		p.addNow(who, Offered, expires)
	},
	typeOf[event.CreditsChanged]():      func(p *planner, who Person) { p.addCreditsLow(who, p.event.Spent) },
	typeOf[event.WaitlistStaffNote]():   (*planner).addNote,
	typeOf[event.DisplaySecondScreen](): (*planner).addNote,
	typeOf[event.AccessChanged](): func(p *planner, who Person) {
		p.addNow(who, AccessChanged, p.now.Add(mailLifetime))
	},
}

func typeOf[D event.Data]() event.Type {
	var data D
	return data.Type()
}

// HasMessages reports whether events with this data can lead to messages.
func HasMessages(data event.Data) bool { return plans[data.Type()] != nil }

// Plan returns the notices that an event leads to, for each of the people whom it concerns, in each lane: some due
// immediately, and some later, such as reminders. Decide says whether each is sent when it is due.
func Plan(e Event, people []Person, s Settings, now time.Time) []Notice {
	if e.Details.Access != nil {
		e.Details.Access = e.Details.Access.named(e, people)
	}
	p := planner{event: e, settings: s, now: now}
	if plan := plans[e.Data.Type()]; plan != nil {
		for _, person := range people {
			plan(&p, person)
		}
	}
	return p.notices
}

type planner struct {
	event    Event
	settings Settings
	now      time.Time
	notices  []Notice
}

// addNote adds a note for staff about the session of the event.
func (p *planner) addNote(who Person) {
	who.Session = p.event.Session
	p.addNow(who, StaffNote, latest(who.StartsAt, p.now.Add(newsLifetime)))
}

// addGone adds a notice about a booking or an entry that has ended, because its session is cancelled or for another
// reason.
func (p *planner) addGone(person Person, sessionCancelled bool) {
	if sessionCancelled {
		p.addNow(person, SessionCancelled, person.StartsAt)
	} else {
		p.addNow(person, BookingCancelled, p.now.Add(newsLifetime))
	}
}

// addNow adds a notice that is due now, in each lane that the party uses.
func (p *planner) addNow(person Person, topic Topic, expires time.Time) {
	e := p.event
	if e.Silent || p.now.Sub(e.At) > newsLifetime {
		return // after an outage of a day, the event is no longer news
	}
	p.add(Notice{
		Topic: topic, Member: person.Member, Session: person.Session, Booking: person.Booking, Entry: person.Entry,
		Offer: e.Offer,
		Thing: thing(e, person), Revision: e.ID.String(), StartsAt: person.StartsAt, DueAt: p.now, ExpiresAt: expires,
		At: e.At, Details: e.Details,
	}, person.Preferences)
}

// add adds a notice in each lane that the party uses.
func (p *planner) add(n Notice, preferences Preferences) {
	for _, lane := range preferences.lanes(n.Topic) {
		n := n
		n.Lane = lane
		if lane == Mail && (n.Topic == SessionCancelled || n.Topic == BookingCancelled) {
			// Even a late mail removes the entry from the recipient's calendar.
			n.ExpiresAt = latest(n.ExpiresAt, p.now.Add(mailLifetime))
		}
		p.notices = append(p.notices, n)
	}
}

// thing returns what an event is about for a party.
func thing(e Event, person Person) tenant.UUID {
	switch {
	case !e.Offer.IsZero():
		return e.Offer.UUID
	case !person.Booking.IsZero():
		return person.Booking.UUID
	case !person.Entry.IsZero():
		return person.Entry.UUID
	case !e.Payer.IsZero():
		return e.Payer
	case person.Session.IsZero():
		return e.Member.UUID
	}
	return person.Session.UUID
}

// addReminders adds the notices before the start of the session, even for a silent event. It omits those that are
// already due, because the confirmation says the same. Their revision is the start, so that a session that moves away
// and back does not repeat them.
func (p *planner) addReminders(person Person) {
	n := Notice{
		Member: person.Member, Session: person.Session, Booking: person.Booking, Thing: person.Booking.UUID,
		StartsAt: person.StartsAt, ExpiresAt: person.StartsAt, At: p.event.At,
	}
	for _, lead := range p.settings.Reminders {
		n.Topic, n.DueAt = Reminder, person.StartsAt.Add(-lead)
		n.Details = Details{Lead: lead}
		n.Revision = person.StartsAt.UTC().Format(time.RFC3339) + "-" + lead.String()
		if n.DueAt.After(p.now) {
			p.add(n, person.Preferences)
		}
	}
	if person.CheckInOpens.After(p.now) && person.CheckInOpens.Before(person.StartsAt) {
		n.Topic, n.DueAt, n.Details = CheckInOpen, person.CheckInOpens, Details{}
		n.Revision = person.StartsAt.UTC().Format(time.RFC3339)
		p.add(n, person.Preferences)
	}
}

// addCreditsLow adds a notice when the balance falls to the threshold, and again when it falls to zero.
func (p *planner) addCreditsLow(person Person, taken int) {
	low := p.settings.CreditsLowAt
	if p.event.Silent || person.Payer.IsZero() || taken <= 0 ||
		person.Balance > low || (person.Balance+taken <= low && person.Balance > 0) {
		return
	}
	p.add(Notice{
		Topic: CreditsLow, Member: person.Member, Thing: person.Payer, Revision: p.event.ID.String(),
		DueAt: p.now, ExpiresAt: p.now.Add(mailLifetime), At: p.event.At,
		Details: Details{Balance: person.Balance, Payer: person.Payer},
	}, person.Preferences)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// ReminderDue reports whether a reminder is due for the first time and its booking has not changed. This is also an
// event, even for members who get no reminders.
func (n Notice) ReminderDue(f Facts) bool {
	first := n.Attempts == 0 && n.DueAt.Equal(n.StartsAt.Add(-n.Details.Lead))
	return n.Topic == Reminder && first && f.Booked && !f.SessionGone && f.StartsAt.Equal(n.StartsAt)
}

// ExpiryWarning returns the notice that warns that an offer ends soon, for an offer that is sent now. It returns false
// if there is none.
func (n Notice) ExpiryWarning(now, ends time.Time) (Notice, bool) {
	at, ok := expiringAt(now, ends)
	if n.Topic != Offered || !ok {
		return Notice{}, false
	}
	n.ID, n.Topic, n.Lane, n.DueAt, n.ExpiresAt = tenant.NoticeID{}, OfferExpiring, Alert, at, ends
	n.FailedChannels, n.Attempts, n.UnknownResults = nil, 0, 0
	return n, true
}

// expiringAt returns when to warn that an offer ends soon: at the start of the last quarter of its window. It returns
// false if the window is too short for a second message.
func expiringAt(sent, expires time.Time) (time.Time, bool) {
	window := expires.Sub(sent)
	if window < 10*time.Minute {
		return time.Time{}, false
	}
	return expires.Add(-window / 4), true
}
