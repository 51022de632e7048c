package app_test

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// More lines of TestTheLifeOfABooking.

var rescheduleLines = map[string]func(h *house){
	"it stays the same booking, CONFIRMED, paid": func(h *house) {
		mia, to := h.member("Mia"), h.session(slot{Starts: noon.Add(60 * time.Hour)})
		b := h.mustHold(mia, h.session(slot{}))
		if _, err := h.app.ConfirmBooking(context.Background(), own(mia), app.ConfirmRequest{ID: b.ID, Paid: fifty}); err != nil {
			h.t.Fatal(err)
		}
		moved, err := h.move(own(mia), b.ID, to)
		if err != nil || moved.Booking.ID != b.ID || moved.Booking.Status != booking.Confirmed || moved.Booking.Session != to || moved.Booking.Payment.Status != booking.Captured {
			h.t.Errorf("%+v, %v", moved.Booking, err)
		}
	},
	"within the same location only": func(h *house) {
		elsewhere := newID[tenant.LocationID]()
		h.exec(`insert into locations (tenant_id, id, name, time_zone, created_at, updated_at) values ($1, $2, 'Pier 2', 'Europe/Berlin', $3, $3)`, h.Tenant, elsewhere, noon)
		mia := h.member("Mia")
		_, err := h.move(own(mia), h.mustBook(mia, h.session(slot{})), h.session(slot{Location: elsewhere}))
		wantReason(h.t, err, fault.RescheduleTarget)
		if meta(h.t, err, "reason") != "LOCATION" {
			h.t.Error(err)
		}
	},
	"a target that is no longer available keeps the old place": func(h *house) {
		mia, from, full := h.member("Mia"), h.session(slot{}), h.session(slot{Capacity: 1})
		h.mustHold(h.member("Noa"), full)
		id := h.mustBook(mia, from)
		_, err := h.move(own(mia), id, full)
		wantReason(h.t, err, fault.RescheduleTarget)
		if meta(h.t, err, "reason") != "SESSION_FULL" {
			h.t.Error(err)
		}
		if b, err := h.app.GetBooking(context.Background(), own(mia), id); err != nil || b.Session != from || b.Status != booking.Confirmed {
			h.t.Errorf("%+v, %v", b, err)
		}
	},
	"a hold that has run out is in nobody's way": func(h *house) {
		mia, full := h.member("Mia"), h.session(slot{Capacity: 1})
		h.mustHold(h.member("Noa"), full)
		id := h.mustBook(mia, h.session(slot{}))
		h.clock.Set(noon.Add(10 * time.Minute))
		if _, err := h.move(own(mia), id, full); err != nil {
			h.t.Error(err)
		}
	},
	"past the cancellation window it is refused, unless the policy allows it": func(h *house) {
		mia, soon := h.member("Mia"), h.session(slot{Starts: noon.Add(5 * time.Hour)})
		to := h.session(slot{Starts: noon.Add(60 * time.Hour)})
		id := h.mustBook(mia, soon)
		_, err := h.move(own(mia), id, to)
		wantReason(h.t, err, fault.CancellationWindow)
		h.policy("allow_reschedule", "true")
		if _, err := h.move(own(mia), id, to); err != nil {
			h.t.Error(err)
		}
	},
	"people are told, unless that is not wanted": func(h *house) {
		mia := h.member("Mia")
		id := h.mustBook(mia, h.session(slot{}))
		for i, notify := range []bool{true, false} {
			to := h.session(slot{Starts: noon.Add(time.Duration(60+i) * time.Hour)})
			if _, err := h.app.RescheduleBooking(context.Background(), own(mia), app.RescheduleRequest{ID: id, To: to, Notify: notify}); err != nil {
				h.t.Fatal(err)
			}
			if n := h.count(`select count(*) from events where tenant_id = $1 and type = 'booking.rescheduled' and session_id = $2 and (data->>'notify')::boolean = $3`, h.Tenant, to, notify); n != 1 {
				h.t.Errorf("notify %v: %d events", notify, n)
			}
		}
	},
}

var itemLines = map[string]func(h *house){
	"they are PENDING with the hold, CONFIRMED with the booking, CANCELLED with it": func(h *house) {
		mia, cart := h.member("Mia"), h.item("Cart", 2, nil)
		b := h.mustHold(mia, h.session(slot{}), with(booking.Choice{Item: cart.ID, Quantity: 2}))
		want := func(status booking.ItemStatus) {
			h.t.Helper()
			read, err := h.app.GetBooking(context.Background(), own(mia), b.ID)
			if err != nil || len(read.Items) != 1 || read.Items[0].Status != status || read.Items[0].Quantity != 2 || read.Items[0].Price.Units != 20 {
				h.t.Errorf("%+v, %v, want %s", read.Items, err, status)
			}
		}
		want(booking.ItemPending)
		if _, err := h.confirm(mia, b.ID); err != nil {
			h.t.Fatal(err)
		}
		want(booking.ItemConfirmed)
		if _, err := h.cancel(mia, b.ID); err != nil {
			h.t.Fatal(err)
		}
		want(booking.ItemCancelled)
	},
	"what is not chosen on confirmation is CANCELLED, and free for others": func(h *house) {
		mia, class := h.member("Mia"), h.session(slot{})
		cart, caddie := h.item("Cart", 1, nil), h.item("Caddie", 1, nil)
		b := h.mustHold(mia, class, with(booking.Choice{Item: cart.ID, Quantity: 1}, booking.Choice{Item: caddie.ID, Quantity: 1}))
		place, err := h.app.ConfirmBooking(context.Background(), own(mia), app.ConfirmRequest{ID: b.ID, Keep: []tenant.LineID{b.Items[0].ID}})
		if err != nil || place.Booking.Items[0].Status != booking.ItemConfirmed || place.Booking.Items[1].Status != booking.ItemCancelled {
			h.t.Fatalf("%+v, %v", place.Booking, err)
		}
		h.mustHold(h.member("Noa"), class, with(booking.Choice{Item: b.Items[1].Item, Quantity: 1}))
	},
	"they go with a hold that expires or is released": func(h *house) {
		class, cart := h.session(slot{}), h.item("Cart", 1, nil)
		one := with(booking.Choice{Item: cart.ID, Quantity: 1})
		released := h.mustHold(h.member("Mia"), class, one)
		if _, err := h.app.ReleaseHold(context.Background(), h.Owner, released.ID); err != nil {
			h.t.Fatal(err)
		}
		h.mustHold(h.member("Noa"), class, one)
		h.clock.Set(noon.Add(10 * time.Minute))
		h.mustHold(h.member("Zoe"), class, one)
	},
	"they move when asked, and are given back otherwise": func(h *house) {
		mia, cart := h.member("Mia"), h.item("Cart", 1, nil)
		from, to := h.session(slot{}), h.session(slot{Starts: noon.Add(60 * time.Hour)})
		one := with(booking.Choice{Item: cart.ID, Quantity: 1})
		b := h.mustHold(mia, from, one)
		if _, err := h.confirm(mia, b.ID); err != nil {
			h.t.Fatal(err)
		}
		moved, err := h.move(own(mia), b.ID, to)
		if err != nil || len(moved.Booking.Items) != 2 || moved.Booking.Items[1].Status != booking.ItemConfirmed {
			h.t.Fatalf("%+v, %v", moved.Booking, err)
		}
		h.mustHold(h.member("Noa"), from, one) // the old one is back
		_, err = h.hold(h.member("Zoe"), to, one)
		wantReason(h.t, err, fault.ItemUnavailable)
		if _, err := h.app.RescheduleBooking(context.Background(), own(mia), app.RescheduleRequest{ID: b.ID, To: from}); err != nil {
			h.t.Fatal(err)
		}
		h.mustHold(h.member("Zoe"), to, one)
	},
	"one that is taken at the target refuses the move": func(h *house) {
		mia, cart := h.member("Mia"), h.item("Cart", 1, nil)
		from, to := h.session(slot{}), h.session(slot{Starts: noon.Add(60 * time.Hour)})
		one := with(booking.Choice{Item: cart.ID, Quantity: 1})
		b := h.mustHold(mia, from, one)
		if _, err := h.confirm(mia, b.ID); err != nil {
			h.t.Fatal(err)
		}
		h.mustHold(h.member("Noa"), to, one)
		_, err := h.move(own(mia), b.ID, to)
		wantReason(h.t, err, fault.ItemUnavailable)
	},
	"one that is none of the location's": func(h *house) {
		_, err := h.hold(h.member("Mia"), h.session(slot{}), with(booking.Choice{Item: newID[tenant.ItemID](), Quantity: 1}))
		wantReason(h.t, err, fault.ItemUnavailable)
		there := h.apart(h.t)
		_, err = h.hold(h.member("Mia"), h.session(slot{}), with(booking.Choice{Item: there.item("Cart", 1, nil).ID, Quantity: 1}))
		wantReason(h.t, err, fault.ItemUnavailable)
	},
}

// Each change is told once, and its repetition not at all.
var eventLines = map[string]func(h *house){
	"held, booked, updated, rescheduled, cancelled": func(h *house) {
		mia, ctx := h.member("Mia"), context.Background()
		to := h.session(slot{Starts: noon.Add(60 * time.Hour)})
		b := h.mustHold(mia, h.session(slot{}))
		for range 2 {
			if _, err := h.app.ConfirmBooking(ctx, own(mia), app.ConfirmRequest{ID: b.ID}); err != nil {
				h.t.Fatal(err)
			}
		}
		if _, err := h.app.ConfirmBooking(ctx, own(mia), app.ConfirmRequest{ID: b.ID, Paid: fifty}); err != nil {
			h.t.Fatal(err)
		}
		for range 2 {
			if _, err := h.move(own(mia), b.ID, to); err != nil {
				h.t.Fatal(err)
			}
		}
		for range 2 {
			if _, err := h.cancel(mia, b.ID); err != nil {
				h.t.Fatal(err)
			}
		}
		h.wantEvents(b.ID, "booking.held booking.confirmed booking.updated booking.rescheduled booking.cancelled")
	},
	"held, released": func(h *house) {
		mia := h.member("Mia")
		b := h.mustHold(mia, h.session(slot{}))
		for range 2 {
			if _, err := h.app.ReleaseHold(context.Background(), own(mia), b.ID); err != nil {
				h.t.Fatal(err)
			}
		}
		h.wantEvents(b.ID, "booking.held booking.released")
	},
	"held, expired": func(h *house) {
		b := h.mustHold(h.member("Mia"), h.session(slot{}))
		h.clock.Set(noon.Add(10 * time.Minute))
		for range 2 {
			if _, err := h.app.ExpireHolds(context.Background(), h.Tenant); err != nil {
				h.t.Fatal(err)
			}
		}
		h.wantEvents(b.ID, "booking.held booking.expired")
	},
	"what is refused is told nobody": func(h *house) {
		class := h.session(slot{Blocked: true})
		_, err := h.hold(h.member("Mia"), class)
		wantReason(h.t, err, fault.SessionNotOpen)
		if got := h.sessionEvents(class); got != "" {
			h.t.Errorf("%q", got)
		}
	},
}

func (h *house) wantEvents(of tenant.BookingID, want string) {
	h.t.Helper()
	got := h.queryText(`select string_agg(type, ' ' order by xid, id) from events where tenant_id = $1 and booking_id = $2`, h.Tenant, of)
	if got != want {
		h.t.Errorf("%q, want %q", got, want)
	}
}

// Nothing of one tenant can be held, confirmed, moved or cancelled from another, and nothing can be moved into one.
var tenantLines = map[string]func(h *house){
	"a session of another": func(h *house) {
		theirs := h.apart(h.t).session(slot{})
		_, err := h.hold(h.Owner, theirs, guest("Pat", ""))
		wantReason(h.t, err, fault.SessionNotFound)
		mia := h.member("Mia")
		_, err = h.move(own(mia), h.mustBook(mia, h.session(slot{})), theirs)
		wantReason(h.t, err, fault.SessionNotFound)
	},
	"a member of another": func(h *house) {
		_, err := h.hold(h.Owner, h.session(slot{}), forMember(h.apart(h.t).member("Mia")))
		wantReason(h.t, err, fault.MemberNotFound)
	},
	"a booking of another": func(h *house) {
		there, ctx := h.apart(h.t), context.Background()
		id := there.mustHold(there.member("Mia"), there.session(slot{})).ID
		_, err := h.app.ConfirmBooking(ctx, h.Owner, app.ConfirmRequest{ID: id})
		wantReason(h.t, err, fault.BookingNotFound)
		_, err = h.app.ReleaseHold(ctx, h.Owner, id)
		wantReason(h.t, err, fault.BookingNotFound)
		_, err = h.app.CancelBooking(ctx, h.Owner, app.CancelRequest{ID: id})
		wantReason(h.t, err, fault.BookingNotFound)
		_, err = h.move(h.Owner, id, h.session(slot{}))
		wantReason(h.t, err, fault.BookingNotFound)
		_, err = h.app.GetBooking(ctx, h.Owner, id)
		wantReason(h.t, err, fault.BookingNotFound)
		if there.status(id) != "PENDING" {
			h.t.Error(there.status(id))
		}
	},
}
