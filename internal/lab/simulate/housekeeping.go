package simulate

import (
	"errors"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// sweep does what is due without a request.
func (w *world) sweep() error {
	for _, s := range w.sessionList {
		if !s.StartsAt.After(w.now) && s.EndsAt.After(w.now.Add(-24*time.Hour)) {
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
			renewed := Event{Kind: Renewed, Member: u.Member, Subscription: u.ID, Spent: u.Balance - after.Balance}
			err := w.transact(Operation{Name: "advance", Subscription: u.ID}, func() error {
				if after.Status == u.Status {
					w.emit(renewed)
				}
				w.updateSubscription(after, lines)
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	if err := errors.Join(w.recheck(), w.openBookings(), w.expireDue()); err != nil {
		return err
	}
	for _, m := range w.members {
		for _, e := range slices.Clone(m.entries) {
			if err := w.closeStaleEntry(e); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(w.model.checkOver(w.now), w.model.checkOpenings(w.now)); err != nil {
		return w.fail("%v", err)
	}
	return w.fillMissed()
}

// closeStaleEntry closes an entry that can no longer get seats.
func (w *world) closeStaleEntry(e *entryRow) error {
	if e.Status != waitlist.Waiting {
		return nil
	}
	var places []waitlist.Place
	for _, s := range e.sessions {
		places = append(places, waitlist.Place{
			Queue: queueOf(s), Session: s.ID, Times: timesOf(s), Gone: s.State == catalog.Cancelled, Zone: s.location.name,
		})
	}
	if e.Window != nil {
		for _, q := range e.queues {
			places = append(places, waitlist.Place{Queue: q, Zone: w.serviceOf(q).location.name})
		}
	}
	c := waitlist.EndStale(e.Entry, places, w.waitlistRules, w.now)
	if len(c.Entries) == 0 || w.bug == neverEndWaits && !c.Entries[0].TellUntil.IsZero() {
		return nil
	}
	return w.transact(Operation{Name: "close an entry", Entry: e.ID}, func() error { return w.apply(c) })
}

// fillMissed fills seats that were left open. It finds some only if the waitlist was disabled when they came free and
// staff enabled it later. Otherwise a fill was missed, and the simulation fails.
func (w *world) fillMissed() error {
	for _, s := range w.sessionList {
		slot := s.slot()
		if !s.StartsAt.After(w.now) || s.State != catalog.Published || s.Blocked || !slot.Fits(1) ||
			!s.service.waitlist.Enabled {
			continue
		}
		for _, e := range s.entries {
			if e.Status != waitlist.Waiting || !slot.Fits(e.Party) || !s.decidedAt.Before(e.CreatedAt) {
				continue
			}
			if !s.service.editedAt.After(e.CreatedAt) {
				return w.fail("session %s has seats for entry %s, and no fill followed", short(s.ID.UUID), short(e.ID.UUID))
			}
			err := w.transact(Operation{Name: "fill missed seats", Session: s.ID}, func() error {
				return w.fillOpenSeats(s, waitlist.BySweep)
			})
			if err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// archive deletes old sessions with their bookings, offers and rounds, and entries and subscriptions that have ended.
func (w *world) archive() {
	// Delete whole weeks only: quotas count the bookings of a week that is not over.
	old := civil.DateOf(w.now, time.UTC).AddDays(-9).WeekStart()
	kept := w.sessionList[:0]
	for _, s := range w.sessionList {
		if !s.LocalDate.Before(old) {
			kept = append(kept, s)
			continue
		}
		for _, b := range s.bookings {
			delete(w.bookings, b.ID)
			member := w.membersByID[b.Member]
			member.bookings = without(member.bookings, b)
		}
		for _, o := range s.offers {
			delete(w.offers, o.ID)
		}
		for _, r := range s.rounds {
			delete(w.rounds, r.ID)
		}
		delete(w.sessions, s.ID)
		w.model.forget(s.ID)
	}
	clear(w.sessionList[len(kept):])
	w.sessionList = kept
	for id, e := range w.entries {
		// keep recent ones: messages about them may still be due
		if !e.Status.Active() && e.ClosedAt.Before(w.now.Add(-2*day)) {
			delete(w.entries, id)
		}
	}
	if w.dispatcher != nil {
		w.dispatcher.forgetOld()
	}
	for q, queued := range w.queues {
		if len(queued.entries) == 0 && q.Date.Before(old) {
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
