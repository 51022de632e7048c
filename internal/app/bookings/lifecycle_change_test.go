package bookings_test

import (
	"context"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// More lines of TestBooking_FromHoldToCheckIn.

var rescheduleLines = map[string]func(studio *testkit.Studio){
	"it stays the same booking, CONFIRMED, paid": func(studio *testkit.Studio) {
		mia, to := studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(60 * time.Hour)})
		b := studio.MustHold(mia, studio.AddSession(testkit.Session{}))
		expect.OK(studio.T)(studio.App.Bookings.ConfirmBooking(
			context.Background(), studio.Owner, bookings.ConfirmRequest{ID: b.ID, Paid: testkit.FiftyEuros},
		))
		moved := expect.Value(studio.Reschedule(testkit.SelfOnly(mia), b.ID, to))(studio.T)
		test.EqOp(studio.T, b.ID, moved.Booking.ID)
		test.EqOp(studio.T, booking.Confirmed, moved.Booking.Status)
		test.EqOp(studio.T, to, moved.Booking.Session)
		test.EqOp(studio.T, payment.Captured, moved.Booking.Payment.Status)
	},
	"within the same location only": func(studio *testkit.Studio) {
		pier, mia := studio.AddLocation(catalog.Location{Name: "Pier 2"}), studio.AddMember("Mia")
		expect.Fault(studio.T, "RESCHEDULE_TARGET @session_id reason=LOCATION")(studio.Reschedule(
			testkit.SelfOnly(mia), studio.MustBook(mia, studio.AddSession(testkit.Session{})),
			studio.AddSession(testkit.Session{Location: pier}),
		))
	},
	"a target that is no longer available keeps the old place": func(studio *testkit.Studio) {
		mia, from, full := studio.AddMember("Mia"), studio.AddSession(testkit.Session{}), studio.AddSession(testkit.Session{
			Capacity: 1,
		})
		studio.MustHold(studio.AddMember("Noa"), full)
		id := studio.MustBook(mia, from)
		expect.Fault(studio.T, "RESCHEDULE_TARGET @session_id reason=SESSION_FULL")(
			studio.Reschedule(testkit.SelfOnly(mia), id, full),
		)
		b := expect.Value(studio.App.Bookings.GetBooking(context.Background(), testkit.SelfOnly(mia), id))(studio.T)
		test.EqOp(studio.T, from, b.Session)
		test.EqOp(studio.T, booking.Confirmed, b.Status)
	},
	"an expired hold blocks no booking": func(studio *testkit.Studio) {
		mia, full := studio.AddMember("Mia"), studio.AddSession(testkit.Session{Capacity: 1})
		studio.MustHold(studio.AddMember("Noa"), full)
		id := studio.MustBook(mia, studio.AddSession(testkit.Session{}))
		studio.Clock.Set(testkit.Noon.Add(10 * time.Minute))
		expect.OK(studio.T)(studio.Reschedule(testkit.SelfOnly(mia), id, full))
	},
	"past the cancellation window it is refused, unless the policy allows it": func(studio *testkit.Studio) {
		mia, soon := studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(5 * time.Hour)})
		to := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(60 * time.Hour)})
		id := studio.MustBook(mia, soon)
		expect.Reason(studio.T, fault.CancellationWindow)(studio.Reschedule(testkit.SelfOnly(mia), id, to))
		studio.SetPolicy(func(p *catalog.PolicyLayer) { p.AllowReschedule = new(true) })
		expect.OK(studio.T)(studio.Reschedule(testkit.SelfOnly(mia), id, to))
	},
	"people are told, unless that is not wanted": func(studio *testkit.Studio) {
		mia := studio.AddMember("Mia")
		id := studio.MustBook(mia, studio.AddSession(testkit.Session{}))
		for i, notify := range []bool{true, false} {
			to := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(time.Duration(60+i) * time.Hour)})
			expect.OK(studio.T)(studio.App.Bookings.RescheduleBooking(
				context.Background(), testkit.SelfOnly(mia), bookings.RescheduleRequest{ID: id, To: to, Notify: notify},
			))
			test.EqOp(studio.T, 1, studio.Count(
				`select count(*) from events where tenant_id = $1 and type = 'booking.rescheduled' and session_id = $2
					and (data->>'notify')::boolean = $3`,
				studio.Tenant, to, notify,
			), test.Sprintf("events with notify %v", notify))
		}
	},
}

var itemLines = map[string]func(studio *testkit.Studio){
	"they are CANCELLED with the hold": func(studio *testkit.Studio) {
		mia, one := studio.AddMember("Mia"), booking.ItemChoice{Item: studio.AddItem("Cart", 2, nil).ID, Quantity: 1}
		b := studio.MustHold(mia, studio.AddSession(testkit.Session{}), testkit.WithItems(one))
		released := expect.Value(studio.App.Bookings.ReleaseHold(context.Background(), testkit.SelfOnly(mia), b.ID))(studio.T)
		test.EqOp(studio.T, booking.ItemCancelled, released.Booking.Items[0].Status)
	},
	"they are PENDING with the hold, CONFIRMED with the booking, CANCELLED with it": func(studio *testkit.Studio) {
		mia, cart := studio.AddMember("Mia"), studio.AddItem("Cart", 2, nil)
		b := studio.MustHold(
			mia, studio.AddSession(testkit.Session{}), testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 2}),
		)
		want := func(status booking.ItemStatus) {
			studio.T.Helper()
			read := expect.Value(studio.App.Bookings.GetBooking(context.Background(), testkit.SelfOnly(mia), b.ID))(studio.T)
			mine := expect.Value(studio.App.Bookings.ListBookings(
				context.Background(), testkit.SelfOnly(mia), bookings.BookingQuery{Limit: 2},
			))(studio.T).Bookings
			must.SliceLen(studio.T, 1, read.Items, must.Sprintf("%+v, want %s", read.Items, status))
			test.EqOp(studio.T, status, read.Items[0].Status, test.Sprintf("%+v, want %s", read.Items, status))
			test.EqOp(studio.T, 2, read.Items[0].Quantity, test.Sprintf("%+v, want %s", read.Items, status))
			test.EqOp(studio.T, 20, read.Items[0].Price.Units, test.Sprintf("%+v, want %s", read.Items, status))
			test.Eq(studio.T, read.Items, mine[1].Items)
		}
		studio.MustBook(mia, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(40 * time.Hour)})) // it has none
		want(booking.ItemPending)
		expect.OK(studio.T)(studio.Confirm(mia, b.ID))
		want(booking.ItemConfirmed)
		expect.OK(studio.T)(studio.Cancel(mia, b.ID))
		want(booking.ItemCancelled)
	},
	"what is not chosen on confirmation is CANCELLED, and free for others": func(studio *testkit.Studio) {
		mia, class := studio.AddMember("Mia"), studio.AddSession(testkit.Session{})
		cart, caddie := studio.AddItem("Cart", 1, nil), studio.AddItem("Caddie", 1, nil)
		b := studio.MustHold(
			mia, class,
			testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 1}, booking.ItemChoice{Item: caddie.ID, Quantity: 1}),
		)
		keep := func(line tenant.ItemLineID) (seats.Result, error) {
			return studio.App.Bookings.ConfirmBooking(
				context.Background(), testkit.SelfOnly(mia), bookings.ConfirmRequest{ID: b.ID, Keep: []tenant.ItemLineID{line}},
			)
		}
		expect.Fault(studio.T, "INVALID_FIELD @items.booking_item_ids")(keep(testkit.NewID[tenant.ItemLineID]()))
		place := expect.Value(keep(b.Items[0].ID))(studio.T)
		must.EqOp(studio.T, booking.ItemConfirmed, place.Booking.Items[0].Status)
		must.EqOp(studio.T, booking.ItemCancelled, place.Booking.Items[1].Status)
		studio.MustHold(
			studio.AddMember("Noa"), class, testkit.WithItems(booking.ItemChoice{Item: b.Items[1].Item, Quantity: 1}),
		)
	},
	"they go with a hold that expires or is released": func(studio *testkit.Studio) {
		class, cart := studio.AddSession(testkit.Session{}), studio.AddItem("Cart", 1, nil)
		one := testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 1})
		released := studio.MustHold(studio.AddMember("Mia"), class, one)
		expect.OK(studio.T)(studio.App.Bookings.ReleaseHold(context.Background(), studio.Owner, released.ID))
		studio.MustHold(studio.AddMember("Noa"), class, one)
		studio.Clock.Set(testkit.Noon.Add(10 * time.Minute))
		studio.MustHold(studio.AddMember("Zoe"), class, one)
	},
	"they move when asked, and are given back otherwise": func(studio *testkit.Studio) {
		mia, cart := studio.AddMember("Mia"), studio.AddItem("Cart", 1, nil)
		from, to := studio.AddSession(testkit.Session{}), studio.AddSession(testkit.Session{
			Starts: testkit.Noon.Add(60 * time.Hour),
		})
		one := testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 1})
		b := studio.MustHold(mia, from, one)
		expect.OK(studio.T)(studio.Confirm(mia, b.ID))
		moved := expect.Value(studio.Reschedule(testkit.SelfOnly(mia), b.ID, to))(studio.T)
		must.SliceLen(studio.T, 2, moved.Booking.Items)
		must.EqOp(studio.T, booking.ItemConfirmed, moved.Booking.Items[1].Status)
		studio.MustHold(studio.AddMember("Noa"), from, one) // the old one is back
		expect.Reason(studio.T, fault.ItemUnavailable)(studio.Hold(studio.AddMember("Zoe"), to, one))
		expect.OK(studio.T)(studio.App.Bookings.RescheduleBooking(
			context.Background(), testkit.SelfOnly(mia), bookings.RescheduleRequest{ID: b.ID, To: from},
		))
		studio.MustHold(studio.AddMember("Zoe"), to, one)
	},
	"one that is taken at the target refuses the move": func(studio *testkit.Studio) {
		mia, cart := studio.AddMember("Mia"), studio.AddItem("Cart", 1, nil)
		from, to := studio.AddSession(testkit.Session{}), studio.AddSession(testkit.Session{
			Starts: testkit.Noon.Add(60 * time.Hour),
		})
		one := testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 1})
		b := studio.MustHold(mia, from, one)
		expect.OK(studio.T)(studio.Confirm(mia, b.ID))
		studio.MustHold(studio.AddMember("Noa"), to, one)
		expect.Reason(studio.T, fault.ItemUnavailable)(studio.Reschedule(testkit.SelfOnly(mia), b.ID, to))
	},
	"one that is none of the location's": func(studio *testkit.Studio) {
		expect.Reason(studio.T, fault.ItemUnavailable)(studio.Hold(
			studio.AddMember("Mia"), studio.AddSession(testkit.Session{}),
			testkit.WithItems(booking.ItemChoice{Item: testkit.NewID[tenant.ItemID](), Quantity: 1}),
		))
		there := testkit.NewIn(studio.T, studio.DB)
		expect.Reason(studio.T, fault.ItemUnavailable)(studio.Hold(
			studio.AddMember("Mia"), studio.AddSession(testkit.Session{}),
			testkit.WithItems(booking.ItemChoice{Item: there.AddItem("Cart", 1, nil).ID, Quantity: 1}),
		))
	},
}

// Each change is told once, and its repetition not at all.
var eventLines = map[string]func(studio *testkit.Studio){
	"held, booked, updated, rescheduled, cancelled": func(studio *testkit.Studio) {
		mia, ctx := studio.AddMember("Mia"), context.Background()
		to := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(60 * time.Hour)})
		b := studio.MustHold(mia, studio.AddSession(testkit.Session{}))
		for range 2 {
			expect.OK(studio.T)(studio.App.Bookings.ConfirmBooking(
				ctx, testkit.SelfOnly(mia), bookings.ConfirmRequest{ID: b.ID},
			))
		}
		expect.OK(studio.T)(studio.App.Bookings.ConfirmBooking(
			ctx, studio.Owner, bookings.ConfirmRequest{ID: b.ID, Paid: testkit.FiftyEuros},
		))
		for range 2 {
			expect.OK(studio.T)(studio.Reschedule(testkit.SelfOnly(mia), b.ID, to))
		}
		for range 2 {
			expect.OK(studio.T)(studio.Cancel(mia, b.ID))
		}
		wantEvents(studio, b.ID, "booking.held booking.confirmed booking.updated booking.rescheduled booking.cancelled")
	},
	"held, released": func(studio *testkit.Studio) {
		mia := studio.AddMember("Mia")
		b := studio.MustHold(mia, studio.AddSession(testkit.Session{}))
		for range 2 {
			expect.OK(studio.T)(studio.App.Bookings.ReleaseHold(context.Background(), testkit.SelfOnly(mia), b.ID))
		}
		wantEvents(studio, b.ID, "booking.held booking.released")
	},
	"held, expired": func(studio *testkit.Studio) {
		b := studio.MustHold(studio.AddMember("Mia"), studio.AddSession(testkit.Session{}))
		studio.Clock.Set(testkit.Noon.Add(10 * time.Minute))
		for range 2 {
			expect.OK(studio.T)(studio.App.Waitlists.ExpireHolds(context.Background(), studio.Tenant))
		}
		wantEvents(studio, b.ID, "booking.held booking.expired")
	},
	"held, expired, released": func(studio *testkit.Studio) {
		b := studio.MustHold(studio.AddMember("Mia"), studio.AddSession(testkit.Session{}))
		studio.Clock.Set(*b.HoldUntil)
		expect.OK(studio.T)(studio.App.Bookings.ReleaseHold(context.Background(), studio.Owner, b.ID))
		wantEvents(studio, b.ID, "booking.held booking.expired")
	},
	"a rejected change notifies no one": func(studio *testkit.Studio) {
		class := studio.AddSession(testkit.Session{Blocked: true})
		expect.Reason(studio.T, fault.SessionNotOpen)(studio.Hold(studio.AddMember("Mia"), class))
		test.EqOp(studio.T, "session.created session.blocked", studio.SessionEvents(class))
	},
}

func wantEvents(studio *testkit.Studio, of tenant.BookingID, want string) {
	studio.T.Helper()
	test.EqOp(studio.T, want, studio.Text(
		`select string_agg(type, ' ' order by xid, id) from events where tenant_id = $1 and booking_id = $2`, studio.Tenant,
		of,
	))
}

// Nothing of one tenant can be held, confirmed, moved or cancelled from another, and nothing can be moved into one.
var tenantLines = map[string]func(studio *testkit.Studio){
	"a session of another": func(studio *testkit.Studio) {
		theirs := testkit.NewIn(studio.T, studio.DB).AddSession(testkit.Session{})
		expect.Reason(studio.T, fault.SessionNotFound)(studio.Hold(studio.Owner, theirs, testkit.ForGuest("Pat", "")))
		mia := studio.AddMember("Mia")
		expect.Reason(studio.T, fault.SessionNotFound)(
			studio.Reschedule(testkit.SelfOnly(mia), studio.MustBook(mia, studio.AddSession(testkit.Session{})), theirs),
		)
	},
	"a member of another": func(studio *testkit.Studio) {
		expect.Reason(studio.T, fault.MemberNotFound)(studio.Hold(
			studio.Owner, studio.AddSession(testkit.Session{}), forMember(testkit.NewIn(studio.T, studio.DB).AddMember("Mia")),
		))
	},
	"a booking of another": func(studio *testkit.Studio) {
		there, ctx := testkit.NewIn(studio.T, studio.DB), context.Background()
		id := there.MustHold(there.AddMember("Mia"), there.AddSession(testkit.Session{})).ID
		expect.Reason(studio.T, fault.BookingNotFound)(
			studio.App.Bookings.ConfirmBooking(ctx, studio.Owner, bookings.ConfirmRequest{ID: id}),
		)
		expect.Reason(studio.T, fault.BookingNotFound)(studio.App.Bookings.ReleaseHold(ctx, studio.Owner, id))
		expect.Reason(studio.T, fault.BookingNotFound)(
			studio.App.Bookings.CancelBooking(ctx, studio.Owner, bookings.CancelRequest{ID: id, OverrideWindow: true}),
		)
		expect.Reason(studio.T, fault.BookingNotFound)(
			studio.Reschedule(studio.Owner, id, studio.AddSession(testkit.Session{})),
		)
		expect.Reason(studio.T, fault.BookingNotFound)(studio.App.Bookings.GetBooking(ctx, studio.Owner, id))
		test.EqOp(studio.T, "PENDING", there.BookingStatus(id), test.Sprint(there.BookingStatus(id)))
	},
}
