package notify

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

var zones = []string{
	"Pacific/Apia", "Pacific/Honolulu", "America/Anchorage", "America/Los_Angeles", "America/Phoenix", "America/Denver", "America/Mexico_City",
	"America/Chicago", "America/New_York", "America/Havana", "America/Asuncion", "America/Santiago", "America/St_Johns", "America/Sao_Paulo",
	"America/Nuuk", "Atlantic/Azores", "Africa/Casablanca", "Europe/Lisbon", "Europe/London", "Europe/Dublin", "Europe/Berlin", "Europe/Paris",
	"Europe/Athens", "Africa/Cairo", "Asia/Beirut", "Asia/Jerusalem", "Europe/Moscow", "Asia/Tehran", "Asia/Dubai", "Asia/Kabul", "Asia/Karachi",
	"Asia/Kolkata", "Asia/Kathmandu", "Asia/Yangon", "Asia/Bangkok", "Asia/Tokyo", "Australia/Adelaide", "Australia/Lord_Howe", "Pacific/Auckland",
	"Pacific/Chatham",
}

// year is a small world: members in 40 zones book, cancel, are moved, get offers, say stop and choose, for a year. It knows by itself
// what is so at each moment, and looks at each message that leaves.
type year struct {
	t       *testing.T
	random  *rand.Rand
	now     time.Time
	s       Settings
	blind   blindness
	members []*inhabitant
	queue   pending
	planned map[string]bool
	sent    map[Topic]int
	unsent  map[Reason]int
	faults  map[guardrail][]string
	changed map[string]int // messages on days on which the recipient's clock goes forward or back
}

// guardrail names one of the four.
type guardrail string

const (
	freshness guardrail = "freshness"
	consent   guardrail = "consent"
	quiet     guardrail = "quiet hours"
	frequency guardrail = "the frequency cap"
)

// blindness keeps from the judge what one guardrail goes by.
type blindness func(*Notice, *Settings, *Recipient, *Matter)

type inhabitant struct {
	Recipient
	stopped  bool
	asleep   [2]string // from and until when, by the clock
	bookings []*visit
}

// visit is a booking, or an offer.
type visit struct {
	id     tenant.BookingID
	start  time.Time
	booked bool
	offer  *Offer
}

type planning struct {
	Notice
	who   *inhabitant
	visit *visit
}

type pending []planning

func (p pending) Len() int           { return len(p) }
func (p pending) Less(i, j int) bool { return p[i].DueAt.Before(p[j].DueAt) }
func (p pending) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *pending) Push(x any)        { *p = append(*p, x.(planning)) }
func (p *pending) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

func TestAYearInFortyZones(t *testing.T) {
	t.Parallel()
	y := live(t, nil, 12)
	for against, all := range y.faults {
		t.Errorf("%d messages against %s, such as %s", len(all), against, all[0])
	}
	for _, topic := range []Topic{BookingConfirmed, Offered, BookingCancelled, SessionCancelled, Rescheduled, Reminder, CheckInOpen} {
		if y.sent[topic] < 20 {
			t.Errorf("%d messages about %s: the year was too quiet", y.sent[topic], topic)
		}
	}
	for _, why := range []Reason{InQuietHours, FrequencyCap, NotBooked, Moved, TooLate, OptedOutReason, Unsubscribed, OfferClosed} {
		if y.unsent[why] == 0 {
			t.Errorf("nothing was held back because of %s", why)
		}
	}
	t.Logf("sent %v, held back %v, on days with a change of clocks %v", y.sent, y.unsent, y.changed)
	for _, way := range []string{"forward", "back"} {
		if y.changed[way] < 20 {
			t.Errorf("%d messages on days on which clocks go %s", y.changed[way], way)
		}
	}
}

// Without any one of them it goes wrong within two months, in just its way: each guardrail is needed, and each is looked at.
func TestAYearWithoutAGuardrail(t *testing.T) {
	t.Parallel()
	for missing, blind := range map[guardrail]blindness{
		freshness: func(n *Notice, _ *Settings, _ *Recipient, m *Matter) {
			n.ExpiresAt = n.ExpiresAt.AddDate(1, 0, 0)
			m.Booked, m.Cancelled, m.StartsAt = true, true, n.StartsAt
			if m.Offer != nil {
				m.Offer = &Offer{Live: true, EvenInQuiet: m.Offer.EvenInQuiet}
			}
		},
		consent:   func(_ *Notice, _ *Settings, r *Recipient, _ *Matter) { r.Stopped, r.Chosen = nil, nil },
		quiet:     func(_ *Notice, s *Settings, r *Recipient, _ *Matter) { s.Quiet, r.Quiet = QuietHours{}, nil },
		frequency: func(_ *Notice, _ *Settings, r *Recipient, _ *Matter) { r.Sent = nil },
	} {
		t.Run(string(missing), func(t *testing.T) {
			t.Parallel()
			y := live(t, blind, 2)
			for against, all := range y.faults {
				if against != missing {
					t.Errorf("%d messages against %s, such as %s", len(all), against, all[0])
				}
			}
			if n := len(y.faults[missing]); n < 20 {
				t.Errorf("%d messages are against it: nobody would notice", n)
			}
		})
	}
}

// live lets so many months of the year go by.
func live(t *testing.T, blind blindness, months int) *year {
	t.Helper()
	y := &year{
		t: t, random: rand.New(rand.NewPCG(2026, 7)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), s: DefaultSettings(), blind: blind,
		planned: make(map[string]bool), sent: make(map[Topic]int), unsent: make(map[Reason]int),
		faults: make(map[guardrail][]string), changed: make(map[string]int),
	}
	y.s.PerDay = map[Channel]int{SMS: 2, Push: 3, Email: 4} // low, so that it matters
	for i, name := range zones {
		who := &inhabitant{asleep: [2]string{"21:00", "08:00"}, Recipient: Recipient{
			Member: tenant.New[tenant.MemberID](y.now), Known: true, Phone: "+1", Email: "a@b", Zone: zone(t, name),
			Devices: []Device{{Token: "d"}}, Stopped: map[Channel]Reason{}, Sent: map[Channel][]time.Time{}, Chosen: Preferences{},
		}}
		if y.random.IntN(4) == 0 {
			who.Devices = nil
		}
		if i%5 == 0 { // hours of their own
			who.asleep = [2]string{"00:30", "10:00"}
			who.Quiet = new(hours("00:30-10:00"))
		}
		y.members = append(y.members, who)
	}
	for end := y.now.AddDate(0, months, 0); y.now.Before(end); {
		next := y.now.Add(time.Duration(1+y.random.IntN(90)) * time.Minute)
		y.deliver(next)
		y.now = next
		y.happen()
	}
	return y
}

// happen lets something happen to somebody.
func (y *year) happen() {
	who := y.members[y.random.IntN(len(y.members))]
	var visit *visit
	if len(who.bookings) > 0 {
		visit = who.bookings[y.random.IntN(len(who.bookings))]
	}
	switch roll := y.random.IntN(20); {
	case roll < 8 || visit == nil:
		y.book(who)
	case roll < 11 && visit.booked:
		visit.booked = false
		y.tell(who, visit, Event{Type: onBookingCancelled, Gone: y.random.IntN(2) == 0})
	case roll < 14 && visit.booked:
		visit.start = visit.start.Add(time.Duration(y.random.IntN(96)-24) * time.Hour)
		y.tell(who, visit, Event{Type: onSessionUpdated, Moved: true})
	case roll < 17:
		y.offer(who)
	case roll < 18 && visit.offer != nil:
		visit.offer.Live = false
	case roll == 18:
		c := Choice{Topics()[y.random.IntN(len(Topics()))], Channels()[y.random.IntN(len(Channels()))]}
		who.Chosen[c] = !who.Chosen.Allow(c.Topic, c.Channel)
	case roll == 19:
		who.stopped = !who.stopped
		if delete(who.Stopped, SMS); who.stopped {
			who.Stopped[SMS] = OptedOutReason
		}
	}
}

func (y *year) soon() time.Time {
	return y.now.Add(time.Duration(10+y.random.IntN(5*24*60)) * time.Minute)
}

func (y *year) book(who *inhabitant) {
	v := &visit{id: tenant.New[tenant.BookingID](y.now), start: y.soon(), booked: true}
	who.bookings = append(who.bookings, v)
	if len(who.bookings) > 6 {
		who.bookings = who.bookings[1:]
	}
	y.tell(who, v, Event{Type: onBookingConfirmed})
}

func (y *year) offer(who *inhabitant) {
	v := &visit{id: tenant.New[tenant.BookingID](y.now), start: y.soon(), offer: &Offer{Live: true, EvenInQuiet: y.random.IntN(5) == 0}}
	who.bookings = append(who.bookings, v)
	y.tell(who, v, Event{Type: onOfferCreated, Offer: tenant.New[tenant.OfferID](y.now)})
}

func (y *year) tell(who *inhabitant, v *visit, e Event) {
	e.ID, e.At = tenant.New[tenant.EventID](y.now), y.now
	party := Party{
		Member: who.Member, Booking: v.id, Chosen: who.Chosen, Coming: v.booked,
		StartsAt: v.start, EndsAt: v.start.Add(time.Hour), CheckInOpens: v.start.Add(-time.Hour),
	}
	for _, n := range Plan(e, []Party{party}, y.s, y.now) {
		once := n.Recipient().String() + string(n.Topic) + n.Thing.String() + n.Revision + string(n.Lane)
		if !y.planned[once] {
			y.planned[once] = true
			heap.Push(&y.queue, planning{n, who, v})
		}
	}
}

// deliver judges whatever falls due until a time, when it falls due.
func (y *year) deliver(until time.Time) {
	for len(y.queue) > 0 && !y.queue[0].DueAt.After(until) {
		p := heap.Pop(&y.queue).(planning)
		now := p.DueAt
		if now.Before(y.now) {
			now = y.now
		}
		m := Matter{Booked: p.visit.booked, Cancelled: !p.visit.booked, StartsAt: p.visit.start, Offer: p.visit.offer}
		n, s, r := p.Notice, y.s, p.who.Recipient
		if y.blind != nil {
			y.blind(&n, &s, &r, &m)
		}
		verdict := Judge(n, s, r, m, now)
		switch verdict.Action {
		case Send:
			y.check(p, verdict.Channel, now)
			p.who.Sent[verdict.Channel] = append(within(p.who.Sent[verdict.Channel], now), now)
			y.sent[p.Topic]++
			if p.visit.offer != nil && p.visit.offer.ExpiresAt.IsZero() {
				p.visit.offer.ExpiresAt = now.Add(30 * time.Minute)
			}
		case Defer:
			if !verdict.Until.After(now) {
				y.t.Fatalf("deferred from %v to %v", now, verdict.Until)
			}
			if !verdict.Until.Before(p.ExpiresAt) {
				y.fault(freshness, "%s that is deferred to %v, and of no use from %v", p.Topic, verdict.Until, p.ExpiresAt)
			}
			y.unsent[verdict.Reason]++
			p.DueAt = verdict.Until
			heap.Push(&y.queue, p)
		case Drop:
			y.unsent[verdict.Reason]++
		}
	}
}

// within gives the times of the last day.
func within(times []time.Time, now time.Time) []time.Time {
	return slices.DeleteFunc(slices.Clone(times), func(at time.Time) bool { return now.Sub(at) >= 24*time.Hour })
}

func (y *year) fault(against guardrail, format string, args ...any) {
	y.faults[against] = append(y.faults[against], fmt.Sprintf(format, args...))
}

// check looks at a message that leaves, without asking the rules.
func (y *year) check(p planning, c Channel, now time.Time) {
	local := now.In(p.who.Zone)
	_, offset := local.Zone()
	switch _, before := local.AddDate(0, 0, -1).Zone(); {
	case offset > before:
		y.changed["forward"]++
	case offset < before:
		y.changed["back"]++
	}

	from, until := p.who.asleep[0], p.who.asleep[1]
	clock := local.Format("15:04")
	asleep := clock >= from && clock < until
	if from > until {
		asleep = clock >= from || clock < until
	}
	if urgent := p.Topic == Offered && p.visit.offer.EvenInQuiet; asleep && !urgent {
		y.fault(quiet, "%s by %s at %v", p.Topic, c, local)
	}

	if c == SMS && p.who.stopped {
		y.fault(consent, "%s after STOP", p.Topic)
	}
	if wanted, chosen := p.who.Chosen[Choice{p.Topic, c}]; chosen && !wanted {
		y.fault(consent, "%s by %s, which is not wanted", p.Topic, c)
	}

	if n := len(within(p.who.Sent[c], now)); n >= y.s.PerDay[c] {
		y.fault(frequency, "%s by %s is one too many: %d within a day before %v", p.Topic, c, n, now)
	}

	stale := false
	switch p.Topic {
	case BookingConfirmed, Rescheduled, Reminder, CheckInOpen:
		stale = !p.visit.booked || !p.visit.start.Equal(p.StartsAt) || !now.Before(p.visit.start)
	case BookingCancelled:
		stale = p.visit.booked
	case Offered:
		o := p.visit.offer
		stale = !o.Live || !o.ExpiresAt.IsZero() && !now.Before(o.ExpiresAt) || !now.Before(p.visit.start)
	}
	if stale {
		y.fault(freshness, "%s is no longer so at %v", p.Topic, now)
	}
	if p.Topic == Reminder && p.StartsAt.Sub(now) > p.Details.Lead {
		y.fault(freshness, "a reminder of %v comes %v before the start", p.Details.Lead, p.StartsAt.Sub(now))
	}
}
