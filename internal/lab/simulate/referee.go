package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// inLine are those who stand in line for a session: who names it, and who wishes for something of its service on its
// day.
func (m *model) inLine(s *mSession) []*mEntry {
	var all []*mEntry
	for _, e := range m.entries {
		if slices.Contains(e.in, s) || e.Window != nil && e.Window.Service == s.under.service &&
			e.Window.Location == s.under.at.id &&
			s.local >= e.Window.From.String() && s.local <= e.Window.Until.String() {
			all = append(all, e)
		}
	}
	return all
}

// decided holds a decision against a judgement of the model's own: who is first in line of those who may have the seats
// gets them, nobody else does, and nobody is passed over.
func (m *model) decided(f Fact, s *mSession) error {
	delete(m.owed, s.id)
	d := f.decision
	if by := d.Case.Trigger; by == waitlist.BySweep || by == waitlist.ByHand {
		s.mayDecide++
	}
	if s.decisions++; s.decisions > s.mayDecide {
		return fmt.Errorf("it was decided twice about the same seats")
	}
	open, unlimited := s.open()
	switch seats := d.Case.Slot.Seats; {
	case unlimited != (seats == nil) || !unlimited && *seats != open:
		return fmt.Errorf("%d seats are open", open)
	case !s.onSale():
		return fmt.Errorf("the session is off sale")
	}
	r := m.rounds[f.Round]
	if r == nil {
		r = &mRound{freed: open}
		if !f.Round.IsZero() {
			m.rounds[f.Round] = r
			s.rounds = append(s.rounds, r)
		}
	}
	if d.Case.Trigger == waitlist.ByHand {
		return m.chosen(d, r)
	}
	queue := m.inLine(s)
	// Those behind are left alone where no seat is left for them.
	if n := len(d.Decision.Verdicts); n > len(queue) || n < len(queue) && (unlimited || d.Decision.Given < open) {
		return fmt.Errorf("%d stand in line, and %d were judged", len(queue), n)
	}
	if note := !unlimited && d.Decision.Given < open; note != (d.Note != "") {
		return fmt.Errorf("staff are told %q", d.Note)
	}
	freed := max(r.freed, open+r.reserved())
	want := m.whoGets(s, freed, r.tried, queue, d.Case.Trigger)
	got := d.Decision.Grants
	if len(want) != len(got) {
		return fmt.Errorf("%d get seats, and %d should: %s", len(got), len(want), names(want))
	}
	for i, g := range got {
		if w := want[i]; g.Entry != w.Entry || g.Seats != w.Seats || !g.Until.Equal(w.Until) {
			return fmt.Errorf("number %d is entry %s with %d seats until %s, and should be %s with %d until %s", i+1,
				short(g.Entry.UUID), g.Seats, g.Until.UTC(), short(w.Entry.UUID), w.Seats, w.Until.UTC())
		}
		m.granted[g.Entry] = true
	}
	if len(got) > 0 && d.Decision.Mode != waitlist.AutoPromote {
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

// chosen is an offer by hand. It gives no more than its entry asks for.
func (m *model) chosen(d *waitlist.Record, r *mRound) error {
	if len(d.Decision.Grants) != 1 {
		return fmt.Errorf("staff chose %d", len(d.Decision.Grants))
	}
	g := d.Decision.Grants[0]
	e := m.entries[g.Entry]
	if e == nil || e.Status != waitlist.Waiting || e.Party != g.Seats || !g.Until.After(m.now) {
		return fmt.Errorf("staff chose entry %s, for %d seats", short(g.Entry.UUID), g.Seats)
	}
	m.granted[g.Entry], r.freed = true, g.Seats
	return nil
}

// lookedAgain notes whether there is somebody for the open seats of a session whose rules were edited.
func (m *model) lookedAgain(f Fact, s *mSession) {
	r := m.rounds[f.Round]
	if r == nil {
		r = new(mRound)
	}
	open, unlimited := s.open()
	if s.onSale() && (open > 0 || unlimited) && m.now.Before(s.ends) &&
		len(m.whoGets(s, max(r.freed, open+r.reserved()), r.tried, m.inLine(s), waitlist.ByRules)) > 0 {
		m.freed(s)
	}
}

func names(all []waitlist.Grant) (text string) {
	for _, g := range all {
		text += short(g.Entry.UUID) + " "
	}
	return text
}

// whoGets are those who should get seats, in order.
func (m *model) whoGets(
	s *mSession, freed int, tried []tenant.EntryID, queue []*mEntry, by waitlist.Trigger,
) []waitlist.Grant {
	rules := s.under.waitlist.Rules
	open, unlimited := s.open()
	mode := rules.Mode
	if unlimited || mode == waitlist.AutoPromote && !m.now.After(s.starts.Add(-rules.AutoPromoteCutoff)) {
		mode = waitlist.AutoPromote
	} else if mode == waitlist.AutoPromote {
		mode = waitlist.OfferInTurn
	}
	closes := s.starts.Add(-s.under.policy.BookingCloses)
	if !m.now.Before(closes) && rules.FillAfterStart > 0 {
		closes = s.starts.Add(rules.FillAfterStart)
	}
	if closes.After(s.ends) {
		closes = s.ends
	}
	letGo := by == waitlist.ByDecline || by == waitlist.ByExpiry || by == waitlist.ByRules && len(tried) > 0
	if !rules.Enabled || !m.now.Before(closes) || letGo && !rules.AutoCascade {
		return nil
	}
	slices.SortFunc(queue, func(a, b *mEntry) int {
		return cmp.Or(-compareBool(a.Flagged, b.Flagged), cmp.Compare(score(s, b), score(s, a)), cmp.Compare(a.Key, b.Key))
	})
	var all []waitlist.Grant
	left := open
	for _, e := range queue {
		tries := rules.MaxTriesPerSlot * max(freed, 1)
		full := rules.MaxTriesPerSlot > 0 && rules.Mode != waitlist.FirstToClaim && len(tried)+len(all) >= tries
		switch {
		case full && (mode != waitlist.AutoPromote || len(tried) >= tries):
		case e.Status != waitlist.Waiting || m.askedFor(e.who, s):
		case slices.ContainsFunc(all, func(g waitlist.Grant) bool { return g.Member == e.Member }):
		case !wants(s, e, rules.TimeFlexibility):
		case mode != waitlist.AutoPromote && rules.MaxOffersPerEntry > 0 && e.Tries >= rules.MaxOffersPerEntry:
		case slices.Contains(tried, e.ID) || !eligible(rules, e):
		case !unlimited && (e.Party > left || !rules.AllowDownFitting && e.Party < open):
		case !m.couldBook(e, s):
		default:
			g := waitlist.Grant{Entry: e.ID, Member: e.Member, Seats: e.Party}
			if mode != waitlist.AutoPromote {
				if g.Until = offerUntil(rules, m.now, closes, e.who.placeOf(s)); g.Until.IsZero() {
					continue
				}
			}
			all = append(all, g)
			if mode != waitlist.FirstToClaim {
				left -= e.Party
			}
		}
	}
	return all
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

func (m *model) askedFor(who *mMember, s *mSession) bool {
	return slices.ContainsFunc(s.offers, func(o *mOffer) bool { return o.live && o.entry.who == who })
}

func (m *model) couldBook(e *mEntry, s *mSession) bool {
	_, refusal := m.mayBook(e.who, s, e.Party, e.Subscription, e.ByStaff)
	return refusal == "" && e.who.active
}

// wants reports whether a session is near enough to a wish.
func wants(s *mSession, e *mEntry, slack time.Duration) bool {
	w := e.Window
	if w == nil {
		return true
	}
	at, err := time.Parse(time.DateOnly+" 15:04", s.local+" "+s.clock)
	if err != nil {
		return false
	}
	// The wishes here do not go over midnight, but what is near to one may lie beyond it.
	for day := w.From; !day.After(w.Until); day = day.AddDays(1) {
		from, until := day.At(w.Earliest, time.UTC), day.At(w.Latest, time.UTC)
		if !at.Before(from.Add(-slack)) && !at.After(until.Add(slack)) {
			return true
		}
	}
	return false
}

// The expressions that tenants here use, in Go.
const (
	notGold = `member.tier != "gold"`
	small   = `entry.party_size < 3`
	fewer   = `100 - entry.party_size`
)

func eligible(rules waitlist.Rules, e *mEntry) bool {
	switch rules.EligibilityExpression {
	case notGold:
		return e.who.Tier != "gold"
	case small:
		return e.Party < 3
	}
	return true
}

// score is what an entry is worth, where that counts.
func score(s *mSession, e *mEntry) int {
	rules := s.under.waitlist.Rules
	switch rules.Order {
	case waitlist.ByJoining:
		return 0
	case waitlist.ByFormula:
		return 100 - e.Party
	case waitlist.ByPriority:
	}
	days := int(max(s.starts.Sub(e.CreatedAt), 0).Hours()) / 24
	return rules.BaseScore + rules.TierBonus[e.who.Tier] + min(days*rules.EarlyBirdPerDay, rules.EarlyBirdMax)
}

func (m *mMember) placeOf(s *mSession) *time.Location {
	if m.zone == "" {
		return s.under.at.zone
	}
	return zoneNamed(m.zone)
}

// offerUntil walks from minute to minute, and counts those in which people are awake; zero where there is no time.
func offerUntil(rules waitlist.Rules, now, closes time.Time, zone *time.Location) time.Time {
	left, least := closes.Sub(now), min(rules.MinOfferWindow, rules.OfferWindow)
	window := min(rules.OfferWindow, max(left/4, least))
	if left < least {
		return time.Time{}
	}
	until := walk(rules, now, window, closes, zone)
	if walk(rules, now, least, closes, zone).After(closes) {
		return time.Time{}
	}
	if until.After(closes) {
		return closes
	}
	return until
}

func walk(rules waitlist.Rules, at time.Time, length time.Duration, enough time.Time, zone *time.Location) time.Time {
	for length > 0 && !at.After(enough) {
		next := at.Truncate(time.Minute).Add(time.Minute)
		hour, minute, _ := at.In(zone).Clock()
		clock := civil.TimeOfDay{Hour: hour, Minute: minute}
		quiet := clock.Compare(rules.QuietHours.From) >= 0 || clock.Before(rules.QuietHours.Until) // they go over midnight
		if quiet && !rules.OffersInQuietHours {
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

// compare holds sessions, and all that hangs on them, against the model.
func (w *world) compare(rows []*row) error {
	for _, s := range rows {
		if err := w.compareRow(s); err != nil {
			return fmt.Errorf("session %s: %w", short(s.ID.UUID), err)
		}
	}
	for _, f := range w.facts {
		if who := w.who[f.Member]; who != nil {
			if err := w.compareMember(who); err != nil {
				return fmt.Errorf("member %s: %w", short(who.ID.UUID), err)
			}
		}
	}
	return nil
}

func (w *world) compareRow(s *row) error {
	m := w.model.sessions[s.ID]
	if m == nil {
		return fmt.Errorf("nobody made it")
	}
	holds, waiting := 0, 0
	for _, b := range m.bookings {
		kept := w.bookings[b.id]
		if kept.Status != b.status && (b.status != booking.Expired || kept.Status != booking.Cancelled) {
			return fmt.Errorf("booking %s is %s, and should be %s", short(b.id.UUID), kept.Status, b.status)
		}
		if kept.Credits != b.credits {
			return fmt.Errorf("booking %s holds %d credits, and should hold %d", short(b.id.UUID), kept.Credits, b.credits)
		}
		if b.status == booking.Pending {
			if holds++; w.now.Sub(b.until) >= latency {
				return fmt.Errorf("hold %s has run out at %s", short(b.id.UUID), b.until)
			}
		}
	}
	for _, o := range m.offers {
		switch {
		case !o.live:
		case w.now.Sub(o.until) >= latency:
			return fmt.Errorf("offer %s has run out at %s", short(o.id.UUID), o.until)
		case o.until.After(s.EndsAt) || o.until.After(s.StartsAt) && s.under.waitlist.FillAfterStart == 0 && !w.edited:
			return fmt.Errorf("offer %s outlives booking", short(o.id.UUID))
		}
	}
	for _, e := range w.model.entries {
		if slices.Contains(e.in, m) {
			waiting++
		}
	}
	for _, r := range s.rounds {
		switch want := w.model.rounds[r.ID]; {
		case r.Freed != want.freed || r.Keeps != want.keeps || r.Keeps > 0 && r.Closed != nil:
			return fmt.Errorf("round %s is %+v, and should be %+v", short(r.ID.UUID), *r, *want)
		case want.reserved() > want.freed:
			return fmt.Errorf("round %s gives %d seats, of %d that were freed", short(r.ID.UUID), want.reserved(), want.freed)
		}
	}
	seats := m.seats()
	switch {
	case s.SeatsTaken != seats:
		return fmt.Errorf("seats taken are %d, and should be %d", s.SeatsTaken, seats)
	case s.Capacity != nil && seats > *s.Capacity:
		return fmt.Errorf("%d of %d seats are taken", seats, *s.Capacity)
	case s.Holds != holds:
		return fmt.Errorf("holds are %d, and should be %d", s.Holds, holds)
	case s.Waiting != waiting || len(s.waits) != waiting:
		return fmt.Errorf("waiting are %d, and should be %d", s.Waiting, waiting)
	}
	return nil
}

func (w *world) compareMember(who *member) error {
	m := w.model.members[who.ID]
	for _, u := range who.subs {
		if err := w.compareSubscription(m, u); err != nil {
			return fmt.Errorf("subscription %s: %w", short(u.ID.UUID), err)
		}
	}
	if len(who.entries) != len(m.entries) {
		return fmt.Errorf("%d entries wait, and %d should", len(who.entries), len(m.entries))
	}
	for _, e := range who.entries {
		want := w.model.entries[e.ID]
		if want == nil || want.Status != e.Status || want.Tries != e.Tries || want.PassedOver != e.PassedOver {
			return fmt.Errorf("entry %s is %s after %d offers, passed over because of %q, and should be otherwise",
				short(e.ID.UUID), e.Status, e.Tries, e.PassedOver)
		}
	}
	seen := make(map[tenant.SessionID]bool)
	for _, b := range who.bookings {
		if b.Status.Active() {
			if seen[b.Session] {
				return fmt.Errorf("there are two bookings in session %s", short(b.Session.UUID))
			}
			seen[b.Session] = true
		}
	}
	return nil
}

func (w *world) compareSubscription(m *mMember, u *subscription) error {
	sum := 0
	for _, line := range u.ledger {
		if sum += line.Amount; sum < 0 || sum != line.Balance {
			return fmt.Errorf("line %d makes %d", line.Line, sum)
		}
	}
	if sum != u.Balance || len(u.ledger) != u.Lines {
		return fmt.Errorf("its %d lines make %d, and the balance is %d", len(u.ledger), sum, u.Balance)
	}
	if u.Plan.Kind != credit.Credits && len(u.ledger) > 0 {
		return fmt.Errorf("credits moved on a plan of the kind %s", u.Plan.Kind)
	}
	want := w.model.subs[u.ID]
	want.advance(w.now)
	if is, _ := credit.Advance(u.Subscription, w.now); is.Balance != want.balance || is.Status != want.status {
		return fmt.Errorf(
			"it is %s with %d credits, and should be %s with %d", is.Status, is.Balance, want.status, want.balance,
		)
	}
	if !u.Plan.HasQuota() {
		return nil
	}
	for _, b := range m.bookings {
		if b.sub != want {
			continue
		}
		day, week := m.used(want, b.in, nil)
		on := w.rows[b.in.id].LocalDate
		if u.used[usage{on: on}] != day || u.used[usage{week: true, on: on.WeekStart()}] != week {
			return fmt.Errorf("quotas say %d on %s and %d in its week, and bookings %d and %d", u.used[usage{on: on}], on,
				u.used[usage{week: true, on: on.WeekStart()}], day, week)
		}
	}
	return nil
}

// compareAll is compare for everything there is.
func (w *world) compareAll() error {
	if err := w.compare(w.live); err != nil {
		return w.wrong("%v", err)
	}
	for _, m := range w.members {
		if err := w.compareMember(m); err != nil {
			return w.wrong("member %s: %v", short(m.ID.UUID), err)
		}
	}
	return nil
}
