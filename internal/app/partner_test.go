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
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// partner makes a service account and gives it as a caller for what it made.
func (h *house) partner(name string) tenant.Caller {
	h.t.Helper()
	account, _ := h.account(name, tenant.RolePartner)
	return tenant.Caller{Tenant: h.Tenant, Subject: "sa:" + account.ID.String(), Roles: account.Roles, Own: true}
}

// guest makes a hold one for a guest of a tier.
func guest(name, tier string) func(*app.BookRequest) {
	return func(r *app.BookRequest) {
		r.Guest, r.GuestTier, r.Contact = true, tier, booking.Contact{Name: name, Phone: "+49 30 1234"}
	}
}

func forMember(who tenant.Caller) func(*app.BookRequest) {
	return func(r *app.BookRequest) { r.Member = who.Member }
}

func (h *house) policy(columns, values string) {
	h.t.Helper()
	h.exec(`insert into policies (tenant_id, level, scope_id, `+columns+`, updated_at) values ($1, 'TENANT', $1, `+values+`, $2)`, h.Tenant, noon)
	h.exec(`update tenants set house_version = house_version + 1 where tenant_id = $1`, h.Tenant) // as every edit does
}

// A partner carries what it holds through its whole life, for members and for guests.
func TestAPartnerOwnsWhatItMade(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	gateway, mia := h.partner("Gateway"), h.member("Mia")
	pack := h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Credits, Credits: 5}))
	from, to := h.session(slot{Capacity: 2}), h.session(slot{Starts: noon.Add(50 * time.Hour), Capacity: 2})

	for name, b := range map[string]booking.Booking{
		"a member": h.mustHold(gateway, from, forMember(mia)),
		"a guest":  h.mustHold(gateway, from, guest("Pat", "")),
	} {
		if place, err := h.app.ConfirmBooking(ctx, gateway, app.ConfirmRequest{ID: b.ID}); err != nil || place.Booking.Status != booking.Confirmed {
			t.Fatalf("%s: %+v, %v", name, place, err)
		}
		if moved, err := h.move(gateway, b.ID, to); err != nil || moved.Booking.Session != to {
			t.Fatalf("%s: %+v, %v", name, moved, err)
		}
		if got, err := h.app.GetBooking(ctx, gateway, b.ID); err != nil || got.ID != b.ID {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		up, err := h.app.CancelBooking(ctx, gateway, app.CancelRequest{ID: b.ID})
		if err != nil || up.Late || up.Booking.Status != booking.Cancelled {
			t.Errorf("%s: %+v, %v", name, up, err)
		}
	}
	held := h.mustHold(gateway, from, guest("Kim", ""))
	if place, err := h.app.ReleaseHold(ctx, gateway, held.ID); err != nil || place.Booking.Status != booking.Cancelled {
		t.Errorf("%+v, %v", place, err)
	}
	if h.balance(pack) != 5 {
		t.Errorf("balance %d", h.balance(pack))
	}
	// It is no act of administration, so the audit log says nothing.
	if n := h.count(`select count(*) from audit_entries where action like 'booking.%'`); n != 0 {
		t.Errorf("%d audit entries", n)
	}
	h.wantSound()
}

// What somebody else made is not there for a partner: another partner's, a member's, staff's, another tenant's. And what it
// made for a member is the member's own, too.
func TestWhatOthersMadeIsNotAPartners(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	gateway, rival, mia := h.partner("Gateway"), h.partner("Rival"), h.member("Mia")
	class, other := h.session(slot{}), h.session(slot{Starts: noon.Add(50 * time.Hour)})
	there := h.another()
	theirs := there.partner("Gateway")
	full := h.session(slot{Capacity: 1, Waitlist: 1})
	h.mustHold(rival, full, guest("Pat", ""))
	waits := h.mustWait(mia, full)
	for name, id := range map[string]tenant.BookingID{
		"another partner's":        h.mustHold(rival, class, guest("Pat", "")).ID,
		"a member's":               h.mustHold(mia, class).ID,
		"a member's in the queue":  {UUID: waits.UUID},
		"staff's":                  h.mustHold(h.Owner, class, guest("Kim", "")).ID,
		"another tenant's":         there.mustHold(theirs, there.session(slot{}), guest("Pat", "")).ID,
		"nobody's":                 newID[tenant.BookingID](),
		"made under no name":       h.forged(class, ""),
		"made by a namesake":       h.forged(class, "sa:"),
		"made by the system":       h.forged(class, "system"),
		"made by someone like it":  h.forged(class, gateway.Subject+"0"),
		"made by it in other case": h.forged(class, "SA:"+gateway.Subject[3:]),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := h.app.GetBooking(ctx, gateway, id)
			wantReason(t, err, fault.BookingNotFound)
			_, err = h.app.ConfirmBooking(ctx, gateway, app.ConfirmRequest{ID: id})
			wantReason(t, err, fault.BookingNotFound)
			_, err = h.app.ReleaseHold(ctx, gateway, id)
			wantReason(t, err, fault.BookingNotFound)
			_, err = h.move(gateway, id, other)
			wantReason(t, err, fault.BookingNotFound)
			_, err = h.app.CancelBooking(ctx, gateway, app.CancelRequest{ID: id})
			wantReason(t, err, fault.BookingNotFound)
		})
	}
	noa := h.member("Noa")
	shared := h.mustHold(gateway, class, forMember(noa))
	if _, err := h.app.ReleaseHold(ctx, own(noa), shared.ID); err != nil {
		t.Errorf("by the member: %v", err)
	}
	if _, err := h.app.GetBooking(ctx, gateway, shared.ID); err != nil {
		t.Errorf("by the partner: %v", err)
	}
}

// forged makes a booking that says it was made by somebody.
func (h *house) forged(session tenant.SessionID, by string) tenant.BookingID {
	h.t.Helper()
	b := h.mustHold(h.Owner, session, guest("Forged", ""))
	h.exec(`update bookings set created_by = $3 where tenant_id = $1 and id = $2`, h.Tenant, b.ID, by)
	return b.ID
}

// A partner has no way around the policy: neither the member's windows nor those of a guest's tier.
func TestAPartnerIsHeldToThePolicy(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	gateway, mia := h.partner("Gateway"), h.member("Mia")
	soon, to := h.session(slot{Starts: noon.Add(20 * time.Hour)}), h.session(slot{})
	for name, hold := range map[string]func(*app.BookRequest){"a member": forMember(mia), "a guest": guest("Pat", "")} {
		b := h.mustHold(gateway, soon, hold)
		if _, err := h.app.ConfirmBooking(ctx, gateway, app.ConfirmRequest{ID: b.ID}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err := h.move(gateway, b.ID, to)
		wantReason(t, err, fault.CancellationWindow)
		_, err = h.app.CancelBooking(ctx, gateway, app.CancelRequest{ID: b.ID})
		wantReason(t, err, fault.CancellationWindow)
	}
	_, err := h.hold(gateway, to, guest("Pat", ""), func(r *app.BookRequest) { r.Channel = catalog.Phone })
	wantReason(t, err, fault.ChannelClosed)
}

// Members' windows are those of their membership's tier; guests' those of the tier that they came with.
func TestAGuestFollowsTheTierThatItCameWith(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	h.policy("cancellation_seconds, allow_reschedule, tiers",
		`86400, false, '{"member": {"cancellation_seconds": 14400, "allow_reschedule": true}, "visitor": {"cancellation_seconds": 172800, "allow_reschedule": false}}'`)
	gateway := h.partner("Gateway")
	class, to := h.session(slot{Starts: noon.Add(30 * time.Hour)}), h.session(slot{Starts: noon.Add(80 * time.Hour)})
	for tier, notice := range map[string]time.Duration{"": 24 * time.Hour, "visitor": 48 * time.Hour, "member": 4 * time.Hour, "unknown": 24 * time.Hour} {
		for _, by := range []tenant.Caller{gateway, h.Coach} {
			b := h.mustHold(by, class, guest("Pat", tier))
			if want := noon.Add(30*time.Hour - notice); b.GuestTier != tier || !b.CancellableUntil().Equal(want) {
				t.Errorf("%q: %q until %s, want %s", tier, b.GuestTier, b.CancellableUntil(), want)
			}
			read, err := h.app.GetBooking(ctx, h.Owner, b.ID)
			if diff := cmp.Diff(b.CancellableUntil(), read.CancellableUntil()); err != nil || diff != "" || read.GuestTier != tier {
				t.Errorf("%q, read again: %q, %v\n%s", tier, read.GuestTier, err, diff)
			}
		}
	}
	visitor, member := h.mustHold(gateway, class, guest("Pat", "visitor")), h.mustHold(gateway, class, guest("Kim", "member"))
	for _, b := range []booking.Booking{visitor, member} {
		if _, err := h.app.ConfirmBooking(ctx, gateway, app.ConfirmRequest{ID: b.ID}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := h.app.CancelBooking(ctx, gateway, app.CancelRequest{ID: visitor.ID})
	wantReason(t, err, fault.CancellationWindow)
	if meta(t, err, "hours_before") != "48" {
		t.Errorf("%v", err)
	}
	_, err = h.move(gateway, visitor.ID, to)
	wantReason(t, err, fault.CancellationWindow)
	if moved, err := h.move(gateway, member.ID, to); err != nil || moved.Booking.GuestTier != "member" {
		t.Errorf("%+v, %v", moved, err)
	}

	// Nobody gives a member a tier, least of all the member.
	mia := h.member("Mia")
	tier := func(r *app.BookRequest) { r.GuestTier = "member" }
	_, err = h.hold(mia, class, tier)
	wantReason(t, err, fault.InvalidField)
	_, err = h.hold(gateway, class, forMember(mia), tier)
	wantReason(t, err, fault.InvalidField)

	// It is part of what was asked for under a reference.
	ref := func(r *app.BookRequest) { r.ExternalRef = "G-1" }
	h.mustHold(gateway, class, guest("Pat", "visitor"), ref)
	_, err = h.hold(gateway, class, guest("Pat", "member"), ref)
	wantReason(t, err, fault.ExternalRefConflict)
	h.wantSound()
}

// The list of a partner's own is what it made, by start, page by page.
func TestAPartnersBookings(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	gateway, rival, mia := h.partner("Gateway"), h.partner("Rival"), h.member("Mia")
	var want []tenant.BookingID
	for i := range 5 {
		class := h.session(slot{Starts: noon.Add(time.Duration(48+i) * time.Hour)})
		who := guest("Pat", "")
		if i == 2 {
			who = forMember(mia)
		}
		want = append(want, h.mustHold(gateway, class, who).ID)
		h.mustHold(rival, class, guest("Kim", ""))
		h.mustHold(h.member("Noa"), class)
	}
	var got []tenant.BookingID
	q := app.MyBookings{Limit: 2}
	for {
		page, entries, err := h.app.ListMyBookings(ctx, gateway, q)
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
	expired, _, err := h.app.ListMyBookings(ctx, gateway, app.MyBookings{Statuses: []booking.Status{booking.Expired}, Limit: 9})
	if err != nil || len(expired) != 0 {
		t.Errorf("%v, %v", expired, err)
	}
	if mine, _, err := h.app.ListMyBookings(ctx, own(mia), app.MyBookings{Limit: 9}); err != nil || len(mine) != 1 || mine[0].ID != want[2] {
		t.Errorf("Mia's: %+v, %v", mine, err)
	}
	if none, _, err := h.app.ListMyBookings(ctx, tenant.Caller{Tenant: h.another().Tenant, Subject: gateway.Subject, Own: true}, app.MyBookings{Limit: 9}); err != nil || len(none) != 0 {
		t.Errorf("elsewhere: %+v, %v", none, err)
	}
}
