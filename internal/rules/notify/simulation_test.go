package notify

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
)

var zones = []string{
	"Pacific/Apia", "Pacific/Honolulu", "America/Anchorage", "America/Los_Angeles", "America/Phoenix",
	"America/Denver", "America/Mexico_City", "America/Chicago", "America/New_York", "America/Havana",
	"America/Asuncion", "America/Santiago", "America/St_Johns", "America/Sao_Paulo", "America/Nuuk",
	"Atlantic/Azores", "Africa/Casablanca", "Europe/Lisbon", "Europe/London", "Europe/Dublin", "Europe/Berlin",
	"Europe/Paris", "Europe/Athens", "Africa/Cairo", "Asia/Beirut", "Asia/Jerusalem", "Europe/Moscow",
	"Asia/Tehran", "Asia/Dubai", "Asia/Kabul", "Asia/Karachi", "Asia/Kolkata", "Asia/Kathmandu", "Asia/Yangon",
	"Asia/Bangkok", "Asia/Tokyo", "Australia/Adelaide", "Australia/Lord_Howe", "Pacific/Auckland",
	"Pacific/Chatham",
}

// simulation runs members in 40 zones for up to a year: they book, cancel, get moved, get offers, stop messages and
// change preferences. It tracks the true state itself, and checks each message that is sent.
type simulation struct {
	t          *testing.T
	random     *rand.Rand
	now        time.Time
	s          Settings
	control    negativeControl
	members    []*simMember
	queue      noticeQueue
	planned    map[string]bool
	sent       map[Topic]int
	unsent     map[Reason]int
	violations map[guardrail][]string
	changes    map[string]int // messages on days on which the recipient's clock goes forward or back
}

// guardrail is one of the four guardrails.
type guardrail string

const (
	freshness guardrail = "freshness"
	consent   guardrail = "consent"
	quiet     guardrail = "quiet hours"
	frequency guardrail = "the frequency cap"
)

// negativeControl removes from the input of Decide what one guardrail needs.
type negativeControl func(*Notice, *Settings, *Recipient, *Facts)

type simMember struct {
	Recipient
	stopped  bool
	asleep   [2]string // quiet hours from and until, local
	bookings []*simBooking
}

// simBooking is a booking or an offer.
type simBooking struct {
	id     tenant.BookingID
	start  time.Time
	booked bool
	offer  *Offer
}

type queuedNotice struct {
	Notice
	who     *simMember
	booking *simBooking
}

type noticeQueue []queuedNotice

func (q noticeQueue) Len() int { return len(q) }

func (q noticeQueue) Less(i, j int) bool { return q[i].DueAt.Before(q[j].DueAt) }

func (q noticeQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *noticeQueue) Push(x any) { *q = append(*q, x.(queuedNotice)) }

func (q *noticeQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func TestGuardrails_HoldForAYearInFortyZones(t *testing.T) {
	t.Parallel()
	y := simulate(t, nil, 12)
	for against, all := range y.violations {
		t.Errorf("%d messages violate %s, such as %s", len(all), against, all[0])
	}
	for _, topic := range []Topic{
		BookingConfirmed, Offered, BookingCancelled, SessionCancelled, Rescheduled, Reminder, CheckInOpen,
	} {
		test.True(t, y.sent[topic] >= 20, test.Sprintf("only %d messages about %s", y.sent[topic], topic))
	}
	for _, why := range []Reason{
		QuietHoursReason, FrequencyCap, NotBooked, Moved, TooLate, OptedOut, Unsubscribed, OfferClosed,
	} {
		test.NotEqOp(t, 0, y.unsent[why], test.Sprintf("no message was held back because of %s", why))
	}
	t.Logf("sent %v, held back %v, on days with a clock change %v", y.sent, y.unsent, y.changes)
	for _, way := range []string{"forward", "back"} {
		test.True(
			t, y.changes[way] >= 20, test.Sprintf("only %d messages on days on which clocks go %s", y.changes[way], way),
		)
	}
}

// Negative control: without any one of the guardrails, the simulation finds violations of exactly that guardrail within
// two months.
func TestGuardrails_EachIsNeeded(t *testing.T) {
	t.Parallel()
	for missing, control := range map[guardrail]negativeControl{
		freshness: func(n *Notice, _ *Settings, _ *Recipient, f *Facts) {
			n.ExpiresAt = n.ExpiresAt.AddDate(1, 0, 0)
			f.Booked, f.Cancelled, f.StartsAt = true, true, n.StartsAt
			if f.Offer != nil {
				f.Offer = &Offer{Live: true, EvenInQuiet: f.Offer.EvenInQuiet}
			}
		},
		consent:   func(_ *Notice, _ *Settings, r *Recipient, _ *Facts) { r.Stopped, r.Preferences = nil, nil },
		quiet:     func(_ *Notice, s *Settings, r *Recipient, _ *Facts) { s.QuietHours, r.Quiet = QuietHours{}, nil },
		frequency: func(_ *Notice, _ *Settings, r *Recipient, _ *Facts) { r.Sent = nil },
	} {
		t.Run(string(missing), func(t *testing.T) {
			t.Parallel()
			y := simulate(t, control, 2)
			for against, all := range y.violations {
				test.EqOp(t, missing, against, test.Sprintf("%d messages violate %s, such as %s", len(all), against, all[0]))
			}
			n := len(y.violations[missing])
			test.True(t, n >= 20, test.Sprintf("only %d violations", n))
		})
	}
}

// simulate runs some months of the year.
func simulate(t *testing.T, control negativeControl, months int) *simulation {
	t.Helper()
	y := &simulation{
		t: t, random: rand.New(rand.NewPCG(2026, 7)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		s: DefaultSettings(), control: control,
		planned: make(map[string]bool), sent: make(map[Topic]int), unsent: make(map[Reason]int),
		violations: make(map[guardrail][]string), changes: make(map[string]int),
	}
	y.s.PerDay = map[delivery.Channel]int{sms: 2, push: 3, email: 4} // low, so that the cap is reached
	for i, name := range zones {
		who := &simMember{asleep: [2]string{"21:00", "08:00"}, Recipient: Recipient{
			Member: tenant.New[tenant.MemberID](y.now), Known: true, Phone: "+12125550123", Email: "a@b", Zone: zone(t, name),
			Devices: []Device{{Token: "d"}}, Stopped: map[delivery.Channel]Reason{}, Sent: map[delivery.Channel][]time.Time{},
			Preferences: Preferences{},
		}}
		if y.random.IntN(4) == 0 {
			who.Devices = nil
		}
		if i%5 == 0 { // their own quiet hours
			who.asleep = [2]string{"00:30", "10:00"}
			who.Quiet = new(hours("00:30-10:00"))
		}
		y.members = append(y.members, who)
	}
	for end := y.now.AddDate(0, months, 0); y.now.Before(end); {
		next := y.now.Add(time.Duration(1+y.random.IntN(90)) * time.Minute)
		y.deliver(next)
		y.now = next
		y.step()
	}
	return y
}

// step makes a random change for a random member.
func (sim *simulation) step() {
	who := sim.members[sim.random.IntN(len(sim.members))]
	var booking *simBooking
	if len(who.bookings) > 0 {
		booking = who.bookings[sim.random.IntN(len(who.bookings))]
	}
	switch roll := sim.random.IntN(20); {
	case roll < 8 || booking == nil:
		sim.book(who)
	case roll < 11 && booking.booked:
		booking.booked = false
		sim.publish(who, booking, Event{Data: event.BookingCancelled{}, Gone: sim.random.IntN(2) == 0})
	case roll < 14 && booking.booked:
		booking.start = booking.start.Add(time.Duration(sim.random.IntN(96)-24) * time.Hour)
		sim.publish(who, booking, Event{Data: event.SessionUpdated{}, Moved: true})
	case roll < 17:
		sim.offer(who)
	case roll < 18 && booking.offer != nil:
		booking.offer.Live = false
	case roll == 18:
		topics, channels := Topics(), delivery.Channels()
		key := PreferenceKey{topics[sim.random.IntN(len(topics))], channels[sim.random.IntN(len(channels))]}
		who.Preferences[key] = !who.Preferences.Allow(key.Topic, key.Channel)
	case roll == 19:
		who.stopped = !who.stopped
		if delete(who.Stopped, sms); who.stopped {
			who.Stopped[sms] = OptedOut
		}
	}
}

func (sim *simulation) soon() time.Time {
	return sim.now.Add(time.Duration(10+sim.random.IntN(5*24*60)) * time.Minute)
}

func (sim *simulation) book(who *simMember) {
	b := &simBooking{id: tenant.New[tenant.BookingID](sim.now), start: sim.soon(), booked: true}
	who.bookings = append(who.bookings, b)
	if len(who.bookings) > 6 {
		who.bookings = who.bookings[1:]
	}
	sim.publish(who, b, Event{Data: event.BookingConfirmed{}})
}

func (sim *simulation) offer(who *simMember) {
	b := &simBooking{
		id: tenant.New[tenant.BookingID](sim.now), start: sim.soon(),
		offer: &Offer{Live: true, EvenInQuiet: sim.random.IntN(5) == 0},
	}
	who.bookings = append(who.bookings, b)
	sim.publish(who, b, Event{Data: event.OfferCreated{}, Offer: tenant.New[tenant.OfferID](sim.now)})
}

// publish plans the notices of an event, once each.
func (sim *simulation) publish(who *simMember, b *simBooking, e Event) {
	e.ID, e.At = tenant.New[tenant.EventID](sim.now), sim.now
	party := Person{
		Member: who.Member, Booking: b.id, Preferences: who.Preferences, Booked: b.booked,
		StartsAt: b.start, EndsAt: b.start.Add(time.Hour), CheckInOpens: b.start.Add(-time.Hour),
	}
	for _, n := range Plan(e, []Person{party}, sim.s, sim.now) {
		key := n.Recipient().String() + string(n.Topic) + n.Thing.String() + n.Revision + string(n.Lane)
		if !sim.planned[key] {
			sim.planned[key] = true
			heap.Push(&sim.queue, queuedNotice{n, who, b})
		}
	}
}

// deliver decides about each notice that is due until a time, at the time when it is due.
func (sim *simulation) deliver(until time.Time) {
	for len(sim.queue) > 0 && !sim.queue[0].DueAt.After(until) {
		p := heap.Pop(&sim.queue).(queuedNotice)
		now := p.DueAt
		if now.Before(sim.now) {
			now = sim.now
		}
		f := Facts{
			Booked: p.booking.booked, Cancelled: !p.booking.booked, StartsAt: p.booking.start, Offer: p.booking.offer,
		}
		n, s, r := p.Notice, sim.s, p.who.Recipient
		if sim.control != nil {
			sim.control(&n, &s, &r, &f)
		}
		action := Decide(n, s, r, f, now)
		switch action.Kind {
		case Send:
			sim.check(p, action.Channel, now)
			p.who.Sent[action.Channel] = append(within(p.who.Sent[action.Channel], now), now)
			sim.sent[p.Topic]++
			if p.booking.offer != nil && p.booking.offer.ExpiresAt.IsZero() {
				p.booking.offer.ExpiresAt = now.Add(30 * time.Minute)
			}
		case Defer:
			must.True(sim.t, action.Until.After(now), must.Sprintf("deferred from %v to %v", now, action.Until))
			if !action.Until.Before(p.ExpiresAt) {
				sim.violate(freshness, "%s deferred to %v, but expires at %v", p.Topic, action.Until, p.ExpiresAt)
			}
			sim.unsent[action.Reason]++
			p.DueAt = action.Until
			heap.Push(&sim.queue, p)
		case Drop:
			sim.unsent[action.Reason]++
		}
	}
}

// within returns the times of the last day.
func within(times []time.Time, now time.Time) []time.Time {
	return slices.DeleteFunc(slices.Clone(times), func(at time.Time) bool { return now.Sub(at) >= 24*time.Hour })
}

func (sim *simulation) violate(against guardrail, format string, args ...any) {
	sim.violations[against] = append(sim.violations[against], fmt.Sprintf(format, args...))
}

// check checks a message that is sent, without using the rules.
func (sim *simulation) check(p queuedNotice, c delivery.Channel, now time.Time) {
	local := now.In(p.who.Zone)
	_, offset := local.Zone()
	switch _, before := local.AddDate(0, 0, -1).Zone(); {
	case offset > before:
		sim.changes["forward"]++
	case offset < before:
		sim.changes["back"]++
	}

	from, until := p.who.asleep[0], p.who.asleep[1]
	clock := local.Format("15:04")
	asleep := clock >= from && clock < until
	if from > until {
		asleep = clock >= from || clock < until
	}
	if urgent := p.Topic == Offered && p.booking.offer.EvenInQuiet; asleep && !urgent && c != email {
		sim.violate(quiet, "%s by %s at %v", p.Topic, c, local)
	}

	if c == sms && p.who.stopped {
		sim.violate(consent, "%s after STOP", p.Topic)
	}
	if wanted, chosen := p.who.Preferences[PreferenceKey{p.Topic, c}]; chosen && !wanted {
		sim.violate(consent, "%s by %s, which is turned off", p.Topic, c)
	}

	if n := len(within(p.who.Sent[c], now)); n >= sim.s.PerDay[c] {
		sim.violate(frequency, "%s by %s exceeds the cap: %d within a day before %v", p.Topic, c, n, now)
	}

	stale := false
	switch p.Topic {
	case BookingConfirmed, Rescheduled, Reminder, CheckInOpen:
		stale = !p.booking.booked || !p.booking.start.Equal(p.StartsAt) || !now.Before(p.booking.start)
	case BookingCancelled:
		stale = p.booking.booked
	case Offered:
		o := p.booking.offer
		stale = !o.Live || !o.ExpiresAt.IsZero() && !now.Before(o.ExpiresAt) || !now.Before(p.booking.start)
	}
	if stale {
		sim.violate(freshness, "%s is outdated at %v", p.Topic, now)
	}
	if p.Topic == Reminder && p.StartsAt.Sub(now) > p.Details.Lead {
		sim.violate(freshness, "a reminder of %v comes %v before the start", p.Details.Lead, p.StartsAt.Sub(now))
	}
}
