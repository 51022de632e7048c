package bookings_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// Somebody books one session twice at the same moment, with seats for both. Serializable transactions and the unique
// index of active bookings guard it; each of them is enough.
func TestGuard_OneBookingPerMemberAndSession(t *testing.T) {
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
			a, h := testkit.NewRace(t)
			a.ReadCommitted = tt.careless
			if tt.unindexed {
				h.Exec(`drop index bookings_active`)
				h.Exec(`create index bookings_active on bookings (tenant_id, session_id, member_id)`) // as an aid, and no guard
			}
			mia := h.AddMember("Mia")
			class := h.AddSession(testkit.Session{Capacity: 5})
			twice := func() {
				if _, err := h.OtherNode().Book(mia, class); err != nil && fault.ReasonOf(err) != fault.AlreadyBooked {
					t.Error(err)
				}
			}
			a.Run(twice, twice)
			if n := h.Count(
				`select count(*) from bookings where session_id = $1 and status = 'CONFIRMED'`, class,
			); n != tt.bookings {
				t.Errorf("%d bookings", n)
			}
			if sound := len(h.Violations()) == 0; sound != (tt.bookings == 1) {
				t.Errorf("sound: %v", sound)
			}
		})
	}
}

// Somebody whose plan forbids it books two sessions that overlap at the same moment, at two nodes. Nobody looks for
// such bookings: the exclusion constraint on their spans guards it alone, and without it isolation does not help.
func TestGuard_NoOverlappingBookings(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		careless, unconstrained bool
		bookings                int
	}{
		"guarded":                {bookings: 1},
		"by the constraint only": {careless: true, bookings: 1},
		"unguarded":              {unconstrained: true, bookings: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, h := testkit.NewRace(t)
			a.ReadCommitted = tt.careless
			if tt.unconstrained {
				h.Exec(`alter table bookings drop constraint bookings_overlap`)
			}
			mia := h.AddMember("Mia")
			// Whoever counts bookings would be guarded by that row.
			h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Unlimited}))
			start := testkit.Noon.Add(48 * time.Hour)
			book := func(in tenant.SessionID) func() {
				return func() {
					if _, err := h.OtherNode().Book(mia, in); err != nil && fault.ReasonOf(err) != fault.Overlap {
						t.Error(err)
					}
				}
			}
			a.Run(
				book(h.AddSession(testkit.Session{Starts: start})),
				book(h.AddSession(testkit.Session{Starts: start.Add(30 * time.Minute)})),
			)
			if n := h.Count(
				`select count(*) from bookings where member_id = $1 and status = 'CONFIRMED'`, mia.Member,
			); n != tt.bookings {
				t.Errorf("%d bookings", n)
			}
			if sound := len(h.Violations()) == 0; sound != (tt.bookings == 1) {
				t.Errorf("sound: %v", sound)
			}
		})
	}
}

// The seat of an offer is wanted by somebody else at the moment at which the offer is accepted. It counts as taken,
// which guards it: without that both have it.
func TestGuard_OfferedSeatsAreReserved(t *testing.T) {
	t.Parallel()
	for name, reserved := range map[string]bool{"reserved": true, "unreserved": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			a, h := testkit.NewRace(t)
			if _, err := h.App.Settings.UpdateRules(ctx, h.Owner, settings.RulesEdit{Edit: func(s *waitlist.Settings) {
				s.Enabled, s.Mode = new(true), new(waitlist.OfferInTurn)
			}}); err != nil {
				t.Fatal(err)
			}
			class := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 1})
			mia, noa, eve := h.AddMember("Mia"), h.AddMember("Noa"), h.AddMember("Eve")
			first := h.MustBook(mia, class)
			h.MustWaitlist(noa, class)
			if _, err := h.Cancel(mia, first); err != nil {
				t.Fatal(err)
			}
			var offer tenant.OfferID
			if err := h.DB.Owner.QueryRow(
				ctx, `select id from waitlist_offers where session_id = $1`, class,
			).Scan(&offer); err != nil {
				t.Fatal(err)
			}
			if !reserved {
				h.Exec(`update sessions set seats_taken = 0 where id = $1`, class)
			}
			accept := func() {
				if _, err := h.App.Waitlists.AcceptOffer(ctx, testkit.SelfOnly(noa), offer, tenant.SubscriptionID{}); err != nil {
					t.Error(err)
				}
			}
			book := func() {
				if _, err := h.Book(eve, class); fault.ReasonOf(err) != fault.SessionFull && reserved {
					t.Error(err)
				}
			}
			if reserved {
				a.Run(accept, book)
			} else {
				book()
				accept()
			}
			if n := h.Count(
				`select count(*) from bookings where session_id = $1 and status = $2`, class, booking.Confirmed,
			); (n == 1) != reserved {
				t.Errorf("%d have the seat", n)
			}
			if sound := len(h.Violations()) == 0; sound != reserved {
				t.Errorf("sound: %v", sound)
			}
		})
	}
}

// A member's last credit is spent in two sessions at the same moment. Serializable transactions guard it, and so do the
// ledger's constraints: no balance below zero, and no two lines with one number. Each of the two is enough.
func TestGuard_LastCreditIsSpentOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		careless, unchecked bool
		bookings            int
	}{
		"guarded":               {bookings: 1},
		"by the isolation only": {unchecked: true, bookings: 1},
		"by constraints only":   {careless: true, bookings: 1},
		"unguarded":             {careless: true, unchecked: true, bookings: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, h := testkit.NewRace(t)
			a.ReadCommitted = tt.careless
			if tt.unchecked {
				h.Exec(`alter table subscriptions drop constraint subscriptions_balance`)
				h.Exec(`alter table credit_entries drop constraint credit_entries_balance_check`)
				h.Exec(`drop index credit_entries_line`) // two lines with one number
			}
			kim := h.AddMember("Kim")
			s := h.Subscribe(kim, h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 1}))
			spend := func(in tenant.SessionID) func() {
				return func() {
					if _, err := h.OtherNode().Book(kim, in); err != nil && fault.ReasonOf(err) != fault.NoCredits {
						t.Error(err)
					}
				}
			}
			a.Run(
				spend(h.AddSession(testkit.Session{})),
				spend(h.AddSession(testkit.Session{Starts: testkit.Noon.Add(90 * time.Hour)})),
			)
			if n := h.Count(
				`select count(*) from bookings where member_id = $1 and status = 'CONFIRMED'`, kim.Member,
			); n != tt.bookings {
				t.Errorf("%d bookings with one credit, balance %d", n, h.Balance(s))
			}
			if sound := len(h.Violations()) == 0; sound != (tt.bookings == 1) {
				t.Errorf("sound: %v", sound)
			}
		})
	}
}

// The only cart is wanted twice at the same moment. Serializable transactions and the exclusion constraint on its
// number guard it.
func TestGuard_LastItemIsReservedOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		careless, unconstrained bool
		out                     int
	}{
		"guarded":                {out: 1},
		"by the isolation only":  {unconstrained: true, out: 1},
		"by the constraint only": {careless: true, out: 1},
		"unguarded":              {careless: true, unconstrained: true, out: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, h := testkit.NewRace(t)
			a.ReadCommitted = tt.careless
			if tt.unconstrained {
				h.Exec(`alter table booking_items drop constraint booking_items_out`)
			}
			cart, class := h.AddItem("Cart", 1, nil), h.AddSession(testkit.Session{})
			hold := func(who tenant.Caller) func() {
				return func() {
					_, err := h.OtherNode().Hold(who, class, testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 1}))
					if err != nil && fault.ReasonOf(err) != fault.ItemUnavailable {
						t.Error(err)
					}
				}
			}
			a.Run(hold(h.AddMember("Mia")), hold(h.AddMember("Noa")))
			if n := h.Count(
				`select count(*) from booking_items where item_id = $1 and status <> 'CANCELLED'`, cart.ID,
			); n != tt.out {
				t.Errorf("%d of one cart are out", n)
			}
			if sound := len(h.Violations()) == 0; sound != (tt.out == 1) {
				t.Errorf("sound: %v", sound)
			}
		})
	}
}

// Two requests with one idempotency key come at the same moment, to two nodes. That a key is taken once guards it: for
// what shares transactions with others, and for what has one of its own.
func TestGuard_OneKeyOnTwoNodesHappensOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		unguarded bool
		times     int
	}{"guarded": {false, 1}, "unguarded": {true, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, h := testkit.NewRace(t)
			if tt.unguarded {
				a.Rewrite = strings.NewReplacer(
					"used = k.created_at > $7", "used = k.created_at > $7 and false",
					"where k.created_at <= $7", "where k.created_at <= $7 or true").Replace
			}
			class := h.AddSession(testkit.Session{})
			s := h.Subscribe(h.AddMember("Kim"), h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5}))
			testkit.Parallel(2, func(int) {
				ctx, _ := testkit.WithKey(t, "k", "hold", "Kim")
				if _, err := h.OtherNode().App.Bookings.Book(ctx, h.Owner, bookings.BookRequest{
					Session: class, Party: 1, Channel: catalog.Phone, Guest: true, Hold: true, Contact: booking.Contact{Name: "Kim"},
				}); err != nil {
					t.Error(err)
				}
			})
			if n := h.Count(`select count(*) from bookings where session_id = $1`, class); n != tt.times {
				t.Errorf("%d bookings", n)
			}
			testkit.Parallel(2, func(int) {
				if _, _, err := testkit.GrantOne(t, h.OtherNode(), h.Owner, s, "k", "grant", "one"); err != nil {
					t.Error(err)
				}
			})
			if got := h.Balance(s); got != 5+tt.times {
				t.Errorf("balance %d", got)
			}
			h.WantSound()
		})
	}
}
