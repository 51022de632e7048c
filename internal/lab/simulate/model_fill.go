package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// waitingFor returns the entries that wait for a session: those that name it, and those whose window includes its day.
func (m *model) waitingFor(s *modelSession) []*modelEntry {
	var all []*modelEntry
	for _, e := range m.entries {
		if m.waits(e, s) {
			all = append(all, e)
		}
	}
	return all
}

func (*model) waits(e *modelEntry, s *modelSession) bool {
	w := e.Window
	return slices.Contains(e.sessions, s) || w != nil && w.Service == s.service.id &&
		w.Location == s.service.location.id && s.localDate >= w.From.String() && s.localDate <= w.Until.String()
}

// decided compares a decision with the model's own. The first entries that may have the seats must get them, no other
// entry may, and no entry may be skipped.
func (m *model) decided(ev Event, s *modelSession) error {
	delete(m.undecided, s.id)
	d := ev.decision
	if by := d.Case.Trigger; by == waitlist.BySweep || by == waitlist.ByHand {
		s.maxDecisions++
	}
	if s.decisions++; s.decisions > s.maxDecisions {
		return fmt.Errorf("the same seats were filled twice")
	}
	open, unlimited := s.open()
	by := d.Case.Trigger
	if (by == waitlist.ByOpening) != s.opening {
		return fmt.Errorf("it comes at the wrong time")
	}
	s.opening = false
	r := m.rounds[ev.Round]
	if by != waitlist.ByHand {
		open = r.forEntries(open, by)
	}
	switch seats := d.Case.Slot.Seats; {
	case unlimited != (seats == nil) || !unlimited && *seats != open:
		return fmt.Errorf("%d seats are open", open)
	case !s.onSale():
		return fmt.Errorf("the session is off sale")
	}
	s.passed = m.passedOver(d.Decision)
	defer func() { s.lastRound = m.rounds[ev.Round] }()
	if r == nil {
		r = &modelRound{freed: open, opening: by == waitlist.ByOpening && !unlimited, most: open}
		if !ev.Round.IsZero() {
			m.rounds[ev.Round] = r
			s.rounds = append(s.rounds, r)
		}
	}
	switch d.Case.Trigger {
	case waitlist.ByCancellation, waitlist.ByRelease, waitlist.ByExpiredHold, waitlist.ByReschedule:
		r.gaveUp = append(r.gaveUp, m.gaveUp[s.id]...)
		delete(m.gaveUp, s.id)
	default:
	}
	if d.Case.Trigger == waitlist.ByHand {
		return m.offeredByHand(d, r)
	}
	queue := m.waitingFor(s)
	// Entries at the end of the queue need no verdict if no seat is left for them.
	if n := len(d.Decision.Verdicts); n > len(queue) || n < len(queue) && (unlimited || d.Decision.Given < open) {
		return fmt.Errorf("%d entries wait, and %d have a verdict", len(queue), n)
	}
	quiet := by == waitlist.ByOpening || m.now.Before(s.opens()) // no seat came free
	if note := !unlimited && d.Decision.Given < open && !quiet; note != (d.Note != "") {
		return fmt.Errorf("the note to staff is %q", d.Note)
	}
	freed := max(r.freed, open+r.reservedSeats())
	if r.opening {
		freed = r.freed
	}
	want := m.expectedGrants(s, freed, r, queue, d.Case.Trigger)
	got := d.Decision.Grants
	if len(want) != len(got) {
		return fmt.Errorf("%d entries get seats, and %d should: %s", len(got), len(want), entryNames(want))
	}
	offered, promoted := 0, 0
	for i, g := range got {
		if w := want[i]; g.Entry != w.Entry || g.Seats != w.Seats || !g.Until.Equal(w.Until) {
			return fmt.Errorf("number %d is entry %s with %d seats until %s, and should be %s with %d until %s", i+1,
				short(g.Entry.UUID), g.Seats, g.Until.UTC(), short(w.Entry.UUID), w.Seats, w.Until.UTC())
		}
		m.granted[g.Entry] = true
		if !g.Until.IsZero() {
			offered += g.Seats
		} else {
			promoted += g.Seats
		}
	}
	switch {
	case r.opening: // who is booked has no offer in it
		r.freed, r.taken = r.freed-promoted, r.taken+promoted
	case offered == 0:
	case unlimited:
		r.freed += offered
	default:
		r.freed = freed
	}
	if d.Decision.Mode == waitlist.FirstToClaim {
		r.keeps += d.Decision.Given
	}
	for _, v := range d.Decision.Verdicts {
		if e := m.entries[v.Entry]; !m.granted[v.Entry] && v.Reason != waitlist.NoSeatsLeft && v.Reason != waitlist.HasOffer {
			e.PassedOver = v.Reason
		}
	}
	return nil
}

// offeredByHand checks an offer by staff. It must not offer more seats than the entry requests.
func (m *model) offeredByHand(d *waitlist.Record, r *modelRound) error {
	if len(d.Decision.Grants) != 1 {
		return fmt.Errorf("staff chose %d entries", len(d.Decision.Grants))
	}
	g := d.Decision.Grants[0]
	e := m.entries[g.Entry]
	if e == nil || e.Status != waitlist.Waiting || e.Party != g.Seats || !g.Until.After(m.now) {
		return fmt.Errorf("staff chose entry %s, for %d seats", short(g.Entry.UUID), g.Seats)
	}
	m.granted[g.Entry], r.freed = true, g.Seats
	return nil
}

// openRefill records whether an entry could get the open seats of a session, which nothing has freed now: its rules
// were edited, or a member who was passed over has changed.
func (m *model) openRefill(ev Event, s *modelSession) {
	by := waitlist.ByRules
	if ev.On {
		by = waitlist.ByRecheck
		delete(m.unchecked, s)
	}
	if m.refillable(s, m.rounds[ev.Round], by) {
		m.seatsFreed(s)
	}
}

func entryNames(all []waitlist.Grant) (text string) {
	for _, g := range all {
		text += short(g.Entry.UUID) + " "
	}
	return text
}

// expectedGrants returns the seats that entries should get, in order.
func (m *model) expectedGrants(
	s *modelSession, freed int, r *modelRound, queue []*modelEntry, by waitlist.Trigger,
) []waitlist.Grant {
	rules := s.service.waitlist.Rules
	open, unlimited := s.open()
	open = r.forEntries(open, by)
	all := rules.Mode == waitlist.FirstToClaim || unlimited // who fit are asked at once
	closes := s.fillsUntil(m.now)
	wasOpen := by == waitlist.ByRules || by == waitlist.ByRecheck
	released := by == waitlist.ByDecline || by == waitlist.ByExpiry || wasOpen && len(r.tried) > 0
	if m.now.Before(s.opens()) || !rules.Enabled || !m.now.Before(closes) || released && !rules.AutoCascade {
		return nil
	}
	slices.SortFunc(queue, func(a, b *modelEntry) int {
		return cmp.Or(-compareBool(a.Flagged, b.Flagged), cmp.Compare(score(s, b), score(s, a)), cmp.Compare(a.Key, b.Key))
	})
	var grants []waitlist.Grant
	before := r.asked()
	left, offers := open, before
	for _, e := range queue {
		tries := rules.MaxTriesPerSlot * max(freed, 1)
		limited, promoted := rules.MaxTriesPerSlot > 0 && !all, m.promotes(e, s)
		switch {
		case limited && (before >= tries || offers >= tries && !promoted):
		case e.Status != waitlist.Waiting || m.hasOffer(e.member, s):
		case slices.ContainsFunc(grants, func(g waitlist.Grant) bool { return g.Member == e.Member }):
		case !matchesWindow(s, e, rules.TimeFlexibility):
		case !promoted && rules.MaxOffersPerEntry > 0 && e.Tries >= rules.MaxOffersPerEntry:
		case slices.Contains(r.tried, e.ID) || slices.Contains(r.gaveUp, e.member) || !eligible(rules, e):
		case !unlimited && (e.Party > left || !rules.AllowDownFitting && e.Party < open):
		case !m.couldBook(e, s):
		default:
			g := waitlist.Grant{Entry: e.ID, Member: e.Member, Seats: e.Party}
			if !promoted {
				if g.Until = offerUntil(rules, m.now, closes, e.member.zoneFor(s)); g.Until.IsZero() {
					continue
				}
				if !slices.ContainsFunc(r.offers, func(o *modelOffer) bool {
					return o.entry.member == e.member && slices.Contains(r.tried, o.entry.ID)
				}) {
					offers++
				}
			}
			grants = append(grants, g)
			if rules.Mode != waitlist.FirstToClaim {
				left -= e.Party
			}
		}
	}
	return grants
}

// promotes reports whether an entry is booked without an offer: nothing about that may surprise its member.
func (m *model) promotes(e *modelEntry, s *modelSession) bool {
	rules, member := s.service.waitlist.Rules, e.member
	if rules.Mode != waitlist.AutoPromote || !matchesWindow(s, e, 0) {
		return false
	}
	notice := rules.AutoPromoteCutoff
	if window := s.cancellationWindow(member); window > notice && !rules.PromoteAfterCancellationWindow {
		notice = window
	}
	if !s.starts.After(m.now.Add(notice)) || isQuiet(rules, m.now, member.zoneFor(s)) {
		return false
	}
	for _, b := range member.bookings {
		overlaps := b.session.starts.Before(s.ends) && b.session.ends.After(s.starts)
		if b.session != s && (b.active() && overlaps || !b.grace.IsZero() && b.session.localDate == s.localDate) {
			return false
		}
	}
	return !addTimeAwake(rules, m.now, rules.PromotionGrace, s.starts, member.zoneFor(s)).After(s.starts)
}

// cancellationWindow returns how long before the start a member can cancel a booking for the last time.
func (s *modelSession) cancellationWindow(member *modelMember) time.Duration {
	if tier := s.service.policy.TierCancellations[member.Tier]; tier.CancellationWindow != nil {
		return *tier.CancellationWindow
	}
	return s.service.policy.CancellationWindow
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (m *model) hasOffer(member *modelMember, s *modelSession) bool {
	return slices.ContainsFunc(s.offers, func(o *modelOffer) bool { return o.live && o.entry.member == member })
}

func (m *model) couldBook(e *modelEntry, s *modelSession) bool {
	for _, b := range e.member.bookings {
		pauses := slices.Contains(e.sessions, b.session)
		if w := e.Window; w != nil && w.Service == b.session.service.id && w.Location == b.session.service.location.id {
			pauses = matchesWindow(b.session, e, 0)
		}
		if b.status == booking.Pending && pauses {
			return false
		}
	}
	_, refusal := m.mayBook(e.member, s, e.Party, e.Subscription, e.ByStaff)
	return refusal == "" && e.member.active
}

// matchesWindow reports whether a session is close enough to an entry's window.
func matchesWindow(s *modelSession, e *modelEntry, slack time.Duration) bool {
	w := e.Window
	if w == nil {
		return true
	}
	at, err := time.Parse(time.DateOnly+" 15:04", s.localDate+" "+s.localTime)
	if err != nil {
		return false
	}
	// The windows here do not cross midnight, but the slack around them can.
	for day := w.From; !day.After(w.Until); day = day.AddDays(1) {
		from, until := day.At(w.Earliest, time.UTC), day.At(w.Latest, time.UTC)
		if !at.Before(from.Add(-slack)) && !at.After(until.Add(slack)) {
			return true
		}
	}
	return false
}

// The expressions that the simulated tenants use. The model evaluates them in Go.
const (
	notGold = `member.tier != "gold"`
	small   = `entry.party_size < 3`
	fewer   = `100 - entry.party_size`
)

func eligible(rules waitlist.Rules, e *modelEntry) bool {
	switch rules.EligibilityExpression {
	case notGold:
		return e.member.Tier != "gold"
	case small:
		return e.Party < 3
	}
	return true
}

// score returns the score of an entry, or 0 if the order does not use it.
func score(s *modelSession, e *modelEntry) int {
	rules := s.service.waitlist.Rules
	switch rules.Order {
	case waitlist.ByJoining:
		return 0
	case waitlist.ByFormula:
		return 100 - e.Party
	case waitlist.ByPriority:
	}
	days := int(max(s.starts.Sub(e.CreatedAt), 0).Hours()) / 24
	earlyBird := min(days*rules.EarlyBirdPointsPerDay, rules.EarlyBirdMaxPoints)
	return rules.BaseScore + rules.TierBonuses[e.member.Tier] + earlyBird
}

func (m *modelMember) zoneFor(s *modelSession) *time.Location {
	if m.zone == "" {
		return s.service.location.zone
	}
	return zones[m.zone]
}

// offerUntil returns the end of an offer. It counts the minutes outside of quiet hours, one by one. It returns zero if
// there is not enough time.
func offerUntil(rules waitlist.Rules, now, closes time.Time, zone *time.Location) time.Time {
	left, least := closes.Sub(now), min(rules.MinOfferWindow, rules.OfferWindow)
	window := min(rules.OfferWindow, max(left/4, least))
	if left < least {
		return time.Time{}
	}
	until := addAwakeTime(rules, now, window, closes, zone)
	if addAwakeTime(rules, now, least, closes, zone).After(closes) {
		return time.Time{}
	}
	if until.After(closes) {
		return closes
	}
	return until
}

func addAwakeTime(
	rules waitlist.Rules, at time.Time, length time.Duration, enough time.Time, zone *time.Location,
) time.Time {
	if rules.OffersInQuietHours {
		return at.Add(length)
	}
	return addTimeAwake(rules, at, length, enough, zone)
}

// isQuiet reports whether a time is in quiet hours, which cross midnight.
func isQuiet(rules waitlist.Rules, at time.Time, zone *time.Location) bool {
	hour, minute, _ := at.In(zone).Clock()
	clock := civil.TimeOfDay{Hour: hour, Minute: minute}
	return clock.Compare(rules.QuietHours.From) >= 0 || clock.Before(rules.QuietHours.Until)
}

// addTimeAwake returns when a length of time outside of quiet hours has passed; any time after enough if that is later.
func addTimeAwake(
	rules waitlist.Rules, at time.Time, length time.Duration, enough time.Time, zone *time.Location,
) time.Time {
	for length > 0 && !at.After(enough) {
		next := at.Truncate(time.Minute).Add(time.Minute)
		if isQuiet(rules, at, zone) {
			at = next
			continue
		}
		awake := min(next.Sub(at), length)
		at, length = at.Add(awake), length-awake
	}
	if length > 0 {
		return at.Add(time.Second) // not enough time
	}
	return at
}
