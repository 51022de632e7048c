package bookings_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// The life of a booking, line by line: each rule, default and error that a system which sells slots relies on.
func TestBooking_FromHoldToCheckIn(t *testing.T) {
	t.Parallel()
	shared := testkit.New(t)
	for act, lines := range map[string]map[string]func(studio *testkit.Studio){
		"hold": holdLines, "confirm": confirmLines, "cancel": cancelLines, "reschedule": rescheduleLines, "items": itemLines,
		"events": eventLines, "tenants": tenantLines,
	} {
		for line, check := range lines {
			t.Run(act+"/"+line, func(t *testing.T) {
				t.Parallel()
				studio := testkit.NewIn(t, shared.DB)
				studio.SetPromoting()
				check(studio)
				studio.WantSound()
			})
		}
	}
}

var holdLines = map[string]func(studio *testkit.Studio){
	"a hold is PENDING, in its session, UNPAID, and by default lasts ten minutes": func(studio *testkit.Studio) {
		class := studio.AddSession(testkit.Session{})
		b := studio.MustHold(studio.AddMember("Mia"), class)
		test.EqOp(studio.T, booking.Pending, b.Status)
		test.EqOp(studio.T, class, b.Session)
		test.EqOp(studio.T, payment.Unpaid, b.Payment.Status)
		test.True(studio.T, b.HoldUntil.Equal(testkit.Noon.Add(10*time.Minute)), test.Sprintf("%+v", b))
		studio.SetPolicy(func(p *catalog.PolicyLayer) { p.HoldTTL = new(90 * time.Second) })
		b = studio.MustHold(studio.AddMember("Noa"), class)
		test.True(studio.T, b.HoldUntil.Equal(testkit.Noon.Add(90*time.Second)), test.Sprintf("until %s", b.HoldUntil))
	},
	"it keeps name, email and telephone number": func(studio *testkit.Studio) {
		contact := booking.Contact{Name: "John Smith", Email: "john@example.com", Phone: "+12125550123"}
		b := studio.MustHold(
			studio.AddMember("Mia"), studio.AddSession(testkit.Session{}), func(r *bookings.BookRequest) { r.Contact = contact },
		)
		read := expect.Value(studio.App.Bookings.GetBooking(context.Background(), studio.Owner, b.ID))(studio.T)
		test.EqOp(studio.T, contact, read.Contact)
		test.EqOp(studio.T, contact, b.Contact)
	},
	"a session that is not there": func(studio *testkit.Studio) {
		expect.Reason(studio.T, fault.SessionNotFound)(
			studio.Hold(studio.AddMember("Mia"), testkit.NewID[tenant.SessionID]()),
		)
	},
	"a slot that is claimed already": func(studio *testkit.Studio) {
		class := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 5}) // a hold never waits
		studio.MustHold(studio.AddMember("Mia"), class)
		expect.Reason(studio.T, fault.SessionFull)(studio.Hold(studio.AddMember("Noa"), class))
	},
	"a slot that is blocked": func(studio *testkit.Studio) {
		expect.Fault(studio.T, "SESSION_NOT_OPEN state=blocked")(
			studio.Hold(studio.AddMember("Mia"), studio.AddSession(testkit.Session{Blocked: true})),
		)
	},
	"the advance window, for staff and partners, too": func(studio *testkit.Studio) {
		studio.SetPolicy(func(p *catalog.PolicyLayer) { p.AdvanceWindow = new(7 * 24 * time.Hour) })
		far, near := studio.AddSession(testkit.Session{
			Starts: testkit.Noon.Add(8 * 24 * time.Hour),
		}), studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(7 * 24 * time.Hour)})
		for _, by := range []tenant.Caller{studio.AddMember("Mia"), studio.Owner} {
			_, err := studio.Hold(by, far)
			expect.Reason(studio.T, fault.AdvanceWindow)(err)
			test.EqOp(
				studio.T, testkit.Noon.Add(24*time.Hour).Format(time.RFC3339), testkit.Meta(studio.T, err, "opens_at"),
				test.Sprint("opens at"),
			)
			studio.MustHold(by, near)
		}
		expect.Reason(studio.T, fault.AdvanceWindow)(
			studio.Hold(studio.AddPartner("Gateway"), far, testkit.ForGuest("Pat", "")),
		)
	},
	"booking closes before the start": func(studio *testkit.Studio) {
		studio.SetPolicy(func(p *catalog.PolicyLayer) { p.BookingClosesBefore = new(time.Hour) })
		expect.Reason(studio.T, fault.SessionNotOpen)(studio.Hold(
			studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(time.Hour)}),
		))
		studio.MustHold(
			studio.AddMember("Noa"), studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(time.Hour + time.Second)}),
		)
	},
	"a channel that the location has turned off": func(studio *testkit.Studio) {
		studio.EditLocation(studio.Location, func(l *catalog.Location) { l.Channels = []catalog.Channel{catalog.Phone} })
		expect.Reason(studio.T, fault.ChannelClosed)(
			studio.Hold(studio.AddMember("Mia"), studio.AddSession(testkit.Session{})),
		)
	},
	"the telephone and the counter are staff's alone": func(studio *testkit.Studio) {
		class := studio.AddSession(testkit.Session{})
		for _, channel := range []catalog.Channel{catalog.Phone, catalog.WalkIn} {
			through := func(r *bookings.BookRequest) { r.Channel = channel }
			expect.Reason(studio.T, fault.PermissionDeniedReason)(studio.Hold(studio.AddMember("Mia"), class, through))
			b := studio.MustHold(studio.Coach, class, through, forMember(studio.AddMember("Noa")))
			test.EqOp(studio.T, channel, b.Channel, test.Sprintf("through %s", b.Channel))
		}
	},
	"a party of a size that the service does not take": func(studio *testkit.Studio) {
		expect.Reason(studio.T, fault.PartySize)(studio.Hold(
			studio.AddMember("Mia"), studio.AddSession(testkit.Session{}), func(r *bookings.BookRequest) { r.Party = 5 },
		))
	},
	"the same reference again gives the same booking, whatever has become of the session": func(studio *testkit.Studio) {
		mia, class := studio.AddMember("Mia"), studio.AddSession(testkit.Session{Capacity: 1})
		ref := func(r *bookings.BookRequest) { r.ExternalRef = "ext-ref-789" }
		first := studio.MustHold(mia, class, ref)
		// It is looked up before anything is checked: the session is full, closed, blocked.
		expect.OK(studio.T)(studio.App.Schedules.BlockSession(context.Background(), studio.Owner, class, ""))
		studio.Clock.Set(testkit.Noon.Add(72 * time.Hour))
		again := expect.Value(studio.Hold(mia, class, ref))(studio.T)
		test.True(studio.T, again.Repeated, test.Sprintf("%+v", again))
		test.EqOp(studio.T, first.ID, again.Booking.ID)
	},
	"the same reference for something else is a conflict": func(studio *testkit.Studio) {
		mia, class := studio.AddMember("Mia"), studio.AddSession(testkit.Session{})
		ref := func(r *bookings.BookRequest) { r.ExternalRef = "ext-ref-789" }
		studio.MustHold(mia, class, ref)
		expect.Reason(studio.T, fault.ExternalRefConflict)(
			studio.Hold(mia, class, ref, func(r *bookings.BookRequest) { r.Party = 2 }),
		)
		test.EqOp(studio.T, 1, studio.Count(`select count(*) from bookings where tenant_id = $1`, studio.Tenant))
	},
	"the same reference in another tenant is another one": func(studio *testkit.Studio) {
		there, ref := testkit.NewIn(studio.T, studio.DB), func(r *bookings.BookRequest) { r.ExternalRef = "ext-ref-789" }
		studio.MustHold(studio.AddMember("Mia"), studio.AddSession(testkit.Session{}), ref)
		place := expect.Value(there.Hold(there.AddMember("Mia"), there.AddSession(testkit.Session{}), ref))(studio.T)
		test.False(studio.T, place.Repeated, test.Sprintf("%+v", place))
	},
	"one reference at the same moment makes one booking": func(studio *testkit.Studio) {
		class := studio.AddSession(testkit.Session{})
		ids := make([]tenant.BookingID, 6)
		testkit.Parallel(len(ids), func(i int) {
			place, err := studio.Hold(
				studio.Owner, class, testkit.ForGuest("Pat", ""), func(r *bookings.BookRequest) { r.ExternalRef = "ext-ref-789" },
			)
			if err != nil {
				studio.T.Error(err)
				return
			}
			ids[i] = place.Booking.ID
		})
		for _, id := range ids {
			test.EqOp(studio.T, ids[0], id, test.Sprintf("%v", ids))
		}
	},
	"released, its seat is free": func(studio *testkit.Studio) {
		class := studio.AddSession(testkit.Session{Capacity: 1})
		place := expect.Value(studio.App.Bookings.ReleaseHold(context.Background(), studio.Owner,
			studio.MustHold(studio.AddMember("Mia"), class).ID))(studio.T)
		must.EqOp(studio.T, booking.Cancelled, place.Booking.Status, must.Sprintf("%+v", place))
		studio.MustHold(studio.AddMember("Noa"), class)
	},
}

var confirmLines = map[string]func(studio *testkit.Studio){
	"money is CAPTURED with its method and its time": func(studio *testkit.Studio) {
		mia := studio.AddMember("Mia")
		b := studio.MustHold(mia, studio.AddSession(testkit.Session{}))
		studio.Clock.Set(testkit.Noon.Add(time.Minute))
		place := expect.Value(studio.App.Bookings.ConfirmBooking(
			context.Background(), studio.Owner, bookings.ConfirmRequest{ID: b.ID, Paid: testkit.FiftyEuros},
		))(studio.T)
		want := payment.Payment{
			Status: payment.Captured, Amount: testkit.FiftyEuros.Amount, Method: "card",
			PaidAt: new(testkit.Noon.Add(time.Minute)),
		}
		diff := cmp.Diff(want, place.Booking.Payment)
		test.EqOp(studio.T, "", diff)
		test.EqOp(studio.T, booking.Confirmed, place.Booking.Status)
		test.True(studio.T, place.Booking.ConfirmedAt.Equal(testkit.Noon.Add(time.Minute)),
			test.Sprintf("%s %v\n%s", place.Booking.Status, place.Booking.ConfirmedAt, diff))
	},
	"AUTHORIZED becomes CAPTURED by confirming again, and nothing else changes": func(studio *testkit.Studio) {
		mia, ctx := studio.AddMember("Mia"), context.Background()
		s := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5}))
		b := studio.MustHold(mia, studio.AddSession(testkit.Session{}))
		authorized := *testkit.FiftyEuros
		authorized.Kind = payment.Authorize
		first := expect.Value(studio.App.Bookings.ConfirmBooking(
			ctx, studio.Owner, bookings.ConfirmRequest{ID: b.ID, Paid: &authorized},
		))(studio.T)
		must.False(studio.T, first.Repeated, must.Sprintf("%+v", first))
		must.EqOp(studio.T, payment.Authorized, first.Booking.Payment.Status)
		again, err := studio.App.Bookings.ConfirmBooking(
			ctx, studio.Owner, bookings.ConfirmRequest{ID: b.ID, Paid: testkit.FiftyEuros},
		)
		must.NoError(studio.T, err, must.Sprintf("%+v, %v, balance %d", again, err, studio.Balance(s)))
		test.False(studio.T, again.Repeated, test.Sprintf("%+v, %v, balance %d", again, err, studio.Balance(s)))
		test.EqOp(studio.T, payment.Captured, again.Booking.Payment.Status,
			test.Sprintf("%+v, %v, balance %d", again, err, studio.Balance(s)))
		test.EqOp(studio.T, 5, studio.Balance(s), test.Sprintf("%+v, %v, balance %d", again, err, studio.Balance(s)))
		want := *first.Booking
		want.Payment, want.Version = again.Booking.Payment, want.Version+1
		diff := cmp.Diff(want, *again.Booking)
		test.EqOp(studio.T, "", diff, test.Sprint(diff))
		// Without payment facts it is a look.
		look := expect.Value(studio.App.Bookings.ConfirmBooking(
			ctx, testkit.SelfOnly(mia), bookings.ConfirmRequest{ID: b.ID},
		))(studio.T)
		test.True(studio.T, look.Repeated, test.Sprintf("%+v", look))
		test.EqOp(studio.T, payment.Captured, look.Booking.Payment.Status)
	},
	"what is cancelled or has expired cannot be": func(studio *testkit.Studio) {
		mia, class := studio.AddMember("Mia"), studio.AddSession(testkit.Session{})
		b := studio.MustHold(mia, class)
		expect.OK(studio.T)(studio.App.Bookings.ReleaseHold(context.Background(), testkit.SelfOnly(mia), b.ID))
		_, err := studio.Confirm(mia, b.ID)
		expect.Reason(studio.T, fault.BookingState)(err)
		test.EqOp(studio.T, "CANCELLED", testkit.Meta(studio.T, err, "status"), test.Sprint(err))
		b = studio.MustHold(mia, class)
		studio.Clock.Set(testkit.Noon.Add(10 * time.Minute))
		expect.Reason(studio.T, fault.HoldExpired)(studio.Confirm(mia, b.ID))
		expect.OK(studio.T)(studio.App.Waitlists.ExpireHolds(context.Background(), studio.Tenant))
		expect.Reason(studio.T, fault.HoldExpired)(studio.Confirm(mia, b.ID))
	},
	"a benefit is checked, and recorded for audit": func(studio *testkit.Studio) {
		mia, ctx := studio.AddMember("Mia"), context.Background()
		links := booking.BenefitProvider{
			Code: "LINKS", Name: "Links Card", Pattern: `M-\d{3}`, Percent: 20, Active: true, Verification: booking.Unverified,
		}
		off := links
		off.Code, off.Active = "OLD", false
		for _, p := range []booking.BenefitProvider{links, off} {
			expect.OK(studio.T)(studio.App.Catalog.CreateBenefitProvider(ctx, studio.Owner, p))
		}
		b := studio.MustHold(mia, studio.AddSession(testkit.Session{}))
		for code, number := range map[string]string{"LINKS": "12", "OLD": "M-001", "NONE": "M-001"} {
			expect.Reason(studio.T, fault.BenefitInvalid)(studio.App.Bookings.ConfirmBooking(
				ctx, studio.Owner,
				bookings.ConfirmRequest{ID: b.ID, Paid: testkit.FiftyEuros, ProviderCode: code, Number: number},
			))
		}
		test.EqOp(studio.T, "PENDING", studio.BookingStatus(b.ID), test.Sprint("it was confirmed all the same"))
		expect.OK(studio.T)(studio.App.Bookings.ConfirmBooking(
			ctx, studio.Owner,
			bookings.ConfirmRequest{ID: b.ID, Paid: testkit.FiftyEuros, ProviderCode: "LINKS", Number: "M-001"},
		))
		want := map[string]any{
			"provider_code": "LINKS", "membership_number": "M-001", "discount_percent": 20.0, "verified": false,
		}
		diff := cmp.Diff(want, studio.LastAudit("booking.benefit_applied"))
		test.EqOp(studio.T, "", diff, test.Sprint(diff))
	},
}

var cancelLines = map[string]func(studio *testkit.Studio){
	"24 hours' notice by default": func(studio *testkit.Studio) {
		mia := studio.AddMember("Mia")
		id := studio.MustBook(mia, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(24 * time.Hour)}))
		expect.Fault(studio.T, "CANCELLATION_WINDOW deadline="+testkit.Noon.Add(-time.Second).Format(time.RFC3339)+
			" hours_before=24")(studio.Cancel(mia, studio.MustBook(mia, studio.AddSession(testkit.Session{
			Starts: testkit.Noon.Add(24*time.Hour - time.Second),
		}))))
		test.EqOp(studio.T, booking.Cancelled, expect.Value(studio.Cancel(mia, id))(studio.T).Booking.Status)
	},
	"a policy of 4 hours for members and 48 for visitors is inherited by services": func(studio *testkit.Studio) {
		studio.SetPolicy(func(p *catalog.PolicyLayer) {
			p.CancellationWindow, p.AllowReschedule = new(24*time.Hour), new(true)
		})
		studio.SetPolicyOf(settings.PolicyTarget{Location: studio.Location}, func(p *catalog.PolicyLayer) {
			p.TierCancellations = &tiers
		})
		to := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(90 * time.Hour)})
		for tier, tt := range map[string]struct {
			notice time.Duration
			moves  bool
		}{"": {24 * time.Hour, true}, "member": {4 * time.Hour, true}, "visitor": {48 * time.Hour, false}} {
			who := studio.AddMember("Tier " + tier)
			studio.SetTier(who, tier)
			late := studio.MustBook(who, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(tt.notice - time.Minute)}))
			expect.Reason(studio.T, fault.CancellationWindow)(studio.Cancel(who, late))
			_, err := studio.Reschedule(testkit.SelfOnly(who), late, to)
			moved := err == nil
			test.EqOp(studio.T, tt.moves, moved, test.Sprintf("%q moves: %v (%v)", tier, moved, err))
			expect.OK(studio.T)(studio.Cancel(
				who, studio.MustBook(who, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(tt.notice + time.Minute)})),
			))
		}
	},
	"in time or late, the payment stays CAPTURED": func(studio *testkit.Studio) {
		studio.SetPolicy(func(p *catalog.PolicyLayer) { p.AllowLateCancellation = new(true) })
		mia := studio.AddMember("Mia")
		for ahead, late := range map[time.Duration]bool{48 * time.Hour: false, 12 * time.Hour: true} {
			b := studio.MustHold(mia, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(ahead)}))
			expect.OK(studio.T)(studio.App.Bookings.ConfirmBooking(
				context.Background(), studio.Owner, bookings.ConfirmRequest{ID: b.ID, Paid: testkit.FiftyEuros},
			))
			up := expect.Value(studio.Cancel(mia, b.ID))(studio.T)
			test.EqOp(studio.T, payment.Captured, up.Booking.Payment.Status,
				test.Sprintf("%s before: %+v", ahead, up.Booking))
			test.EqOp(studio.T, late, up.Late, test.Sprintf("%s before: %+v", ahead, up.Booking))
		}
	},
	"a hold can be, too": func(studio *testkit.Studio) {
		mia, class := studio.AddMember("Mia"), studio.AddSession(testkit.Session{Capacity: 1})
		up := expect.Value(studio.Cancel(mia, studio.MustHold(mia, class).ID))(studio.T)
		test.EqOp(studio.T, booking.Cancelled, up.Booking.Status)
		test.EqOp(studio.T, payment.Unpaid, up.Booking.Payment.Status)
		studio.MustHold(studio.AddMember("Noa"), class)
	},
	"CANCELLED is the end: cancelling again changes nothing, and nothing else is possible": func(studio *testkit.Studio) {
		mia, class := studio.AddMember("Mia"), studio.AddSession(testkit.Session{})
		id := studio.MustBook(mia, class)
		for i := range 2 {
			test.EqOp(studio.T, (i == 1), expect.Value(studio.Cancel(mia, id))(studio.T).Repeated)
		}
		expect.Reason(studio.T, fault.BookingState)(studio.Confirm(mia, id))
		expect.Reason(studio.T, fault.BookingState)(studio.Reschedule(
			testkit.SelfOnly(mia), id, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(60 * time.Hour)}),
		))
		place := expect.Value(studio.App.Bookings.ReleaseHold(context.Background(), testkit.SelfOnly(mia), id))(studio.T)
		test.True(studio.T, place.Repeated, test.Sprintf("%+v", place))
	},
	"the next entry gets the place": func(studio *testkit.Studio) {
		mia, class := studio.AddMember("Mia"), studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 1})
		id := studio.MustBook(mia, class)
		studio.MustWaitlist(studio.AddMember("Noa"), class)
		test.EqOp(studio.T, 1, expect.Value(studio.Cancel(mia, id))(studio.T).Promoted)
	},
	"a booking that is not there": func(studio *testkit.Studio) {
		expect.Reason(studio.T, fault.BookingNotFound)(
			studio.Cancel(studio.AddMember("Mia"), testkit.NewID[tenant.BookingID]()),
		)
	},
}
