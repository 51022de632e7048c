package booking

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/field"
	"github.com/berthhq/berth/internal/printable"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// Facts are what Decide needs to know.
type Facts struct {
	Slot   Slot
	Member Member
	// Subscriptions are all of the member's; Decide picks the one that pays.
	Subscriptions []credit.Subscription
	// Booking and Entry are the member's active ones in this session. Leave them empty if an error from the database is
	// good enough: unique indexes reject a second one in any case.
	Booking tenant.BookingID
	Entry   tenant.EntryID
	// Offer is the member's live offer of seats in this session; nil if there is none.
	Offer *OfferedSeats
	// Busy are the spans of the member's bookings that must not overlap others. Leave it empty if an error from the
	// database is good enough: an exclusion constraint rejects an overlap in any case.
	Busy []civil.Span
}

// OfferedSeats are seats that a live offer of the waitlist keeps for a member. Slot.SeatsTaken includes them.
type OfferedSeats struct {
	Offer  tenant.OfferID
	Seats  int
	Until  time.Time
	Shared bool // others have an offer of the same seats: the first to claim gets them
}

// Of returns how many of the seats a booking for a party takes.
func (o *OfferedSeats) Of(party int) int {
	if o == nil {
		return 0
	}
	return min(party, o.Seats)
}

// fits reports whether there are seats for a party: those that are kept for the member, and open ones.
func (f *Facts) fits(party int) bool { return f.Slot.Fits(party - f.Offer.Of(party)) }

// Request is a request to book.
type Request struct {
	ID           tenant.BookingID // of the new booking
	Party        int
	Subscription tenant.SubscriptionID // zero: the member's only one
	Channel      catalog.Channel
	RefuseFull   bool // fail if the session is full, instead of waiting
	Raise        bool // raise the capacity if the session is full: for callers with OverCapacity
	// May has the permissions of the caller; nil for the system.
	May tenant.Permissions
	// Free: no plan pays and no limit of a plan applies, unless a subscription is named, which then pays.
	Free bool
	// Hold keeps the seats for a limited time. It takes no credit and never joins the waitlist.
	Hold bool
	// Promotion comes from the waitlist. What was checked on joining and concerns only the way in is not checked again:
	// the advance window, the channel and the party size.
	Promotion bool
	// FillUntil is until when the waitlist fills seats of the session. Nil: until booking closes.
	FillUntil *time.Time
	// JoinWaitlist asks for a waitlist entry and nothing else.
	JoinWaitlist bool
	Actor        string
}

// BookResult is what to do.
type BookResult struct {
	// Wait: add a waitlist entry. The session is full, and the waitlist has room.
	Wait bool
	// Payer is the paying subscription after the booking; nil if none pays.
	Payer *credit.Subscription
	// Ledger has the lines to append, in order.
	Ledger    []credit.Line
	Credits   int  // charged
	Counted   bool // toward the payer's quotas
	Exclusive bool // the plan forbids overlaps
	// Raised is the number of seats that the session gets for this booking.
	Raised int
}

// Decide decides whether a member gets seats, a waitlist entry, or an error. The errors are those of
// BookingService.Book, in the order in which they are checked here.
func Decide(f Facts, request Request, now time.Time) (BookResult, error) {
	return f.decide(request, now)
}

// decide and its callees take pointers, because facts are large and one page decides about hundreds of sessions.
func (f *Facts) decide(request Request, now time.Time) (BookResult, error) {
	exempt, err := f.checkOpenFor(request, now)
	if err != nil {
		return BookResult{}, err
	}
	// Open seats are for those who wait, too, and so are those that are added for them.
	raises := request.Raise && request.May[OverCapacity]
	waits := !f.Entry.IsZero() && (request.JoinWaitlist || !f.fits(request.Party) && !raises)
	if !f.Booking.IsZero() || waits {
		return BookResult{}, catalog.AlreadyBooked(f.Member.ID, f.Booking, f.Entry)
	}
	var result BookResult
	if !request.Hold {
		if result, err = f.charge(request, now); err != nil {
			return BookResult{}, err
		}
	}
	if request.JoinWaitlist {
		return BookResult{Wait: true}, f.Slot.checkJoin(request.Party)
	}
	if f.fits(request.Party) {
		return result, nil
	}
	switch {
	case raises:
		result.Raised = f.Slot.SeatsTaken + request.Party - f.Offer.Of(request.Party) - *f.Slot.Capacity
		return result, nil
	case exempt, request.RefuseFull, request.Promotion, request.Hold, !f.Slot.waitlistHasRoom():
		return BookResult{}, Full()
	}
	return BookResult{Wait: true}, nil
}

// checkOpenFor rejects a session that the caller cannot book now. It reports whether only a permission of theirs makes
// it possible: nobody waits for a seat that others cannot get. Who has an offer may book until it ends, and before
// booking opens.
func (f *Facts) checkOpenFor(request Request, now time.Time) (exempt bool, err error) {
	s, until := &f.Slot, request.FillUntil
	if f.Offer != nil {
		until = &f.Offer.Until
	}
	err = s.checkOpen(until, now)
	if err != nil && !s.opensFor(request, now) {
		return false, err
	}
	exempt = err != nil
	if request.Promotion {
		return exempt, nil
	}
	if f.Offer == nil {
		err = s.checkOpened(now)
		if err != nil && !request.exempt(BeforeOpening) {
			return false, err
		}
		exempt = exempt || err != nil
	}
	if err := request.Channel.CheckStaff(request.forOthers(), request.May); err != nil {
		return false, err
	}
	return exempt, s.checkAdmission(request.Channel, request.Party)
}

// opensFor reports whether the caller's permissions open a session that is not open for others: blocked, closed,
// started or ended, or several of these. A draft and a cancelled session stay closed.
func (s *Slot) opensFor(request Request, now time.Time) bool {
	switch {
	case s.State != catalog.Published, s.Blocked && !request.exempt(BlockedSession):
		return false
	case now.Before(s.StartsAt.Add(-s.Policy.BookingClosesBefore)):
		return true
	case now.Before(s.EndsAt):
		return request.exempt(AfterStart)
	default:
		return request.exempt(RecordPast)
	}
}

// checkOpen rejects a session that cannot be booked now. A nil until means when booking closes.
func (s *Slot) checkOpen(until *time.Time, now time.Time) error {
	if until == nil {
		until = new(s.StartsAt.Add(-s.Policy.BookingClosesBefore))
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
	return fault.New(fault.FailedPrecondition, fault.SessionNotOpen,
		"The session is not open for booking: it is %s.", state).
		WithMetadata("state", state)
}

// checkOpened rejects a booking that comes too early.
func (s *Slot) checkOpened(now time.Time) error {
	if opens := s.Opens(); now.Before(opens) {
		return fault.New(fault.FailedPrecondition, fault.AdvanceWindow, "Booking has not opened yet.").
			WithMetadata("opens_at", opens.UTC().Format(time.RFC3339))
	}
	return nil
}

// checkAdmission rejects a booking through a closed channel, or for a party of the wrong size.
func (s *Slot) checkAdmission(channel catalog.Channel, party int) error {
	if !slices.Contains(s.Channels, channel) {
		return fault.New(fault.FailedPrecondition, fault.ChannelClosed,
			"The location does not take bookings through %s.", channel).
			WithMetadata("channel", string(channel)).WithField("channel")
	}
	return catalog.CheckParty(party, s.MinParty, s.MaxParty)
}

// CheckBooker returns the contact of a request as it is stored. It rejects a request that does not say for whom it is,
// a member or a guest with a name, one with a contact that is none, and one that gives a member a tier: INVALID_FIELD.
// What the contact has from before, in a booking that is edited, stays.
func CheckBooker(
	member tenant.MemberID, guest bool, contact, before Contact, guestTier string,
) (Contact, error) {
	contact, err := contact.normalizeFrom(before)
	switch {
	case err != nil:
		return contact, err
	case guest && contact.Name == "":
		return contact, fault.Invalid("contact.name", "A guest needs a name.")
	case guestTier != "" && !guest:
		return contact, fault.Invalid("guest_tier", "Only a guest is given a tier: a member's is that of their membership.")
	case member.IsZero() && !guest:
		return contact, fault.Invalid("member_id", "Say for whom: you are no member yourself.")
	}
	return contact, nil
}

// normalizeFrom returns the contact as it is stored. What is as it was before stays, also if a later rule would refuse
// it: it must not be in the way of other edits. The error is INVALID_FIELD.
func (c Contact) normalizeFrom(before Contact) (Contact, error) {
	for _, f := range []struct {
		name   string
		at     *string
		before string
		normal func(string) (string, string)
	}{
		{"name", &c.Name, before.Name, field.Line(maxName)},
		{"email", &c.Email, before.Email, field.Email},
		{"phone", &c.Phone, before.Phone, field.Phone},
	} {
		if *f.at == f.before {
			continue
		}
		if *f.at = printable.Trim(*f.at); *f.at == "" {
			continue
		}
		normal, problem := f.normal(*f.at)
		if problem != "" {
			return c, fault.Invalid("contact."+f.name, "%s", problem)
		}
		*f.at = normal
	}
	return c, nil
}

// Referenced is a request with an external reference: who made it, and a hash that identifies it.
type Referenced struct {
	Actor string
	Hash  []byte
}

// CheckRepeated rejects a request for a booking or an entry if its external reference is that of another request:
// EXTERNAL_REF_CONFLICT. If someone else made that, the error says nothing about it.
func CheckRepeated(before, now Referenced) error {
	conflict := fault.New(fault.AlreadyExists, fault.ExternalRefConflict,
		"The external reference was used for another request.")
	switch {
	case before.Actor != now.Actor:
		return conflict
	case !bytes.Equal(before.Hash, now.Hash):
		return conflict.WithField("external_ref")
	}
	return nil
}

// Full means that the session has too few open seats.
func Full() *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.SessionFull, "The session is full.")
}

// Overlapping means that the booking overlaps another, and a plan forbids it.
func Overlapping() *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.Overlap,
		"You already have a booking that overlaps this one in time.")
}

// OtherOverlapping means that a session cannot move to a time at which one of its bookings would overlap another, and a
// plan forbids it. It does not say whose.
func OtherOverlapping() *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.Overlap,
		"Someone who has booked the session has another booking at that time, on a plan that forbids it.")
}

// charge picks the subscription that pays, checks its limits and takes the credits.
func (f *Facts) charge(request Request, now time.Time) (BookResult, error) {
	if request.Free && request.Subscription.IsZero() {
		return BookResult{}, nil
	}
	// The first booking after the end of a period renews it.
	subscriptions := make([]credit.Subscription, len(f.Subscriptions))
	for i, s := range f.Subscriptions {
		subscriptions[i], _ = credit.Advance(s, now)
	}
	payer, err := credit.ChoosePayer(subscriptions, request.Subscription, f.Slot.TakesPayments, now)
	if err != nil || payer == nil {
		return BookResult{}, err
	}
	result := BookResult{Payer: payer, Counted: payer.Plan.HasQuota(), Exclusive: !payer.Plan.AllowOverlap}
	if !request.Free {
		if err := payer.CheckQuota(f.Slot.LocalDate); err != nil {
			return BookResult{}, err
		}
	}
	if result.Exclusive {
		for _, busy := range f.Busy {
			if busy.Overlaps(civil.Span{Start: f.Slot.StartsAt, End: f.Slot.EndsAt}) {
				return BookResult{}, Overlapping()
			}
		}
	}
	renewal := f.renewalOf(payer.ID, now)
	result.Ledger, result.Credits, err = payer.Charge(renewal, request.ID, request.Party, request.Actor, now)
	return result, err
}

// renewalOf returns the ledger lines that renew one of the subscriptions.
func (f *Facts) renewalOf(id tenant.SubscriptionID, now time.Time) []credit.Line {
	for _, s := range f.Subscriptions {
		if s.ID == id {
			_, lines := credit.Advance(s, now)
			return lines
		}
	}
	return nil
}

// checkJoin rejects a waitlist entry if the session has seats for the party, or if its waitlist is disabled or full.
func (s *Slot) checkJoin(party int) error {
	switch {
	case s.Fits(party):
		return catalog.SeatsAvailable(s.ID)
	case !s.Policy.WaitlistEnabled || s.WaitlistCapacity == 0:
		return fault.New(fault.FailedPrecondition, fault.WaitlistClosed, "There is no waitlist.").
			WithMetadata("session_id", s.ID.String())
	case s.Waiting >= s.WaitlistCapacity:
		return fault.New(fault.FailedPrecondition, fault.WaitlistFull, "The waitlist is full.").
			WithMetadata("session_id", s.ID.String()).WithMetadata("limit", strconv.Itoa(s.WaitlistCapacity))
	}
	return nil
}

func (s *Slot) waitlistHasRoom() bool {
	return s.Policy.WaitlistEnabled && s.Waiting < s.WaitlistCapacity
}
