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

// sessionRow is a session with its bookings, entries, offers and rounds.
type sessionRow struct {
	session.Session
	location    *location
	service     *service
	bookings    []*booking.Booking
	autoNoShows map[tenant.BookingID]bool // marked by the sweep, not by staff
	entries     []*entryRow               // that name the session
	offers      []*waitlist.Offer
	rounds      []*waitlist.Round
	// Of the last decision:
	decidedAt time.Time
	lastRound tenant.RoundID
	verdicts  []waitlist.Verdict // of the last decision
	// entries wait for booking to open
	openingDue bool
}

type location struct {
	id    tenant.LocationID
	zone  *time.Location
	name  string // IANA
	coach tenant.MemberID
}

// service is a service at a location, with its settings.
type service struct {
	location *location
	id       tenant.ServiceID
	duration time.Duration
	maxParty int
	policy   catalog.BookingPolicy
	waitlist *waitlist.CompiledRules
	editedAt time.Time // the rules, by staff; zero is never
}

// memberRow is a member, with habits.
type memberRow struct {
	booking.Member
	zone        string
	tags        []string
	bookings    []*booking.Booking
	subs        []*subscription
	entries     []*entryRow // that are waiting
	answersSoon float64     // probability of a quick answer
	attends     float64     // probability of attending
}

// subscription is a subscription with its ledger and its usage.
type subscription struct {
	credit.Subscription
	ledger []credit.Line
	used   map[usage]int
}

// usage is the key of a count: a day, or a week by its Monday.
type usage struct {
	week bool
	on   civil.Date
}

type entryRow struct {
	waitlist.Entry
	lastOffered *sessionRow // the session of the last offer
	member      *memberRow
	sessions    []*sessionRow
	queues      []waitlist.Queue
}

type queue struct {
	lastKey int64 // the largest key that was assigned
	entries []*entryRow
}

// tables is a database in memory. Writes of a transaction can be rolled back.
type tables struct {
	sessions    map[tenant.SessionID]*sessionRow
	sessionList []*sessionRow // in order of creation
	bookings    map[tenant.BookingID]*booking.Booking
	entries     map[tenant.EntryID]*entryRow
	offers      map[tenant.OfferID]*waitlist.Offer
	rounds      map[tenant.RoundID]*waitlist.Round
	members     []*memberRow
	membersByID map[tenant.MemberID]*memberRow
	subs        map[tenant.SubscriptionID]*subscription
	queues      map[waitlist.Queue]*queue

	ids     uint64
	undo    []func()
	events  []Event
	touched []*sessionRow
}

func newTables() tables {
	return tables{
		sessions: make(map[tenant.SessionID]*sessionRow), bookings: make(map[tenant.BookingID]*booking.Booking),
		entries: make(map[tenant.EntryID]*entryRow),
		offers:  make(map[tenant.OfferID]*waitlist.Offer), rounds: make(map[tenant.RoundID]*waitlist.Round),
		membersByID: make(map[tenant.MemberID]*memberRow),
		subs:        make(map[tenant.SubscriptionID]*subscription), queues: make(map[waitlist.Queue]*queue),
	}
}

// newID returns ids in ascending order. Every run with the same seed returns the same ids.
func (t *tables) newID() tenant.UUID {
	t.ids++
	var u tenant.UUID
	binary.BigEndian.PutUint64(u[8:], t.ids)
	u[6], u[8] = 0x70, 0x80
	return u
}

func id[I ~struct{ tenant.UUID }](t *tables) I { return I{t.newID()} }

// short shortens an id that newID made.
func short(u tenant.UUID) string {
	u[8] = 0
	return strconv.FormatUint(binary.BigEndian.Uint64(u[8:]), 10)
}

// saveForUndo saves a value, so that a rollback restores it.
func saveForUndo[T any](t *tables, p *T) {
	was := *p
	t.undo = append(t.undo, func() { *p = was })
}

// insert adds to a map. A rollback removes the key.
func insert[K comparable, V any](t *tables, into map[K]V, key K, value V) {
	into[key] = value
	t.undo = append(t.undo, func() { delete(into, key) })
}

// appendTo appends to a slice. A rollback restores the slice.
func appendTo[T any](t *tables, into *[]T, value T) {
	saveForUndo(t, into)
	*into = append(slices.Clip(*into), value)
}

func (t *tables) rollback() {
	for _, back := range slices.Backward(t.undo) {
		back()
	}
	t.undo, t.events, t.touched = t.undo[:0], t.events[:0], t.touched[:0]
}

// violation is a violated constraint of the database.
type violation struct{ constraint string }

func (v violation) Error() string { return "constraint " + v.constraint }

// refusal returns the error that clients see, or nil if the constraint must never be violated.
func (v violation) refusal() error {
	switch v.constraint {
	case "bookings_overlap":
		return booking.Overlapping()
	case "sessions_capacity", "sessions_waitlist":
		return booking.Full()
	case "bookings_active", "waitlist_places_active":
		return catalog.AlreadyBooked(tenant.MemberID{}, tenant.BookingID{}, tenant.EntryID{})
	case "subscriptions_balance":
		return fault.New(fault.FailedPrecondition, fault.NoCredits, "No credits remaining.")
	}
	return nil
}

func violate(constraint string) { panic(violation{constraint}) }

func (t *tables) markTouched(s *sessionRow) {
	saveForUndo(t, &s.Session)
	if !slices.Contains(t.touched, s) {
		t.touched = append(t.touched, s)
	}
}

func (t *tables) addSeats(s *sessionRow, taken, holds int) {
	t.markTouched(s)
	s.SeatsTaken += taken
	s.Holds += holds
	if s.Capacity != nil && s.SeatsTaken > *s.Capacity {
		violate("sessions_capacity")
	}
	if s.SeatsTaken < 0 || s.Holds < 0 {
		violate("sessions_seats_taken")
	}
}

func (t *tables) insertBooking(s *sessionRow, member *memberRow, b *booking.Booking) {
	insert(t, t.bookings, b.ID, b)
	appendTo(t, &s.bookings, b)
	appendTo(t, &member.bookings, b)
	t.checkActive(member, b)
}

// checkActive applies the unique index and the exclusion constraint on active bookings.
func (t *tables) checkActive(member *memberRow, b *booking.Booking) {
	if !b.Status.Active() {
		return
	}
	for _, other := range member.bookings {
		switch {
		case other == b || !other.Status.Active():
		case other.Session == b.Session:
			violate("bookings_active")
		case other.Exclusive && b.Exclusive && span(*other).Overlaps(span(*b)):
			violate("bookings_overlap")
		}
	}
}

func span(b booking.Booking) civil.Span { return civil.Span{Start: b.StartsAt, End: b.EndsAt} }

func (t *tables) updateBooking(b booking.Booking) {
	kept := t.bookings[b.ID]
	saveForUndo(t, kept)
	if kept.Session != b.Session {
		from, to := t.sessions[kept.Session], t.sessions[b.Session]
		saveForUndo(t, &from.bookings)
		from.bookings = without(from.bookings, kept)
		appendTo(t, &to.bookings, kept)
	}
	*kept = b
	t.checkActive(t.membersByID[b.Member], kept)
}

// without returns a copy without a value.
func without[T comparable](all []T, removed T) []T {
	left := make([]T, 0, len(all))
	for _, v := range all {
		if v != removed {
			left = append(left, v)
		}
	}
	return left
}

func (t *tables) updateSubscription(sub credit.Subscription, lines []credit.Line) {
	kept := t.subs[sub.ID]
	saveForUndo(t, &kept.Subscription)
	saveForUndo(t, &kept.ledger)
	kept.Subscription = sub
	kept.ledger = append(slices.Clip(kept.ledger), lines...)
	if sub.Balance < 0 {
		violate("subscriptions_balance")
	}
}

func (t *tables) countUsage(s *subscription, on civil.Date, by int) {
	for _, u := range []usage{{on: on}, {week: true, on: on.WeekStart()}} {
		was := s.used[u]
		t.undo = append(t.undo, func() { s.used[u] = was })
		if s.used[u] += by; s.used[u] < 0 {
			violate("usage_used")
		}
	}
}

func (t *tables) insertEntry(e *entryRow) {
	insert(t, t.entries, e.ID, e)
	appendTo(t, &e.member.entries, e)
	for _, s := range e.sessions {
		if slices.ContainsFunc(s.entries, func(o *entryRow) bool { return o.Member == e.Member }) {
			violate("waitlist_places_active")
		}
		t.markTouched(s)
		appendTo(t, &s.entries, e)
		if s.Waiting++; s.Waiting > s.WaitlistCapacity {
			violate("sessions_waitlist")
		}
	}
	for _, q := range e.queues {
		queued := t.queues[q]
		if queued == nil {
			queued = new(queue)
			insert(t, t.queues, q, queued)
		}
		saveForUndo(t, queued)
		queued.lastKey = max(queued.lastKey, e.Key)
		if !slices.Contains(queued.entries, e) {
			queued.entries = append(slices.Clip(queued.entries), e)
		}
	}
}

func (t *tables) updateEntry(e waitlist.Entry) {
	kept := t.entries[e.ID]
	saveForUndo(t, &kept.Entry)
	kept.Entry = e
}

// removePlaces removes an entry from the queue of one session that it names. If only is nil, it removes the entry from
// all sessions and queues.
func (t *tables) removePlaces(e *entryRow, only *sessionRow) {
	saveForUndo(t, e)
	for _, s := range e.sessions {
		if only == nil || s == only {
			t.markTouched(s)
			saveForUndo(t, &s.entries)
			s.entries = without(s.entries, e)
			s.Waiting--
		}
	}
	if only == nil {
		e.sessions = nil
		saveForUndo(t, &e.member.entries)
		e.member.entries = without(e.member.entries, e)
	} else {
		e.sessions = without(e.sessions, only)
	}
	for _, q := range e.queues {
		stays := only != nil && slices.ContainsFunc(e.sessions, func(s *sessionRow) bool { return queueOf(s) == q })
		if !stays {
			queued := t.queues[q]
			saveForUndo(t, queued)
			queued.entries = without(queued.entries, e)
		}
	}
	if only == nil {
		e.queues = nil
	}
}

func queueOf(s *sessionRow) waitlist.Queue {
	return waitlist.Queue{Location: s.Location, Service: s.Service, Date: s.LocalDate}
}

func (s *sessionRow) liveOffers() []*waitlist.Offer {
	var live []*waitlist.Offer
	for _, o := range s.offers {
		if o.Status == waitlist.Live {
			live = append(live, o)
		}
	}
	return live
}

func (s *sessionRow) slot() booking.Slot {
	return booking.Slot{
		ID: s.ID, Service: s.Service, Location: s.Location, Title: s.Title, StartsAt: s.StartsAt, EndsAt: s.EndsAt,
		TimeZone:  s.location.name,
		LocalDate: s.LocalDate, Capacity: s.Capacity, SeatsTaken: s.SeatsTaken, WaitlistCapacity: s.WaitlistCapacity,
		Waiting: s.Waiting,
		Holds:   s.Holds, State: s.State, Blocked: s.Blocked, MinParty: 1, MaxParty: s.service.maxParty,
		Channels:      catalog.Channels(),
		TakesPayments: true, Policy: s.service.policy, OpeningDue: s.openingDue,
	}
}
