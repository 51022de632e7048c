package booking

import (
	"slices"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// Facts are what Decide looks at.
type Facts struct {
	Slot   Slot
	Member Member
	// Subscriptions are the member's; which of them counts is decided here.
	Subscriptions []credit.Subscription
	// Booking and Entry are the member's active ones in this session. The row that would
	// be a second one is refused by a unique index in any case, so a caller for
	// whom that is enough need not look for them.
	Booking tenant.BookingID
	Entry   tenant.EntryID
	// Busy are the spans of the member's bookings that tolerate no overlap. An exclusion
	// constraint refuses what overlaps them in any case; a caller may leave them out.
	Busy []civil.Span
}

// Command is what is asked for.
type Command struct {
	ID           tenant.BookingID // of the booking, should there be one
	Party        int
	Subscription tenant.SubscriptionID // zero: the member's only one
	Channel      catalog.Channel
	NoWaitlist   bool // rather be refused than wait
	// Staff book without credits and quotas, unless they name a subscription.
	Staff bool
	// Hold keeps the seats for a while, without a credit, and never waits for them.
	Hold bool
	// Promotion comes from the waitlist: what was checked on joining, and has to
	// do with the way in alone, is not checked again.
	Promotion bool
	// OpenUntil is until when the waitlist gives seats of the session away, where that is not until booking closes.
	OpenUntil *time.Time
	// Join asks for a place in the queue and nothing else.
	Join  bool
	Actor string
}

// Plan is what is to be done.
type Plan struct {
	// Wait: the session is full, and the waitlist has room.
	Wait bool
	// Payer is the subscription as it will be; nil where none pays.
	Payer *credit.Subscription
	// Ledger are the lines to append, in order.
	Ledger    []credit.Entry
	Credits   int  // taken
	Counted   bool // against the payer's quotas
	Exclusive bool // the plan forbids overlaps
}

// Decide tells whether a member gets a place, a place in the queue, or a
// refusal. Refusals are those of BookingService.Book, in the order in which
// they are checked here.
func Decide(f Facts, c Command, now time.Time) (Plan, error) { return f.decide(c, now) }

// decide takes pointers, as all below it does: facts are large, and a page decides about hundreds.
func (f *Facts) decide(c Command, now time.Time) (Plan, error) {
	if err := f.Slot.open(c.OpenUntil, now); err != nil {
		return Plan{}, err
	}
	if !c.Promotion {
		if err := f.Slot.admits(c, now); err != nil {
			return Plan{}, err
		}
	}
	if err := f.alreadyIn(); err != nil {
		return Plan{}, err
	}
	var plan Plan
	if !c.Hold {
		var err error
		if plan, err = pay(f, c, now); err != nil {
			return Plan{}, err
		}
	}
	if c.Join {
		return Plan{Wait: true}, f.Slot.joinable(c.Party)
	}
	if f.Slot.Fits(c.Party) {
		return plan, nil
	}
	if c.NoWaitlist || c.Promotion || c.Hold || !f.Slot.waitlistHasRoom() {
		return Plan{}, Full()
	}
	return Plan{Wait: true}, nil
}

// open refuses sessions that nobody can book now.
func (s *Slot) open(until *time.Time, now time.Time) error {
	if until == nil {
		until = new(s.StartsAt.Add(-s.Rules.BookingCloses))
	}
	var state string
	switch {
	case s.State == catalog.Draft:
		state = "draft"
	case s.State == catalog.Cancelled:
		state = "cancelled"
	case s.Blocked:
		state = "blocked"
	case now.Before(*until):
		return nil
	case !now.Before(s.StartsAt):
		state = "started"
	default:
		state = "closed"
	}
	return fault.New(fault.FailedPrecondition, fault.SessionNotOpen, "The session is not open for booking: it is %s.", state).
		With("state", state)
}

// admits refuses ways in: too early, a channel that is shut, a party of the wrong size.
func (s *Slot) admits(c Command, now time.Time) error {
	if opens := s.StartsAt.Add(-s.Rules.Advance); now.Before(opens) {
		return fault.New(fault.FailedPrecondition, fault.AdvanceWindow, "Booking has not opened yet.").
			With("opens_at", opens.UTC().Format(time.RFC3339))
	}
	if !slices.Contains(s.Channels, c.Channel) {
		return fault.New(fault.FailedPrecondition, fault.ChannelClosed, "The location takes no bookings through %s.", c.Channel).
			With("channel", string(c.Channel)).In("channel")
	}
	if c.Channel.StaffOnly() && !c.Staff {
		return fault.New(fault.FailedPrecondition, fault.ChannelClosed, "Only staff book through %s.", c.Channel).
			With("channel", string(c.Channel)).In("channel")
	}
	if c.Party < s.MinParty || c.Party > s.MaxParty {
		return fault.New(fault.InvalidArgument, fault.PartySize, "The party must be of %d to %d.", s.MinParty, s.MaxParty).
			With("min", strconv.Itoa(s.MinParty)).With("max", strconv.Itoa(s.MaxParty)).In("party_size")
	}
	return nil
}

// AlreadyBooked refuses a second active booking or entry of a member in a session.
func AlreadyBooked(booking tenant.BookingID, entry tenant.EntryID) *fault.Error {
	err := fault.New(fault.AlreadyExists, fault.AlreadyBooked, "Already booked for this session.")
	if !booking.IsZero() {
		err = err.With("booking_id", booking.String())
	}
	if !entry.IsZero() {
		err = err.With("entry_id", entry.String())
	}
	return err
}

// Full refuses seats that a session does not have.
func Full() *fault.Error {
	return fault.New(fault.ResourceExhausted, fault.SessionFull, "The session is full.")
}

// Overlapping refuses a booking whose plan forbids that it overlaps another.
func Overlapping() *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.Overlap, "You already have a booking that overlaps this one in time.")
}

func (f *Facts) alreadyIn() error {
	if f.Booking.IsZero() && f.Entry.IsZero() {
		return nil
	}
	return AlreadyBooked(f.Booking, f.Entry)
}

// pay finds the subscription, holds it to its limits and takes the credits.
func pay(f *Facts, c Command, now time.Time) (Plan, error) {
	if c.Staff && c.Subscription.IsZero() {
		return Plan{}, nil
	}
	// Periods that ended meanwhile renew themselves with the booking that notices.
	subscriptions := make([]credit.Subscription, len(f.Subscriptions))
	for i, s := range f.Subscriptions {
		subscriptions[i], _ = credit.Advance(s, now)
	}
	payer, err := credit.Payer(subscriptions, c.Subscription, f.Slot.TakesPayments, now)
	if err != nil || payer == nil {
		return Plan{}, err
	}
	plan := Plan{Payer: payer, Counted: payer.Plan.Limited(), Exclusive: !payer.Plan.AllowOverlap}
	if !c.Staff {
		if err := payer.CheckQuota(f.Slot.LocalDate); err != nil {
			return Plan{}, err
		}
	}
	if plan.Exclusive {
		for _, busy := range f.Busy {
			if busy.Overlaps(civil.Span{Start: f.Slot.StartsAt, End: f.Slot.EndsAt}) {
				return Plan{}, Overlapping()
			}
		}
	}
	plan.Ledger, plan.Credits, err = payer.Take(f.renewalOf(payer.ID, now), c.ID, c.Party, c.Actor, now)
	return plan, err
}

// renewalOf gives the lines by which one of the subscriptions renews itself.
func (f *Facts) renewalOf(id tenant.SubscriptionID, now time.Time) []credit.Entry {
	for _, s := range f.Subscriptions {
		if s.ID == id {
			_, lines := credit.Advance(s, now)
			return lines
		}
	}
	return nil
}

// joinable refuses a place in the queue of a session that has seats, keeps no queue, or takes no more.
func (s *Slot) joinable(party int) error {
	switch {
	case s.Fits(party):
		return fault.New(fault.FailedPrecondition, fault.SeatsAvailable, "There are seats: book one.").With("session_id", s.ID.String())
	case !s.Rules.WaitlistEnabled || s.WaitlistCapacity == 0:
		return fault.New(fault.FailedPrecondition, fault.WaitlistClosed, "There is no waitlist.").With("session_id", s.ID.String())
	case s.Waiting >= s.WaitlistCapacity:
		return fault.New(fault.FailedPrecondition, fault.WaitlistFull, "The waitlist is full.").
			With("session_id", s.ID.String()).With("limit", strconv.Itoa(s.WaitlistCapacity))
	}
	return nil
}

func (s *Slot) waitlistHasRoom() bool {
	return s.Rules.WaitlistEnabled && s.Waiting < s.WaitlistCapacity
}
