package bookings_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// The life of a booking, line by line: each rule, default and error that a system which sells slots relies on.
func TestTheLifeOfABooking(t *testing.T) {
	t.Parallel()
	shared := testkit.NewHouse(t)
	for act, lines := range map[string]map[string]func(h *testkit.House){
		"hold": holdLines, "confirm": confirmLines, "cancel": cancelLines, "reschedule": rescheduleLines, "items": itemLines,
		"events": eventLines, "tenants": tenantLines,
	} {
		for line, check := range lines {
			t.Run(act+"/"+line, func(t *testing.T) {
				t.Parallel()
				h := apart(t, shared)
				check(h)
				h.WantSound()
			})
		}
	}
}

// apart gives a tenant of its own in the same database, with a clock of its own.
func apart(t testing.TB, h *testkit.House) *testkit.House {
	t.Helper()
	keys, err := checkin.NewKeys([]byte("a key for tests that is 32 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	c := &testkit.Clock{Time: testkit.Noon}
	return (&testkit.House{T: t, DB: h.DB, Clock: c, App: app.New(app.Config{DB: h.DB.DB, Now: c.Now, CheckInKeys: keys})}).SettleIn()
}

var holdLines = map[string]func(h *testkit.House){
	"a hold is PENDING, in its session, UNPAID, and lasts ten minutes unless the policy says otherwise": func(h *testkit.House) {
		class := h.Session(testkit.Slot{})
		b := h.MustHold(h.Member("Mia"), class)
		if b.Status != booking.Pending || b.Session != class || b.Payment.Status != booking.Unpaid || !b.HoldUntil.Equal(testkit.Noon.Add(10*time.Minute)) {
			h.T.Errorf("%+v", b)
		}
		policy(h, "hold_ttl_seconds", "90")
		if b = h.MustHold(h.Member("Noa"), class); !b.HoldUntil.Equal(testkit.Noon.Add(90 * time.Second)) {
			h.T.Errorf("until %s", b.HoldUntil)
		}
	},
	"it keeps name, email and telephone number": func(h *testkit.House) {
		contact := booking.Contact{Name: "John Smith", Email: "john@example.com", Phone: "+1234567890"}
		b := h.MustHold(h.Member("Mia"), h.Session(testkit.Slot{}), func(r *bookings.BookRequest) { r.Contact = contact })
		read, err := h.App.Bookings.GetBooking(context.Background(), h.Owner, b.ID)
		if err != nil || read.Contact != contact || b.Contact != contact {
			h.T.Errorf("%+v, %v", read.Contact, err)
		}
	},
	"a session that is not there": func(h *testkit.House) {
		_, err := h.Hold(h.Member("Mia"), testkit.NewID[tenant.SessionID]())
		testkit.WantReason(h.T, err, fault.SessionNotFound)
	},
	"a slot that is claimed already": func(h *testkit.House) {
		class := h.Session(testkit.Slot{Capacity: 1, Waitlist: 5}) // a hold never waits
		h.MustHold(h.Member("Mia"), class)
		_, err := h.Hold(h.Member("Noa"), class)
		testkit.WantReason(h.T, err, fault.SessionFull)
	},
	"a slot that is blocked": func(h *testkit.House) {
		_, err := h.Hold(h.Member("Mia"), h.Session(testkit.Slot{Blocked: true}))
		testkit.WantReason(h.T, err, fault.SessionNotOpen)
		if testkit.Meta(h.T, err, "state") != "blocked" {
			h.T.Error(err)
		}
	},
	"the advance window, for staff and partners, too": func(h *testkit.House) {
		policy(h, "advance_seconds", "604800")
		far, near := h.Session(testkit.Slot{Starts: testkit.Noon.Add(8 * 24 * time.Hour)}), h.Session(testkit.Slot{Starts: testkit.Noon.Add(7 * 24 * time.Hour)})
		for _, by := range []tenant.Caller{h.Member("Mia"), h.Owner} {
			_, err := h.Hold(by, far)
			testkit.WantReason(h.T, err, fault.AdvanceWindow)
			if got := testkit.Meta(h.T, err, "opens_at"); got != testkit.Noon.Add(24*time.Hour).Format(time.RFC3339) {
				h.T.Errorf("opens at %s", got)
			}
			h.MustHold(by, near)
		}
		_, err := h.Hold(h.Partner("Gateway"), far, testkit.Guest("Pat", ""))
		testkit.WantReason(h.T, err, fault.AdvanceWindow)
	},
	"booking closes before the start": func(h *testkit.House) {
		policy(h, "booking_closes_seconds", "3600")
		_, err := h.Hold(h.Member("Mia"), h.Session(testkit.Slot{Starts: testkit.Noon.Add(time.Hour)}))
		testkit.WantReason(h.T, err, fault.SessionNotOpen)
		h.MustHold(h.Member("Noa"), h.Session(testkit.Slot{Starts: testkit.Noon.Add(time.Hour + time.Second)}))
	},
	"a channel that the location has turned off": func(h *testkit.House) {
		h.Exec(`update locations set channels = '{PHONE}' where tenant_id = $1`, h.Tenant)
		_, err := h.Hold(h.Member("Mia"), h.Session(testkit.Slot{}))
		testkit.WantReason(h.T, err, fault.ChannelClosed)
	},
	"the telephone and the counter are staff's alone": func(h *testkit.House) {
		class := h.Session(testkit.Slot{})
		for _, channel := range []catalog.Channel{catalog.Phone, catalog.WalkIn} {
			through := func(r *bookings.BookRequest) { r.Channel = channel }
			_, err := h.Hold(h.Member("Mia"), class, through)
			testkit.WantReason(h.T, err, fault.ChannelClosed)
			if b := h.MustHold(h.Coach, class, through, forMember(h.Member("Noa"))); b.Channel != channel {
				h.T.Errorf("through %s", b.Channel)
			}
		}
	},
	"a party of a size that the service does not take": func(h *testkit.House) {
		_, err := h.Hold(h.Member("Mia"), h.Session(testkit.Slot{}), func(r *bookings.BookRequest) { r.Party = 5 })
		testkit.WantReason(h.T, err, fault.PartySize)
	},
	"the same reference again gives the same booking, whatever has become of the session": func(h *testkit.House) {
		mia, class := h.Member("Mia"), h.Session(testkit.Slot{Capacity: 1})
		ref := func(r *bookings.BookRequest) { r.ExternalRef = "ext-ref-789" }
		first := h.MustHold(mia, class, ref)
		// It is looked up before anything is checked: the session is full, closed, blocked.
		if _, err := h.App.Schedules.BlockSession(context.Background(), h.Owner, class, ""); err != nil {
			h.T.Fatal(err)
		}
		h.Clock.Set(testkit.Noon.Add(72 * time.Hour))
		again, err := h.Hold(mia, class, ref)
		if err != nil || !again.Repeated || again.Booking.ID != first.ID {
			h.T.Errorf("%+v, %v", again, err)
		}
	},
	"the same reference for something else is a conflict": func(h *testkit.House) {
		mia, class := h.Member("Mia"), h.Session(testkit.Slot{})
		ref := func(r *bookings.BookRequest) { r.ExternalRef = "ext-ref-789" }
		h.MustHold(mia, class, ref)
		_, err := h.Hold(mia, class, ref, func(r *bookings.BookRequest) { r.Party = 2 })
		testkit.WantReason(h.T, err, fault.ExternalRefConflict)
		if n := h.Count(`select count(*) from bookings where tenant_id = $1`, h.Tenant); n != 1 {
			h.T.Errorf("%d bookings", n)
		}
	},
	"the same reference in another tenant is another one": func(h *testkit.House) {
		there, ref := apart(h.T, h), func(r *bookings.BookRequest) { r.ExternalRef = "ext-ref-789" }
		h.MustHold(h.Member("Mia"), h.Session(testkit.Slot{}), ref)
		if place, err := there.Hold(there.Member("Mia"), there.Session(testkit.Slot{}), ref); err != nil || place.Repeated {
			h.T.Errorf("%+v, %v", place, err)
		}
	},
	"one reference at the same moment makes one booking": func(h *testkit.House) {
		class := h.Session(testkit.Slot{})
		ids := make([]tenant.BookingID, 6)
		testkit.Together(len(ids), func(i int) {
			place, err := h.Hold(h.Owner, class, testkit.Guest("Pat", ""), func(r *bookings.BookRequest) { r.ExternalRef = "ext-ref-789" })
			if err != nil {
				h.T.Error(err)
				return
			}
			ids[i] = place.Booking.ID
		})
		for _, id := range ids {
			if id != ids[0] {
				h.T.Errorf("%v", ids)
			}
		}
	},
	"released, its seat is free": func(h *testkit.House) {
		class := h.Session(testkit.Slot{Capacity: 1})
		b := h.MustHold(h.Member("Mia"), class)
		if place, err := h.App.Bookings.ReleaseHold(context.Background(), h.Owner, b.ID); err != nil || place.Booking.Status != booking.Cancelled {
			h.T.Fatalf("%+v, %v", place, err)
		}
		h.MustHold(h.Member("Noa"), class)
	},
}

var confirmLines = map[string]func(h *testkit.House){
	"money is CAPTURED with its method and its time": func(h *testkit.House) {
		mia := h.Member("Mia")
		b := h.MustHold(mia, h.Session(testkit.Slot{}))
		h.Clock.Set(testkit.Noon.Add(time.Minute))
		place, err := h.App.Bookings.ConfirmBooking(context.Background(), testkit.Own(mia), bookings.ConfirmRequest{ID: b.ID, Paid: testkit.Fifty})
		if err != nil {
			h.T.Fatal(err)
		}
		want := booking.Payment{Status: booking.Captured, Amount: testkit.Fifty.Amount, Method: "card", PaidAt: new(testkit.Noon.Add(time.Minute))}
		if diff := cmp.Diff(want, place.Booking.Payment); diff != "" || place.Booking.Status != booking.Confirmed || !place.Booking.ConfirmedAt.Equal(testkit.Noon.Add(time.Minute)) {
			h.T.Errorf("%s %v\n%s", place.Booking.Status, place.Booking.ConfirmedAt, diff)
		}
	},
	"AUTHORIZED becomes CAPTURED by confirming again, and nothing else changes": func(h *testkit.House) {
		mia, ctx := h.Member("Mia"), context.Background()
		s := h.Subscribe(mia, h.Plan(credit.Plan{Kind: credit.Credits, Credits: 5}))
		b := h.MustHold(mia, h.Session(testkit.Slot{}))
		authorized := *testkit.Fifty
		authorized.Status = booking.Authorized
		first, err := h.App.Bookings.ConfirmBooking(ctx, testkit.Own(mia), bookings.ConfirmRequest{ID: b.ID, Paid: &authorized})
		if err != nil || first.Repeated || first.Booking.Payment.Status != booking.Authorized {
			h.T.Fatalf("%+v, %v", first, err)
		}
		again, err := h.App.Bookings.ConfirmBooking(ctx, testkit.Own(mia), bookings.ConfirmRequest{ID: b.ID, Paid: testkit.Fifty})
		if err != nil || !again.Repeated || again.Booking.Payment.Status != booking.Captured || h.Balance(s) != 5 {
			h.T.Errorf("%+v, %v, balance %d", again, err, h.Balance(s))
		}
		want := *first.Booking
		want.Payment = again.Booking.Payment
		if diff := cmp.Diff(want, *again.Booking); diff != "" {
			h.T.Error(diff)
		}
		// Without payment facts it is a look.
		if look, err := h.App.Bookings.ConfirmBooking(ctx, testkit.Own(mia), bookings.ConfirmRequest{ID: b.ID}); err != nil || !look.Repeated || look.Booking.Payment.Status != booking.Captured {
			h.T.Errorf("%+v, %v", look, err)
		}
	},
	"what is cancelled or has expired cannot be": func(h *testkit.House) {
		mia, class := h.Member("Mia"), h.Session(testkit.Slot{})
		b := h.MustHold(mia, class)
		if _, err := h.App.Bookings.ReleaseHold(context.Background(), testkit.Own(mia), b.ID); err != nil {
			h.T.Fatal(err)
		}
		_, err := h.Confirm(mia, b.ID)
		testkit.WantReason(h.T, err, fault.BookingState)
		if testkit.Meta(h.T, err, "status") != "CANCELLED" {
			h.T.Error(err)
		}
		b = h.MustHold(mia, class)
		h.Clock.Set(testkit.Noon.Add(10 * time.Minute))
		_, err = h.Confirm(mia, b.ID)
		testkit.WantReason(h.T, err, fault.HoldExpired)
		if _, err := h.App.Waitlists.ExpireHolds(context.Background(), h.Tenant); err != nil {
			h.T.Fatal(err)
		}
		_, err = h.Confirm(mia, b.ID)
		testkit.WantReason(h.T, err, fault.HoldExpired)
	},
	"a benefit is checked, and recorded for audit": func(h *testkit.House) {
		mia, ctx := h.Member("Mia"), context.Background()
		off := booking.BenefitProvider{Code: "OLD", Name: "Old Card", Pattern: `.*`, Percent: 50}
		for _, p := range []booking.BenefitProvider{{Code: "LINKS", Name: "Links Card", Pattern: `M-\d{3}`, Percent: 20, Active: true}, off} {
			if _, err := h.App.Catalog.PutBenefitProvider(ctx, h.Owner, p, nil); err != nil {
				h.T.Fatal(err)
			}
		}
		b := h.MustHold(mia, h.Session(testkit.Slot{}))
		for code, number := range map[string]string{"LINKS": "12", "OLD": "M-001", "NONE": "M-001"} {
			_, err := h.App.Bookings.ConfirmBooking(ctx, testkit.Own(mia), bookings.ConfirmRequest{ID: b.ID, Paid: testkit.Fifty, ProviderCode: code, Number: number})
			testkit.WantReason(h.T, err, fault.BenefitInvalid)
		}
		if h.Status(b.ID) != "PENDING" {
			h.T.Error("it was confirmed all the same")
		}
		if _, err := h.App.Bookings.ConfirmBooking(ctx, testkit.Own(mia), bookings.ConfirmRequest{ID: b.ID, Paid: testkit.Fifty, ProviderCode: "LINKS", Number: "M-001"}); err != nil {
			h.T.Fatal(err)
		}
		want := map[string]any{"provider_code": "LINKS", "membership_number": "M-001", "discount_percent": 20.0}
		if diff := cmp.Diff(want, h.LastAudit("booking.benefit_applied")); diff != "" {
			h.T.Error(diff)
		}
	},
}

var cancelLines = map[string]func(h *testkit.House){
	"24 hours' notice by default": func(h *testkit.House) {
		mia := h.Member("Mia")
		id := h.MustBook(mia, h.Session(testkit.Slot{Starts: testkit.Noon.Add(24 * time.Hour)}))
		late := h.MustBook(mia, h.Session(testkit.Slot{Starts: testkit.Noon.Add(24*time.Hour - time.Second)}))
		_, err := h.Cancel(mia, late)
		testkit.WantReason(h.T, err, fault.CancellationWindow)
		if testkit.Meta(h.T, err, "hours_before") != "24" || testkit.Meta(h.T, err, "deadline") != testkit.Noon.Add(-time.Second).Format(time.RFC3339) {
			h.T.Error(err)
		}
		if up, err := h.Cancel(mia, id); err != nil || up.Booking.Status != booking.Cancelled {
			h.T.Errorf("%+v, %v", up, err)
		}
	},
	"4 hours for a member and 48 for a visitor, where the policy says so, inherited down to the service": func(h *testkit.House) {
		policy(h, "cancellation_seconds, allow_reschedule", "86400, true")
		h.Exec(`insert into policies (tenant_id, level, scope_id, tiers, updated_at) values ($1, 'LOCATION', $2,
		  '{"member": {"cancellation_seconds": 14400, "allow_reschedule": true}, "visitor": {"cancellation_seconds": 172800, "allow_reschedule": false}}', $3)`, h.Tenant, h.Location, testkit.Noon)
		to := h.Session(testkit.Slot{Starts: testkit.Noon.Add(90 * time.Hour)})
		for tier, tt := range map[string]struct {
			notice time.Duration
			moves  bool
		}{"": {24 * time.Hour, true}, "member": {4 * time.Hour, true}, "visitor": {48 * time.Hour, false}} {
			who := h.Member("Tier " + tier)
			h.Exec(`update members set tier = $2 where id = $1`, who.Member, tier)
			late := h.MustBook(who, h.Session(testkit.Slot{Starts: testkit.Noon.Add(tt.notice - time.Minute)}))
			_, err := h.Cancel(who, late)
			testkit.WantReason(h.T, err, fault.CancellationWindow)
			_, err = h.Move(testkit.Own(who), late, to)
			if moved := err == nil; moved != tt.moves {
				h.T.Errorf("%q moves: %v (%v)", tier, moved, err)
			}
			if _, err := h.Cancel(who, h.MustBook(who, h.Session(testkit.Slot{Starts: testkit.Noon.Add(tt.notice + time.Minute)}))); err != nil {
				h.T.Errorf("%q: %v", tier, err)
			}
		}
	},
	"in time the payment is REFUNDED, late it is not": func(h *testkit.House) {
		policy(h, "allow_late_cancellation", "true")
		mia := h.Member("Mia")
		for ahead, want := range map[time.Duration]booking.PaymentStatus{48 * time.Hour: booking.Refunded, 12 * time.Hour: booking.Captured} {
			b := h.MustHold(mia, h.Session(testkit.Slot{Starts: testkit.Noon.Add(ahead)}))
			if _, err := h.App.Bookings.ConfirmBooking(context.Background(), testkit.Own(mia), bookings.ConfirmRequest{ID: b.ID, Paid: testkit.Fifty}); err != nil {
				h.T.Fatal(err)
			}
			up, err := h.Cancel(mia, b.ID)
			if err != nil || up.Booking.Payment.Status != want || up.Late != (want == booking.Captured) {
				h.T.Errorf("%s before: %+v, %v", ahead, up.Booking, err)
			}
		}
	},
	"a hold can be, too": func(h *testkit.House) {
		mia, class := h.Member("Mia"), h.Session(testkit.Slot{Capacity: 1})
		up, err := h.Cancel(mia, h.MustHold(mia, class).ID)
		if err != nil || up.Booking.Status != booking.Cancelled || up.Booking.Payment.Status != booking.Unpaid {
			h.T.Errorf("%+v, %v", up, err)
		}
		h.MustHold(h.Member("Noa"), class)
	},
	"CANCELLED is the end: cancelling again changes nothing, and nothing else is possible": func(h *testkit.House) {
		mia, class := h.Member("Mia"), h.Session(testkit.Slot{})
		id := h.MustBook(mia, class)
		for i := range 2 {
			if up, err := h.Cancel(mia, id); err != nil || up.Repeated != (i == 1) {
				h.T.Errorf("%+v, %v", up, err)
			}
		}
		_, err := h.Confirm(mia, id)
		testkit.WantReason(h.T, err, fault.BookingState)
		_, err = h.Move(testkit.Own(mia), id, h.Session(testkit.Slot{Starts: testkit.Noon.Add(60 * time.Hour)}))
		testkit.WantReason(h.T, err, fault.BookingState)
		if place, err := h.App.Bookings.ReleaseHold(context.Background(), testkit.Own(mia), id); err != nil || !place.Repeated {
			h.T.Errorf("%+v, %v", place, err)
		}
	},
	"whoever waits gets the place": func(h *testkit.House) {
		mia, class := h.Member("Mia"), h.Session(testkit.Slot{Capacity: 1, Waitlist: 1})
		id := h.MustBook(mia, class)
		h.MustWait(h.Member("Noa"), class)
		if up, err := h.Cancel(mia, id); err != nil || up.Promoted != 1 {
			h.T.Errorf("%+v, %v", up, err)
		}
	},
	"a booking that is not there": func(h *testkit.House) {
		_, err := h.Cancel(h.Member("Mia"), testkit.NewID[tenant.BookingID]())
		testkit.WantReason(h.T, err, fault.BookingNotFound)
	},
}
