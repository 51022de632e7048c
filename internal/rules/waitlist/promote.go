package waitlist

import "time"

// promotes reports whether an entry is booked without an offer. It is, if the rules say so, unless the member could be
// surprised by it: by a time that they did not ask for, at night, when it is late to cancel, or on top of other plans.
func (s *scene) promotes(c *Candidate) bool {
	if s.mode != AutoPromote || c.Busy || c.Promoted {
		return false
	}
	notice := s.AutoPromoteCutoff
	if !s.PromoteAfterCancellationWindow {
		notice = max(notice, c.CancellationWindow)
	}
	zone := loadZone(c.zone(s.slot))
	switch {
	case s.slot.StartsAt.Sub(s.now) <= notice,
		c.Window != nil && !c.Window.matchesTime(s.day, s.clock, 0),
		s.QuietHours.Quiet(s.now, zone):
		return false
	}
	return !s.QuietHours.addAwake(s.now, s.PromotionGrace, s.slot.StartsAt, zone).After(s.slot.StartsAt)
}

// GraceUntil returns until when a member in a zone can cancel without penalty, if they learn of their promotion at a
// time. Quiet hours do not count. It can be after the start of the cancellation window, because members do not choose
// when they are promoted.
func (r Rules) GraceUntil(at, starts time.Time, zone *time.Location) time.Time {
	until := at
	if r.PromotionGrace > 0 {
		until = r.QuietHours.addAwake(at, r.PromotionGrace, starts, zone)
	}
	if until.Before(starts) {
		return until.In(at.Location())
	}
	return starts
}

// ModeNow returns what an entry would get if a seat of a slot were freed now: AutoPromote for a booking, or else the
// kind of its offer. The slot is within its time window.
func ModeNow(c Candidate, slot Slot, rules *CompiledRules, now time.Time) Mode {
	c.Window = nil
	s := rules.scene(slot, Round{}, now)
	if s.mode == AutoPromote && !s.promotes(&c) {
		return OfferInTurn
	}
	return s.mode
}
