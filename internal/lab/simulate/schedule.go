package simulate

import (
	"slices"
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

// publish makes the session of an occurrence of a series.
func (w *world) publish(u *ruling, series session.Series, o session.Occurrence) (*row, error) {
	s := &row{at: u.at, under: u, marked: make(map[tenant.BookingID]bool)}
	at := session.References{
		Service: session.ServiceReference{
			Active: true, Name: series.Title, Duration: u.duration, Delivery: catalog.InPerson,
		},
		Location: session.LocationReference{Active: true, TimeZone: u.at.name, Zone: u.at.zone},
	}
	return s, w.do("publish", func() error {
		s.Session = series.NewSession(id[tenant.SessionID](&w.tables), o, at, w.now)
		insert(&w.tables, w.rows, s.ID, s)
		push(&w.tables, &w.live, s)
		w.touch(s)
		w.say(Fact{What: Published, Session: s.ID, Capacity: s.Capacity, schedule: s})
		return w.wake(s, waitlist.ByPublish)
	})
}

func (w *world) wake(s *row, trigger waitlist.Trigger) error {
	slot := s.slot()
	return w.fill(s, &slot, trigger)
}

func (w *world) block(s *row, blocked bool) error {
	return w.do("block", func() error {
		turn := session.Session.Unblock
		if blocked {
			turn = func(s session.Session, now time.Time) (session.Session, bool, error) { return s.Block("repairs", now) }
		}
		after, changed, err := turn(s.Session, w.now)
		if err != nil || !changed {
			return err
		}
		w.touch(s)
		s.Session = after
		if blocked {
			w.say(Fact{What: Blocked, Session: s.ID})
			w.withdraw(s, waitlist.OffSale)
			return nil
		}
		w.say(Fact{What: Unblocked, Session: s.ID})
		return w.wake(s, waitlist.ByUnblock)
	})
}

func (w *world) resize(s *row, capacity int) error {
	return w.do("resize", func() error {
		withdrawn := s.SeatsTaken
		if capacity < s.SeatsTaken {
			w.withdrawSeats(s, waitlist.FewerSeats, s.SeatsTaken-capacity)
		}
		withdrawn -= s.SeatsTaken
		was := s.Session
		at := session.References{
			Service:  session.ServiceReference{Active: true, Duration: s.under.duration, Delivery: catalog.InPerson},
			Location: session.LocationReference{Active: true, TimeZone: s.at.name, Zone: s.at.zone},
		}
		after, err := was.Edit(session.Input{Capacity: &capacity}, session.CapacityField, at, w.now)
		if err != nil || after.Version == was.Version {
			return err
		}
		w.touch(s)
		s.Session = after
		w.say(Fact{What: Resized, Session: s.ID, Capacity: after.Capacity})
		if after.CapacityRaised(was) {
			return w.wake(s, waitlist.ByCapacity)
		}
		if withdrawn > 0 {
			return w.wake(s, waitlist.ByWithdrawal)
		}
		return nil
	})
}

// callOff cancels a session with all that there is in it.
func (w *world) callOff(s *row) error {
	return w.do("call off", func() error {
		after, changed, err := s.Cancel("illness", w.now)
		if err != nil || !changed {
			return err
		}
		w.withdraw(s, waitlist.SessionGone)
		payers := make(map[tenant.SubscriptionID]*credit.Subscription)
		for _, b := range slices.Clone(s.bookings) {
			if b.Status == booking.Cancelled || b.Status == booking.Expired {
				continue
			}
			read, _ := w.fresh(b)
			if _, seen := payers[read.Subscription]; read.Credits > 0 && !seen {
				payers[read.Subscription] = w.payerOf(read)
			}
			c, err := booking.Cancel(
				read, payers[read.Subscription], booking.CancelRequest{Actor: "somebody", SessionGone: true}, w.now,
			)
			if err != nil {
				return err
			}
			w.cancel(s, c, true, true)
		}
		for _, e := range slices.Clone(s.waits) {
			if len(e.AnyOf) > 0 && slices.ContainsFunc(e.AnyOf, func(id tenant.SessionID) bool { return id != s.ID }) {
				w.removePlaces(e, s)
				continue
			}
			if err := w.quit(e, waitlist.Leaving{}); err != nil {
				return err
			}
		}
		w.touch(s)
		taken, waiting, holds := s.SeatsTaken, s.Waiting, s.Holds
		s.Session = after
		s.SeatsTaken, s.Waiting, s.Holds = taken, waiting, holds // counters move with what they count
		w.say(Fact{What: CalledOff, Session: s.ID})
		return nil
	})
}

// sweep does what has fallen due and nobody asks for.
func (w *world) sweep() error {
	for _, s := range w.live {
		if s.EndsAt.Before(w.now) && s.EndsAt.After(w.now.Add(-24*time.Hour)) {
			if err := w.markAbsent(s); err != nil {
				return err
			}
		}
	}
	for _, m := range w.members {
		for _, u := range m.subs {
			after, lines := credit.Advance(u.Subscription, w.now)
			if after.Status == u.Status && len(lines) == 0 {
				continue
			}
			renewed := Fact{What: Renewed, Member: u.Member, Subscription: u.ID, Spent: u.Balance - after.Balance}
			err := w.do("advance", func() error {
				if after.Status == u.Status {
					w.say(renewed)
				}
				w.settle(after, lines)
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	if err := w.expireDue(); err != nil {
		return err
	}
	for _, m := range w.members {
		for _, e := range slices.Clone(m.entries) {
			if err := w.endEntry(e); err != nil {
				return err
			}
		}
	}
	return w.missed()
}

// endEntry ends an entry that nothing can come of any more.
func (w *world) endEntry(e *entryRow) error {
	if e.Status != waitlist.Waiting {
		return nil
	}
	var places []waitlist.Place
	for _, s := range e.sessions {
		places = append(places, waitlist.Place{
			Queue: queueOf(s), Session: s.ID, Starts: s.StartsAt, Gone: s.State == catalog.Cancelled, Zone: s.at.name,
		})
	}
	if e.Window != nil {
		for _, q := range e.queues {
			places = append(places, waitlist.Place{Queue: q, Zone: w.ruling(q).at.name})
		}
	}
	c := waitlist.EndStale(e.Entry, places, w.rulesOf, w.now)
	if len(c.Entries) == 0 {
		return nil
	}
	return w.do("end an entry", func() error { return w.apply(c) })
}

// missed is the safety net of the offer engine. There is something to mend only where the waitlist was shut when the
// seats came free, and staff opened it since.
func (w *world) missed() error {
	for _, s := range w.live {
		slot := s.slot()
		if !s.StartsAt.After(w.now) || s.State != catalog.Published || s.Blocked || !slot.Fits(1) ||
			!s.under.waitlist.Enabled {
			continue
		}
		for _, e := range s.waits {
			if e.Status != waitlist.Waiting || !slot.Fits(e.Party) || !s.decided.Before(e.CreatedAt) {
				continue
			}
			if !s.under.edited.After(e.CreatedAt) {
				return w.wrong("session %s has seats for entry %s, and nobody was woken", short(s.ID.UUID), short(e.ID.UUID))
			}
			if err := w.do("sweep triggers", func() error { return w.wake(s, waitlist.BySweep) }); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// setRules is an edit of the waitlist's rules by staff.
func (w *world) setRules(u *ruling, rules waitlist.Rules) error {
	compiled, err := waitlist.Compile(rules)
	if err != nil {
		return err
	}
	err = w.do("set rules", func() error {
		before(&w.tables, u)
		u.waitlist, u.edited = compiled, w.now
		w.say(Fact{What: RulesEdited, rules: u})
		return nil
	})
	for _, s := range w.live {
		if s.under == u && err == nil {
			err = w.lookAgain(s)
		}
	}
	return err
}

func (w *world) subscribe(who *member, plan credit.Plan) error {
	return w.do("subscribe", func() error {
		s, lines := credit.Start(id[tenant.SubscriptionID](&w.tables), who.ID, plan, w.now, w.now)
		u := &subscription{Subscription: s, ledger: lines, used: make(map[usage]int)}
		insert(&w.tables, w.subs, s.ID, u)
		push(&w.tables, &who.subs, u)
		w.say(Fact{What: Subscribed, Member: who.ID, Subscription: s.ID, plan: new(s)})
		return nil
	})
}

func (w *world) setStatus(u *subscription, to credit.Status) error {
	return w.do("set status", func() error {
		after, lines := credit.Advance(u.Subscription, w.now)
		changed, err := after.SetStatus(to)
		if err != nil || !changed {
			return err
		}
		w.settle(after, lines)
		w.say(Fact{What: StatusSet, Member: u.Member, Subscription: u.ID, plan: new(after)})
		return nil
	})
}

func (w *world) setActive(who *member, active bool) error {
	return w.do("set member", func() error {
		before(&w.tables, who)
		who.Active = active
		w.say(Fact{What: MemberSet, Member: who.ID, On: active})
		return nil
	})
}

func (w *world) ruling(q waitlist.Queue) *ruling {
	for _, u := range w.rulings {
		if u.at.id == q.Location && u.service == q.Service {
			return u
		}
	}
	panic(fault.Missing(fault.ServiceNotFound, "Service"))
}

func (w *world) rulesOf(q waitlist.Queue) waitlist.Rules { return w.ruling(q).waitlist.Rules }

// archive forgets sessions that are long over, with all that hangs on them.
func (w *world) archive() {
	// Whole weeks: quotas count those that are not over.
	old := civil.DateOf(w.now, time.UTC).AddDays(-9).WeekStart()
	kept := w.live[:0]
	for _, s := range w.live {
		if !s.LocalDate.Before(old) {
			kept = append(kept, s)
			continue
		}
		for _, b := range s.bookings {
			delete(w.bookings, b.ID)
			who := w.who[b.Member]
			who.bookings = without(who.bookings, b)
		}
		for _, o := range s.offers {
			delete(w.offers, o.ID)
		}
		for _, r := range s.rounds {
			delete(w.rounds, r.ID)
		}
		delete(w.rows, s.ID)
		w.model.forget(s.ID)
	}
	clear(w.live[len(kept):])
	w.live = kept
	for id, e := range w.entries {
		if !e.Status.Active() && e.ClosedAt.Before(w.now.Add(-2*day)) { // of the others messages are on their way
			delete(w.entries, id)
		}
	}
	w.post.forget()
	for q, line := range w.queues {
		if len(line.entries) == 0 && q.Date.Before(old) {
			delete(w.queues, q)
		}
	}
	for _, m := range w.members {
		m.subs = slices.DeleteFunc(m.subs, func(u *subscription) bool {
			ended := u.Status == credit.Expired || u.Status == credit.Cancelled
			if !ended || slices.ContainsFunc(m.bookings, func(b *booking.Booking) bool { return b.Subscription == u.ID }) {
				return false
			}
			delete(w.subs, u.ID)
			w.model.forgetSubscription(u.ID)
			return true
		})
	}
}
