package app_test

import (
	"context"
	"testing"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// A seat stays open because the party that waits needs two. When the offer for another is declined both go to that party, in
// the round of the offer, which has two seats from then on.
func TestARoundTakesInSeatsThatWereOpen(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	if _, err := h.app.UpdateRules(ctx, h.Owner, app.RulesEdit{Edit: func(s *waitlist.Settings) {
		s.Enabled, s.Mode, s.AfterDecline = new(true), new(waitlist.OfferInTurn), new(waitlist.CloseEntry)
	}}); err != nil {
		t.Fatal(err)
	}
	class := h.session(slot{Capacity: 2, Waitlist: 2})
	mia, noa, one, two := h.member("Mia"), h.member("Noa"), h.member("One"), h.member("Two")
	first, second := h.mustBook(mia, class), h.mustBook(noa, class)
	h.mustWait(one, class)
	if _, err := h.app.Book(ctx, own(two), app.BookRequest{Session: class, Party: 2, Channel: catalog.Online}); err != nil {
		t.Fatal(err)
	}
	for who, id := range map[tenant.BookingID]tenant.Caller{first: mia, second: noa} {
		if _, err := h.cancel(id, who); err != nil {
			t.Fatal(err)
		}
	}
	h.wantSound()
	offered := func(who tenant.Caller) waitlist.Offer {
		t.Helper()
		roster, err := h.app.ListRoster(ctx, h.Coach, class, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range roster.Entries {
			if e.Member == who.Member && e.Offer != nil {
				return *e.Offer
			}
		}
		t.Fatalf("there is no offer for %s in %v", who.Subject, roster.Entries)
		return waitlist.Offer{}
	}
	if _, err := h.app.DeclineOffer(ctx, own(one), offered(one).ID, true, ""); err != nil {
		t.Fatal(err)
	}
	if got := offered(two); got.Seats != 2 {
		t.Errorf("%d seats are on offer", got.Seats)
	}
	h.wantSound()
}

// Two seats are for the first who claims them, of three who were told. A party of two is too slow for somebody by themselves, whose booking is
// given up again while somebody else still thinks. The party is told of both seats once that one has let the other go, however it does, and
// whoever let it go is not asked again.
func TestWhoWasTooSlowIsAskedAgain(t *testing.T) {
	t.Parallel()
	for name, letGo := range map[string]func(*house, tenant.Caller, waitlist.Offer) error{
		"declined": func(h *house, who tenant.Caller, o waitlist.Offer) error {
			_, err := h.decline(who, o, false)
			return err
		},
		"expired": func(h *house, _ tenant.Caller, o waitlist.Offer) error {
			h.clock.Set(o.ExpiresAt)
			_, err := h.app.ExpireOffers(context.Background(), h.Tenant)
			return err
		},
		"left": func(h *house, who tenant.Caller, o waitlist.Offer) error {
			_, err := h.app.LeaveWaitlist(context.Background(), own(who), o.Entry, "", false)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.rules(func(s *waitlist.Settings) {
				s.Mode, s.MaxOffersPerEntry = new(waitlist.FirstToClaim), new(2)
			})
			class, _, _ := h.full(1)
			party, quick, slow := h.member("Party"), h.member("Quick"), h.member("Slow")
			pair := h.mustJoin(party, app.JoinRequest{Sessions: []tenant.SessionID{class}, Party: 2}).ID
			rest := []tenant.EntryID{h.mustJoin(quick, names(class)).ID, h.mustJoin(slow, names(class)).ID}
			h.resize(class, 3)
			first := h.live(pair)
			claimed, err := h.accept(quick, h.live(rest[0]))
			if err != nil {
				t.Fatal(err)
			}
			h.mustCancel(quick, claimed.Booking.ID)
			h.wantEntries(map[tenant.EntryID]waitlist.Status{pair: waitlist.Waiting, rest[1]: waitlist.Offered})
			h.wantSound()
			h.tick()
			if err := letGo(h, slow, h.live(rest[1])); err != nil {
				t.Fatal(err)
			}
			h.wantSound()
			again := h.live(pair)
			if again.Seats != 2 || again.Round != first.Round || again.Try != 4 || h.entry(pair).Tries != 1 {
				t.Errorf("offer %d of %d seats, number %d of its entry, in the same round: %t", again.Try, again.Seats, h.entry(pair).Tries, again.Round == first.Round)
			}
			if d := h.last(class).Decision; d.Move != waitlist.RollOn || d.Tried != 2 {
				t.Errorf("%s after %d were asked, want 2: who was too slow is none of them", d.Move, d.Tried)
			}
			if _, err := h.accept(party, first); fault.ReasonOf(err) != fault.OfferNotLive {
				t.Errorf("the offer that was withdrawn is accepted: %v", err)
			}
			if _, err := h.decline(party, again, false); err != nil {
				t.Fatal(err)
			}
			h.wantEntries(map[tenant.EntryID]waitlist.Status{pair: waitlist.Waiting})
			if n := len(h.offers(class)); n != 4 {
				t.Errorf("there were %d offers: whoever let it go is asked again", n)
			}
			h.wantSound()
		})
	}
}

// Who was offered a seat that the session then had no longer is the next of the round, before those who were never asked. Whom nobody can tell of
// an offer is not.
func TestWhatIsWithdrawnMayBeOfferedAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		withdraw func(*house, tenant.SessionID, waitlist.Offer)
		next     int
	}{
		"fewer seats": {func(h *house, class tenant.SessionID, _ waitlist.Offer) { h.resize(class, 2) }, 1},
		"nobody could tell them": {func(h *house, _ tenant.SessionID, o waitlist.Offer) {
			if err := h.app.Offers().Unsendable(context.Background(), h.Tenant, o.ID); err != nil {
				h.t.Fatal(err)
			}
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.rules(func(s *waitlist.Settings) { s.Mode, s.MaxTriesPerSlot = new(waitlist.OfferInTurn), new(0) })
			class, _, _ := h.full(1)
			who, entries := h.waiters(3, names(class))
			h.resize(class, 3)
			h.wantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: waitlist.Offered, entries[1]: waitlist.Offered, entries[2]: waitlist.Waiting})
			h.tick()
			tt.withdraw(h, class, h.live(entries[1]))
			h.wantEntries(map[tenant.EntryID]waitlist.Status{entries[1]: waitlist.Waiting})
			if _, err := h.decline(who[0], h.live(entries[0]), false); err != nil {
				t.Fatal(err)
			}
			want := map[tenant.EntryID]waitlist.Status{entries[0]: waitlist.Waiting, entries[1]: waitlist.Waiting, entries[2]: waitlist.Waiting}
			want[entries[tt.next]] = waitlist.Offered
			h.wantEntries(want)
			h.wantSound()
		})
	}
}
