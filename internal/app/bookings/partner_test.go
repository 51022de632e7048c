package bookings_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

func forMember(who tenant.Caller) func(*bookings.BookRequest) {
	return func(r *bookings.BookRequest) { r.Member = who.Member }
}

// tiers gives members until four hours before the start to cancel or move, and visitors until two days before.
var tiers = map[string]catalog.TierPolicy{
	"member":  {Cancellation: new(4 * time.Hour), AllowReschedule: new(true)},
	"visitor": {Cancellation: new(48 * time.Hour), AllowReschedule: new(false)},
}

// A partner carries what it holds through its whole life, for members and for guests.
func TestPartner_AccessesWhatItCreated(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	gateway, mia := h.AddPartner("Gateway"), h.AddMember("Mia")
	pack := h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5}))
	from, to := h.AddSession(testkit.Session{Capacity: 2}), h.AddSession(testkit.Session{
		Starts: testkit.Noon.Add(50 * time.Hour), Capacity: 2,
	})

	for name, b := range map[string]booking.Booking{
		"a member": h.MustHold(gateway, from, forMember(mia)),
		"a guest":  h.MustHold(gateway, from, testkit.ForGuest("Pat", "")),
	} {
		if place, err := h.App.Bookings.ConfirmBooking(ctx, gateway, bookings.ConfirmRequest{ID: b.ID}); err != nil ||
			place.Booking.Status != booking.Confirmed {
			t.Fatalf("%s: %+v, %v", name, place, err)
		}
		if moved, err := h.Reschedule(gateway, b.ID, to); err != nil || moved.Booking.Session != to {
			t.Fatalf("%s: %+v, %v", name, moved, err)
		}
		if got, err := h.App.Bookings.GetBooking(ctx, gateway, b.ID); err != nil || got.ID != b.ID {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		up, err := h.App.Bookings.CancelBooking(ctx, gateway, bookings.CancelRequest{ID: b.ID})
		if err != nil || up.Late || up.Booking.Status != booking.Cancelled {
			t.Errorf("%s: %+v, %v", name, up, err)
		}
	}
	held := h.MustHold(gateway, from, testkit.ForGuest("Kim", ""))
	if place, err := h.App.Bookings.ReleaseHold(ctx, gateway, held.ID); err != nil ||
		place.Booking.Status != booking.Cancelled {
		t.Errorf("%+v, %v", place, err)
	}
	if h.Balance(pack) != 5 {
		t.Errorf("balance %d", h.Balance(pack))
	}
	// It is no act of administration, so the audit log says nothing.
	if n := h.Count(`select count(*) from audit_entries where action like 'booking.%'`); n != 0 {
		t.Errorf("%d audit entries", n)
	}
	h.WantSound()
}

// What somebody else made is not there for a partner: another partner's, a member's, staff's, another tenant's. And
// what it made for a member is the member's own, too.
func TestPartner_CannotAccessWhatOthersCreated(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	gateway, rival, mia := h.AddPartner("Gateway"), h.AddPartner("Rival"), h.AddMember("Mia")
	class, other := h.AddSession(testkit.Session{}), h.AddSession(testkit.Session{
		Starts: testkit.Noon.Add(50 * time.Hour),
	})
	there := h.OtherTenant()
	theirs := there.AddPartner("Gateway")
	full := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 1})
	h.MustHold(rival, full, testkit.ForGuest("Pat", ""))
	waits := h.MustWaitlist(mia, full)
	for name, id := range map[string]tenant.BookingID{
		"another partner's":       h.MustHold(rival, class, testkit.ForGuest("Pat", "")).ID,
		"a member's":              h.MustHold(mia, class).ID,
		"a member's in the queue": {UUID: waits.UUID},
		"staff's":                 h.MustHold(h.Owner, class, testkit.ForGuest("Kim", "")).ID,
		"another tenant's": there.MustHold(
			theirs, there.AddSession(testkit.Session{}), testkit.ForGuest("Pat", ""),
		).ID,
		"nobody's":                 testkit.NewID[tenant.BookingID](),
		"made under no name":       forged(h, class, ""),
		"made by a namesake":       forged(h, class, "sa:"),
		"made by the system":       forged(h, class, "system"),
		"made by someone like it":  forged(h, class, gateway.Subject+"0"),
		"made by it in other case": forged(h, class, "SA:"+gateway.Subject[3:]),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := h.App.Bookings.GetBooking(ctx, gateway, id)
			testkit.WantReason(t, err, fault.BookingNotFound)
			_, err = h.App.Bookings.ConfirmBooking(ctx, gateway, bookings.ConfirmRequest{ID: id})
			testkit.WantReason(t, err, fault.BookingNotFound)
			_, err = h.App.Bookings.ReleaseHold(ctx, gateway, id)
			testkit.WantReason(t, err, fault.BookingNotFound)
			_, err = h.Reschedule(gateway, id, other)
			testkit.WantReason(t, err, fault.BookingNotFound)
			_, err = h.App.Bookings.CancelBooking(ctx, gateway, bookings.CancelRequest{ID: id})
			testkit.WantReason(t, err, fault.BookingNotFound)
		})
	}
	noa := h.AddMember("Noa")
	shared := h.MustHold(gateway, class, forMember(noa))
	if _, err := h.App.Bookings.ReleaseHold(ctx, testkit.SelfOnly(noa), shared.ID); err != nil {
		t.Errorf("by the member: %v", err)
	}
	if _, err := h.App.Bookings.GetBooking(ctx, gateway, shared.ID); err != nil {
		t.Errorf("by the partner: %v", err)
	}
}

// forged creates a booking and forges who created it.
func forged(h *testkit.Studio, session tenant.SessionID, by string) tenant.BookingID {
	h.T.Helper()
	b := h.MustHold(h.Owner, session, testkit.ForGuest("Forged", ""))
	h.Exec(`update bookings set created_by = $3 where tenant_id = $1 and id = $2`, h.Tenant, b.ID, by)
	return b.ID
}

// A partner has no way around the policy: neither the member's windows nor those of a guest's tier.
func TestPartner_FollowsThePolicy(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	gateway, mia := h.AddPartner("Gateway"), h.AddMember("Mia")
	soon, to := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(20 * time.Hour)}), h.AddSession(testkit.Session{})
	for name, hold := range map[string]func(*bookings.BookRequest){
		"a member": forMember(mia), "a guest": testkit.ForGuest("Pat", ""),
	} {
		b := h.MustHold(gateway, soon, hold)
		if _, err := h.App.Bookings.ConfirmBooking(ctx, gateway, bookings.ConfirmRequest{ID: b.ID}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err := h.Reschedule(gateway, b.ID, to)
		testkit.WantReason(t, err, fault.CancellationWindow)
		_, err = h.App.Bookings.CancelBooking(ctx, gateway, bookings.CancelRequest{ID: b.ID})
		testkit.WantReason(t, err, fault.CancellationWindow)
	}
	_, err := h.Hold(gateway, to, testkit.ForGuest("Pat", ""), func(r *bookings.BookRequest) { r.Channel = catalog.Phone })
	testkit.WantReason(t, err, fault.ChannelClosed)
}

// Members' windows are those of their membership's tier; guests' those of the tier that they came with.
func TestGuest_FollowsItsTier(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	h.SetPolicy(func(p *catalog.Policy) {
		p.Cancellation, p.AllowReschedule, p.Tiers = new(24*time.Hour), new(false), &tiers
	})
	gateway := h.AddPartner("Gateway")
	class, to := h.AddSession(testkit.Session{
		Starts: testkit.Noon.Add(30 * time.Hour),
	}), h.AddSession(testkit.Session{Starts: testkit.Noon.Add(80 * time.Hour)})
	for tier, notice := range map[string]time.Duration{
		"": 24 * time.Hour, "visitor": 48 * time.Hour, "member": 4 * time.Hour, "unknown": 24 * time.Hour,
	} {
		for _, by := range []tenant.Caller{gateway, h.Coach} {
			b := h.MustHold(by, class, testkit.ForGuest("Pat", tier))
			if want := testkit.Noon.Add(30*time.Hour - notice); b.GuestTier != tier || !b.CancellableUntil().Equal(want) {
				t.Errorf("%q: %q until %s, want %s", tier, b.GuestTier, b.CancellableUntil(), want)
			}
			read, err := h.App.Bookings.GetBooking(ctx, h.Owner, b.ID)
			if diff := cmp.Diff(b.CancellableUntil(), read.CancellableUntil()); err != nil || diff != "" ||
				read.GuestTier != tier {
				t.Errorf("%q, read again: %q, %v\n%s", tier, read.GuestTier, err, diff)
			}
		}
	}
	visitor, member := h.MustHold(
		gateway, class, testkit.ForGuest("Pat", "visitor"),
	), h.MustHold(gateway, class, testkit.ForGuest("Kim", "member"))
	for _, b := range []booking.Booking{visitor, member} {
		if _, err := h.App.Bookings.ConfirmBooking(ctx, gateway, bookings.ConfirmRequest{ID: b.ID}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := h.App.Bookings.CancelBooking(ctx, gateway, bookings.CancelRequest{ID: visitor.ID})
	testkit.WantReason(t, err, fault.CancellationWindow)
	if testkit.Meta(t, err, "hours_before") != "48" {
		t.Errorf("%v", err)
	}
	_, err = h.Reschedule(gateway, visitor.ID, to)
	testkit.WantReason(t, err, fault.CancellationWindow)
	if moved, err := h.Reschedule(gateway, member.ID, to); err != nil || moved.Booking.GuestTier != "member" {
		t.Errorf("%+v, %v", moved, err)
	}

	// Nobody gives a member a tier, least of all the member.
	mia := h.AddMember("Mia")
	tier := func(r *bookings.BookRequest) { r.GuestTier = "member" }
	_, err = h.Hold(mia, class, tier)
	testkit.WantReason(t, err, fault.InvalidField)
	_, err = h.Hold(gateway, class, forMember(mia), tier)
	testkit.WantReason(t, err, fault.InvalidField)

	// It is part of what was asked for under a reference.
	ref := func(r *bookings.BookRequest) { r.ExternalRef = "G-1" }
	h.MustHold(gateway, class, testkit.ForGuest("Pat", "visitor"), ref)
	_, err = h.Hold(gateway, class, testkit.ForGuest("Pat", "member"), ref)
	testkit.WantReason(t, err, fault.ExternalRefConflict)
	h.WantSound()
}

// The list of a partner's own is what it made, by start, page by page.
func TestPartner_ListsItsBookings(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	gateway, rival, mia := h.AddPartner("Gateway"), h.AddPartner("Rival"), h.AddMember("Mia")
	var want []tenant.BookingID
	for i := range 5 {
		class := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(time.Duration(48+i) * time.Hour)})
		who := testkit.ForGuest("Pat", "")
		if i == 2 {
			who = forMember(mia)
		}
		want = append(want, h.MustHold(gateway, class, who).ID)
		h.MustHold(rival, class, testkit.ForGuest("Kim", ""))
		h.MustHold(h.AddMember("Noa"), class)
	}
	var got []tenant.BookingID
	q := bookings.MyBookingsQuery{Limit: 2}
	for {
		page, entries, err := h.App.Bookings.ListMyBookings(ctx, gateway, q)
		if err != nil || len(entries) != 0 {
			t.Fatal(entries, err)
		}
		for _, b := range page {
			got = append(got, b.ID)
		}
		if len(page) < q.Limit {
			break
		}
		last := page[len(page)-1]
		q.AfterStart, q.AfterID = last.StartsAt, last.ID
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	expired, _, err := h.App.Bookings.ListMyBookings(
		ctx, gateway, bookings.MyBookingsQuery{Statuses: []booking.Status{booking.Expired}, Limit: 9},
	)
	if err != nil || len(expired) != 0 {
		t.Errorf("%v, %v", expired, err)
	}
	if mine, _, err := h.App.Bookings.ListMyBookings(
		ctx, testkit.SelfOnly(mia), bookings.MyBookingsQuery{Limit: 9},
	); err != nil || len(mine) != 1 || mine[0].ID != want[2] {
		t.Errorf("Mia's: %+v, %v", mine, err)
	}
	if none, _, err := h.App.Bookings.ListMyBookings(
		ctx, tenant.Caller{Tenant: h.OtherTenant().Tenant, Subject: gateway.Subject, SelfOnly: true},
		bookings.MyBookingsQuery{Limit: 9},
	); err != nil || len(none) != 0 {
		t.Errorf("elsewhere: %+v, %v", none, err)
	}
}
