package simulate

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// The functions of this file and of schedules.go apply decisions as internal/app does: with the same facts, the same
// effects and the same order. Those of waitlists.go and offers.go run the state machine of internal/rules/waitlist and
// apply its changes.

// bookRequest is a request to book.
type bookRequest struct {
	party      int
	sub        tenant.SubscriptionID
	staff      bool
	hold       bool
	refuseFull bool
}

// bookResult is a booking or a waitlist entry.
type bookResult struct {
	booking *booking.Booking
	entry   *entryRow
}

// payers returns a member's subscriptions, with their usage on a session's day and in its week.
func (w *world) payers(member *memberRow, s *sessionRow, named tenant.SubscriptionID) []credit.Subscription {
	var all []credit.Subscription
	for _, u := range member.subs {
		if u.ID != named && (!named.IsZero() || u.Status != credit.Active && u.Status != credit.Debt) {
			continue
		}
		p := u.Subscription
		if w.bug == ignoreQuotas {
			all = append(all, p)
			continue
		}
		p.UsedToday, p.UsedThisWeek = u.used[usage{on: w.dayOf(s)}], u.used[usage{week: true, on: w.dayOf(s).WeekStart()}]
		all = append(all, p)
	}
	return all
}

// dayOf returns the day on which a session counts against quotas.
func (w *world) dayOf(s *sessionRow) civil.Date {
	if w.bug == quotaInUTC {
		return civil.DateOf(s.StartsAt, time.UTC)
	}
	return s.LocalDate
}

func (w *world) book(s *sessionRow, member *memberRow, r bookRequest) (bookResult, error) {
	var made bookResult
	err := w.transact(Operation{
		Name: "book", Session: s.ID, Member: member.ID, Party: r.party, Subscription: r.sub, Staff: r.staff, Hold: r.hold,
		RefuseFull: r.refuseFull,
	}, func() error {
		made = bookResult{}
		request := booking.Request{
			ID: id[tenant.BookingID](&w.tables), Party: r.party, Subscription: r.sub, Channel: catalog.Online,
			RefuseFull: r.refuseFull, Hold: r.hold, Free: r.staff, Actor: "member",
		}
		if !member.Active {
			return fault.Missing(fault.MemberNotFound, "Member")
		}
		facts := booking.Facts{Member: member.Member}
		facts.Booking, _ = w.otherPlaces(s, member, r.party)
		if !r.hold && (!r.staff || !r.sub.IsZero()) {
			facts.Subscriptions = w.payers(member, s, r.sub)
		}
		slot := s.slot()
		due := w.expiredHolds(s)
		for _, b := range due {
			if b.ID == facts.Booking {
				facts.Booking = tenant.BookingID{}
			}
		}
		if err := w.expireHolds(s, &slot, due); err != nil {
			return err
		}
		if w.bug != bookBeforeOpening {
			if _, err := w.fillOpening(s, &slot); err != nil {
				return err
			}
		}
		facts.Slot = slot
		waits := w.standing(s, member)
		var offer *waitlist.Offer
		if facts.Entry = waits.Named(); !r.hold {
			offer = waits.Offer(w.now)
			facts.Offer = offeredSeats(offer)
		}
		result, err := booking.Decide(facts, request, w.now)
		if err != nil {
			return w.explainRefusal(s, member, err)
		}
		if result.Wait {
			e := &entryRow{member: member, sessions: []*sessionRow{s}, Entry: waitlist.Entry{
				Session: s.ID, Member: member.ID, Party: r.party, Subscription: r.sub, Channel: catalog.Online, ByStaff: r.staff,
			}}
			err := w.join(e)
			if r := fault.ReasonOf(err); r == fault.WaitlistFull || r == fault.WaitlistClosed {
				return booking.Full().WithCause(err)
			}
			made.entry = e
			return err
		}
		b := booking.Booking{
			ID: request.ID, Session: s.ID, Member: member.ID, Party: r.party, Channel: catalog.Online, Promoted: offer != nil,
		}
		what := Booked
		if r.hold {
			what, b.Status, b.HoldUntil = Held, booking.Pending, new(slot.HoldUntil(w.now))
			w.alarm(*b.HoldUntil)
		}
		f := Event{
			Kind: what, Session: s.ID, Member: member.ID, Booking: b.ID, Party: b.Party, Staff: r.staff, Subscription: r.sub,
		}
		if b.HoldUntil != nil {
			f.Until = *b.HoldUntil
		}
		if r.hold {
			w.emit(f)
			made.booking = w.createBooking(s, facts, b, result)
			return nil
		}
		return w.settle(waits, b, offer, func() {
			if offer != nil {
				f.Entry, f.Offer, f.Promoted = offer.Entry, offer.ID, true
			}
			w.emit(f)
			w.addSeats(s, -facts.Offer.Of(r.party), 0)
			made.booking = w.createBooking(s, facts, b, result)
		})
	})
	return made, err
}

// offeredSeats returns the seats that an offer keeps, as the rules of booking see them.
func offeredSeats(o *waitlist.Offer) *booking.OfferedSeats {
	if o == nil {
		return nil
	}
	return &booking.OfferedSeats{Offer: o.ID, Seats: o.Seats, Until: o.ExpiresAt, Shared: o.Shared}
}

// otherPlaces returns a member's active booking and entry in a session. Like the service, it reads the booking only if
// the session could be full.
func (w *world) otherPlaces(s *sessionRow, member *memberRow, party int) (is tenant.BookingID, waits tenant.EntryID) {
	if s.Holds > 0 || s.Capacity != nil && s.SeatsTaken+party > *s.Capacity {
		is = w.bookingIn(s, member)
	}
	return is, w.entryIn(s, member)
}

func (w *world) entryIn(s *sessionRow, member *memberRow) tenant.EntryID {
	for _, e := range s.entries {
		if e.Member == member.ID {
			return e.ID
		}
	}
	return tenant.EntryID{}
}

// explainRefusal makes "already booked" win over payment errors, as the service does.
func (w *world) explainRefusal(s *sessionRow, member *memberRow, err error) error {
	switch fault.ReasonOf(err) {
	case fault.NoActivePlan, fault.PlanChoiceRequired, fault.OutstandingBalance, fault.NoCredits, fault.DailyLimit,
		fault.WeeklyLimit:
		if b := w.bookingIn(s, member); !b.IsZero() {
			return catalog.AlreadyBooked(tenant.MemberID{}, b, tenant.EntryID{})
		}
	default:
	}
	return err
}

func (w *world) bookingIn(s *sessionRow, member *memberRow) tenant.BookingID {
	for _, b := range member.bookings {
		if b.Session == s.ID && b.Status.Active() {
			return b.ID
		}
	}
	return tenant.BookingID{}
}

func (w *world) createBooking(
	s *sessionRow, f booking.Facts, b booking.Booking, result booking.BookResult,
) *booking.Booking {
	holds := 1
	if b.Status != booking.Pending {
		b.Status, b.ConfirmedAt, holds = booking.Confirmed, new(w.now), 0
	}
	b.Payment.Status = payment.Unpaid
	b.Credits, b.Counted, b.Exclusive = result.Credits, result.Counted, result.Exclusive
	b = b.In(f.Slot)
	b.CreatedAt, b.MemberTier = w.now, f.Member.Tier
	if result.Payer != nil {
		b.Subscription = result.Payer.ID
	}
	row := new(b)
	w.insertBooking(s, w.membersByID[b.Member], row)
	w.addSeats(s, b.Party, holds)
	w.charge(result, s)
	return row
}

// charge writes the charge of a decision.
func (w *world) charge(result booking.BookResult, s *sessionRow) {
	if result.Payer == nil {
		return
	}
	if len(result.Ledger) > 0 {
		if w.bug == dropLedgerLine {
			result.Ledger = result.Ledger[:len(result.Ledger)-1]
		}
		w.updateSubscription(*result.Payer, result.Ledger)
	}
	if result.Counted {
		w.countUsage(w.subs[result.Payer.ID], w.dayOf(s), +1)
	}
}

// load reads a booking with the current policy.
func (w *world) load(b *booking.Booking) (booking.Booking, *sessionRow) {
	s, read := w.sessions[b.Session], *b
	read.Policy = s.service.policy
	return read, s
}

func (w *world) confirm(b *booking.Booking, paid bool) error {
	return w.transact(Operation{Name: "confirm", Booking: b.ID, On: paid}, func() error {
		read, s := w.load(b)
		c := booking.ConfirmRequest{Request: booking.Request{ID: b.ID, Actor: "member"}}
		facts := booking.Facts{Slot: s.slot()}
		if paid {
			c.Paid = true
		} else if read.Status == booking.Pending {
			facts.Subscriptions = w.payers(w.membersByID[b.Member], s, tenant.SubscriptionID{})
		}
		done, err := booking.Confirm(read, facts, c, w.now)
		if err != nil {
			return err
		}
		// All payments have the same facts, so only the first adds a line.
		if paid && done.Booking.Payment.Status == payment.Unpaid {
			f := payment.Facts{Kind: payment.Capture, Amount: credit.Money{Currency: "EUR", Units: 20}}
			line, err := payment.Record(nil, f, done.Booking.NeverDue(), b.ID, "desk", w.now)
			if err != nil {
				return err
			}
			done.Booking.Payment = payment.Of([]payment.Line{*line}, nil)
		}
		w.updateBooking(done.Booking)
		if done.Repeated {
			return nil
		}
		w.addSeats(s, 0, -1)
		w.charge(done.BookResult, s)
		w.emit(Event{Kind: Confirmed, Session: s.ID, Member: b.Member, Booking: b.ID, On: paid})
		return w.settle(w.standing(s, w.membersByID[b.Member]), done.Booking, nil, func() {})
	})
}

func (w *world) release(b *booking.Booking) error {
	return w.transact(Operation{Name: "release", Booking: b.ID}, func() error {
		read, s := w.load(b)
		after, changed, err := booking.Release(read, w.now)
		if err != nil || !changed {
			return err
		}
		what, why := Released, waitlist.ByRelease
		if after.Status == booking.Expired {
			what, why = HoldExpired, waitlist.ByExpiredHold
		}
		slot := s.slot()
		w.endHold(s, after, what)
		slot.SeatsTaken -= after.Party
		slot.Holds--
		return w.fill(s, &slot, why, b.Member)
	})
}

func (w *world) endHold(s *sessionRow, b booking.Booking, what Kind) {
	w.updateBooking(b)
	w.addSeats(s, -b.Party, -1)
	w.emit(Event{Kind: what, Session: s.ID, Member: b.Member, Booking: b.ID})
}

func (w *world) expiredHolds(s *sessionRow) []booking.Booking {
	if s.Holds == 0 {
		return nil
	}
	var due []booking.Booking
	for _, b := range s.bookings {
		if b.HoldExpired(w.now) {
			due = append(due, *b)
		}
	}
	return due
}

func (w *world) expireHolds(s *sessionRow, slot *booking.Slot, due []booking.Booking) error {
	if len(due) == 0 {
		return nil
	}
	var members []tenant.MemberID
	for _, b := range due {
		members = append(members, b.Member)
		w.endHold(s, booking.Expire(b, w.now), HoldExpired)
		slot.SeatsTaken -= b.Party
		slot.Holds--
	}
	return w.fill(s, slot, waitlist.ByExpiredHold, members...)
}

func (w *world) cancelBooking(b *booking.Booking, admin bool) error {
	return w.transact(Operation{Name: "cancel", Booking: b.ID, Staff: admin}, func() error {
		read, s := w.load(b)
		slot := s.slot()
		request := booking.CancelRequest{Actor: "member", OverrideWindow: admin}
		c, err := booking.Cancel(read, w.payerOf(read), request, w.now)
		if err != nil || c.Unchanged {
			return err
		}
		if w.bug == refundLate && c.Late {
			request.SessionGone = true
			late, err := booking.Cancel(read, w.payerOf(read), request, w.now)
			if err != nil {
				return err
			}
			late.Late, late.Booking.LateCancelled = true, true
			c = late
		}
		w.applyCancel(s, c, false, admin)
		slot.SeatsTaken -= c.SeatsFreed
		if w.bug == noFillOnCancel {
			return nil
		}
		return w.fill(s, &slot, waitlist.ByCancellation, b.Member)
	})
}

func (w *world) payerOf(b booking.Booking) *credit.Subscription {
	u := w.subs[b.Subscription]
	if u == nil {
		return nil
	}
	return new(u.Subscription)
}

func (w *world) applyCancel(s *sessionRow, c booking.CancelResult, sessionCancelled, staff bool) {
	b := c.Booking
	w.updateBooking(b)
	freed := c.SeatsFreed
	if w.bug == keepSeats && !sessionCancelled {
		freed = 0
	}
	w.addSeats(s, -freed, -c.HoldsEnded)
	if c.Payer != nil && len(c.Ledger) > 0 {
		w.updateSubscription(*c.Payer, c.Ledger)
	}
	if c.ReleasesQuota && w.bug != keepQuota {
		w.countUsage(w.subs[b.Subscription], w.dayOf(s), -1)
	}
	w.emit(Event{
		Kind: Cancelled, Session: s.ID, Member: b.Member, Booking: b.ID, Refunded: c.Refunded, Late: c.Late,
		SessionCancelled: sessionCancelled,
		Staff:            staff,
	})
}

func (w *world) reschedule(b *booking.Booking, to *sessionRow, staff bool) error {
	return w.transact(Operation{Name: "reschedule", Booking: b.ID, Session: to.ID, Staff: staff}, func() error {
		read, from := w.load(b)
		slot, target := from.slot(), to.slot()
		if from != to {
			if err := w.expireHolds(to, &target, w.expiredHolds(to)); err != nil {
				return err
			}
			if _, err := w.fillOpening(to, &target); err != nil {
				return err
			}
		}
		var payer *credit.Subscription
		if read.Counted {
			if all := w.payers(w.membersByID[b.Member], to, read.Subscription); len(all) > 0 {
				payer = &all[0]
			}
		}
		waits := w.standing(to, w.membersByID[b.Member])
		offer := waits.Offer(w.now)
		facts := booking.Facts{Slot: target, Entry: waits.Named(), Offer: offeredSeats(offer)}
		move, err := booking.Reschedule(read, slot, facts, payer, staff, w.now)
		if err != nil || move.Unchanged {
			return err
		}
		err = w.settle(waits, move.Booking, offer, func() { w.move(read, move.Booking, from, to, facts, offer, staff) })
		if err != nil {
			return err
		}
		slot.SeatsTaken -= read.Party
		return w.fill(from, &slot, waitlist.ByReschedule, read.Member)
	})
}

// move writes a booking that has moved.
func (w *world) move(
	read, b booking.Booking, from, to *sessionRow, facts booking.Facts, offer *waitlist.Offer, staff bool,
) {
	w.updateBooking(b)
	w.addSeats(to, b.Party-facts.Offer.Of(b.Party), 0)
	w.addSeats(from, -b.Party, 0)
	if read.Counted {
		w.countUsage(w.subs[read.Subscription], w.dayOf(from), -1)
		w.countUsage(w.subs[read.Subscription], w.dayOf(to), +1)
	}
	moved := Event{Kind: Rescheduled, Session: from.ID, To: to.ID, Member: b.Member, Booking: b.ID, Staff: staff}
	if offer != nil {
		moved.Entry, moved.Offer = offer.Entry, offer.ID
	}
	w.emit(moved)
}

func (w *world) checkIn(b *booking.Booking) error {
	return w.transact(Operation{Name: "check in", Booking: b.ID}, func() error {
		read, s := w.load(b)
		plan, err := checkin.Decide(checkin.Facts{
			Status: checkin.Status(read.Status), Starts: s.StartsAt, Ends: s.EndsAt,
			SessionCancelled: s.State == catalog.Cancelled,
			Window: checkin.Window{
				OpensBefore: read.Policy.CheckInOpensBefore, ClosesAfterEnd: read.Policy.CheckInClosesAfterEnd,
			},
		}, checkin.Request{Method: checkin.QR}, w.now)
		if err != nil || plan.Unchanged {
			return err
		}
		read.Status, read.CheckedInAt = booking.Attended, &plan.CheckedInAt
		w.updateBooking(read)
		w.emit(Event{Kind: CheckedIn, Session: s.ID, Member: b.Member, Booking: b.ID})
		return nil
	})
}

func (w *world) markNoShow(b *booking.Booking) error {
	return w.transact(Operation{Name: "no-show", Booking: b.ID}, func() error {
		read, s := w.load(b)
		slot := s.slot()
		after, changed, err := booking.MarkNoShow(read, w.now)
		if err != nil || !changed {
			return err
		}
		w.addSeats(s, -b.Party, 0)
		w.updateBooking(after)
		w.emit(Event{Kind: NoShow, Session: s.ID, Member: b.Member, Booking: b.ID, Staff: true})
		slot.SeatsTaken -= b.Party
		return w.fill(s, &slot, waitlist.ByNoShow)
	})
}

func (w *world) undoNoShow(b *booking.Booking) error {
	return w.transact(Operation{Name: "undo no-show", Booking: b.ID}, func() error {
		read, s := w.load(b)
		after, changed, err := booking.UndoNoShow(read, s.slot())
		if err != nil || !changed {
			return err
		}
		w.addSeats(s, b.Party, 0)
		w.updateBooking(after)
		w.emit(Event{Kind: NoShowUndone, Session: s.ID, Member: b.Member, Booking: b.ID})
		return nil
	})
}

// markAbsent marks the confirmed bookings of a session as no-shows whose party did not come.
func (w *world) markAbsent(s *sessionRow) error {
	return w.transact(Operation{Name: "mark absent", Session: s.ID}, func() error {
		slot := s.slot()
		candidates := make([]booking.Absence, len(s.bookings))
		for i, b := range s.bookings {
			candidates[i].Booking = *b
			if s.autoNoShows[b.ID] {
				candidates[i].MarkedAt = &s.StartsAt
			}
		}
		absent, err := booking.MarkAbsent(slot, candidates, absentFrom, w.now)
		if err != nil {
			return err
		}
		seats := 0
		for _, b := range absent {
			insert(&w.tables, s.autoNoShows, b.ID, true)
			w.updateBooking(b)
			seats += b.Party
			w.emit(Event{Kind: NoShow, Session: s.ID, Member: b.Member, Booking: b.ID})
		}
		if seats == 0 {
			return nil
		}
		w.addSeats(s, -seats, 0)
		slot.SeatsTaken -= seats
		return w.fill(s, &slot, waitlist.ByNoShow)
	})
}

// absentFrom returns from when a booking whose party has not checked in is a no-show.
func absentFrom(b booking.Booking, s booking.Slot) time.Time {
	window := checkin.Window{ClosesAfterEnd: s.Policy.CheckInClosesAfterEnd}
	if b.CreatedAt.Before(s.StartsAt) {
		window.NoShowAfterStart = s.Policy.AutoNoShowAfterStart
	}
	return window.NoShowFrom(s.StartsAt, s.EndsAt, s.Policy.AutoNoShowAfter)
}
