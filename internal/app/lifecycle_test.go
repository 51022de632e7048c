package app_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// The life of a booking, line by line: each rule, default and error that a system which sells slots relies on.
func TestTheLifeOfABooking(t *testing.T) {
	t.Parallel()
	shared := newHouse(t)
	for act, lines := range map[string]map[string]func(h *house){
		"hold": holdLines, "confirm": confirmLines, "cancel": cancelLines, "reschedule": rescheduleLines, "items": itemLines,
		"events": eventLines, "tenants": tenantLines,
	} {
		for line, check := range lines {
			t.Run(act+"/"+line, func(t *testing.T) {
				t.Parallel()
				h := shared.apart(t)
				check(h)
				h.wantSound()
			})
		}
	}
}

// apart gives a tenant of its own in the same database, with a clock of its own.
func (h *house) apart(t testing.TB) *house {
	t.Helper()
	keys, err := checkin.NewKeys([]byte("a key for tests that is 32 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	c := &clock{now: noon}
	return (&house{t: t, db: h.db, clock: c, app: app.New(app.Config{DB: h.db.DB, Now: c.Now, CheckInKeys: keys})}).settleIn()
}

var holdLines = map[string]func(h *house){
	"a hold is PENDING, in its session, UNPAID, and lasts ten minutes unless the policy says otherwise": func(h *house) {
		class := h.session(slot{})
		b := h.mustHold(h.member("Mia"), class)
		if b.Status != booking.Pending || b.Session != class || b.Payment.Status != booking.Unpaid || !b.HoldUntil.Equal(noon.Add(10*time.Minute)) {
			h.t.Errorf("%+v", b)
		}
		h.policy("hold_ttl_seconds", "90")
		if b = h.mustHold(h.member("Noa"), class); !b.HoldUntil.Equal(noon.Add(90 * time.Second)) {
			h.t.Errorf("until %s", b.HoldUntil)
		}
	},
	"it keeps name, email and telephone number": func(h *house) {
		contact := booking.Contact{Name: "John Smith", Email: "john@example.com", Phone: "+1234567890"}
		b := h.mustHold(h.member("Mia"), h.session(slot{}), func(r *app.BookRequest) { r.Contact = contact })
		read, err := h.app.GetBooking(context.Background(), h.Owner, b.ID)
		if err != nil || read.Contact != contact || b.Contact != contact {
			h.t.Errorf("%+v, %v", read.Contact, err)
		}
	},
	"a session that is not there": func(h *house) {
		_, err := h.hold(h.member("Mia"), newID[tenant.SessionID]())
		wantReason(h.t, err, fault.SessionNotFound)
	},
	"a slot that is claimed already": func(h *house) {
		class := h.session(slot{Capacity: 1, Waitlist: 5}) // a hold never waits
		h.mustHold(h.member("Mia"), class)
		_, err := h.hold(h.member("Noa"), class)
		wantReason(h.t, err, fault.SessionFull)
	},
	"a slot that is blocked": func(h *house) {
		_, err := h.hold(h.member("Mia"), h.session(slot{Blocked: true}))
		wantReason(h.t, err, fault.SessionNotOpen)
		if meta(h.t, err, "state") != "blocked" {
			h.t.Error(err)
		}
	},
	"the advance window, for staff and partners, too": func(h *house) {
		h.policy("advance_seconds", "604800")
		far, near := h.session(slot{Starts: noon.Add(8 * 24 * time.Hour)}), h.session(slot{Starts: noon.Add(7 * 24 * time.Hour)})
		for _, by := range []tenant.Caller{h.member("Mia"), h.Owner} {
			_, err := h.hold(by, far)
			wantReason(h.t, err, fault.AdvanceWindow)
			if got := meta(h.t, err, "opens_at"); got != noon.Add(24*time.Hour).Format(time.RFC3339) {
				h.t.Errorf("opens at %s", got)
			}
			h.mustHold(by, near)
		}
		_, err := h.hold(h.partner("Gateway"), far, guest("Pat", ""))
		wantReason(h.t, err, fault.AdvanceWindow)
	},
	"booking closes before the start": func(h *house) {
		h.policy("booking_closes_seconds", "3600")
		_, err := h.hold(h.member("Mia"), h.session(slot{Starts: noon.Add(time.Hour)}))
		wantReason(h.t, err, fault.SessionNotOpen)
		h.mustHold(h.member("Noa"), h.session(slot{Starts: noon.Add(time.Hour + time.Second)}))
	},
	"a channel that the location has turned off": func(h *house) {
		h.exec(`update locations set channels = '{PHONE}' where tenant_id = $1`, h.Tenant)
		_, err := h.hold(h.member("Mia"), h.session(slot{}))
		wantReason(h.t, err, fault.ChannelClosed)
	},
	"the telephone and the counter are staff's alone": func(h *house) {
		class := h.session(slot{})
		for _, channel := range []catalog.Channel{catalog.Phone, catalog.WalkIn} {
			through := func(r *app.BookRequest) { r.Channel = channel }
			_, err := h.hold(h.member("Mia"), class, through)
			wantReason(h.t, err, fault.ChannelClosed)
			if b := h.mustHold(h.Coach, class, through, forMember(h.member("Noa"))); b.Channel != channel {
				h.t.Errorf("through %s", b.Channel)
			}
		}
	},
	"a party of a size that the service does not take": func(h *house) {
		_, err := h.hold(h.member("Mia"), h.session(slot{}), func(r *app.BookRequest) { r.Party = 5 })
		wantReason(h.t, err, fault.PartySize)
	},
	"the same reference again gives the same booking, whatever has become of the session": func(h *house) {
		mia, class := h.member("Mia"), h.session(slot{Capacity: 1})
		ref := func(r *app.BookRequest) { r.ExternalRef = "ext-ref-789" }
		first := h.mustHold(mia, class, ref)
		// It is looked up before anything is checked: the session is full, closed, blocked.
		if _, err := h.app.BlockSession(context.Background(), h.Owner, class, ""); err != nil {
			h.t.Fatal(err)
		}
		h.clock.Set(noon.Add(72 * time.Hour))
		again, err := h.hold(mia, class, ref)
		if err != nil || !again.Repeated || again.Booking.ID != first.ID {
			h.t.Errorf("%+v, %v", again, err)
		}
	},
	"the same reference for something else is a conflict": func(h *house) {
		mia, class := h.member("Mia"), h.session(slot{})
		ref := func(r *app.BookRequest) { r.ExternalRef = "ext-ref-789" }
		h.mustHold(mia, class, ref)
		_, err := h.hold(mia, class, ref, func(r *app.BookRequest) { r.Party = 2 })
		wantReason(h.t, err, fault.ExternalRefConflict)
		if n := h.count(`select count(*) from bookings where tenant_id = $1`, h.Tenant); n != 1 {
			h.t.Errorf("%d bookings", n)
		}
	},
	"the same reference in another tenant is another one": func(h *house) {
		there, ref := h.apart(h.t), func(r *app.BookRequest) { r.ExternalRef = "ext-ref-789" }
		h.mustHold(h.member("Mia"), h.session(slot{}), ref)
		if place, err := there.hold(there.member("Mia"), there.session(slot{}), ref); err != nil || place.Repeated {
			h.t.Errorf("%+v, %v", place, err)
		}
	},
	"one reference at the same moment makes one booking": func(h *house) {
		class := h.session(slot{})
		ids := make([]tenant.BookingID, 6)
		together(len(ids), func(i int) {
			place, err := h.hold(h.Owner, class, guest("Pat", ""), func(r *app.BookRequest) { r.ExternalRef = "ext-ref-789" })
			if err != nil {
				h.t.Error(err)
				return
			}
			ids[i] = place.Booking.ID
		})
		for _, id := range ids {
			if id != ids[0] {
				h.t.Errorf("%v", ids)
			}
		}
	},
	"released, its seat is free": func(h *house) {
		class := h.session(slot{Capacity: 1})
		b := h.mustHold(h.member("Mia"), class)
		if place, err := h.app.ReleaseHold(context.Background(), h.Owner, b.ID); err != nil || place.Booking.Status != booking.Cancelled {
			h.t.Fatalf("%+v, %v", place, err)
		}
		h.mustHold(h.member("Noa"), class)
	},
}

var confirmLines = map[string]func(h *house){
	"money is CAPTURED with its method and its time": func(h *house) {
		mia := h.member("Mia")
		b := h.mustHold(mia, h.session(slot{}))
		h.clock.Set(noon.Add(time.Minute))
		place, err := h.app.ConfirmBooking(context.Background(), own(mia), app.ConfirmRequest{ID: b.ID, Paid: fifty})
		if err != nil {
			h.t.Fatal(err)
		}
		want := booking.Payment{Status: booking.Captured, Amount: fifty.Amount, Method: "card", PaidAt: new(noon.Add(time.Minute))}
		if diff := cmp.Diff(want, place.Booking.Payment); diff != "" || place.Booking.Status != booking.Confirmed || !place.Booking.ConfirmedAt.Equal(noon.Add(time.Minute)) {
			h.t.Errorf("%s %v\n%s", place.Booking.Status, place.Booking.ConfirmedAt, diff)
		}
	},
	"AUTHORIZED becomes CAPTURED by confirming again, and nothing else changes": func(h *house) {
		mia, ctx := h.member("Mia"), context.Background()
		s := h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Credits, Credits: 5}))
		b := h.mustHold(mia, h.session(slot{}))
		authorized := *fifty
		authorized.Status = booking.Authorized
		first, err := h.app.ConfirmBooking(ctx, own(mia), app.ConfirmRequest{ID: b.ID, Paid: &authorized})
		if err != nil || first.Repeated || first.Booking.Payment.Status != booking.Authorized {
			h.t.Fatalf("%+v, %v", first, err)
		}
		again, err := h.app.ConfirmBooking(ctx, own(mia), app.ConfirmRequest{ID: b.ID, Paid: fifty})
		if err != nil || !again.Repeated || again.Booking.Payment.Status != booking.Captured || h.balance(s) != 5 {
			h.t.Errorf("%+v, %v, balance %d", again, err, h.balance(s))
		}
		want := *first.Booking
		want.Payment = again.Booking.Payment
		if diff := cmp.Diff(want, *again.Booking); diff != "" {
			h.t.Error(diff)
		}
		// Without payment facts it is a look.
		if look, err := h.app.ConfirmBooking(ctx, own(mia), app.ConfirmRequest{ID: b.ID}); err != nil || !look.Repeated || look.Booking.Payment.Status != booking.Captured {
			h.t.Errorf("%+v, %v", look, err)
		}
	},
	"what is cancelled or has expired cannot be": func(h *house) {
		mia, class := h.member("Mia"), h.session(slot{})
		b := h.mustHold(mia, class)
		if _, err := h.app.ReleaseHold(context.Background(), own(mia), b.ID); err != nil {
			h.t.Fatal(err)
		}
		_, err := h.confirm(mia, b.ID)
		wantReason(h.t, err, fault.BookingState)
		if meta(h.t, err, "status") != "CANCELLED" {
			h.t.Error(err)
		}
		b = h.mustHold(mia, class)
		h.clock.Set(noon.Add(10 * time.Minute))
		_, err = h.confirm(mia, b.ID)
		wantReason(h.t, err, fault.HoldExpired)
		if _, err := h.app.ExpireHolds(context.Background(), h.Tenant); err != nil {
			h.t.Fatal(err)
		}
		_, err = h.confirm(mia, b.ID)
		wantReason(h.t, err, fault.HoldExpired)
	},
	"a benefit is checked, and recorded for audit": func(h *house) {
		mia, ctx := h.member("Mia"), context.Background()
		off := booking.Provider{Code: "OLD", Name: "Old Card", Pattern: `.*`, Percent: 50}
		for _, p := range []booking.Provider{{Code: "LINKS", Name: "Links Card", Pattern: `M-\d{3}`, Percent: 20, Active: true}, off} {
			if _, err := h.app.PutBenefitProvider(ctx, h.Owner, p, nil); err != nil {
				h.t.Fatal(err)
			}
		}
		b := h.mustHold(mia, h.session(slot{}))
		for code, number := range map[string]string{"LINKS": "12", "OLD": "M-001", "NONE": "M-001"} {
			_, err := h.app.ConfirmBooking(ctx, own(mia), app.ConfirmRequest{ID: b.ID, Paid: fifty, ProviderCode: code, Number: number})
			wantReason(h.t, err, fault.BenefitInvalid)
		}
		if h.status(b.ID) != "PENDING" {
			h.t.Error("it was confirmed all the same")
		}
		if _, err := h.app.ConfirmBooking(ctx, own(mia), app.ConfirmRequest{ID: b.ID, Paid: fifty, ProviderCode: "LINKS", Number: "M-001"}); err != nil {
			h.t.Fatal(err)
		}
		want := map[string]any{"provider_code": "LINKS", "membership_number": "M-001", "discount_percent": 20.0}
		if diff := cmp.Diff(want, h.lastAudit("booking.benefit_applied")); diff != "" {
			h.t.Error(diff)
		}
	},
}

var cancelLines = map[string]func(h *house){
	"24 hours' notice by default": func(h *house) {
		mia := h.member("Mia")
		id := h.mustBook(mia, h.session(slot{Starts: noon.Add(24 * time.Hour)}))
		late := h.mustBook(mia, h.session(slot{Starts: noon.Add(24*time.Hour - time.Second)}))
		_, err := h.cancel(mia, late)
		wantReason(h.t, err, fault.CancellationWindow)
		if meta(h.t, err, "hours_before") != "24" || meta(h.t, err, "deadline") != noon.Add(-time.Second).Format(time.RFC3339) {
			h.t.Error(err)
		}
		if up, err := h.cancel(mia, id); err != nil || up.Booking.Status != booking.Cancelled {
			h.t.Errorf("%+v, %v", up, err)
		}
	},
	"4 hours for a member and 48 for a visitor, where the policy says so, inherited down to the service": func(h *house) {
		h.policy("cancellation_seconds, allow_reschedule", "86400, true")
		h.exec(`insert into policies (tenant_id, level, scope_id, tiers, updated_at) values ($1, 'LOCATION', $2,
		  '{"member": {"cancellation_seconds": 14400, "allow_reschedule": true}, "visitor": {"cancellation_seconds": 172800, "allow_reschedule": false}}', $3)`, h.Tenant, h.Location, noon)
		to := h.session(slot{Starts: noon.Add(90 * time.Hour)})
		for tier, tt := range map[string]struct {
			notice time.Duration
			moves  bool
		}{"": {24 * time.Hour, true}, "member": {4 * time.Hour, true}, "visitor": {48 * time.Hour, false}} {
			who := h.member("Tier " + tier)
			h.exec(`update members set tier = $2 where id = $1`, who.Member, tier)
			late := h.mustBook(who, h.session(slot{Starts: noon.Add(tt.notice - time.Minute)}))
			_, err := h.cancel(who, late)
			wantReason(h.t, err, fault.CancellationWindow)
			_, err = h.move(own(who), late, to)
			if moved := err == nil; moved != tt.moves {
				h.t.Errorf("%q moves: %v (%v)", tier, moved, err)
			}
			if _, err := h.cancel(who, h.mustBook(who, h.session(slot{Starts: noon.Add(tt.notice + time.Minute)}))); err != nil {
				h.t.Errorf("%q: %v", tier, err)
			}
		}
	},
	"in time the payment is REFUNDED, late it is not": func(h *house) {
		h.policy("allow_late_cancellation", "true")
		mia := h.member("Mia")
		for ahead, want := range map[time.Duration]booking.PaymentStatus{48 * time.Hour: booking.Refunded, 12 * time.Hour: booking.Captured} {
			b := h.mustHold(mia, h.session(slot{Starts: noon.Add(ahead)}))
			if _, err := h.app.ConfirmBooking(context.Background(), own(mia), app.ConfirmRequest{ID: b.ID, Paid: fifty}); err != nil {
				h.t.Fatal(err)
			}
			up, err := h.cancel(mia, b.ID)
			if err != nil || up.Booking.Payment.Status != want || up.Late != (want == booking.Captured) {
				h.t.Errorf("%s before: %+v, %v", ahead, up.Booking, err)
			}
		}
	},
	"a hold can be, too": func(h *house) {
		mia, class := h.member("Mia"), h.session(slot{Capacity: 1})
		up, err := h.cancel(mia, h.mustHold(mia, class).ID)
		if err != nil || up.Booking.Status != booking.Cancelled || up.Booking.Payment.Status != booking.Unpaid {
			h.t.Errorf("%+v, %v", up, err)
		}
		h.mustHold(h.member("Noa"), class)
	},
	"CANCELLED is the end: cancelling again changes nothing, and nothing else is possible": func(h *house) {
		mia, class := h.member("Mia"), h.session(slot{})
		id := h.mustBook(mia, class)
		for i := range 2 {
			if up, err := h.cancel(mia, id); err != nil || up.Repeated != (i == 1) {
				h.t.Errorf("%+v, %v", up, err)
			}
		}
		_, err := h.confirm(mia, id)
		wantReason(h.t, err, fault.BookingState)
		_, err = h.move(own(mia), id, h.session(slot{Starts: noon.Add(60 * time.Hour)}))
		wantReason(h.t, err, fault.BookingState)
		if place, err := h.app.ReleaseHold(context.Background(), own(mia), id); err != nil || !place.Repeated {
			h.t.Errorf("%+v, %v", place, err)
		}
	},
	"whoever waits gets the place": func(h *house) {
		mia, class := h.member("Mia"), h.session(slot{Capacity: 1, Waitlist: 1})
		id := h.mustBook(mia, class)
		h.mustWait(h.member("Noa"), class)
		if up, err := h.cancel(mia, id); err != nil || up.Promoted != 1 {
			h.t.Errorf("%+v, %v", up, err)
		}
	},
	"a booking that is not there": func(h *house) {
		_, err := h.cancel(h.member("Mia"), newID[tenant.BookingID]())
		wantReason(h.t, err, fault.BookingNotFound)
	},
}
