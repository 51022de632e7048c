package simulate

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// The functions of this file and of schedule.go apply plans as package app does: the same facts, the same effects, in
// the same order. Those of line.go and offers.go drive the state machine of package waitlist, and apply its changes.

// asking is what somebody asks for.
type asking struct {
	party      int
	sub        tenant.SubscriptionID
	staff      bool
	hold       bool
	noWaitlist bool
}

// got is what came of it.
type got struct {
	booking *booking.Booking
	entry   *entryRow
}

// payers are a member's subscriptions with what is used on a session's day and in its week.
func (w *world) payers(who *member, s *row, named tenant.SubscriptionID) []credit.Subscription {
	var all []credit.Subscription
	for _, u := range who.subs {
		if u.ID != named && (!named.IsZero() || u.Status != credit.Active && u.Status != credit.Debt) {
			continue
		}
		p := u.Subscription
		if w.flaw == ignoreLimits {
			all = append(all, p)
			continue
		}
		p.UsedToday, p.UsedThisWeek = u.used[usage{on: w.dayOf(s)}], u.used[usage{week: true, on: w.dayOf(s).WeekStart()}]
		all = append(all, p)
	}
	return all
}

// dayOf is the day on which a session counts.
func (w *world) dayOf(s *row) civil.Date {
	if w.flaw == countInUTC {
		return civil.DateOf(s.StartsAt, time.UTC)
	}
	return s.LocalDate
}

func (w *world) book(s *row, who *member, a asking) (got, error) {
	var made got
	err := w.do("book", func() error {
		made = got{}
		command := booking.Request{
			ID: id[tenant.BookingID](&w.tables), Party: a.party, Subscription: a.sub, Channel: catalog.Online,
			NoWaitlist: a.noWaitlist, Hold: a.hold, Staff: a.staff, Actor: "somebody",
		}
		if !who.Active {
			return fault.Missing(fault.MemberNotFound, "Member")
		}
		facts := booking.Facts{Member: who.Member}
		facts.Booking, facts.Entry = w.doubles(s, who, a.party)
		if !a.hold && (!a.staff || !a.sub.IsZero()) {
			facts.Subscriptions = w.payers(who, s, a.sub)
		}
		slot := s.slot()
		due := w.dueHolds(s)
		for _, b := range due {
			if b.ID == facts.Booking {
				facts.Booking = tenant.BookingID{}
			}
		}
		if err := w.lapse(s, &slot, due); err != nil {
			return err
		}
		facts.Slot = slot
		plan, err := booking.Decide(facts, command, w.now)
		if err != nil {
			return err
		}
		if plan.Wait {
			e := &entryRow{who: who, sessions: []*row{s}, Entry: waitlist.Entry{
				Session: s.ID, Member: who.ID, Party: a.party, Subscription: a.sub, Channel: catalog.Online, ByStaff: a.staff,
			}}
			err := w.join(e)
			if r := fault.ReasonOf(err); r == fault.WaitlistFull || r == fault.WaitlistClosed {
				return booking.Full().WithCause(err)
			}
			made.entry = e
			return err
		}
		b := booking.Booking{ID: command.ID, Session: s.ID, Member: who.ID, Party: a.party, Channel: catalog.Online}
		what := Booked
		if a.hold {
			what, b.Status, b.HoldUntil = Held, booking.Pending, new(booking.HoldUntil(slot, w.now))
			w.alarm(*b.HoldUntil)
		}
		f := Fact{
			What: what, Session: s.ID, Member: who.ID, Booking: b.ID, Party: b.Party, Staff: a.staff, Subscription: a.sub,
		}
		if b.HoldUntil != nil {
			f.Until = *b.HoldUntil
		}
		w.say(f)
		made.booking = w.place(s, facts, b, plan)
		return nil
	})
	return made, err
}

// doubles are a member's active booking and entry in a session, where the database is asked for them.
func (w *world) doubles(s *row, who *member, party int) (is tenant.BookingID, waits tenant.EntryID) {
	if s.Capacity != nil && s.SeatsTaken+party > *s.Capacity {
		is = w.inSession(s, who)
	}
	for _, e := range s.waits {
		if e.Member == who.ID {
			waits = e.ID
		}
	}
	return is, waits
}

func (w *world) inSession(s *row, who *member) tenant.BookingID {
	for _, b := range who.bookings {
		if b.Session == s.ID && b.Status.Active() {
			return b.ID
		}
	}
	return tenant.BookingID{}
}

func (w *world) place(s *row, f booking.Facts, b booking.Booking, plan booking.Decision) *booking.Booking {
	holds := 1
	if b.Status != booking.Pending {
		b.Status, b.ConfirmedAt, holds = booking.Confirmed, new(w.now), 0
	}
	b.Payment.Status = booking.Unpaid
	b.Credits, b.Counted, b.Exclusive = plan.Credits, plan.Counted, plan.Exclusive
	b.StartsAt, b.EndsAt, b.CreatedAt = f.Slot.StartsAt, f.Slot.EndsAt, w.now
	b.MemberTier, b.TimeZone, b.LocalDate, b.Rules = f.Member.Tier, f.Slot.TimeZone, f.Slot.LocalDate, f.Slot.Rules
	if plan.Payer != nil {
		b.Subscription = plan.Payer.ID
	}
	row := new(b)
	w.insertBooking(s, w.who[b.Member], row)
	w.moveSeats(s, b.Party, holds)
	w.pay(plan, s)
	return row
}

// pay writes what a plan takes.
func (w *world) pay(plan booking.Decision, s *row) {
	if plan.Payer == nil {
		return
	}
	if len(plan.Ledger) > 0 {
		if w.flaw == forgetLine {
			plan.Ledger = plan.Ledger[:len(plan.Ledger)-1]
		}
		w.settle(*plan.Payer, plan.Ledger)
	}
	if plan.Counted {
		w.count(w.subs[plan.Payer.ID], w.dayOf(s), +1)
	}
}

// fresh reads a booking with the rules that hold now.
func (w *world) fresh(b *booking.Booking) (booking.Booking, *row) {
	s, read := w.rows[b.Session], *b
	read.Rules = s.under.policy
	return read, s
}

func (w *world) confirm(b *booking.Booking, paid bool) error {
	return w.do("confirm", func() error {
		read, s := w.fresh(b)
		c := booking.ConfirmRequest{Request: booking.Request{ID: b.ID, Actor: "somebody"}}
		facts := booking.Facts{Slot: s.slot()}
		if paid {
			c.Payment = &booking.Payment{Status: booking.Captured, Amount: credit.Money{Currency: "EUR", Units: 20}}
		} else if read.Status == booking.Pending {
			facts.Subscriptions = w.payers(w.who[b.Member], s, tenant.SubscriptionID{})
		}
		done, err := booking.Confirm(read, facts, c, w.now)
		if err != nil {
			return err
		}
		w.updateBooking(done.Booking)
		if done.Repeated {
			return nil
		}
		w.moveSeats(s, 0, -1)
		w.pay(done.Decision, s)
		w.say(Fact{What: Confirmed, Session: s.ID, Member: b.Member, Booking: b.ID, On: paid})
		return nil
	})
}

func (w *world) release(b *booking.Booking) error {
	return w.do("release", func() error {
		read, s := w.fresh(b)
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
		return w.fill(s, &slot, why)
	})
}

func (w *world) endHold(s *row, b booking.Booking, what What) {
	w.updateBooking(b)
	w.moveSeats(s, -b.Party, -1)
	w.say(Fact{What: what, Session: s.ID, Member: b.Member, Booking: b.ID})
}

func (w *world) dueHolds(s *row) []booking.Booking {
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

func (w *world) lapse(s *row, slot *booking.Slot, due []booking.Booking) error {
	if len(due) == 0 {
		return nil
	}
	for _, b := range due {
		w.endHold(s, booking.Expire(b, w.now), HoldExpired)
		slot.SeatsTaken -= b.Party
		slot.Holds--
	}
	return w.fill(s, slot, waitlist.ByExpiredHold)
}

func (w *world) cancelBooking(b *booking.Booking, admin bool) error {
	return w.do("cancel", func() error {
		read, s := w.fresh(b)
		slot := s.slot()
		withdrawal := booking.CancelRequest{Actor: "somebody", Admin: admin}
		c, err := booking.Cancel(read, w.payerOf(read), withdrawal, w.now)
		if err != nil || c.Unchanged {
			return err
		}
		if w.flaw == refundLate && c.Late {
			withdrawal.SessionGone = true
			late, err := booking.Cancel(read, w.payerOf(read), withdrawal, w.now)
			if err != nil {
				return err
			}
			late.Late, late.Booking.LateCancelled = true, true
			c = late
		}
		w.cancel(s, c, false, admin)
		slot.SeatsTaken -= c.SeatsFreed
		if w.flaw == sleepOnCancel {
			return nil
		}
		return w.fill(s, &slot, waitlist.ByCancellation)
	})
}

func (w *world) payerOf(b booking.Booking) *credit.Subscription {
	u := w.subs[b.Subscription]
	if u == nil {
		return nil
	}
	return new(u.Subscription)
}

func (w *world) cancel(s *row, c booking.CancelResult, gone, staff bool) {
	b := c.Booking
	w.updateBooking(b)
	freed := c.SeatsFreed
	if w.flaw == keepSeats && !gone {
		freed = 0
	}
	w.moveSeats(s, -freed, -c.HoldsEnded)
	if c.Payer != nil && len(c.Ledger) > 0 {
		w.settle(*c.Payer, c.Ledger)
	}
	if c.ReleasesQuota && w.flaw != keepCount {
		w.count(w.subs[b.Subscription], w.dayOf(s), -1)
	}
	w.say(Fact{
		What: Cancelled, Session: s.ID, Member: b.Member, Booking: b.ID, Refunded: c.Refunded, Late: c.Late, Gone: gone,
		Staff: staff,
	})
}

func (w *world) reschedule(b *booking.Booking, to *row, anyone bool) error {
	return w.do("reschedule", func() error {
		read, from := w.fresh(b)
		slot, there := from.slot(), to.slot()
		if from != to {
			if err := w.lapse(to, &there, w.dueHolds(to)); err != nil {
				return err
			}
		}
		var payer *credit.Subscription
		if read.Counted {
			if all := w.payers(w.who[b.Member], to, read.Subscription); len(all) > 0 {
				payer = &all[0]
			}
		}
		_, waits := w.doubles(to, w.who[b.Member], 0)
		move, err := booking.Reschedule(read, slot, there, waits, payer, anyone, w.now)
		if err != nil || move.Unchanged {
			return err
		}
		w.updateBooking(move.Booking)
		w.moveSeats(to, b.Party, 0)
		w.moveSeats(from, -b.Party, 0)
		if read.Counted {
			w.count(w.subs[read.Subscription], w.dayOf(from), -1)
			w.count(w.subs[read.Subscription], w.dayOf(to), +1)
		}
		w.say(Fact{What: Rescheduled, Session: from.ID, To: to.ID, Member: b.Member, Booking: b.ID, Staff: anyone})
		slot.SeatsTaken -= b.Party
		there.SeatsTaken += b.Party
		if err := w.fill(from, &slot, waitlist.ByReschedule); err != nil {
			return err
		}
		return w.fill(to, &there, waitlist.ByReschedule)
	})
}

func (w *world) checkIn(b *booking.Booking) error {
	return w.do("check in", func() error {
		read, s := w.fresh(b)
		plan, err := checkin.Decide(checkin.Facts{
			Status: checkin.Status(read.Status), Starts: s.StartsAt, Ends: s.EndsAt,
			SessionCancelled: s.State == catalog.Cancelled,
			Window:           checkin.Window{OpensBefore: read.Rules.CheckInOpens, ClosesAfterEnd: read.Rules.CheckInCloses},
		}, checkin.Request{Method: checkin.QR}, w.now)
		if err != nil || plan.Unchanged {
			return err
		}
		read.Status, read.CheckedInAt = booking.Attended, &plan.CheckedInAt
		w.updateBooking(read)
		w.say(Fact{What: CheckedIn, Session: s.ID, Member: b.Member, Booking: b.ID})
		return nil
	})
}

func (w *world) markNoShow(b *booking.Booking) error {
	return w.do("no-show", func() error {
		read, s := w.fresh(b)
		slot := s.slot()
		after, changed, err := booking.MarkNoShow(read, w.now)
		if err != nil || !changed {
			return err
		}
		w.moveSeats(s, -b.Party, 0)
		w.updateBooking(after)
		w.say(Fact{What: NoShow, Session: s.ID, Member: b.Member, Booking: b.ID, Staff: true})
		slot.SeatsTaken -= b.Party
		return w.fill(s, &slot, waitlist.ByNoShow)
	})
}

func (w *world) undoNoShow(b *booking.Booking) error {
	return w.do("undo no-show", func() error {
		read, s := w.fresh(b)
		after, changed, err := booking.UndoNoShow(read, s.slot())
		if err != nil || !changed {
			return err
		}
		w.moveSeats(s, b.Party, 0)
		w.updateBooking(after)
		w.say(Fact{What: NoShowUndo, Session: s.ID, Member: b.Member, Booking: b.ID})
		return nil
	})
}

// markAbsent marks those of a session who did not come.
func (w *world) markAbsent(s *row) error {
	return w.do("sweep absences", func() error {
		slot := s.slot()
		window := checkin.Window{OpensBefore: slot.Rules.CheckInOpens, ClosesAfterEnd: slot.Rules.CheckInCloses}
		if !slot.Rules.AutoNoShow || w.now.Before(window.NoShowFrom(s.EndsAt, slot.Rules.AutoNoShowAfter)) {
			return nil
		}
		seats := 0
		for _, b := range s.bookings {
			if b.Status != booking.Confirmed || s.marked[b.ID] {
				continue
			}
			after, _, err := booking.MarkNoShow(*b, w.now)
			if err != nil {
				return err
			}
			insert(&w.tables, s.marked, b.ID, true)
			w.updateBooking(after)
			seats += b.Party
			w.say(Fact{What: NoShow, Session: s.ID, Member: b.Member, Booking: b.ID})
		}
		if seats > 0 {
			w.moveSeats(s, -seats, 0)
		}
		return nil
	})
}
