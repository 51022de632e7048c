package simulate

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// owed is a message that somebody must get, or the log must say why not.
type owed struct {
	owedKey
	to     *addressee
	due    time.Time
	until  time.Time // of no use from then on
	start  time.Time // as it says; zero where it says none
	b      *mBooking
	entry  *mEntry
	offer  *mOffer
	payer  *subscription
	over   bool // nothing more comes of it
	looks  int  // how often something came of it
	has    int  // which attempt the provider took, of which nobody knows that it was lost
	begun  int  // attempts
	unsure int  // of which nobody was told what became of them
	failed map[notify.Channel]bool
	// excused: until then it may take its time.
	excused time.Time
	flagged bool
}

// owedKey tells messages apart: news by the event, and what comes before a session by its start.
type owedKey struct {
	who     tenant.UUID
	topic   notify.Topic
	lane    notify.Lane
	event   tenant.EventID
	booking tenant.BookingID
	start   int64
	lead    time.Duration
}

func keyOf(n notify.Notice) owedKey {
	key := owedKey{who: n.Recipient(), topic: n.Topic, lane: n.Lane}
	if n.Topic == notify.Reminder || n.Topic == notify.CheckInOpen {
		key.booking, key.start, key.lead = n.Booking, n.StartsAt.Unix(), n.Details.Lead
		return key
	}
	var err error
	if key.event, err = tenant.Parse[tenant.EventID](n.Revision); err != nil {
		panic(err) // of this simulation's making
	}
	return key
}

// way is how a topic is told where nobody has chosen otherwise: s by SMS, p by push, e by email; with a mail of its
// own, or not.
type way struct {
	on   string
	mail bool
}

var ways = map[notify.Topic]way{
	notify.BookingConfirmed: {"pe", true}, notify.Waitlisted: {"e", true}, notify.Promoted: {"pse", true},
	notify.Offered:       {"pse", true},
	notify.OfferExpiring: {"ps", false}, notify.BookingCancelled: {"e", true}, notify.SessionCancelled: {"pse", true},
	notify.Rescheduled: {"pe", true},
	notify.Reminder:    {"pe", false}, notify.CheckInOpen: {"p", false}, notify.CreditsLow: {"e", true},
	notify.StaffNote: {"pe", true},
}

// route are the channels of a lane.
func route(t notify.Topic, lane notify.Lane) []notify.Channel {
	switch {
	case lane == notify.Mail:
		return []notify.Channel{notify.Email}
	case ways[t].mail:
		return []notify.Channel{notify.Push, notify.SMS}
	}
	return []notify.Channel{notify.Push, notify.SMS, notify.Email}
}

// wants reports whether somebody wants to hear about a topic by a channel.
func (a *addressee) wants(t notify.Topic, c notify.Channel) bool {
	if on, chosen := a.chosen[notify.PreferenceKey{Topic: t, Channel: c}]; chosen {
		return on
	}
	letter := map[notify.Channel]byte{notify.SMS: 's', notify.Push: 'p', notify.Email: 'e'}[c]
	return slices.Contains([]byte(ways[t].on), letter)
}

// lanes are those in which somebody hears about a topic; one, at least, so that the log can tell why they hear nothing.
func (a *addressee) lanes(t notify.Topic) []notify.Lane {
	all := []notify.Lane{notify.Alert}
	if ways[t].mail {
		all = append(all, notify.Mail)
	}
	var wanted []notify.Lane
	for _, lane := range all {
		if slices.ContainsFunc(route(t, lane), func(c notify.Channel) bool { return a.wants(t, c) }) {
			wanted = append(wanted, lane)
		}
	}
	if wanted == nil {
		return all[:1]
	}
	return wanted
}

// quiet reports whether somebody wants to be left alone at a time.
func (a *addressee) quietAt(t time.Time, s notify.Settings) bool {
	q := s.Quiet
	if a.quiet != nil {
		q = *a.quiet
	}
	clock := t.In(a.zone)
	at, from, until := clock.Hour()*60+clock.Minute(), q.Start.Hour*60+q.Start.Minute, q.End.Hour*60+q.End.Minute
	if from < until {
		return from <= at && at < until
	}
	return from != until && (from <= at || at < until)
}

// wakes is the first minute at which somebody may be disturbed.
func (a *addressee) wakes(t time.Time, s notify.Settings) time.Time {
	for a.quietAt(t, s) {
		t = t.Truncate(time.Minute).Add(time.Minute)
	}
	return t
}

const (
	newsFor = 24 * time.Hour     // so long it is news
	mailFor = 7 * 24 * time.Hour // so long a mail may come late
)

// owe says what an event makes people owed that is read now.
func (j *judgement) owe(h happened) (all []*owed) {
	now := j.now
	add := func(o owed, t notify.Topic, lane notify.Lane) {
		o.topic, o.lane, o.who, o.failed = t, lane, o.to.who, make(map[notify.Channel]bool)
		all = append(all, &o)
	}
	news := func(o owed, t notify.Topic, until, mailUntil time.Time) {
		if h.Silent || now.Sub(h.At) > newsFor {
			return
		}
		o.event, o.due = h.event, now
		for _, lane := range o.to.lanes(t) {
			if o.until = until; lane == notify.Mail && mailUntil.After(until) {
				o.until = mailUntil
			}
			add(o, t, lane)
		}
	}
	low := func(o owed, u *subscription, spent int) {
		if h.Silent || u == nil || u.Plan.Kind != credit.Credits || spent <= 0 || u.Balance > j.settings.CreditsLowAt ||
			u.Balance > 0 && u.Balance+spent <= j.settings.CreditsLowAt {
			return
		}
		o = owed{to: o.to, payer: u, due: now, until: now.Add(mailFor)}
		o.event = h.event
		for _, lane := range o.to.lanes(notify.CreditsLow) {
			add(o, notify.CreditsLow, lane)
		}
	}
	remind := func(o owed) {
		before := func(t notify.Topic, due time.Time, lead time.Duration) {
			if due.After(now) {
				o.due, o.until, o.owedKey = due, o.start, owedKey{booking: o.b.id, start: o.start.Unix(), lead: lead}
				for _, lane := range o.to.lanes(t) {
					add(o, t, lane)
				}
			}
		}
		for _, lead := range j.settings.Reminders {
			before(notify.Reminder, time.Unix(o.start.Unix()-int64(lead.Seconds()), 0), lead)
		}
		before(notify.CheckInOpen, o.start.Add(-o.b.in.under.policy.CheckInOpens), 0)
	}

	if h.What == Decided {
		for _, a := range j.staff {
			news(owed{to: a}, notify.StaffNote, now.Add(newsFor), time.Time{})
		}
		return all
	}
	o := owed{
		to: j.people[h.Member.UUID], b: j.model.bookings[h.Booking], entry: j.entries[h.Entry],
		offer: j.model.offers[h.Offer],
	}
	if h.What == Renewed {
		low(o, j.subs[h.Subscription], h.Spent)
		return all
	}
	var in *mSession
	switch {
	case o.b != nil:
		in, o.entry, o.offer = o.b.in, nil, nil
	case o.entry == nil || o.entry.about == nil:
		return nil
	default:
		in = o.entry.about
	}
	o.start = in.starts
	switch h.What {
	case Booked, Confirmed, Rescheduled:
		topic := notify.BookingConfirmed
		if h.What == Rescheduled {
			topic = notify.Rescheduled
		} else if h.Promoted && h.Offer.IsZero() {
			topic = notify.Promoted
		}
		news(o, topic, o.start, time.Time{})
		remind(o)
		if h.What != Rescheduled {
			low(o, j.subs[j.bookings[o.b.id].Subscription], o.b.credits)
		}
	case Joined:
		news(o, notify.Waitlisted, o.start, time.Time{})
	case Cancelled, Left:
		if h.Gone || h.What == Left && in.off {
			news(o, notify.SessionCancelled, o.start, now.Add(mailFor))
		} else {
			news(o, notify.BookingCancelled, now.Add(newsFor), now.Add(mailFor))
		}
	case Offered:
		o.offer = j.offers[h.Offer]
		until := o.start
		if !until.After(now) {
			until = in.ends
		}
		news(o, notify.Offered, until, time.Time{})
	default:
	}
	return all
}

// gone says why a message tells what is not so, or nothing.
func (j *judgement) gone(o *owed) string {
	in := (*mSession)(nil)
	switch {
	case o.b != nil:
		in = o.b.in
	case o.entry != nil:
		in = o.entry.about
	}
	switch {
	case o.to.member != nil && !j.model.members[o.to.member.ID].active:
		return "the member is gone"
	case !j.now.Before(o.until):
		return "it is too late"
	}
	off := in != nil && in.off
	moved := in != nil && !in.starts.Equal(o.start)
	switch o.topic {
	case notify.BookingConfirmed, notify.Promoted, notify.Rescheduled, notify.Reminder, notify.CheckInOpen:
		if o.b.status != booking.Confirmed || off || moved {
			return "nobody comes then"
		}
	case notify.Waitlisted:
		if !o.entry.Status.Active() || off || moved {
			return "nobody waits for that"
		}
	case notify.BookingCancelled:
		if o.b != nil && o.b.status != booking.Cancelled {
			return "it is not cancelled"
		}
	case notify.Offered, notify.OfferExpiring:
		if !o.offer.live || off || moved || !j.now.Before(o.offer.until) {
			return "the offer is over"
		}
	case notify.CreditsLow:
		if o.payer.Balance > j.settings.CreditsLowAt {
			return "there are credits again"
		}
	case notify.SessionCancelled, notify.StaffNote:
	}
	return ""
}
