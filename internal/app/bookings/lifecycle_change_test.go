package bookings_test

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// More lines of TestBooking_FromHoldToCheckIn.

var rescheduleLines = map[string]func(h *testkit.Studio){
	"it stays the same booking, CONFIRMED, paid": func(h *testkit.Studio) {
		mia, to := h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.Noon.Add(60 * time.Hour)})
		b := h.MustHold(mia, h.AddSession(testkit.Session{}))
		if _, err := h.App.Bookings.ConfirmBooking(
			context.Background(), testkit.SelfOnly(mia), bookings.ConfirmRequest{ID: b.ID, Paid: testkit.FiftyEuros},
		); err != nil {
			h.T.Fatal(err)
		}
		moved, err := h.Reschedule(testkit.SelfOnly(mia), b.ID, to)
		if err != nil || moved.Booking.ID != b.ID || moved.Booking.Status != booking.Confirmed ||
			moved.Booking.Session != to || moved.Booking.Payment.Status != booking.Captured {
			h.T.Errorf("%+v, %v", moved.Booking, err)
		}
	},
	"within the same location only": func(h *testkit.Studio) {
		elsewhere := h.AddLocation(catalog.Location{Name: "Pier 2"})
		mia := h.AddMember("Mia")
		_, err := h.Reschedule(
			testkit.SelfOnly(mia), h.MustBook(mia, h.AddSession(testkit.Session{})),
			h.AddSession(testkit.Session{Location: elsewhere}),
		)
		testkit.WantReason(h.T, err, fault.RescheduleTarget)
		if testkit.Meta(h.T, err, "reason") != "LOCATION" {
			h.T.Error(err)
		}
	},
	"a target that is no longer available keeps the old place": func(h *testkit.Studio) {
		mia, from, full := h.AddMember("Mia"), h.AddSession(testkit.Session{}), h.AddSession(testkit.Session{Capacity: 1})
		h.MustHold(h.AddMember("Noa"), full)
		id := h.MustBook(mia, from)
		_, err := h.Reschedule(testkit.SelfOnly(mia), id, full)
		testkit.WantReason(h.T, err, fault.RescheduleTarget)
		if testkit.Meta(h.T, err, "reason") != "SESSION_FULL" {
			h.T.Error(err)
		}
		if b, err := h.App.Bookings.GetBooking(context.Background(), testkit.SelfOnly(mia), id); err != nil ||
			b.Session != from || b.Status != booking.Confirmed {
			h.T.Errorf("%+v, %v", b, err)
		}
	},
	"a hold that has run out is in nobody's way": func(h *testkit.Studio) {
		mia, full := h.AddMember("Mia"), h.AddSession(testkit.Session{Capacity: 1})
		h.MustHold(h.AddMember("Noa"), full)
		id := h.MustBook(mia, h.AddSession(testkit.Session{}))
		h.Clock.Set(testkit.Noon.Add(10 * time.Minute))
		if _, err := h.Reschedule(testkit.SelfOnly(mia), id, full); err != nil {
			h.T.Error(err)
		}
	},
	"past the cancellation window it is refused, unless the policy allows it": func(h *testkit.Studio) {
		mia, soon := h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.Noon.Add(5 * time.Hour)})
		to := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(60 * time.Hour)})
		id := h.MustBook(mia, soon)
		_, err := h.Reschedule(testkit.SelfOnly(mia), id, to)
		testkit.WantReason(h.T, err, fault.CancellationWindow)
		h.SetPolicy(func(p *catalog.Policy) { p.AllowReschedule = new(true) })
		if _, err := h.Reschedule(testkit.SelfOnly(mia), id, to); err != nil {
			h.T.Error(err)
		}
	},
	"people are told, unless that is not wanted": func(h *testkit.Studio) {
		mia := h.AddMember("Mia")
		id := h.MustBook(mia, h.AddSession(testkit.Session{}))
		for i, notify := range []bool{true, false} {
			to := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(time.Duration(60+i) * time.Hour)})
			if _, err := h.App.Bookings.RescheduleBooking(
				context.Background(), testkit.SelfOnly(mia), bookings.RescheduleRequest{ID: id, To: to, Notify: notify},
			); err != nil {
				h.T.Fatal(err)
			}
			if n := h.Count(
				`select count(*) from events where tenant_id = $1 and type = 'booking.rescheduled' and session_id = $2
					and (data->>'notify')::boolean = $3`,
				h.Tenant, to, notify,
			); n != 1 {
				h.T.Errorf("notify %v: %d events", notify, n)
			}
		}
	},
}

var itemLines = map[string]func(h *testkit.Studio){
	"they are PENDING with the hold, CONFIRMED with the booking, CANCELLED with it": func(h *testkit.Studio) {
		mia, cart := h.AddMember("Mia"), h.AddItem("Cart", 2, nil)
		b := h.MustHold(
			mia, h.AddSession(testkit.Session{}), testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 2}),
		)
		want := func(status booking.ItemStatus) {
			h.T.Helper()
			read, err := h.App.Bookings.GetBooking(context.Background(), testkit.SelfOnly(mia), b.ID)
			if err != nil || len(read.Items) != 1 || read.Items[0].Status != status || read.Items[0].Quantity != 2 ||
				read.Items[0].Price.Units != 20 {
				h.T.Errorf("%+v, %v, want %s", read.Items, err, status)
			}
		}
		want(booking.ItemPending)
		if _, err := h.Confirm(mia, b.ID); err != nil {
			h.T.Fatal(err)
		}
		want(booking.ItemConfirmed)
		if _, err := h.Cancel(mia, b.ID); err != nil {
			h.T.Fatal(err)
		}
		want(booking.ItemCancelled)
	},
	"what is not chosen on confirmation is CANCELLED, and free for others": func(h *testkit.Studio) {
		mia, class := h.AddMember("Mia"), h.AddSession(testkit.Session{})
		cart, caddie := h.AddItem("Cart", 1, nil), h.AddItem("Caddie", 1, nil)
		b := h.MustHold(
			mia, class,
			testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 1}, booking.ItemChoice{Item: caddie.ID, Quantity: 1}),
		)
		place, err := h.App.Bookings.ConfirmBooking(
			context.Background(), testkit.SelfOnly(mia), bookings.ConfirmRequest{ID: b.ID, Keep: []tenant.LineID{b.Items[0].ID}},
		)
		if err != nil || place.Booking.Items[0].Status != booking.ItemConfirmed ||
			place.Booking.Items[1].Status != booking.ItemCancelled {
			h.T.Fatalf("%+v, %v", place.Booking, err)
		}
		h.MustHold(h.AddMember("Noa"), class, testkit.WithItems(booking.ItemChoice{Item: b.Items[1].Item, Quantity: 1}))
	},
	"they go with a hold that expires or is released": func(h *testkit.Studio) {
		class, cart := h.AddSession(testkit.Session{}), h.AddItem("Cart", 1, nil)
		one := testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 1})
		released := h.MustHold(h.AddMember("Mia"), class, one)
		if _, err := h.App.Bookings.ReleaseHold(context.Background(), h.Owner, released.ID); err != nil {
			h.T.Fatal(err)
		}
		h.MustHold(h.AddMember("Noa"), class, one)
		h.Clock.Set(testkit.Noon.Add(10 * time.Minute))
		h.MustHold(h.AddMember("Zoe"), class, one)
	},
	"they move when asked, and are given back otherwise": func(h *testkit.Studio) {
		mia, cart := h.AddMember("Mia"), h.AddItem("Cart", 1, nil)
		from, to := h.AddSession(testkit.Session{}), h.AddSession(testkit.Session{Starts: testkit.Noon.Add(60 * time.Hour)})
		one := testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 1})
		b := h.MustHold(mia, from, one)
		if _, err := h.Confirm(mia, b.ID); err != nil {
			h.T.Fatal(err)
		}
		moved, err := h.Reschedule(testkit.SelfOnly(mia), b.ID, to)
		if err != nil || len(moved.Booking.Items) != 2 || moved.Booking.Items[1].Status != booking.ItemConfirmed {
			h.T.Fatalf("%+v, %v", moved.Booking, err)
		}
		h.MustHold(h.AddMember("Noa"), from, one) // the old one is back
		_, err = h.Hold(h.AddMember("Zoe"), to, one)
		testkit.WantReason(h.T, err, fault.ItemUnavailable)
		if _, err := h.App.Bookings.RescheduleBooking(
			context.Background(), testkit.SelfOnly(mia), bookings.RescheduleRequest{ID: b.ID, To: from},
		); err != nil {
			h.T.Fatal(err)
		}
		h.MustHold(h.AddMember("Zoe"), to, one)
	},
	"one that is taken at the target refuses the move": func(h *testkit.Studio) {
		mia, cart := h.AddMember("Mia"), h.AddItem("Cart", 1, nil)
		from, to := h.AddSession(testkit.Session{}), h.AddSession(testkit.Session{Starts: testkit.Noon.Add(60 * time.Hour)})
		one := testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 1})
		b := h.MustHold(mia, from, one)
		if _, err := h.Confirm(mia, b.ID); err != nil {
			h.T.Fatal(err)
		}
		h.MustHold(h.AddMember("Noa"), to, one)
		_, err := h.Reschedule(testkit.SelfOnly(mia), b.ID, to)
		testkit.WantReason(h.T, err, fault.ItemUnavailable)
	},
	"one that is none of the location's": func(h *testkit.Studio) {
		_, err := h.Hold(
			h.AddMember("Mia"), h.AddSession(testkit.Session{}),
			testkit.WithItems(booking.ItemChoice{Item: testkit.NewID[tenant.ItemID](), Quantity: 1}),
		)
		testkit.WantReason(h.T, err, fault.ItemUnavailable)
		there := testkit.NewIn(h.T, h.DB)
		_, err = h.Hold(
			h.AddMember("Mia"), h.AddSession(testkit.Session{}),
			testkit.WithItems(booking.ItemChoice{Item: there.AddItem("Cart", 1, nil).ID, Quantity: 1}),
		)
		testkit.WantReason(h.T, err, fault.ItemUnavailable)
	},
}

// Each change is told once, and its repetition not at all.
var eventLines = map[string]func(h *testkit.Studio){
	"held, booked, updated, rescheduled, cancelled": func(h *testkit.Studio) {
		mia, ctx := h.AddMember("Mia"), context.Background()
		to := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(60 * time.Hour)})
		b := h.MustHold(mia, h.AddSession(testkit.Session{}))
		for range 2 {
			if _, err := h.App.Bookings.ConfirmBooking(
				ctx, testkit.SelfOnly(mia), bookings.ConfirmRequest{ID: b.ID},
			); err != nil {
				h.T.Fatal(err)
			}
		}
		if _, err := h.App.Bookings.ConfirmBooking(
			ctx, testkit.SelfOnly(mia), bookings.ConfirmRequest{ID: b.ID, Paid: testkit.FiftyEuros},
		); err != nil {
			h.T.Fatal(err)
		}
		for range 2 {
			if _, err := h.Reschedule(testkit.SelfOnly(mia), b.ID, to); err != nil {
				h.T.Fatal(err)
			}
		}
		for range 2 {
			if _, err := h.Cancel(mia, b.ID); err != nil {
				h.T.Fatal(err)
			}
		}
		wantEvents(h, b.ID, "booking.held booking.confirmed booking.updated booking.rescheduled booking.cancelled")
	},
	"held, released": func(h *testkit.Studio) {
		mia := h.AddMember("Mia")
		b := h.MustHold(mia, h.AddSession(testkit.Session{}))
		for range 2 {
			if _, err := h.App.Bookings.ReleaseHold(context.Background(), testkit.SelfOnly(mia), b.ID); err != nil {
				h.T.Fatal(err)
			}
		}
		wantEvents(h, b.ID, "booking.held booking.released")
	},
	"held, expired": func(h *testkit.Studio) {
		b := h.MustHold(h.AddMember("Mia"), h.AddSession(testkit.Session{}))
		h.Clock.Set(testkit.Noon.Add(10 * time.Minute))
		for range 2 {
			if _, err := h.App.Waitlists.ExpireHolds(context.Background(), h.Tenant); err != nil {
				h.T.Fatal(err)
			}
		}
		wantEvents(h, b.ID, "booking.held booking.expired")
	},
	"what is refused is told nobody": func(h *testkit.Studio) {
		class := h.AddSession(testkit.Session{Blocked: true})
		_, err := h.Hold(h.AddMember("Mia"), class)
		testkit.WantReason(h.T, err, fault.SessionNotOpen)
		if got := h.SessionEvents(class); got != "session.created session.blocked" {
			h.T.Errorf("%q", got)
		}
	},
}

func wantEvents(h *testkit.Studio, of tenant.BookingID, want string) {
	h.T.Helper()
	got := h.Text(
		`select string_agg(type, ' ' order by xid, id) from events where tenant_id = $1 and booking_id = $2`, h.Tenant, of,
	)
	if got != want {
		h.T.Errorf("%q, want %q", got, want)
	}
}

// Nothing of one tenant can be held, confirmed, moved or cancelled from another, and nothing can be moved into one.
var tenantLines = map[string]func(h *testkit.Studio){
	"a session of another": func(h *testkit.Studio) {
		theirs := testkit.NewIn(h.T, h.DB).AddSession(testkit.Session{})
		_, err := h.Hold(h.Owner, theirs, testkit.ForGuest("Pat", ""))
		testkit.WantReason(h.T, err, fault.SessionNotFound)
		mia := h.AddMember("Mia")
		_, err = h.Reschedule(testkit.SelfOnly(mia), h.MustBook(mia, h.AddSession(testkit.Session{})), theirs)
		testkit.WantReason(h.T, err, fault.SessionNotFound)
	},
	"a member of another": func(h *testkit.Studio) {
		_, err := h.Hold(h.Owner, h.AddSession(testkit.Session{}), forMember(testkit.NewIn(h.T, h.DB).AddMember("Mia")))
		testkit.WantReason(h.T, err, fault.MemberNotFound)
	},
	"a booking of another": func(h *testkit.Studio) {
		there, ctx := testkit.NewIn(h.T, h.DB), context.Background()
		id := there.MustHold(there.AddMember("Mia"), there.AddSession(testkit.Session{})).ID
		_, err := h.App.Bookings.ConfirmBooking(ctx, h.Owner, bookings.ConfirmRequest{ID: id})
		testkit.WantReason(h.T, err, fault.BookingNotFound)
		_, err = h.App.Bookings.ReleaseHold(ctx, h.Owner, id)
		testkit.WantReason(h.T, err, fault.BookingNotFound)
		_, err = h.App.Bookings.CancelBooking(ctx, h.Owner, bookings.CancelRequest{ID: id})
		testkit.WantReason(h.T, err, fault.BookingNotFound)
		_, err = h.Reschedule(h.Owner, id, h.AddSession(testkit.Session{}))
		testkit.WantReason(h.T, err, fault.BookingNotFound)
		_, err = h.App.Bookings.GetBooking(ctx, h.Owner, id)
		testkit.WantReason(h.T, err, fault.BookingNotFound)
		if there.BookingStatus(id) != "PENDING" {
			h.T.Error(there.BookingStatus(id))
		}
	},
}
