package bookings_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// The life of a booking, line by line: each rule, default and error that a system which sells slots relies on.
func TestBooking_FromHoldToCheckIn(t *testing.T) {
	t.Parallel()
	shared := testkit.New(t)
	for act, lines := range map[string]map[string]func(h *testkit.Studio){
		"hold": holdLines, "confirm": confirmLines, "cancel": cancelLines, "reschedule": rescheduleLines, "items": itemLines,
		"events": eventLines, "tenants": tenantLines,
	} {
		for line, check := range lines {
			t.Run(act+"/"+line, func(t *testing.T) {
				t.Parallel()
				h := testkit.NewIn(t, shared.DB)
				check(h)
				h.WantSound()
			})
		}
	}
}

var holdLines = map[string]func(h *testkit.Studio){
	"a hold is PENDING, in its session, UNPAID, and by default lasts ten minutes": func(h *testkit.Studio) {
		class := h.AddSession(testkit.Session{})
		b := h.MustHold(h.AddMember("Mia"), class)
		if b.Status != booking.Pending || b.Session != class || b.Payment.Status != booking.Unpaid ||
			!b.HoldUntil.Equal(testkit.Noon.Add(10*time.Minute)) {
			h.T.Errorf("%+v", b)
		}
		h.SetPolicy(func(p *catalog.Policy) { p.HoldTTL = new(90 * time.Second) })
		if b = h.MustHold(h.AddMember("Noa"), class); !b.HoldUntil.Equal(testkit.Noon.Add(90 * time.Second)) {
			h.T.Errorf("until %s", b.HoldUntil)
		}
	},
	"it keeps name, email and telephone number": func(h *testkit.Studio) {
		contact := booking.Contact{Name: "John Smith", Email: "john@example.com", Phone: "+1234567890"}
		b := h.MustHold(
			h.AddMember("Mia"), h.AddSession(testkit.Session{}), func(r *bookings.BookRequest) { r.Contact = contact },
		)
		read, err := h.App.Bookings.GetBooking(context.Background(), h.Owner, b.ID)
		if err != nil || read.Contact != contact || b.Contact != contact {
			h.T.Errorf("%+v, %v", read.Contact, err)
		}
	},
	"a session that is not there": func(h *testkit.Studio) {
		_, err := h.Hold(h.AddMember("Mia"), testkit.NewID[tenant.SessionID]())
		testkit.WantReason(h.T, err, fault.SessionNotFound)
	},
	"a slot that is claimed already": func(h *testkit.Studio) {
		class := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 5}) // a hold never waits
		h.MustHold(h.AddMember("Mia"), class)
		_, err := h.Hold(h.AddMember("Noa"), class)
		testkit.WantReason(h.T, err, fault.SessionFull)
	},
	"a slot that is blocked": func(h *testkit.Studio) {
		_, err := h.Hold(h.AddMember("Mia"), h.AddSession(testkit.Session{Blocked: true}))
		testkit.WantReason(h.T, err, fault.SessionNotOpen)
		if testkit.Meta(h.T, err, "state") != "blocked" {
			h.T.Error(err)
		}
	},
	"the advance window, for staff and partners, too": func(h *testkit.Studio) {
		h.SetPolicy(func(p *catalog.Policy) { p.Advance = new(7 * 24 * time.Hour) })
		far, near := h.AddSession(testkit.Session{
			Starts: testkit.Noon.Add(8 * 24 * time.Hour),
		}), h.AddSession(testkit.Session{Starts: testkit.Noon.Add(7 * 24 * time.Hour)})
		for _, by := range []tenant.Caller{h.AddMember("Mia"), h.Owner} {
			_, err := h.Hold(by, far)
			testkit.WantReason(h.T, err, fault.AdvanceWindow)
			if got := testkit.Meta(h.T, err, "opens_at"); got != testkit.Noon.Add(24*time.Hour).Format(time.RFC3339) {
				h.T.Errorf("opens at %s", got)
			}
			h.MustHold(by, near)
		}
		_, err := h.Hold(h.AddPartner("Gateway"), far, testkit.ForGuest("Pat", ""))
		testkit.WantReason(h.T, err, fault.AdvanceWindow)
	},
	"booking closes before the start": func(h *testkit.Studio) {
		h.SetPolicy(func(p *catalog.Policy) { p.BookingCloses = new(time.Hour) })
		_, err := h.Hold(h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.Noon.Add(time.Hour)}))
		testkit.WantReason(h.T, err, fault.SessionNotOpen)
		h.MustHold(h.AddMember("Noa"), h.AddSession(testkit.Session{Starts: testkit.Noon.Add(time.Hour + time.Second)}))
	},
	"a channel that the location has turned off": func(h *testkit.Studio) {
		h.EditLocation(h.Location, func(l *catalog.Location) { l.Channels = []catalog.Channel{catalog.Phone} })
		_, err := h.Hold(h.AddMember("Mia"), h.AddSession(testkit.Session{}))
		testkit.WantReason(h.T, err, fault.ChannelClosed)
	},
	"the telephone and the counter are staff's alone": func(h *testkit.Studio) {
		class := h.AddSession(testkit.Session{})
		for _, channel := range []catalog.Channel{catalog.Phone, catalog.WalkIn} {
			through := func(r *bookings.BookRequest) { r.Channel = channel }
			_, err := h.Hold(h.AddMember("Mia"), class, through)
			testkit.WantReason(h.T, err, fault.ChannelClosed)
			if b := h.MustHold(h.Coach, class, through, forMember(h.AddMember("Noa"))); b.Channel != channel {
				h.T.Errorf("through %s", b.Channel)
			}
		}
	},
	"a party of a size that the service does not take": func(h *testkit.Studio) {
		_, err := h.Hold(h.AddMember("Mia"), h.AddSession(testkit.Session{}), func(r *bookings.BookRequest) { r.Party = 5 })
		testkit.WantReason(h.T, err, fault.PartySize)
	},
	"the same reference again gives the same booking, whatever has become of the session": func(h *testkit.Studio) {
		mia, class := h.AddMember("Mia"), h.AddSession(testkit.Session{Capacity: 1})
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
	"the same reference for something else is a conflict": func(h *testkit.Studio) {
		mia, class := h.AddMember("Mia"), h.AddSession(testkit.Session{})
		ref := func(r *bookings.BookRequest) { r.ExternalRef = "ext-ref-789" }
		h.MustHold(mia, class, ref)
		_, err := h.Hold(mia, class, ref, func(r *bookings.BookRequest) { r.Party = 2 })
		testkit.WantReason(h.T, err, fault.ExternalRefConflict)
		if n := h.Count(`select count(*) from bookings where tenant_id = $1`, h.Tenant); n != 1 {
			h.T.Errorf("%d bookings", n)
		}
	},
	"the same reference in another tenant is another one": func(h *testkit.Studio) {
		there, ref := testkit.NewIn(h.T, h.DB), func(r *bookings.BookRequest) { r.ExternalRef = "ext-ref-789" }
		h.MustHold(h.AddMember("Mia"), h.AddSession(testkit.Session{}), ref)
		if place, err := there.Hold(there.AddMember("Mia"), there.AddSession(testkit.Session{}), ref); err != nil ||
			place.Repeated {
			h.T.Errorf("%+v, %v", place, err)
		}
	},
	"one reference at the same moment makes one booking": func(h *testkit.Studio) {
		class := h.AddSession(testkit.Session{})
		ids := make([]tenant.BookingID, 6)
		testkit.Parallel(len(ids), func(i int) {
			place, err := h.Hold(
				h.Owner, class, testkit.ForGuest("Pat", ""), func(r *bookings.BookRequest) { r.ExternalRef = "ext-ref-789" },
			)
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
	"released, its seat is free": func(h *testkit.Studio) {
		class := h.AddSession(testkit.Session{Capacity: 1})
		b := h.MustHold(h.AddMember("Mia"), class)
		if place, err := h.App.Bookings.ReleaseHold(context.Background(), h.Owner, b.ID); err != nil ||
			place.Booking.Status != booking.Cancelled {
			h.T.Fatalf("%+v, %v", place, err)
		}
		h.MustHold(h.AddMember("Noa"), class)
	},
}

var confirmLines = map[string]func(h *testkit.Studio){
	"money is CAPTURED with its method and its time": func(h *testkit.Studio) {
		mia := h.AddMember("Mia")
		b := h.MustHold(mia, h.AddSession(testkit.Session{}))
		h.Clock.Set(testkit.Noon.Add(time.Minute))
		place, err := h.App.Bookings.ConfirmBooking(
			context.Background(), testkit.SelfOnly(mia), bookings.ConfirmRequest{ID: b.ID, Paid: testkit.FiftyEuros},
		)
		if err != nil {
			h.T.Fatal(err)
		}
		want := booking.Payment{
			Status: booking.Captured, Amount: testkit.FiftyEuros.Amount, Method: "card",
			PaidAt: new(testkit.Noon.Add(time.Minute)),
		}
		if diff := cmp.Diff(want, place.Booking.Payment); diff != "" || place.Booking.Status != booking.Confirmed ||
			!place.Booking.ConfirmedAt.Equal(testkit.Noon.Add(time.Minute)) {
			h.T.Errorf("%s %v\n%s", place.Booking.Status, place.Booking.ConfirmedAt, diff)
		}
	},
	"AUTHORIZED becomes CAPTURED by confirming again, and nothing else changes": func(h *testkit.Studio) {
		mia, ctx := h.AddMember("Mia"), context.Background()
		s := h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5}))
		b := h.MustHold(mia, h.AddSession(testkit.Session{}))
		authorized := *testkit.FiftyEuros
		authorized.Status = booking.Authorized
		first, err := h.App.Bookings.ConfirmBooking(
			ctx, testkit.SelfOnly(mia), bookings.ConfirmRequest{ID: b.ID, Paid: &authorized},
		)
		if err != nil || first.Repeated || first.Booking.Payment.Status != booking.Authorized {
			h.T.Fatalf("%+v, %v", first, err)
		}
		again, err := h.App.Bookings.ConfirmBooking(
			ctx, testkit.SelfOnly(mia), bookings.ConfirmRequest{ID: b.ID, Paid: testkit.FiftyEuros},
		)
		if err != nil || !again.Repeated || again.Booking.Payment.Status != booking.Captured || h.Balance(s) != 5 {
			h.T.Errorf("%+v, %v, balance %d", again, err, h.Balance(s))
		}
		want := *first.Booking
		want.Payment = again.Booking.Payment
		if diff := cmp.Diff(want, *again.Booking); diff != "" {
			h.T.Error(diff)
		}
		// Without payment facts it is a look.
		if look, err := h.App.Bookings.ConfirmBooking(
			ctx, testkit.SelfOnly(mia), bookings.ConfirmRequest{ID: b.ID},
		); err != nil || !look.Repeated || look.Booking.Payment.Status != booking.Captured {
			h.T.Errorf("%+v, %v", look, err)
		}
	},
	"what is cancelled or has expired cannot be": func(h *testkit.Studio) {
		mia, class := h.AddMember("Mia"), h.AddSession(testkit.Session{})
		b := h.MustHold(mia, class)
		if _, err := h.App.Bookings.ReleaseHold(context.Background(), testkit.SelfOnly(mia), b.ID); err != nil {
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
	"a benefit is checked, and recorded for audit": func(h *testkit.Studio) {
		mia, ctx := h.AddMember("Mia"), context.Background()
		off := booking.BenefitProvider{Code: "OLD", Name: "Old Card", Pattern: `.*`, Percent: 50}
		for _, p := range []booking.BenefitProvider{
			{Code: "LINKS", Name: "Links Card", Pattern: `M-\d{3}`, Percent: 20, Active: true}, off,
		} {
			if _, err := h.App.Catalog.PutBenefitProvider(ctx, h.Owner, p, nil); err != nil {
				h.T.Fatal(err)
			}
		}
		b := h.MustHold(mia, h.AddSession(testkit.Session{}))
		for code, number := range map[string]string{"LINKS": "12", "OLD": "M-001", "NONE": "M-001"} {
			_, err := h.App.Bookings.ConfirmBooking(
				ctx, testkit.SelfOnly(mia),
				bookings.ConfirmRequest{ID: b.ID, Paid: testkit.FiftyEuros, ProviderCode: code, Number: number},
			)
			testkit.WantReason(h.T, err, fault.BenefitInvalid)
		}
		if h.BookingStatus(b.ID) != "PENDING" {
			h.T.Error("it was confirmed all the same")
		}
		if _, err := h.App.Bookings.ConfirmBooking(
			ctx, testkit.SelfOnly(mia),
			bookings.ConfirmRequest{ID: b.ID, Paid: testkit.FiftyEuros, ProviderCode: "LINKS", Number: "M-001"},
		); err != nil {
			h.T.Fatal(err)
		}
		want := map[string]any{"provider_code": "LINKS", "membership_number": "M-001", "discount_percent": 20.0}
		if diff := cmp.Diff(want, h.LastAudit("booking.benefit_applied")); diff != "" {
			h.T.Error(diff)
		}
	},
}

var cancelLines = map[string]func(h *testkit.Studio){
	"24 hours' notice by default": func(h *testkit.Studio) {
		mia := h.AddMember("Mia")
		id := h.MustBook(mia, h.AddSession(testkit.Session{Starts: testkit.Noon.Add(24 * time.Hour)}))
		late := h.MustBook(mia, h.AddSession(testkit.Session{Starts: testkit.Noon.Add(24*time.Hour - time.Second)}))
		_, err := h.Cancel(mia, late)
		testkit.WantReason(h.T, err, fault.CancellationWindow)
		if testkit.Meta(h.T, err, "hours_before") != "24" ||
			testkit.Meta(h.T, err, "deadline") != testkit.Noon.Add(-time.Second).Format(time.RFC3339) {
			h.T.Error(err)
		}
		if up, err := h.Cancel(mia, id); err != nil || up.Booking.Status != booking.Cancelled {
			h.T.Errorf("%+v, %v", up, err)
		}
	},
	"a policy of 4 hours for members and 48 for visitors is inherited by services": func(h *testkit.Studio) {
		h.SetPolicy(func(p *catalog.Policy) { p.Cancellation, p.AllowReschedule = new(24*time.Hour), new(true) })
		h.SetPolicyOf(settings.PolicyTarget{Location: h.Location}, func(p *catalog.Policy) { p.Tiers = &tiers })
		to := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(90 * time.Hour)})
		for tier, tt := range map[string]struct {
			notice time.Duration
			moves  bool
		}{"": {24 * time.Hour, true}, "member": {4 * time.Hour, true}, "visitor": {48 * time.Hour, false}} {
			who := h.AddMember("Tier " + tier)
			h.SetTier(who, tier)
			late := h.MustBook(who, h.AddSession(testkit.Session{Starts: testkit.Noon.Add(tt.notice - time.Minute)}))
			_, err := h.Cancel(who, late)
			testkit.WantReason(h.T, err, fault.CancellationWindow)
			_, err = h.Reschedule(testkit.SelfOnly(who), late, to)
			if moved := err == nil; moved != tt.moves {
				h.T.Errorf("%q moves: %v (%v)", tier, moved, err)
			}
			if _, err := h.Cancel(
				who, h.MustBook(who, h.AddSession(testkit.Session{Starts: testkit.Noon.Add(tt.notice + time.Minute)})),
			); err != nil {
				h.T.Errorf("%q: %v", tier, err)
			}
		}
	},
	"in time the payment is REFUNDED, late it is not": func(h *testkit.Studio) {
		h.SetPolicy(func(p *catalog.Policy) { p.AllowLateCancellation = new(true) })
		mia := h.AddMember("Mia")
		for ahead, want := range map[time.Duration]booking.PaymentStatus{
			48 * time.Hour: booking.Refunded, 12 * time.Hour: booking.Captured,
		} {
			b := h.MustHold(mia, h.AddSession(testkit.Session{Starts: testkit.Noon.Add(ahead)}))
			if _, err := h.App.Bookings.ConfirmBooking(
				context.Background(), testkit.SelfOnly(mia), bookings.ConfirmRequest{ID: b.ID, Paid: testkit.FiftyEuros},
			); err != nil {
				h.T.Fatal(err)
			}
			up, err := h.Cancel(mia, b.ID)
			if err != nil || up.Booking.Payment.Status != want || up.Late != (want == booking.Captured) {
				h.T.Errorf("%s before: %+v, %v", ahead, up.Booking, err)
			}
		}
	},
	"a hold can be, too": func(h *testkit.Studio) {
		mia, class := h.AddMember("Mia"), h.AddSession(testkit.Session{Capacity: 1})
		up, err := h.Cancel(mia, h.MustHold(mia, class).ID)
		if err != nil || up.Booking.Status != booking.Cancelled || up.Booking.Payment.Status != booking.Unpaid {
			h.T.Errorf("%+v, %v", up, err)
		}
		h.MustHold(h.AddMember("Noa"), class)
	},
	"CANCELLED is the end: cancelling again changes nothing, and nothing else is possible": func(h *testkit.Studio) {
		mia, class := h.AddMember("Mia"), h.AddSession(testkit.Session{})
		id := h.MustBook(mia, class)
		for i := range 2 {
			if up, err := h.Cancel(mia, id); err != nil || up.Repeated != (i == 1) {
				h.T.Errorf("%+v, %v", up, err)
			}
		}
		_, err := h.Confirm(mia, id)
		testkit.WantReason(h.T, err, fault.BookingState)
		_, err = h.Reschedule(
			testkit.SelfOnly(mia), id, h.AddSession(testkit.Session{Starts: testkit.Noon.Add(60 * time.Hour)}),
		)
		testkit.WantReason(h.T, err, fault.BookingState)
		if place, err := h.App.Bookings.ReleaseHold(context.Background(), testkit.SelfOnly(mia), id); err != nil ||
			!place.Repeated {
			h.T.Errorf("%+v, %v", place, err)
		}
	},
	"whoever waits gets the place": func(h *testkit.Studio) {
		mia, class := h.AddMember("Mia"), h.AddSession(testkit.Session{Capacity: 1, Waitlist: 1})
		id := h.MustBook(mia, class)
		h.MustWaitlist(h.AddMember("Noa"), class)
		if up, err := h.Cancel(mia, id); err != nil || up.Promoted != 1 {
			h.T.Errorf("%+v, %v", up, err)
		}
	},
	"a booking that is not there": func(h *testkit.Studio) {
		_, err := h.Cancel(h.AddMember("Mia"), testkit.NewID[tenant.BookingID]())
		testkit.WantReason(h.T, err, fault.BookingNotFound)
	},
}
