package simulate

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// Two seats are for the first who claims them. A party of two is too slow for somebody, who gives the seat up again while somebody else
// still thinks about the other. Once that one lets it go, both are the party's. Chance comes by here once in a thousand lives.
func TestWhoWasTooSlowIsAskedAgain(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]flaw{"asked again": 0, "not asked again": askOnce} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{tables: newTables(), flaw: broken, model: newModel(), report: new(Report), rng: rand.New(rand.NewPCG(1, 1))}
			w.settleDown(Options{Length: day, Size: Busy})
			at := slices.IndexFunc(w.live, func(s *row) bool {
				return s.Capacity != nil && s.WaitlistCapacity > 2 && s.under.maxParty > 1 && s.State == catalog.Published && s.StartsAt.Sub(w.now) > 12*time.Hour &&
					s.under.policy.WaitlistEnabled && s.StartsAt.Sub(w.now) < s.under.policy.Advance
			})
			if at < 0 {
				t.Fatal("there is no such session")
			}
			s := w.live[at]
			rules := waitlist.Defaults()
			rules.Enabled, rules.Mode, rules.OffersInQuietHours = true, waitlist.FirstToClaim, true
			try := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			ask := func(who *member, party int) got {
				t.Helper()
				w.now = w.now.Add(time.Second)
				made, err := w.book(s, who, asking{party: party, staff: true})
				try(err)
				return made
			}
			live := func(e *entryRow) *waitlist.Offer {
				t.Helper()
				of := s.liveOffers()
				at := slices.IndexFunc(of, func(o *waitlist.Offer) bool { return o.Entry == e.ID })
				if at < 0 {
					t.Fatalf("there is no offer to entry %s", short(e.ID.UUID))
				}
				return of[at]
			}
			try(w.setRules(s.under, rules))
			try(w.resize(s, 1))
			ask(w.members[0], 1)
			party, quick, slow := ask(w.members[1], 2).entry, ask(w.members[2], 1).entry, ask(w.members[3], 1).entry
			try(w.resize(s, 3))
			try(w.accept(live(quick)))
			if party.Status != waitlist.Waiting || live(slow).Status != waitlist.Live {
				t.Fatalf("the party is %s", party.Status)
			}
			try(w.cancelBooking(w.bookings[quick.Booking], true))
			err := w.decline(live(slow), false)
			if broken != 0 {
				if err == nil || w.failed == nil {
					t.Error("nobody has noticed")
				}
				return
			}
			try(err)
			if o := live(party); o.Seats != 2 || o.Try != 4 || party.Tries != 1 {
				t.Errorf("offer %d of %d seats, and number %d of its entry", o.Try, o.Seats, party.Tries)
			}
		})
	}
}
