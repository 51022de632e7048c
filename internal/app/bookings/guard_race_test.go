package bookings_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A member books one session twice at the same moment, with seats for both. Serializable transactions and the unique
// index of active bookings guard it; each of them is enough.
func TestGuard_OneBookingPerMemberAndSession(t *testing.T) {
	t.Parallel()
	type row struct {
		careless, unindexed bool
		bookings            int
	}
	testkit.EachRace(t, map[string]row{
		"guarded":           {bookings: 1},
		"by the index only": {careless: true, bookings: 1},
		"unguarded":         {careless: true, unindexed: true, bookings: 2},
	}, func(a *testkit.Barrier, studio *testkit.Studio, tt row) {
		a.ReadCommitted = tt.careless
		if tt.unindexed {
			studio.Exec(`drop index bookings_active`)
			// as an aid, and no guard
			studio.Exec(`create index bookings_active on bookings (tenant_id, session_id, member_id)`)
		}
		mia, class := studio.AddMember("Mia"), studio.AddSession(testkit.Session{Capacity: 5})
		twice := func() { expect.OKOr(studio.T, fault.AlreadyBooked)(studio.OtherNode().Book(mia, class)) }
		a.Run(twice, twice)
		studio.WantOnce(tt.bookings, `select count(*) from bookings where session_id = $1 and status = 'CONFIRMED'`, class)
	})
}

// A member whose plan forbids overlaps books two overlapping sessions at the same moment, on two nodes. No statement
// reads such bookings, so isolation does not help: the exclusion constraint on their spans is the only guard.
func TestGuard_NoOverlappingBookings(t *testing.T) {
	t.Parallel()
	type row struct {
		careless, unconstrained bool
		bookings                int
	}
	testkit.EachRace(t, map[string]row{
		"guarded":                {bookings: 1},
		"by the constraint only": {careless: true, bookings: 1},
		"unguarded":              {unconstrained: true, bookings: 2},
	}, func(a *testkit.Barrier, studio *testkit.Studio, tt row) {
		a.ReadCommitted = tt.careless
		if tt.unconstrained {
			studio.Exec(`alter table bookings drop constraint bookings_overlap`)
		}
		mia := studio.AddMember("Mia")
		// The plan counts no bookings: the row of a counter would be a guard, too.
		studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Unlimited}))
		start := testkit.Noon.Add(48 * time.Hour)
		book := func(in tenant.SessionID) func() {
			return func() { expect.OKOr(studio.T, fault.Overlap)(studio.OtherNode().Book(mia, in)) }
		}
		a.Run(
			book(studio.AddSession(testkit.Session{Starts: start})),
			book(studio.AddSession(testkit.Session{Starts: start.Add(30 * time.Minute)})),
		)
		studio.WantOnce(
			tt.bookings, `select count(*) from bookings where member_id = $1 and status = 'CONFIRMED'`, mia.Member,
		)
	})
}

// Another member books the seat of an offer at the moment at which the offer is accepted. The seat counts as taken,
// which guards it: without that both get it.
func TestGuard_OfferedSeatsAreReserved(t *testing.T) {
	t.Parallel()
	testkit.EachRace(t, map[string]bool{"reserved": true, "unreserved": false}, func(
		a *testkit.Barrier, studio *testkit.Studio, reserved bool,
	) {
		expect.OK(studio.T)(studio.App.Settings.UpdateWaitlistRules(
			studio.T.Context(), studio.Owner, settings.RulesEdit{Edit: func(s *waitlist.Settings) {
				s.Enabled, s.Mode = new(true), new(waitlist.OfferInTurn)
			}},
		))
		class := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 1})
		mia, noa, eve := studio.AddMember("Mia"), studio.AddMember("Noa"), studio.AddMember("Eve")
		first := studio.MustBook(mia, class)
		studio.MustWaitlist(noa, class)
		expect.OK(studio.T)(studio.Cancel(mia, first))
		var offer tenant.OfferID
		must.NoError(studio.T, studio.DB.Owner.QueryRow(
			studio.T.Context(), `select id from waitlist_offers where session_id = $1`, class,
		).Scan(&offer))
		if !reserved {
			studio.Exec(`update sessions set seats_taken = 0 where id = $1`, class)
		}
		accept := func() {
			expect.OK(studio.T)(studio.App.Waitlists.AcceptWaitlistOffer(
				studio.T.Context(), testkit.SelfOnly(noa), offer, tenant.SubscriptionID{},
			))
		}
		book := func() {
			made, err := studio.Book(eve, class)
			expect.OKOr(studio.T, fault.SessionFull)(err)
			// Once Noa has accepted, the waitlist has room for Eve.
			test.EqOp(studio.T, reserved, made.Booking == nil)
		}
		if reserved {
			a.Run(accept, book)
		} else {
			book()
			accept()
		}
		n := studio.Count(
			`select count(*) from bookings where session_id = $1 and status = $2`, class, booking.Confirmed,
		)
		test.EqOp(studio.T, reserved, (n == 1), test.Sprintf("%d have the seat", n))
		test.EqOp(studio.T, reserved, len(studio.Violations()) == 0)
	})
}

// A member's last credit is spent in two sessions at the same moment. Serializable transactions guard it, and so do
// the ledger's constraints: no balance below zero, and no two lines with one number. Each of the two is enough.
func TestGuard_LastCreditIsSpentOnce(t *testing.T) {
	t.Parallel()
	type row struct {
		careless, unchecked bool
		bookings            int
	}
	testkit.EachRace(t, map[string]row{
		"guarded":               {bookings: 1},
		"by the isolation only": {unchecked: true, bookings: 1},
		"by constraints only":   {careless: true, bookings: 1},
		"unguarded":             {careless: true, unchecked: true, bookings: 2},
	}, func(a *testkit.Barrier, studio *testkit.Studio, tt row) {
		a.ReadCommitted = tt.careless
		if tt.unchecked {
			studio.Exec(`alter table subscriptions drop constraint subscriptions_balance`)
			studio.Exec(`alter table credit_entries drop constraint credit_entries_balance_check`)
			studio.Exec(`drop index credit_entries_line`) // two lines with one number
		}
		kim := studio.AddMember("Kim")
		studio.Subscribe(kim, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 1}))
		spend := func(in tenant.SessionID) func() {
			return func() { expect.OKOr(studio.T, fault.NoCredits)(studio.OtherNode().Book(kim, in)) }
		}
		a.Run(
			spend(studio.AddSession(testkit.Session{})),
			spend(studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(90 * time.Hour)})),
		)
		studio.WantOnce(
			tt.bookings, `select count(*) from bookings where member_id = $1 and status = 'CONFIRMED'`, kim.Member,
		)
	})
}

// Two desks refund one payment at the same moment. Serializable transactions guard it, and so does the unique number
// of a line: a line with the same number is refused, and the next attempt sees the other's. Each of the two is enough.
func TestGuard_PaymentIsRefundedOnce(t *testing.T) {
	t.Parallel()
	type row struct {
		careless, unchecked bool
		refunds             int
	}
	testkit.EachRace(t, map[string]row{
		"guarded":               {refunds: 1},
		"by the isolation only": {unchecked: true, refunds: 1},
		"by the index only":     {careless: true, refunds: 1},
		"unguarded":             {careless: true, unchecked: true, refunds: 2},
	}, func(a *testkit.Barrier, studio *testkit.Studio, tt row) {
		a.ReadCommitted = tt.careless
		if tt.unchecked {
			studio.Exec(`drop index payment_entries_line`)
		}
		ctx, kim := context.Background(), studio.AddMember("Kim")
		held := studio.MustHold(kim, studio.AddSession(testkit.Session{}))
		expect.OK(studio.T)(studio.App.Bookings.RecordPayment(ctx, studio.Owner, held.ID, *testkit.FiftyEuros, false))
		refund := func() {
			_, err := studio.OtherNode().App.Bookings.RefundPayment(
				ctx, studio.Owner, held.ID, payment.Facts{Amount: testkit.FiftyEuros.Amount},
			)
			test.False(studio.T, err != nil && fault.ReasonOf(err) != fault.RefundExceedsCaptured, test.Sprint(err))
		}
		a.Run(refund, refund)
		studio.WantOnce(
			tt.refunds, `select count(*) from payment_entries where booking_id = $1 and kind = 'REFUND'`, held.ID,
		)
	})
}

// The only cart is wanted twice at the same moment. Serializable transactions and the exclusion constraint on its
// number guard it.
func TestGuard_LastItemIsReservedOnce(t *testing.T) {
	t.Parallel()
	type row struct {
		careless, unconstrained bool
		out                     int
	}
	testkit.EachRace(t, map[string]row{
		"guarded":                {out: 1},
		"by the isolation only":  {unconstrained: true, out: 1},
		"by the constraint only": {careless: true, out: 1},
		"unguarded":              {careless: true, unconstrained: true, out: 2},
	}, func(a *testkit.Barrier, studio *testkit.Studio, tt row) {
		a.ReadCommitted = tt.careless
		if tt.unconstrained {
			studio.Exec(`alter table booking_items drop constraint booking_items_out`)
		}
		cart, class := studio.AddItem("Cart", 1, nil), studio.AddSession(testkit.Session{})
		hold := func(who tenant.Caller) func() {
			return func() {
				_, err := studio.OtherNode().Hold(who, class, testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 1}))
				test.False(studio.T, err != nil && fault.ReasonOf(err) != fault.ItemUnavailable, test.Sprint(err))
			}
		}
		a.Run(hold(studio.AddMember("Mia")), hold(studio.AddMember("Noa")))
		studio.WantOnce(
			tt.out, `select count(*) from booking_items where item_id = $1 and status <> 'CANCELLED'`, cart.ID,
		)
	})
}

// Two requests with one idempotency key come at the same moment, to two nodes. That a key is taken once guards it: for
// what shares transactions with others, and for what has one of its own.
func TestGuard_OneKeyOnTwoNodesHappensOnce(t *testing.T) {
	t.Parallel()
	type row struct {
		unguarded bool
		times     int
	}
	testkit.EachRace(t, map[string]row{"guarded": {false, 1}, "unguarded": {true, 2}}, func(
		a *testkit.Barrier, studio *testkit.Studio, tt row,
	) {
		if tt.unguarded {
			a.Rewrite = strings.NewReplacer(
				"used = k.created_at > $6", "used = k.created_at > $6 and false",
				"where k.created_at <= $6", "where k.created_at <= $6 or true").Replace
		}
		class := studio.AddSession(testkit.Session{})
		s := studio.Subscribe(studio.AddMember("Kim"), studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5}))
		testkit.Parallel(2, func(int) {
			ctx, _ := testkit.WithKey(studio.T, "k", "hold", "Kim")
			expect.OK(studio.T)(studio.OtherNode().App.Bookings.Book(ctx, studio.Owner, bookings.BookRequest{
				Session: class, Party: 1, Channel: catalog.Phone, Guest: true, Hold: true, Contact: booking.Contact{Name: "Kim"},
			}))
		})
		test.EqOp(studio.T, tt.times, studio.Count(`select count(*) from bookings where session_id = $1`, class),
			test.Sprint("bookings"))
		testkit.Parallel(2, func(int) {
			expect.OK(studio.T)(testkit.GrantOne(studio.T, studio.OtherNode(), studio.Owner, s, "g", "grant", "one"))
		})
		test.EqOp(studio.T, 5+tt.times, studio.Balance(s), test.Sprint("balance"))
	})
}
