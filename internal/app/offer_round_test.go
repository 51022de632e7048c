package app_test

import (
	"context"
	"testing"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/waitlist"
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
