package app_test

import (
	"context"
	"testing"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/booking"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/waitlist"
)

// Somebody books one session twice at the same moment, with seats for both. Serializable transactions and the unique index
// of active bookings guard it; each of them is enough.
func TestTwoBookingsOfOneMember(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		careless, unindexed bool
		bookings            int
	}{
		"guarded":           {bookings: 1},
		"by the index only": {careless: true, bookings: 1},
		"unguarded":         {careless: true, unindexed: true, bookings: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, h := arenaHouse(t)
			a.careless = tt.careless
			if tt.unindexed {
				h.exec(`drop index bookings_active`)
				h.exec(`create index bookings_active on bookings (tenant_id, session_id, member_id)`) // as an aid, and no guard
			}
			mia := h.member("Mia")
			class := h.session(slot{Capacity: 5})
			twice := func() {
				if _, err := h.book(mia, class); err != nil && fault.ReasonOf(err) != fault.AlreadyBooked {
					t.Error(err)
				}
			}
			a.race(twice, twice)
			if n := h.count(`select count(*) from bookings where session_id = $1 and status = 'CONFIRMED'`, class); n != tt.bookings {
				t.Errorf("%d bookings", n)
			}
			if sound := len(h.violations()) == 0; sound != (tt.bookings == 1) {
				t.Errorf("sound: %v", sound)
			}
		})
	}
}

// The seat of an offer is wanted by somebody else at the moment at which the offer is accepted. It counts as taken, which guards it:
// without that both have it.
func TestAnOfferedSeatIsNobodyElses(t *testing.T) {
	t.Parallel()
	for name, reserved := range map[string]bool{"reserved": true, "unreserved": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			a, h := arenaHouse(t)
			if _, err := h.app.UpdateRules(ctx, h.Owner, app.RulesEdit{Edit: func(s *waitlist.Settings) {
				s.Enabled, s.Mode = new(true), new(waitlist.OfferInTurn)
			}}); err != nil {
				t.Fatal(err)
			}
			class := h.session(slot{Capacity: 1, Waitlist: 1})
			mia, noa, eve := h.member("Mia"), h.member("Noa"), h.member("Eve")
			first := h.mustBook(mia, class)
			h.mustWait(noa, class)
			if _, err := h.cancel(mia, first); err != nil {
				t.Fatal(err)
			}
			var offer tenant.OfferID
			if err := h.db.Owner.QueryRow(ctx, `select id from waitlist_offers where session_id = $1`, class).Scan(&offer); err != nil {
				t.Fatal(err)
			}
			if !reserved {
				h.exec(`update sessions set seats_taken = 0 where id = $1`, class)
			}
			accept := func() {
				if _, err := h.app.AcceptOffer(ctx, own(noa), offer, tenant.SubscriptionID{}); err != nil {
					t.Error(err)
				}
			}
			book := func() {
				if _, err := h.book(eve, class); fault.ReasonOf(err) != fault.SessionFull && reserved {
					t.Error(err)
				}
			}
			if reserved {
				a.race(accept, book)
			} else {
				book()
				accept()
			}
			if n := h.count(`select count(*) from bookings where session_id = $1 and status = $2`, class, booking.Confirmed); (n == 1) != reserved {
				t.Errorf("%d have the seat", n)
			}
			if sound := len(h.violations()) == 0; sound != reserved {
				t.Errorf("sound: %v", sound)
			}
		})
	}
}
