package simulate

import (
	"encoding/binary"
	"slices"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// row is a session with all that hangs on it, as the tables keep it.
type row struct {
	session.Session
	at       *venue
	under    *ruling
	bookings []*booking.Booking
	marked   map[tenant.BookingID]bool // no-shows that nobody marked by hand
	waits    []*entryRow               // who names it
	offers   []*waitlist.Offer
	rounds   []*waitlist.Round
	// Of the last decision:
	decided   time.Time
	lastRound tenant.RoundID
}

// venue is a location.
type venue struct {
	id    tenant.LocationID
	zone  *time.Location
	name  string // IANA
	coach tenant.MemberID
}

// ruling is what holds for a service at a location.
type ruling struct {
	at       *venue
	service  tenant.ServiceID
	duration time.Duration
	maxParty int
	policy   catalog.Rules
	waitlist *waitlist.Compiled
	edited   time.Time // by staff, last
}

// member is somebody with habits.
type member struct {
	booking.Member
	zone     string
	tags     []string
	bookings []*booking.Booking
	subs     []*subscription
	entries  []*entryRow // that stand in line
	quick    float64     // how likely they answer soon
	loyal    float64     // how likely they come
}

// subscription is one with its ledger and what is counted against it.
type subscription struct {
	credit.Subscription
	ledger []credit.Entry
	used   map[usage]int
}

// usage is a day, or a week by its Monday.
type usage struct {
	week bool
	on   civil.Date
}

type entryRow struct {
	waitlist.Entry
	offered  *row // the last that it was offered a seat in
	who      *member
	sessions []*row
	queues   []waitlist.Queue
}

type queue struct {
	last    int64 // the greatest key ever given
	entries []*entryRow
}

// tables is a database in memory. Whatever is written between begin and commit can be taken back.
type tables struct {
	rows     map[tenant.SessionID]*row
	live     []*row // in the order in which they were made
	bookings map[tenant.BookingID]*booking.Booking
	entries  map[tenant.EntryID]*entryRow
	offers   map[tenant.OfferID]*waitlist.Offer
	rounds   map[tenant.RoundID]*waitlist.Round
	members  []*member
	who      map[tenant.MemberID]*member
	subs     map[tenant.SubscriptionID]*subscription
	queues   map[waitlist.Queue]*queue

	ids     uint64
	undo    []func()
	facts   []Fact
	touched []*row
}

func newTables() tables {
	return tables{
		rows: make(map[tenant.SessionID]*row), bookings: make(map[tenant.BookingID]*booking.Booking),
		entries: make(map[tenant.EntryID]*entryRow),
		offers:  make(map[tenant.OfferID]*waitlist.Offer), rounds: make(map[tenant.RoundID]*waitlist.Round),
		who:  make(map[tenant.MemberID]*member),
		subs: make(map[tenant.SubscriptionID]*subscription), queues: make(map[waitlist.Queue]*queue),
	}
}

// newID makes ids that sort as they are made, the same in every run.
func (t *tables) newID() tenant.UUID {
	t.ids++
	var u tenant.UUID
	binary.BigEndian.PutUint64(u[8:], t.ids)
	u[6], u[8] = 0x70, 0x80
	return u
}

func id[I ~struct{ tenant.UUID }](t *tables) I { return I{t.newID()} }

// short names an id made by id.
func short(u tenant.UUID) string {
	u[8] = 0
	return strconv.FormatUint(binary.BigEndian.Uint64(u[8:]), 10)
}

// before keeps what something was, so that it can be again.
func before[T any](t *tables, p *T) {
	was := *p
	t.undo = append(t.undo, func() { *p = was })
}

// insert adds to a map, until it is taken back.
func insert[K comparable, V any](t *tables, into map[K]V, key K, value V) {
	into[key] = value
	t.undo = append(t.undo, func() { delete(into, key) })
}

// push appends to a list, until it is taken back.
func push[T any](t *tables, into *[]T, value T) {
	before(t, into)
	*into = append(slices.Clip(*into), value)
}

func (t *tables) rollback() {
	for _, back := range slices.Backward(t.undo) {
		back()
	}
	t.undo, t.facts, t.touched = t.undo[:0], t.facts[:0], t.touched[:0]
}

// broken is what a constraint of the database says.
type broken struct{ constraint string }

func (b broken) Error() string { return "constraint " + b.constraint }

// refusal is what people see of it; nil for what nobody must ever see.
func (b broken) refusal() error {
	switch b.constraint {
	case "bookings_overlap":
		return booking.Overlapping()
	case "sessions_capacity", "sessions_waitlist":
		return booking.Full()
	case "bookings_active", "waitlist_places_active":
		return booking.AlreadyBooked(tenant.BookingID{}, tenant.EntryID{})
	case "subscriptions_balance":
		return fault.New(fault.ResourceExhausted, fault.NoCredits, "No credits remaining.")
	}
	return nil
}

func breaks(constraint string) { panic(broken{constraint}) }

func (t *tables) touch(s *row) {
	before(t, &s.Session)
	if !slices.Contains(t.touched, s) {
		t.touched = append(t.touched, s)
	}
}

func (t *tables) moveSeats(s *row, taken, holds int) {
	t.touch(s)
	s.SeatsTaken += taken
	s.Holds += holds
	if s.Capacity != nil && s.SeatsTaken > *s.Capacity {
		breaks("sessions_capacity")
	}
	if s.SeatsTaken < 0 || s.Holds < 0 {
		breaks("sessions_seats_taken")
	}
}

func (t *tables) insertBooking(s *row, who *member, b *booking.Booking) {
	insert(t, t.bookings, b.ID, b)
	push(t, &s.bookings, b)
	push(t, &who.bookings, b)
	t.guard(who, b)
}

// guard is the unique index and the exclusion constraint on active bookings.
func (t *tables) guard(who *member, b *booking.Booking) {
	if !b.Status.Active() {
		return
	}
	for _, other := range who.bookings {
		switch {
		case other == b || !other.Status.Active():
		case other.Session == b.Session:
			breaks("bookings_active")
		case other.Exclusive && b.Exclusive && span(*other).Overlaps(span(*b)):
			breaks("bookings_overlap")
		}
	}
}

func span(b booking.Booking) civil.Span { return civil.Span{Start: b.StartsAt, End: b.EndsAt} }

func (t *tables) updateBooking(b booking.Booking) {
	kept := t.bookings[b.ID]
	before(t, kept)
	if kept.Session != b.Session {
		from, to := t.rows[kept.Session], t.rows[b.Session]
		before(t, &from.bookings)
		from.bookings = without(from.bookings, kept)
		push(t, &to.bookings, kept)
	}
	*kept = b
	t.guard(t.who[b.Member], kept)
}

// without gives a copy that lacks a value.
func without[T comparable](all []T, gone T) []T {
	left := make([]T, 0, len(all))
	for _, v := range all {
		if v != gone {
			left = append(left, v)
		}
	}
	return left
}

func (t *tables) settle(s credit.Subscription, lines []credit.Entry) {
	kept := t.subs[s.ID]
	before(t, &kept.Subscription)
	before(t, &kept.ledger)
	kept.Subscription = s
	kept.ledger = append(slices.Clip(kept.ledger), lines...)
	if s.Balance < 0 {
		breaks("subscriptions_balance")
	}
}

func (t *tables) count(s *subscription, on civil.Date, by int) {
	for _, u := range []usage{{on: on}, {week: true, on: on.WeekStart()}} {
		was := s.used[u]
		t.undo = append(t.undo, func() { s.used[u] = was })
		if s.used[u] += by; s.used[u] < 0 {
			breaks("usage_used")
		}
	}
}

func (t *tables) insertEntry(e *entryRow) {
	insert(t, t.entries, e.ID, e)
	push(t, &e.who.entries, e)
	for _, s := range e.sessions {
		if slices.ContainsFunc(s.waits, func(o *entryRow) bool { return o.Member == e.Member }) {
			breaks("waitlist_places_active")
		}
		t.touch(s)
		push(t, &s.waits, e)
		if s.Waiting++; s.Waiting > s.WaitlistCapacity {
			breaks("sessions_waitlist")
		}
	}
	for _, q := range e.queues {
		line := t.queues[q]
		if line == nil {
			line = new(queue)
			insert(t, t.queues, q, line)
		}
		before(t, line)
		line.last = max(line.last, e.Key)
		if !slices.Contains(line.entries, e) {
			line.entries = append(slices.Clip(line.entries), e)
		}
	}
}

func (t *tables) updateEntry(e waitlist.Entry) {
	kept := t.entries[e.ID]
	before(t, &kept.Entry)
	kept.Entry = e
}

// removePlaces takes an entry out of line for a session that it names; nil: for all, and all its days.
func (t *tables) removePlaces(e *entryRow, only *row) {
	before(t, e)
	for _, s := range e.sessions {
		if only == nil || s == only {
			t.touch(s)
			before(t, &s.waits)
			s.waits = without(s.waits, e)
			s.Waiting--
		}
	}
	if only == nil {
		e.sessions = nil
		before(t, &e.who.entries)
		e.who.entries = without(e.who.entries, e)
	} else {
		e.sessions = without(e.sessions, only)
	}
	for _, q := range e.queues {
		stays := only != nil && slices.ContainsFunc(e.sessions, func(s *row) bool { return queueOf(s) == q })
		if !stays {
			line := t.queues[q]
			before(t, line)
			line.entries = without(line.entries, e)
		}
	}
	if only == nil {
		e.queues = nil
	}
}

func queueOf(s *row) waitlist.Queue {
	return waitlist.Queue{Location: s.Location, Service: s.Service, Date: s.LocalDate}
}

func (t *tables) tell(f Fact) { t.facts = append(t.facts, f) }

func (s *row) liveOffers() []*waitlist.Offer {
	var live []*waitlist.Offer
	for _, o := range s.offers {
		if o.Status == waitlist.Live {
			live = append(live, o)
		}
	}
	return live
}

func (s *row) slot() booking.Slot {
	return booking.Slot{
		ID: s.ID, Service: s.Service, Location: s.Location, Title: s.Title, StartsAt: s.StartsAt, EndsAt: s.EndsAt,
		TimeZone:  s.at.name,
		LocalDate: s.LocalDate, Capacity: s.Capacity, SeatsTaken: s.SeatsTaken, WaitlistCapacity: s.WaitlistCapacity,
		Waiting: s.Waiting,
		Holds:   s.Holds, State: s.State, Blocked: s.Blocked, MinParty: 1, MaxParty: s.under.maxParty,
		Channels:      catalog.Channels(),
		TakesPayments: true, Rules: s.under.policy,
	}
}
