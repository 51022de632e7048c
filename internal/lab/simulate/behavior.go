package simulate

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// allowRefusal ignores an error: a member accepts a refusal. Failures of invariants are recorded separately.
func allowRefusal(error) {}

// scheduleBookings schedules attempts to book a session, more of them the closer it is.
func (w *world) scheduleBookings(s *sessionRow) {
	seats := 12
	if s.Capacity != nil {
		seats = *s.Capacity
	}
	for range seats/2 + w.rng.IntN(4*seats+3) {
		ahead := time.Duration(float64(s.StartsAt.Sub(w.now)) * w.rng.Float64() * w.rng.Float64())
		w.schedule(s.StartsAt.Add(-ahead).Truncate(time.Second), func() { w.tryToBook(s, pick(w, w.members)) })
	}
	for opens := s.StartsAt.Add(-s.service.policy.AdvanceWindow); w.chance(0.3); {
		w.schedule(opens, func() { w.tryToBook(s, pick(w, w.members)) }) // in the same instant
	}
	if w.chance(0.5) {
		w.schedule(s.StartsAt.Add(w.randomDuration(20*time.Minute).Truncate(time.Second)), func() { w.markNoShows(s) })
	}
}

// tryToBook books a session for a member, or puts them on its waitlist.
func (w *world) tryToBook(s *sessionRow, member *memberRow) {
	r := bookRequest{party: 1, staff: w.chance(0.05), refuseFull: w.chance(0.05), hold: w.chance(0.15)}
	if w.chance(0.2) {
		r.party = 1 + w.rng.IntN(3)
	}
	if len(member.subs) > 0 && w.chance(0.7) {
		r.sub = pick(w, member.subs).ID
	}
	if r.hold {
		r.sub = tenant.SubscriptionID{}
	}
	_, err := w.book(s, member, r)
	if err == nil || w.failed != nil || fault.ReasonOf(err) != fault.SessionFull && w.chance(0.8) {
		return
	}
	if w.chance(0.5) {
		allowRefusal(w.joinWindow(member, waitlist.Window{
			Service: s.Service, Location: s.Location, From: civil.DateOf(w.now, s.location.zone),
			Until:    s.LocalDate.AddDays(w.rng.IntN(3)),
			Earliest: civil.TimeOfDay{Hour: w.rng.IntN(10)}, Latest: civil.TimeOfDay{Hour: 10 + w.rng.IntN(14)},
		}, r.party))
		return
	}
	var wished []*sessionRow
	for _, other := range w.sessionList {
		if other.service == s.service && other.StartsAt.After(w.now) && len(wished) < 3 && other.SeatsTaken > 0 {
			wished = append(wished, other)
		}
	}
	if len(wished) > 0 {
		allowRefusal(w.joinAny(member, wished, r.party, r.staff))
	}
}

// scheduleReactions schedules what members do after an event.
func (w *world) scheduleReactions(ev Event) {
	w.recheckSoon(ev)
	switch ev.Kind {
	case Booked, Confirmed:
		w.reactToBooking(w.bookings[ev.Booking])
	case Held:
		w.reactToHold(w.bookings[ev.Booking])
	case Offered:
		w.reactToOffer(w.offers[ev.Offer], w.membersByID[ev.Member])
	case Joined:
		if w.chance(0.1) {
			e := w.entries[ev.Entry]
			w.scheduleIn(w.randomDuration(2*day), func() { allowRefusal(w.leave(e)) })
		}
	default:
	}
}

// reactToBooking schedules a cancellation, a reschedule, a repeated confirmation or a check-in.
func (w *world) reactToBooking(b *booking.Booking) {
	s := w.sessions[b.Session]
	left := s.StartsAt.Sub(w.now)
	switch {
	case w.chance(0.25):
		w.scheduleIn(
			w.randomDuration(max(left+10*time.Minute, time.Minute)), func() { allowRefusal(w.cancelBooking(b, w.chance(0.1))) },
		)
		return
	case w.chance(0.06):
		w.scheduleIn(w.randomDuration(max(left, time.Minute)), func() {
			if to := w.otherSession(w.sessions[b.Session]); to != nil {
				allowRefusal(w.reschedule(b, to, w.chance(0.2)))
			}
		})
	case w.chance(0.03): // double clicks
		w.scheduleIn(time.Second, func() { allowRefusal(w.confirm(b, true)) })
	}
	if w.chance(w.membersByID[b.Member].attends) {
		w.schedule(s.StartsAt.Add(-w.randomDuration(time.Hour)).Truncate(time.Second), func() { allowRefusal(w.checkIn(b)) })
	}
}

func (w *world) otherSession(s *sessionRow) *sessionRow {
	if s == nil {
		return nil
	}
	for range 5 {
		if other := pick(w, w.sessionList); other != s && other.Location == s.Location {
			return other
		}
	}
	return nil
}

// reactToHold schedules the end of a hold. Most are confirmed, some released, some expire, and some are released in the
// very last moment.
func (w *world) reactToHold(b *booking.Booking) {
	wait := w.randomDuration(b.HoldUntil.Sub(w.now) + 2*time.Second)
	switch p := w.rng.Float64(); {
	case p < 0.5:
		w.scheduleIn(wait, func() { allowRefusal(w.confirm(b, w.chance(0.3))) })
	case p < 0.65:
		w.scheduleIn(wait, func() { allowRefusal(w.release(b)) })
	case p < 0.75:
		w.schedule(*b.HoldUntil, func() { allowRefusal(w.release(b)) })
	}
}

// reactToOffer schedules the answer to an offer, if there is one.
func (w *world) reactToOffer(o *waitlist.Offer, member *memberRow) {
	wait := w.randomDuration(max(o.ExpiresAt.Sub(w.now), time.Second))
	if w.chance(member.answersSoon) {
		wait = w.randomDuration(min(5*time.Minute, max(o.ExpiresAt.Sub(w.now), time.Second)))
	}
	switch p := w.rng.Float64(); {
	case p < 0.55:
		w.scheduleIn(wait, func() { allowRefusal(w.accept(o)) })
	case p < 0.8:
		w.scheduleIn(wait, func() { allowRefusal(w.decline(o, w.chance(0.2))) })
	case p < 0.85:
		w.schedule(o.ExpiresAt, func() { allowRefusal(w.accept(o)) }) // just too late
	case p < 0.9:
		w.scheduleIn(wait, func() { allowRefusal(w.leave(w.entries[o.Entry])) })
	}
	if w.chance(0.03) { // staff reduce the capacity, which can withdraw the offer
		w.scheduleIn(w.randomDuration(10*time.Minute), func() {
			if s := w.sessions[o.Session]; s != nil && s.SeatsTaken > 1 {
				allowRefusal(w.resize(s, s.SeatsTaken-1))
			}
		})
	}
}

// markNoShows marks members who did not come, and later undoes some of the marks.
func (w *world) markNoShows(s *sessionRow) {
	for _, b := range s.bookings {
		if b.Status == booking.Confirmed && w.chance(0.7) {
			allowRefusal(w.markNoShow(b))
			if w.chance(0.2) {
				w.scheduleIn(w.randomDuration(10*time.Minute), func() { allowRefusal(w.undoNoShow(b)) })
			}
		}
	}
}

// actAsStaff does the work of staff for a day.
func (w *world) actAsStaff() {
	for range 1 + len(w.sessionList)/20 {
		s := pick(w, w.sessionList)
		switch {
		case s.EndsAt.Before(w.now):
		case w.chance(0.2):
			allowRefusal(w.block(s, true))
			w.scheduleIn(w.randomDuration(day), func() { allowRefusal(w.block(s, false)) })
		case s.Capacity != nil && w.chance(0.4):
			allowRefusal(w.resize(s, max(1, *s.Capacity-2+w.rng.IntN(5))))
		case w.chance(0.1) && s.State == catalog.Published:
			allowRefusal(w.cancelSession(s))
		case w.chance(0.4):
			if member := pick(w, w.members); len(member.entries) > 0 {
				allowRefusal(w.offerByHand(s, pick(w, member.entries)))
			}
		}
	}
	if w.chance(0.1) {
		rules := w.randomRules()
		w.rulesEdited = true
		allowRefusal(w.setRules(pick(w, w.services), rules))
	}
	member := pick(w, w.members)
	switch {
	case w.chance(0.1):
		allowRefusal(w.setActive(member, false))
		w.scheduleIn(w.randomDuration(3*day), func() { allowRefusal(w.setActive(member, true)) })
	case len(member.subs) > 0 && w.chance(0.3):
		u := pick(w, member.subs)
		allowRefusal(w.setStatus(u, pick(w, []credit.Status{credit.Paused, credit.Debt, credit.Cancelled})))
		w.scheduleIn(w.randomDuration(4*day), func() { allowRefusal(w.setStatus(u, credit.Active)) })
	}
	for _, m := range w.members {
		for _, e := range m.entries {
			if w.chance(0.1) {
				allowRefusal(w.prioritize(e, !e.Flagged))
			}
		}
	}
}

// buyPlans lets members without a plan buy one, and rarely a second one.
func (w *world) buyPlans() {
	for _, m := range w.members {
		has := false
		for _, u := range m.subs {
			has = has || u.Plan.Kind != credit.Course && u.Status != credit.Expired && u.Status != credit.Cancelled &&
				(u.Plan.Kind != credit.Credits || u.Balance > 0 || u.PeriodEndsAt != nil)
		}
		if has && !w.chance(0.002) {
			continue
		}
		p := w.rng.Float64()
		for _, plan := range w.plans {
			if p -= plan.share; p < 0 {
				allowRefusal(w.subscribe(m, plan.Plan))
				break
			}
		}
	}
}
