package bookings_test

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// More lines of TestTheLifeOfABooking.

var rescheduleLines = map[string]func(h *testkit.House){
	"it stays the same booking, CONFIRMED, paid": func(h *testkit.House) {
		mia, to := h.Member("Mia"), h.Session(testkit.Slot{Starts: testkit.Noon.Add(60 * time.Hour)})
		b := h.MustHold(mia, h.Session(testkit.Slot{}))
		if _, err := h.App.Bookings.ConfirmBooking(context.Background(), testkit.Own(mia), bookings.ConfirmRequest{ID: b.ID, Paid: testkit.Fifty}); err != nil {
			h.T.Fatal(err)
		}
		moved, err := h.Move(testkit.Own(mia), b.ID, to)
		if err != nil || moved.Booking.ID != b.ID || moved.Booking.Status != booking.Confirmed || moved.Booking.Session != to || moved.Booking.Payment.Status != booking.Captured {
			h.T.Errorf("%+v, %v", moved.Booking, err)
		}
	},
	"within the same location only": func(h *testkit.House) {
		elsewhere := testkit.NewID[tenant.LocationID]()
		h.Exec(`insert into locations (tenant_id, id, name, time_zone, created_at, updated_at) values ($1, $2, 'Pier 2', 'Europe/Berlin', $3, $3)`, h.Tenant, elsewhere, testkit.Noon)
		mia := h.Member("Mia")
		_, err := h.Move(testkit.Own(mia), h.MustBook(mia, h.Session(testkit.Slot{})), h.Session(testkit.Slot{Location: elsewhere}))
		testkit.WantReason(h.T, err, fault.RescheduleTarget)
		if testkit.Meta(h.T, err, "reason") != "LOCATION" {
			h.T.Error(err)
		}
	},
	"a target that is no longer available keeps the old place": func(h *testkit.House) {
		mia, from, full := h.Member("Mia"), h.Session(testkit.Slot{}), h.Session(testkit.Slot{Capacity: 1})
		h.MustHold(h.Member("Noa"), full)
		id := h.MustBook(mia, from)
		_, err := h.Move(testkit.Own(mia), id, full)
		testkit.WantReason(h.T, err, fault.RescheduleTarget)
		if testkit.Meta(h.T, err, "reason") != "SESSION_FULL" {
			h.T.Error(err)
		}
		if b, err := h.App.Bookings.GetBooking(context.Background(), testkit.Own(mia), id); err != nil || b.Session != from || b.Status != booking.Confirmed {
			h.T.Errorf("%+v, %v", b, err)
		}
	},
	"a hold that has run out is in nobody's way": func(h *testkit.House) {
		mia, full := h.Member("Mia"), h.Session(testkit.Slot{Capacity: 1})
		h.MustHold(h.Member("Noa"), full)
		id := h.MustBook(mia, h.Session(testkit.Slot{}))
		h.Clock.Set(testkit.Noon.Add(10 * time.Minute))
		if _, err := h.Move(testkit.Own(mia), id, full); err != nil {
			h.T.Error(err)
		}
	},
	"past the cancellation window it is refused, unless the policy allows it": func(h *testkit.House) {
		mia, soon := h.Member("Mia"), h.Session(testkit.Slot{Starts: testkit.Noon.Add(5 * time.Hour)})
		to := h.Session(testkit.Slot{Starts: testkit.Noon.Add(60 * time.Hour)})
		id := h.MustBook(mia, soon)
		_, err := h.Move(testkit.Own(mia), id, to)
		testkit.WantReason(h.T, err, fault.CancellationWindow)
		policy(h, "allow_reschedule", "true")
		if _, err := h.Move(testkit.Own(mia), id, to); err != nil {
			h.T.Error(err)
		}
	},
	"people are told, unless that is not wanted": func(h *testkit.House) {
		mia := h.Member("Mia")
		id := h.MustBook(mia, h.Session(testkit.Slot{}))
		for i, notify := range []bool{true, false} {
			to := h.Session(testkit.Slot{Starts: testkit.Noon.Add(time.Duration(60+i) * time.Hour)})
			if _, err := h.App.Bookings.RescheduleBooking(context.Background(), testkit.Own(mia), bookings.RescheduleRequest{ID: id, To: to, Notify: notify}); err != nil {
				h.T.Fatal(err)
			}
			if n := h.Count(`select count(*) from events where tenant_id = $1 and type = 'booking.rescheduled' and session_id = $2 and (data->>'notify')::boolean = $3`, h.Tenant, to, notify); n != 1 {
				h.T.Errorf("notify %v: %d events", notify, n)
			}
		}
	},
}

var itemLines = map[string]func(h *testkit.House){
	"they are PENDING with the hold, CONFIRMED with the booking, CANCELLED with it": func(h *testkit.House) {
		mia, cart := h.Member("Mia"), h.Item("Cart", 2, nil)
		b := h.MustHold(mia, h.Session(testkit.Slot{}), testkit.With(booking.ItemChoice{Item: cart.ID, Quantity: 2}))
		want := func(status booking.ItemStatus) {
			h.T.Helper()
			read, err := h.App.Bookings.GetBooking(context.Background(), testkit.Own(mia), b.ID)
			if err != nil || len(read.Items) != 1 || read.Items[0].Status != status || read.Items[0].Quantity != 2 || read.Items[0].Price.Units != 20 {
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
	"what is not chosen on confirmation is CANCELLED, and free for others": func(h *testkit.House) {
		mia, class := h.Member("Mia"), h.Session(testkit.Slot{})
		cart, caddie := h.Item("Cart", 1, nil), h.Item("Caddie", 1, nil)
		b := h.MustHold(mia, class, testkit.With(booking.ItemChoice{Item: cart.ID, Quantity: 1}, booking.ItemChoice{Item: caddie.ID, Quantity: 1}))
		place, err := h.App.Bookings.ConfirmBooking(context.Background(), testkit.Own(mia), bookings.ConfirmRequest{ID: b.ID, Keep: []tenant.LineID{b.Items[0].ID}})
		if err != nil || place.Booking.Items[0].Status != booking.ItemConfirmed || place.Booking.Items[1].Status != booking.ItemCancelled {
			h.T.Fatalf("%+v, %v", place.Booking, err)
		}
		h.MustHold(h.Member("Noa"), class, testkit.With(booking.ItemChoice{Item: b.Items[1].Item, Quantity: 1}))
	},
	"they go with a hold that expires or is released": func(h *testkit.House) {
		class, cart := h.Session(testkit.Slot{}), h.Item("Cart", 1, nil)
		one := testkit.With(booking.ItemChoice{Item: cart.ID, Quantity: 1})
		released := h.MustHold(h.Member("Mia"), class, one)
		if _, err := h.App.Bookings.ReleaseHold(context.Background(), h.Owner, released.ID); err != nil {
			h.T.Fatal(err)
		}
		h.MustHold(h.Member("Noa"), class, one)
		h.Clock.Set(testkit.Noon.Add(10 * time.Minute))
		h.MustHold(h.Member("Zoe"), class, one)
	},
	"they move when asked, and are given back otherwise": func(h *testkit.House) {
		mia, cart := h.Member("Mia"), h.Item("Cart", 1, nil)
		from, to := h.Session(testkit.Slot{}), h.Session(testkit.Slot{Starts: testkit.Noon.Add(60 * time.Hour)})
		one := testkit.With(booking.ItemChoice{Item: cart.ID, Quantity: 1})
		b := h.MustHold(mia, from, one)
		if _, err := h.Confirm(mia, b.ID); err != nil {
			h.T.Fatal(err)
		}
		moved, err := h.Move(testkit.Own(mia), b.ID, to)
		if err != nil || len(moved.Booking.Items) != 2 || moved.Booking.Items[1].Status != booking.ItemConfirmed {
			h.T.Fatalf("%+v, %v", moved.Booking, err)
		}
		h.MustHold(h.Member("Noa"), from, one) // the old one is back
		_, err = h.Hold(h.Member("Zoe"), to, one)
		testkit.WantReason(h.T, err, fault.ItemUnavailable)
		if _, err := h.App.Bookings.RescheduleBooking(context.Background(), testkit.Own(mia), bookings.RescheduleRequest{ID: b.ID, To: from}); err != nil {
			h.T.Fatal(err)
		}
		h.MustHold(h.Member("Zoe"), to, one)
	},
	"one that is taken at the target refuses the move": func(h *testkit.House) {
		mia, cart := h.Member("Mia"), h.Item("Cart", 1, nil)
		from, to := h.Session(testkit.Slot{}), h.Session(testkit.Slot{Starts: testkit.Noon.Add(60 * time.Hour)})
		one := testkit.With(booking.ItemChoice{Item: cart.ID, Quantity: 1})
		b := h.MustHold(mia, from, one)
		if _, err := h.Confirm(mia, b.ID); err != nil {
			h.T.Fatal(err)
		}
		h.MustHold(h.Member("Noa"), to, one)
		_, err := h.Move(testkit.Own(mia), b.ID, to)
		testkit.WantReason(h.T, err, fault.ItemUnavailable)
	},
	"one that is none of the location's": func(h *testkit.House) {
		_, err := h.Hold(h.Member("Mia"), h.Session(testkit.Slot{}), testkit.With(booking.ItemChoice{Item: testkit.NewID[tenant.ItemID](), Quantity: 1}))
		testkit.WantReason(h.T, err, fault.ItemUnavailable)
		there := apart(h.T, h)
		_, err = h.Hold(h.Member("Mia"), h.Session(testkit.Slot{}), testkit.With(booking.ItemChoice{Item: there.Item("Cart", 1, nil).ID, Quantity: 1}))
		testkit.WantReason(h.T, err, fault.ItemUnavailable)
	},
}

// Each change is told once, and its repetition not at all.
var eventLines = map[string]func(h *testkit.House){
	"held, booked, updated, rescheduled, cancelled": func(h *testkit.House) {
		mia, ctx := h.Member("Mia"), context.Background()
		to := h.Session(testkit.Slot{Starts: testkit.Noon.Add(60 * time.Hour)})
		b := h.MustHold(mia, h.Session(testkit.Slot{}))
		for range 2 {
			if _, err := h.App.Bookings.ConfirmBooking(ctx, testkit.Own(mia), bookings.ConfirmRequest{ID: b.ID}); err != nil {
				h.T.Fatal(err)
			}
		}
		if _, err := h.App.Bookings.ConfirmBooking(ctx, testkit.Own(mia), bookings.ConfirmRequest{ID: b.ID, Paid: testkit.Fifty}); err != nil {
			h.T.Fatal(err)
		}
		for range 2 {
			if _, err := h.Move(testkit.Own(mia), b.ID, to); err != nil {
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
	"held, released": func(h *testkit.House) {
		mia := h.Member("Mia")
		b := h.MustHold(mia, h.Session(testkit.Slot{}))
		for range 2 {
			if _, err := h.App.Bookings.ReleaseHold(context.Background(), testkit.Own(mia), b.ID); err != nil {
				h.T.Fatal(err)
			}
		}
		wantEvents(h, b.ID, "booking.held booking.released")
	},
	"held, expired": func(h *testkit.House) {
		b := h.MustHold(h.Member("Mia"), h.Session(testkit.Slot{}))
		h.Clock.Set(testkit.Noon.Add(10 * time.Minute))
		for range 2 {
			if _, err := h.App.Waitlists.ExpireHolds(context.Background(), h.Tenant); err != nil {
				h.T.Fatal(err)
			}
		}
		wantEvents(h, b.ID, "booking.held booking.expired")
	},
	"what is refused is told nobody": func(h *testkit.House) {
		class := h.Session(testkit.Slot{Blocked: true})
		_, err := h.Hold(h.Member("Mia"), class)
		testkit.WantReason(h.T, err, fault.SessionNotOpen)
		if got := h.SessionEvents(class); got != "" {
			h.T.Errorf("%q", got)
		}
	},
}

func wantEvents(h *testkit.House, of tenant.BookingID, want string) {
	h.T.Helper()
	got := h.QueryText(`select string_agg(type, ' ' order by xid, id) from events where tenant_id = $1 and booking_id = $2`, h.Tenant, of)
	if got != want {
		h.T.Errorf("%q, want %q", got, want)
	}
}

// Nothing of one tenant can be held, confirmed, moved or cancelled from another, and nothing can be moved into one.
var tenantLines = map[string]func(h *testkit.House){
	"a session of another": func(h *testkit.House) {
		theirs := apart(h.T, h).Session(testkit.Slot{})
		_, err := h.Hold(h.Owner, theirs, testkit.Guest("Pat", ""))
		testkit.WantReason(h.T, err, fault.SessionNotFound)
		mia := h.Member("Mia")
		_, err = h.Move(testkit.Own(mia), h.MustBook(mia, h.Session(testkit.Slot{})), theirs)
		testkit.WantReason(h.T, err, fault.SessionNotFound)
	},
	"a member of another": func(h *testkit.House) {
		_, err := h.Hold(h.Owner, h.Session(testkit.Slot{}), forMember(apart(h.T, h).Member("Mia")))
		testkit.WantReason(h.T, err, fault.MemberNotFound)
	},
	"a booking of another": func(h *testkit.House) {
		there, ctx := apart(h.T, h), context.Background()
		id := there.MustHold(there.Member("Mia"), there.Session(testkit.Slot{})).ID
		_, err := h.App.Bookings.ConfirmBooking(ctx, h.Owner, bookings.ConfirmRequest{ID: id})
		testkit.WantReason(h.T, err, fault.BookingNotFound)
		_, err = h.App.Bookings.ReleaseHold(ctx, h.Owner, id)
		testkit.WantReason(h.T, err, fault.BookingNotFound)
		_, err = h.App.Bookings.CancelBooking(ctx, h.Owner, bookings.CancelRequest{ID: id})
		testkit.WantReason(h.T, err, fault.BookingNotFound)
		_, err = h.Move(h.Owner, id, h.Session(testkit.Slot{}))
		testkit.WantReason(h.T, err, fault.BookingNotFound)
		_, err = h.App.Bookings.GetBooking(ctx, h.Owner, id)
		testkit.WantReason(h.T, err, fault.BookingNotFound)
		if there.Status(id) != "PENDING" {
			h.T.Error(there.Status(id))
		}
	},
}
