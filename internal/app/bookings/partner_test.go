package bookings_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func forMember(who tenant.Caller) func(*bookings.BookRequest) {
	return func(r *bookings.BookRequest) { r.Member = who.Member }
}

// tiers gives members until four hours before the start to cancel or move, and visitors until two days before.
var tiers = map[string]catalog.TierPolicy{
	"member":  {CancellationWindow: new(4 * time.Hour), AllowReschedule: new(true)},
	"visitor": {CancellationWindow: new(48 * time.Hour), AllowReschedule: new(false)},
}

// A partner carries what it holds through its whole life, for members and for guests.
func TestPartner_AccessesWhatItCreated(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	gateway, mia := studio.AddPartner("Gateway"), studio.AddMember("Mia")
	pack := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5}))
	from, to := studio.AddSession(testkit.Session{Capacity: 2}), studio.AddSession(testkit.Session{
		Starts: testkit.Noon.Add(50 * time.Hour), Capacity: 2,
	})

	for name, b := range map[string]booking.Booking{
		"a member": studio.MustHold(gateway, from, forMember(mia)),
		"a guest":  studio.MustHold(gateway, from, testkit.ForGuest("Pat", "")),
	} {
		result := expect.Value(studio.App.Bookings.ConfirmBooking(t.Context(), gateway, bookings.ConfirmRequest{ID: b.ID}))(t)
		must.EqOp(t, booking.Confirmed, result.Booking.Status, must.Sprintf("%s: %+v", name, result))
		moved := expect.Value(studio.Reschedule(gateway, b.ID, to))(t)
		must.EqOp(t, to, moved.Booking.Session, must.Sprintf("%s: %+v", name, moved))
		got := expect.Value(studio.App.Bookings.GetBooking(t.Context(), gateway, b.ID))(t)
		test.EqOp(t, b.ID, got.ID, test.Sprintf("%s: %+v", name, got))
		up := expect.Value(studio.App.Bookings.CancelBooking(t.Context(), gateway, bookings.CancelRequest{ID: b.ID}))(t)
		test.False(t, up.Late, test.Sprintf("%s: %+v", name, up))
		test.EqOp(t, booking.Cancelled, up.Booking.Status, test.Sprintf("%s: %+v", name, up))
	}
	result := expect.Value(studio.App.Bookings.ReleaseHold(t.Context(), gateway,
		studio.MustHold(gateway, from, testkit.ForGuest("Kim", "")).ID))(t)
	test.EqOp(t, booking.Cancelled, result.Booking.Status, test.Sprintf("%+v", result))
	test.EqOp(t, 5, studio.Balance(pack))
	// It is no act of administration, so the audit log says nothing.
	test.EqOp(t, 0, studio.Count(`select count(*) from audit_entries where action like 'booking.%'`),
		test.Sprint("audit entries"))
}

// A partner cannot access what others created: another partner, a member, staff, or another tenant. What it created for
// a member also belongs to the member.
func TestPartner_CannotAccessWhatOthersCreated(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	gateway, rival, mia := studio.AddPartner("Gateway"), studio.AddPartner("Rival"), studio.AddMember("Mia")
	class, other := studio.AddSession(testkit.Session{}), studio.AddSession(testkit.Session{
		Starts: testkit.Noon.Add(50 * time.Hour),
	})
	there := studio.OtherTenant()
	theirs := there.AddPartner("Gateway")
	full := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 1})
	studio.MustHold(rival, full, testkit.ForGuest("Pat", ""))
	waits := studio.MustWaitlist(mia, full)
	for name, id := range map[string]tenant.BookingID{
		"another partner's":       studio.MustHold(rival, class, testkit.ForGuest("Pat", "")).ID,
		"a member's":              studio.MustHold(mia, class).ID,
		"a member's in the queue": {UUID: waits.UUID},
		"staff's":                 studio.MustHold(studio.Owner, class, testkit.ForGuest("Kim", "")).ID,
		"another tenant's": there.MustHold(
			theirs, there.AddSession(testkit.Session{}), testkit.ForGuest("Pat", ""),
		).ID,
		"an unknown booking":       testkit.NewID[tenant.BookingID](),
		"made under no name":       forged(studio, class, ""),
		"made by a namesake":       forged(studio, class, "sa:"),
		"made by the system":       forged(studio, class, "system"),
		"made by someone like it":  forged(studio, class, gateway.Subject+"0"),
		"made by it in other case": forged(studio, class, "SA:"+gateway.Subject[3:]),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expect.Reason(t, fault.BookingNotFound)(studio.App.Bookings.GetBooking(t.Context(), gateway, id))
			expect.Reason(t, fault.BookingNotFound)(
				studio.App.Bookings.ConfirmBooking(t.Context(), gateway, bookings.ConfirmRequest{ID: id}),
			)
			expect.Reason(t, fault.BookingNotFound)(studio.App.Bookings.ReleaseHold(t.Context(), gateway, id))
			expect.Reason(t, fault.BookingNotFound)(studio.Reschedule(gateway, id, other))
			expect.Reason(t, fault.BookingNotFound)(
				studio.App.Bookings.CancelBooking(t.Context(), gateway, bookings.CancelRequest{ID: id}),
			)
		})
	}
	noa := studio.AddMember("Noa")
	shared := studio.MustHold(gateway, class, forMember(noa))
	expect.OK(t)(studio.App.Bookings.ReleaseHold(t.Context(), testkit.SelfOnly(noa), shared.ID))
	expect.OK(t)(studio.App.Bookings.GetBooking(t.Context(), gateway, shared.ID))
}

// forged creates a booking and forges who created it.
func forged(studio *testkit.Studio, session tenant.SessionID, by string) tenant.BookingID {
	studio.T.Helper()
	b := studio.MustHold(studio.Owner, session, testkit.ForGuest("Forged", ""))
	studio.Exec(`update bookings set created_by = $3 where tenant_id = $1 and id = $2`, studio.Tenant, b.ID, by)
	return b.ID
}

// A partner has no way around the policy: neither the member's windows nor those of a guest's tier.
func TestPartner_FollowsThePolicy(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	gateway, mia := studio.AddPartner("Gateway"), studio.AddMember("Mia")
	soon, to := studio.AddSession(testkit.Session{
		Starts: testkit.Noon.Add(20 * time.Hour),
	}), studio.AddSession(testkit.Session{})
	for _, hold := range []func(*bookings.BookRequest){forMember(mia), testkit.ForGuest("Pat", "")} {
		b := studio.MustHold(gateway, soon, hold)
		expect.OK(t)(studio.App.Bookings.ConfirmBooking(t.Context(), gateway, bookings.ConfirmRequest{ID: b.ID}))
		expect.Reason(t, fault.CancellationWindow)(studio.Reschedule(gateway, b.ID, to))
		expect.Reason(t, fault.CancellationWindow)(
			studio.App.Bookings.CancelBooking(t.Context(), gateway, bookings.CancelRequest{ID: b.ID}),
		)
	}
	studio.EditLocation(studio.Location, func(l *catalog.Location) { l.Channels = []catalog.Channel{catalog.Online} })
	expect.Reason(t, fault.ChannelClosed)(studio.Hold(
		gateway, to, testkit.ForGuest("Pat", ""), func(r *bookings.BookRequest) { r.Channel = catalog.Phone },
	))
}

// Members' windows are those of their membership's tier; guests' those of the tier that they came with.
func TestGuest_FollowsItsTier(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetPolicy(func(p *catalog.PolicyLayer) {
		p.CancellationWindow, p.AllowReschedule, p.TierCancellations = new(24*time.Hour), new(false), &tiers
	})
	gateway := studio.AddPartner("Gateway")
	class, to := studio.AddSession(testkit.Session{
		Starts: testkit.Noon.Add(30 * time.Hour),
	}), studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(80 * time.Hour)})
	for tier, notice := range map[string]time.Duration{
		"": 24 * time.Hour, "visitor": 48 * time.Hour, "member": 4 * time.Hour, "unknown": 24 * time.Hour,
	} {
		for _, by := range []tenant.Caller{gateway, studio.Coach} {
			b := studio.MustHold(by, class, testkit.ForGuest("Pat", tier))
			want := testkit.Noon.Add(30*time.Hour - notice)
			test.EqOp(t, tier, b.GuestTier,
				test.Sprintf("%q: %q until %s, want %s", tier, b.GuestTier, b.CancelDeadline(), want))
			test.True(t, b.CancelDeadline().Equal(want),
				test.Sprintf("%q: %q until %s, want %s", tier, b.GuestTier, b.CancelDeadline(), want))
			read, err := studio.App.Bookings.GetBooking(t.Context(), studio.Owner, b.ID)
			diff := cmp.Diff(b.CancelDeadline(), read.CancelDeadline())
			test.NoError(t, err, test.Sprintf("%q, read again: %q, %v\n%s", tier, read.GuestTier, err, diff))
			test.EqOp(t, "", diff, test.Sprintf("%q, read again: %q, %v\n%s", tier, read.GuestTier, err, diff))
			test.EqOp(t, tier, read.GuestTier,
				test.Sprintf("%q, read again: %q, %v\n%s", tier, read.GuestTier, err, diff))
		}
	}
	visitor, member := studio.MustHold(
		gateway, class, testkit.ForGuest("Pat", "visitor"),
	), studio.MustHold(gateway, class, testkit.ForGuest("Kim", "member"))
	for _, b := range []booking.Booking{visitor, member} {
		expect.OK(t)(studio.App.Bookings.ConfirmBooking(t.Context(), gateway, bookings.ConfirmRequest{ID: b.ID}))
	}
	late := expect.Reason(t, fault.CancellationWindow)(
		studio.App.Bookings.CancelBooking(t.Context(), gateway, bookings.CancelRequest{ID: visitor.ID}),
	)
	test.EqOp(t, "48", late.Metadata["hours_before"])
	expect.Reason(t, fault.CancellationWindow)(studio.Reschedule(gateway, visitor.ID, to))
	test.EqOp(t, "member", expect.Value(studio.Reschedule(gateway, member.ID, to))(t).Booking.GuestTier)

	// No RPC of members sets a member's tier.
	mia := studio.AddMember("Mia")
	tier := func(r *bookings.BookRequest) { r.GuestTier = "member" }
	expect.Reason(t, fault.InvalidField)(studio.Hold(mia, class, tier))
	expect.Reason(t, fault.InvalidField)(studio.Hold(gateway, class, forMember(mia), tier))

	// It is part of what was asked for under a reference.
	ref := func(r *bookings.BookRequest) { r.ExternalRef = "G-1" }
	studio.MustHold(gateway, class, testkit.ForGuest("Pat", "visitor"), ref)
	expect.Reason(t, fault.ExternalRefConflict)(studio.Hold(gateway, class, testkit.ForGuest("Pat", "member"), ref))
}
