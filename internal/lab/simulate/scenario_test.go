package simulate

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// scenario is one session of a tenant. Only the test acts.
type scenario struct {
	*world
	*testing.T
	s *sessionRow
}

// newScenario returns a session with one seat, which the first member has booked, and room for a queue.
func newScenario(t *testing.T, broken bug, mode waitlist.Mode) *scenario {
	t.Helper()
	w := &world{
		changed: make(map[tenant.MemberID]bool),
		tables:  newTables(), bug: broken, model: newModel(), report: new(Report), rng: rand.New(rand.NewPCG(1, 1)),
	}
	w.setUp(Options{Length: day, Size: Busy})
	at := slices.IndexFunc(w.sessionList, func(s *sessionRow) bool {
		return s.Capacity != nil && s.WaitlistCapacity > 2 && s.service.maxParty > 1 && s.State == catalog.Published &&
			s.StartsAt.Sub(w.now) > 12*time.Hour && s.StartsAt.Sub(w.now) < s.service.policy.AdvanceWindow &&
			s.service.policy.WaitlistEnabled
	})
	must.True(t, at >= 0, must.Sprint("no session fits"))
	sc := &scenario{w, t, w.sessionList[at]}
	rules := waitlist.Defaults()
	rules.Enabled, rules.Mode, rules.OffersInQuietHours = true, mode, true
	sc.must(w.setRules(sc.s.service, rules))
	sc.must(w.resize(sc.s, 1))
	sc.bookFor(0, 1)
	return sc
}

func (sc *scenario) must(err error) {
	sc.Helper()
	if err != nil {
		sc.Fatal(err)
	}
}

// bookFor books for a member, and returns the booking or the entry.
func (sc *scenario) bookFor(member, party int) bookResult {
	sc.Helper()
	sc.now = sc.now.Add(time.Second)
	made, err := sc.book(sc.s, sc.members[member], bookRequest{party: party, staff: true})
	sc.must(err)
	return made
}

// liveOffer returns the live offer of an entry.
func (sc *scenario) liveOffer(e *entryRow) *waitlist.Offer {
	sc.Helper()
	live := sc.s.liveOffers()
	at := slices.IndexFunc(live, func(o *waitlist.Offer) bool { return o.Entry == e.ID })
	if at < 0 {
		sc.Fatalf("entry %s has no live offer", short(e.ID.UUID))
	}
	return live[at]
}

// caught checks the result of the last step. It must fail exactly if a bug is injected.
func (sc *scenario) caught(err error) (sound bool) {
	sc.Helper()
	if sc.bug == noBug {
		sc.must(err)
		return true
	}
	if err == nil || sc.failed == nil {
		sc.Error("the bug was not detected")
	}
	return false
}

// Two seats go to the first to claim them. A party of two is too slow: another member claims one seat and cancels,
// while a third still has an offer for the other. Once the third declines, the party gets an offer for both. Random
// runs reach this once in a thousand seeds.
func TestFill_OffersAgainToEntryThatWasTooSlow(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]bug{"offers again": noBug, "does not offer again": neverRetryTooSlow} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := newScenario(t, broken, waitlist.FirstToClaim)
			party, quick, slow := sc.bookFor(1, 2).entry, sc.bookFor(2, 1).entry, sc.bookFor(3, 1).entry
			sc.must(sc.resize(sc.s, 3))
			sc.must(sc.accept(sc.liveOffer(quick)))
			must.EqOp(t, waitlist.Waiting, party.Status, must.Sprintf("the party's entry is %s", party.Status))
			must.EqOp(t, waitlist.Live, sc.liveOffer(slow).Status,
				must.Sprintf("the party's entry is %s", party.Status))
			sc.must(sc.cancelBooking(sc.bookings[quick.Booking], true))
			if !sc.caught(sc.decline(sc.liveOffer(slow), false)) {
				return
			}
			o := sc.liveOffer(party)
			test.EqOp(t, 2, o.Seats,
				test.Sprintf("offer %d of %d seats, offer %d of its entry", o.Try, o.Seats, party.Tries))
			test.EqOp(t, 4, o.Try,
				test.Sprintf("offer %d of %d seats, offer %d of its entry", o.Try, o.Seats, party.Tries))
			test.EqOp(t, 1, party.Tries,
				test.Sprintf("offer %d of %d seats, offer %d of its entry", o.Try, o.Seats, party.Tries))
		})
	}
}

// One of two freed seats is offered. The other stays open, because the waiting party needs both. Once the first is
// declined, both go to the party in the same round, which then has two seats.
func TestFill_AddsOpenSeatsToRound(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]bug{"grows": noBug, "does not grow": fixedRoundSize} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := newScenario(t, broken, waitlist.OfferInTurn)
			single, party := sc.bookFor(1, 1).entry, sc.bookFor(2, 2).entry
			sc.must(sc.cancelBooking(sc.s.bookings[0], true))
			first := sc.liveOffer(single)
			sc.must(sc.resize(sc.s, 2))
			if !sc.caught(sc.decline(first, false)) {
				return
			}
			o := sc.liveOffer(party)
			test.EqOp(t, 2, o.Seats,
				test.Sprintf("an offer of %d seats, in a round of %d", o.Seats, sc.rounds[o.Round].Freed))
			test.EqOp(t, first.Round, o.Round,
				test.Sprintf("an offer of %d seats, in a round of %d", o.Seats, sc.rounds[o.Round].Freed))
			test.EqOp(t, 2, sc.rounds[o.Round].Freed,
				test.Sprintf("an offer of %d seats, in a round of %d", o.Seats, sc.rounds[o.Round].Freed))
		})
	}
}

// A seat is kept for the only entry that waits. Another entry joins before the first declines. The round keeps nothing
// for a moment, and then keeps the seat for the second entry.
func TestFill_ReopensClosedRound(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]bug{"opens": noBug, "stays closed": neverReopenRound} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := newScenario(t, broken, waitlist.FirstToClaim)
			first := sc.bookFor(1, 1).entry
			sc.must(sc.cancelBooking(sc.s.bookings[0], true))
			second := sc.bookFor(2, 1).entry
			if !sc.caught(sc.decline(sc.liveOffer(first), false)) {
				return
			}
			round := sc.rounds[sc.liveOffer(second).Round]
			test.MapLen(t, 1, sc.rounds,
				test.Sprintf("the seat is kept in %+v, one of %d rounds", round, len(sc.rounds)))
			test.EqOp(t, 1, round.Keeps,
				test.Sprintf("the seat is kept in %+v, one of %d rounds", round, len(sc.rounds)))
			test.Nil(t, round.Closed, test.Sprintf("the seat is kept in %+v, one of %d rounds", round, len(sc.rounds)))
		})
	}
}
