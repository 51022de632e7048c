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

// try does what somebody would like to. A refusal is an answer; the people here take it.
func try(error) {}

// attract lets people want a place in a session, some days ahead and more the nearer it is.
func (w *world) attract(s *row) {
	seats := 12
	if s.Capacity != nil {
		seats = *s.Capacity
	}
	for range seats/2 + w.rng.IntN(4*seats+3) {
		ahead := time.Duration(float64(s.StartsAt.Sub(w.now)) * w.rng.Float64() * w.rng.Float64())
		w.on(s.StartsAt.Add(-ahead).Truncate(time.Second), func() { w.want(s, pick(w, w.members)) })
	}
	if w.chance(0.5) {
		w.on(s.StartsAt.Add(w.upTo(20*time.Minute)), func() { w.callRoll(s) })
	}
}

// want is somebody who would like a place.
func (w *world) want(s *row, who *member) {
	a := asking{party: 1, staff: w.chance(0.05), noWaitlist: w.chance(0.05), hold: w.chance(0.15)}
	if w.chance(0.2) {
		a.party = 1 + w.rng.IntN(3)
	}
	if len(who.subs) > 0 && w.chance(0.7) {
		a.sub = pick(w, who.subs).ID
	}
	if a.hold {
		a.sub = tenant.SubscriptionID{}
	}
	_, err := w.book(s, who, a)
	if err == nil || w.failed != nil || fault.ReasonOf(err) != fault.SessionFull && w.chance(0.8) {
		return
	}
	if w.chance(0.5) {
		try(w.joinWindow(who, waitlist.Window{
			Service: s.Service, Location: s.Location, From: civil.DateOf(w.now, s.at.zone),
			Until:    s.LocalDate.AddDays(w.rng.IntN(3)),
			Earliest: civil.TimeOfDay{Hour: w.rng.IntN(10)}, Latest: civil.TimeOfDay{Hour: 10 + w.rng.IntN(14)},
		}, a.party))
		return
	}
	var wished []*row
	for _, other := range w.live {
		if other.under == s.under && other.StartsAt.After(w.now) && len(wished) < 3 && other.SeatsTaken > 0 {
			wished = append(wished, other)
		}
	}
	if len(wished) > 0 {
		try(w.joinAny(who, wished, a.party, a.staff))
	}
}

// react is what people do about what happened.
func (w *world) react(f Fact) {
	switch f.What {
	case Booked, Confirmed:
		w.plan(w.bookings[f.Booking])
	case Held:
		w.ponder(w.bookings[f.Booking])
	case Offered:
		w.answer(w.offers[f.Offer], w.who[f.Member])
	case Joined:
		if w.chance(0.1) {
			e := w.entries[f.Entry]
			w.later(w.upTo(2*day), func() { try(w.leave(e)) })
		}
	default:
	}
}

// plan is what somebody with a booking will do about it.
func (w *world) plan(b *booking.Booking) {
	s := w.rows[b.Session]
	left := s.StartsAt.Sub(w.now)
	switch {
	case w.chance(0.25):
		w.later(w.upTo(max(left+10*time.Minute, time.Minute)), func() { try(w.cancelBooking(b, w.chance(0.1))) })
		return
	case w.chance(0.06):
		w.later(w.upTo(max(left, time.Minute)), func() {
			if to := w.similar(w.rows[b.Session]); to != nil {
				try(w.reschedule(b, to, w.chance(0.2)))
			}
		})
	case w.chance(0.03): // double clicks
		w.later(time.Second, func() { try(w.confirm(b, true)) })
	}
	if w.chance(w.who[b.Member].loyal) {
		w.on(s.StartsAt.Add(-w.upTo(time.Hour)).Truncate(time.Second), func() { try(w.checkIn(b)) })
	}
}

func (w *world) similar(s *row) *row {
	if s == nil {
		return nil
	}
	for range 5 {
		if other := pick(w, w.live); other != s && other.Location == s.Location {
			return other
		}
	}
	return nil
}

// ponder is what becomes of a hold: most are confirmed, some released, some left alone; some wait until the very last.
func (w *world) ponder(b *booking.Booking) {
	wait := w.upTo(b.HoldUntil.Sub(w.now) + 2*time.Second)
	switch p := w.rng.Float64(); {
	case p < 0.5:
		w.later(wait, func() { try(w.confirm(b, w.chance(0.3))) })
	case p < 0.65:
		w.later(wait, func() { try(w.release(b)) })
	case p < 0.75:
		w.on(*b.HoldUntil, func() { try(w.release(b)) })
	}
}

// answer is what becomes of an offer.
func (w *world) answer(o *waitlist.Offer, who *member) {
	wait := w.upTo(max(o.ExpiresAt.Sub(w.now), time.Second))
	if w.chance(who.quick) {
		wait = w.upTo(min(5*time.Minute, max(o.ExpiresAt.Sub(w.now), time.Second)))
	}
	switch p := w.rng.Float64(); {
	case p < 0.55:
		w.later(wait, func() { try(w.accept(o)) })
	case p < 0.8:
		w.later(wait, func() { try(w.decline(o, w.chance(0.2))) })
	case p < 0.85:
		w.on(o.ExpiresAt, func() { try(w.accept(o)) }) // a moment too late
	case p < 0.9:
		w.later(wait, func() { try(w.leave(w.entries[o.Entry])) })
	}
	if w.chance(0.03) { // staff take a seat away, whoever it is promised to
		w.later(w.upTo(10*time.Minute), func() {
			if s := w.rows[o.Session]; s != nil && s.SeatsTaken > 1 {
				try(w.resize(s, s.SeatsTaken-1))
			}
		})
	}
}

// callRoll marks those who are not there, and takes some of it back.
func (w *world) callRoll(s *row) {
	for _, b := range s.bookings {
		if b.Status == booking.Confirmed && w.chance(0.7) {
			try(w.markNoShow(b))
			if w.chance(0.2) {
				w.later(w.upTo(10*time.Minute), func() { try(w.undoNoShow(b)) })
			}
		}
	}
}

// staffDay is what staff do in the course of a day.
func (w *world) staffDay() {
	for range 1 + len(w.live)/20 {
		s := pick(w, w.live)
		switch {
		case s.EndsAt.Before(w.now):
		case w.chance(0.2):
			try(w.block(s, true))
			w.later(w.upTo(day), func() { try(w.block(s, false)) })
		case s.Capacity != nil && w.chance(0.4):
			try(w.resize(s, max(1, *s.Capacity-2+w.rng.IntN(5))))
		case w.chance(0.1) && s.State == catalog.Published:
			try(w.callOff(s))
		case w.chance(0.4):
			if who := pick(w, w.members); len(who.entries) > 0 {
				try(w.offerByHand(s, pick(w, who.entries)))
			}
		}
	}
	if w.chance(0.1) {
		rules := w.anyRules()
		w.edited = true
		try(w.setRules(pick(w, w.rulings), rules))
	}
	who := pick(w, w.members)
	switch {
	case w.chance(0.1):
		try(w.setActive(who, false))
		w.later(w.upTo(3*day), func() { try(w.setActive(who, true)) })
	case len(who.subs) > 0 && w.chance(0.3):
		u := pick(w, who.subs)
		try(w.setStatus(u, pick(w, []credit.Status{credit.Paused, credit.Debt, credit.Cancelled})))
		w.later(w.upTo(4*day), func() { try(w.setStatus(u, credit.Active)) })
	}
	for _, m := range w.members {
		for _, e := range m.entries {
			if w.chance(0.1) {
				try(w.prioritize(e, !e.Flagged))
			}
		}
	}
}

// shop lets those who have no plan buy one, and some who have one another.
func (w *world) shop() {
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
				try(w.subscribe(m, plan.Plan))
				break
			}
		}
	}
}
