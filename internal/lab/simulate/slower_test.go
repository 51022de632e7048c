package simulate

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// scenario is a session of a tenant in which nothing happens by itself.
type scenario struct {
	*world
	*testing.T
	s *row
}

// newScenario has a session with one seat, which the first member has, and room for a queue.
func newScenario(t *testing.T, broken flaw, mode waitlist.Mode) *scenario {
	t.Helper()
	w := &world{
		tables: newTables(), flaw: broken, model: newModel(), report: new(Report), rng: rand.New(rand.NewPCG(1, 1)),
	}
	w.settleDown(Options{Length: day, Size: Busy})
	at := slices.IndexFunc(w.live, func(s *row) bool {
		return s.Capacity != nil && s.WaitlistCapacity > 2 && s.under.maxParty > 1 && s.State == catalog.Published &&
			s.StartsAt.Sub(w.now) > 12*time.Hour && s.StartsAt.Sub(w.now) < s.under.policy.Advance &&
			s.under.policy.WaitlistEnabled
	})
	if at < 0 {
		t.Fatal("there is no such session")
	}
	sc := &scenario{w, t, w.live[at]}
	rules := waitlist.Defaults()
	rules.Enabled, rules.Mode, rules.OffersInQuietHours = true, mode, true
	sc.must(w.setRules(sc.s.under, rules))
	sc.must(w.resize(sc.s, 1))
	sc.ask(0, 1)
	return sc
}

func (sc *scenario) must(err error) {
	sc.Helper()
	if err != nil {
		sc.Fatal(err)
	}
}

// ask books for a member, and gives the booking or the entry.
func (sc *scenario) ask(who, party int) got {
	sc.Helper()
	sc.now = sc.now.Add(time.Second)
	made, err := sc.book(sc.s, sc.members[who], asking{party: party, staff: true})
	sc.must(err)
	return made
}

// offerTo is the live offer to an entry.
func (sc *scenario) offerTo(e *entryRow) *waitlist.Offer {
	sc.Helper()
	live := sc.s.liveOffers()
	at := slices.IndexFunc(live, func(o *waitlist.Offer) bool { return o.Entry == e.ID })
	if at < 0 {
		sc.Fatalf("there is no offer to entry %s", short(e.ID.UUID))
	}
	return live[at]
}

// ends checks the outcome of the last act: only a flaw makes it fail.
func (sc *scenario) ends(err error) (sound bool) {
	sc.Helper()
	if sc.flaw == noFlaw {
		sc.must(err)
		return true
	}
	if err == nil || sc.failed == nil {
		sc.Error("nobody has noticed")
	}
	return false
}

// Two seats are for the first who claims them. A party of two is too slow for somebody, who gives the seat up again
// while somebody else still thinks about the other. Once that one lets it go, both are the party's. Chance comes by
// here once in a thousand lives.
func TestWhoWasTooSlowIsAskedAgain(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]flaw{"asked again": noFlaw, "not asked again": askOnce} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := newScenario(t, broken, waitlist.FirstToClaim)
			party, quick, slow := sc.ask(1, 2).entry, sc.ask(2, 1).entry, sc.ask(3, 1).entry
			sc.must(sc.resize(sc.s, 3))
			sc.must(sc.accept(sc.offerTo(quick)))
			if party.Status != waitlist.Waiting || sc.offerTo(slow).Status != waitlist.Live {
				t.Fatalf("the party is %s", party.Status)
			}
			sc.must(sc.cancelBooking(sc.bookings[quick.Booking], true))
			if !sc.ends(sc.decline(sc.offerTo(slow), false)) {
				return
			}
			if o := sc.offerTo(party); o.Seats != 2 || o.Try != 4 || party.Tries != 1 {
				t.Errorf("offer %d of %d seats, and number %d of its entry", o.Try, o.Seats, party.Tries)
			}
		})
	}
}

// One of two freed seats is offered. The other stays open: the party that waits needs both. Once the first is
// declined, both go to the party in the round of the offer, which has two seats from then on.
func TestRoundGrowsBySeatsThatWereOpen(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]flaw{"grows": noFlaw, "does not grow": frozenRound} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := newScenario(t, broken, waitlist.OfferInTurn)
			single, party := sc.ask(1, 1).entry, sc.ask(2, 2).entry
			sc.must(sc.cancelBooking(sc.s.bookings[0], true))
			first := sc.offerTo(single)
			sc.must(sc.resize(sc.s, 2))
			if !sc.ends(sc.decline(first, false)) {
				return
			}
			if o := sc.offerTo(party); o.Seats != 2 || o.Round != first.Round || sc.rounds[o.Round].Freed != 2 {
				t.Errorf("an offer of %d seats, in a round of %d", o.Seats, sc.rounds[o.Round].Freed)
			}
		})
	}
}

// A seat is kept for the only entry that waits. Another joins before that one lets the seat go. The round, which has
// nothing to keep for a moment, keeps the seat for the other.
func TestClosedRoundOpensAgain(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]flaw{"opens": noFlaw, "stays closed": stayClosed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := newScenario(t, broken, waitlist.FirstToClaim)
			first := sc.ask(1, 1).entry
			sc.must(sc.cancelBooking(sc.s.bookings[0], true))
			second := sc.ask(2, 1).entry
			if !sc.ends(sc.decline(sc.offerTo(first), false)) {
				return
			}
			o := sc.offerTo(second)
			if round := sc.rounds[o.Round]; len(sc.rounds) != 1 || round.Keeps != 1 || round.Closed != nil {
				t.Errorf("the seat is kept in %+v, one of %d rounds", round, len(sc.rounds))
			}
		})
	}
}
