package app_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/booking"
	"github.com/berthhq/berth/internal/catalog"
	"github.com/berthhq/berth/internal/credit"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// hold asks for one seat for a while.
func (h *house) hold(who tenant.Caller, session tenant.SessionID, more ...func(*app.BookRequest)) (app.Place, error) {
	r := app.BookRequest{Session: session, Party: 1, Channel: catalog.Online, Hold: true}
	for _, m := range more {
		m(&r)
	}
	return h.app.Book(context.Background(), who, r)
}

func (h *house) mustHold(who tenant.Caller, session tenant.SessionID, more ...func(*app.BookRequest)) booking.Booking {
	h.t.Helper()
	place, err := h.hold(who, session, more...)
	if err != nil {
		h.t.Fatalf("hold: %v", err)
	}
	return *place.Booking
}

func (h *house) confirm(who tenant.Caller, id tenant.BookingID) (app.Place, error) {
	return h.app.ConfirmBooking(context.Background(), own(who), app.ConfirmRequest{ID: id})
}

var fifty = &booking.Payment{Status: booking.Captured, Amount: credit.Money{Currency: "EUR", Units: 50}, Method: "card"}

func TestHoldTakesSeatsWithoutACredit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia, noa := h.member("Mia"), h.member("Noa")
	pack := h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Credits, Credits: 5}))
	slot8 := h.session(slot{Capacity: 2})
	b := h.mustHold(mia, slot8, func(r *app.BookRequest) { r.Party = 2 })
	if b.Status != booking.Pending || b.Credits != 0 || !b.HoldUntil.Equal(noon.Add(10*time.Minute)) || b.Payment.Status != booking.Unpaid {
		t.Errorf("%+v", b)
	}
	if h.balance(pack) != 5 {
		t.Error("a credit moved")
	}
	_, err := h.book(noa, slot8)
	wantReason(t, err, fault.SessionFull)
	h.wantSound()

	// On confirmation the plan pays, once.
	for i := range 2 {
		place, err := h.confirm(mia, b.ID)
		if err != nil || place.Booking.Status != booking.Confirmed || place.Repeated != (i == 1) {
			t.Fatalf("%+v, %v", place, err)
		}
	}
	if h.balance(pack) != 3 {
		t.Errorf("balance %d, want 3", h.balance(pack))
	}
	h.wantSound()
}

func TestAHoldNeverOutlivesTheStart(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.mustHold(h.member("Mia"), h.session(slot{Starts: noon.Add(4 * time.Minute)}))
	if !b.HoldUntil.Equal(noon.Add(4 * time.Minute)) {
		t.Errorf("until %s", b.HoldUntil)
	}
}

// Before anybody has noticed that a hold has run out it blocks nobody any more.
func TestAnExpiredHoldBlocksNobody(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia, noa := h.member("Mia"), h.member("Noa")
	one := h.session(slot{Capacity: 1})
	held := h.mustHold(mia, one)
	h.clock.Set(held.HoldUntil.Add(-time.Microsecond))
	_, err := h.book(noa, one)
	wantReason(t, err, fault.SessionFull)
	h.clock.Set(*held.HoldUntil)
	h.mustBook(noa, one)
	if h.status(held.ID) != "EXPIRED" {
		t.Error(h.status(held.ID))
	}
	_, err = h.confirm(mia, held.ID)
	wantReason(t, err, fault.HoldExpired)

	// Nor does it block whoever held it.
	other := h.session(slot{Capacity: 1, Starts: noon.Add(72 * time.Hour)})
	again := h.mustHold(mia, other)
	h.clock.Set(*again.HoldUntil)
	h.mustHold(mia, other)
	h.wantSound()
}

func TestConfirmingTooLate(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia := h.member("Mia")
	held := h.mustHold(mia, h.session(slot{}))
	h.clock.Set(*held.HoldUntil)
	_, err := h.confirm(mia, held.ID)
	wantReason(t, err, fault.HoldExpired)
	_, err = h.confirm(h.member("Noa"), held.ID)
	wantReason(t, err, fault.BookingNotFound)
	_, err = h.app.ConfirmBooking(context.Background(), h.another().Owner, app.ConfirmRequest{ID: held.ID})
	wantReason(t, err, fault.BookingNotFound)
}

func TestExpiredHoldsWakeTheWaitlist(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia, noa := h.member("Mia"), h.member("Noa")
	one := h.session(slot{Capacity: 1, Waitlist: 2})
	held := h.mustHold(mia, one)
	h.mustWait(noa, one)
	h.clock.Set(*held.HoldUntil)
	counts := make([]int, 4)
	together(len(counts), func(i int) { // as many nodes may look at once
		n, err := h.app.ExpireHolds(context.Background(), h.Tenant)
		if err != nil {
			t.Error(err)
		}
		counts[i] = n
	})
	if n := counts[0] + counts[1] + counts[2] + counts[3]; n != 1 {
		t.Errorf("the hold ended %d times: %v", n, counts)
	}
	if n := h.count(`select count(*) from bookings where member_id = $1 and status = 'CONFIRMED' and promoted`, noa.Member); n != 1 {
		t.Error("Noa was not promoted")
	}
	h.wantSound()
}

func TestReleaseGivesSeatsBackAndWakesTheWaitlist(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia, noa := h.member("Mia"), h.member("Noa")
	one := h.session(slot{Capacity: 1, Waitlist: 2})
	held := h.mustHold(mia, one)
	h.mustWait(noa, one)
	for i := range 2 {
		place, err := h.app.ReleaseHold(context.Background(), own(mia), held.ID)
		if err != nil || place.Booking.Status != booking.Cancelled || place.Repeated != (i == 1) {
			t.Fatalf("%+v, %v", place, err)
		}
	}
	if n := h.count(`select count(*) from bookings where member_id = $1 and status = 'CONFIRMED'`, noa.Member); n != 1 {
		t.Error("Noa was not promoted")
	}
	booked := h.mustBook(h.member("Zoe"), h.session(slot{}))
	_, err := h.app.ReleaseHold(context.Background(), h.Owner, booked)
	wantReason(t, err, fault.BookingState)
	h.wantSound()
}

func TestConfirmWithMoney(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	h.exec(`update tenants set takes_payments = true where tenant_id = $1`, h.Tenant)
	mia := h.member("Mia")
	held := h.mustHold(mia, h.session(slot{}))
	_, err := h.confirm(mia, held.ID)
	wantReason(t, err, fault.NoActivePlan)

	place, err := h.app.ConfirmBooking(ctx, own(mia), app.ConfirmRequest{ID: held.ID, Paid: fifty})
	if err != nil || place.Booking.Payment.Status != booking.Captured || place.Booking.Payment.PaidAt == nil {
		t.Fatalf("%+v, %v", place.Booking, err)
	}
	// Confirming again updates the payment, and nothing else.
	more := *fifty
	more.Amount.Units, more.Method = 60, "voucher"
	place, err = h.app.ConfirmBooking(ctx, own(mia), app.ConfirmRequest{ID: held.ID, Paid: &more})
	if err != nil || !place.Repeated || place.Booking.Payment.Amount.Units != 60 {
		t.Fatalf("%+v, %v", place.Booking, err)
	}
	if b, err := h.app.GetBooking(ctx, own(mia), held.ID); err != nil || b.Payment.Amount.Units != 60 || b.Payment.Method != "voucher" || !b.Payment.PaidAt.Equal(noon) {
		t.Errorf("%+v, %v", b.Payment, err)
	}
	// In time, what was paid is given back.
	up, err := h.cancel(mia, held.ID)
	if err != nil || up.Booking.Payment.Status != booking.Refunded {
		t.Errorf("%+v, %v", up.Booking, err)
	}
	_, err = h.confirm(mia, held.ID)
	wantReason(t, err, fault.BookingState)
	h.wantSound()
}

func TestBenefitMembership(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	if _, err := h.app.PutBenefitProvider(ctx, h.Owner, booking.Provider{Code: "LINKS", Name: "Links Card", Pattern: `M-\d{3}`, Percent: 20, Active: true}); err != nil {
		t.Fatal(err)
	}
	mia := h.member("Mia")
	held := h.mustHold(mia, h.session(slot{}))
	for _, wrong := range [][2]string{{"LINKS", "M-1"}, {"LINKS", "xM-001"}, {"OTHER", "M-001"}} {
		_, err := h.app.ConfirmBooking(ctx, own(mia), app.ConfirmRequest{ID: held.ID, Paid: fifty, ProviderCode: wrong[0], Number: wrong[1]})
		wantReason(t, err, fault.BenefitInvalid)
	}
	place, err := h.app.ConfirmBooking(ctx, own(mia), app.ConfirmRequest{ID: held.ID, Paid: fifty, ProviderCode: "LINKS", Number: "M-001"})
	if err != nil || place.Booking.Benefit != (booking.Benefit{Code: "LINKS", Number: "M-001", Percent: 20}) {
		t.Fatalf("%+v, %v", place.Booking, err)
	}
	if n := h.count(`select count(*) from audit_entries where action = 'booking.benefit_applied' and target_id = $1`, held.ID.String()); n != 1 {
		t.Errorf("%d audit entries", n)
	}
	_, err = h.app.PutBenefitProvider(ctx, h.Owner, booking.Provider{Code: "X", Name: "X", Pattern: `(`, Active: true})
	wantReason(t, err, fault.InvalidField)
}

func TestGuestsHoldWithAContact(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	two := h.session(slot{Capacity: 2})
	guest := func(name string) func(*app.BookRequest) {
		return func(r *app.BookRequest) { r.Guest, r.Contact = true, booking.Contact{Name: name, Phone: "+49 30 1234"} }
	}
	_, err := h.hold(h.Owner, two, guest(" "))
	wantReason(t, err, fault.InvalidField)
	first, second := h.mustHold(h.Owner, two, guest("Pat")), h.mustHold(h.Owner, two, guest("Kim"))
	for _, b := range []booking.Booking{first, second} {
		if place, err := h.app.ConfirmBooking(context.Background(), h.Owner, app.ConfirmRequest{ID: b.ID}); err != nil || place.Booking.MemberName != b.Contact.Name {
			t.Fatalf("%+v, %v", place.Booking, err)
		}
	}
	roster, err := h.app.ListRoster(context.Background(), h.Coach, two, false)
	if err != nil || len(roster.Bookings) != 2 || roster.Bookings[0].MemberName+roster.Bookings[1].MemberName != "PatKim" &&
		roster.Bookings[0].MemberName+roster.Bookings[1].MemberName != "KimPat" {
		t.Errorf("%+v, %v", roster.Bookings, err)
	}
	if _, err := h.app.CancelBooking(context.Background(), h.Owner, app.CancelRequest{ID: first.ID}); err != nil {
		t.Error(err)
	}
	// A member sees no guest's booking.
	_, err = h.app.GetBooking(context.Background(), own(h.member("Mia")), second.ID)
	wantReason(t, err, fault.BookingNotFound)
	h.wantSound()
}

func (h *house) item(name string, stock int, out *time.Duration) booking.Item {
	h.t.Helper()
	i, err := h.app.CreateItem(context.Background(), h.Owner, booking.Item{
		Location: h.Location, Name: name, Kind: "cart", Stock: stock, Out: out, Active: true, Price: credit.Money{Currency: "EUR", Units: 20},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return i
}

func with(choices ...booking.Choice) func(*app.BookRequest) {
	return func(r *app.BookRequest) { r.Items = choices }
}

func TestItemsLiveAsTheirBookingDoes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	mia := h.member("Mia")
	cart, locker := h.item("Cart", 2, nil), h.item("Locker", 9, nil)
	class := h.session(slot{})
	held := h.mustHold(mia, class, with(booking.Choice{Item: cart.ID, Quantity: 2}, booking.Choice{Item: locker.ID, Quantity: 1}))
	if len(held.Items) != 2 || held.Items[0].Status != booking.ItemPending || held.Items[0].Price.Units != 20 || held.Items[0].Quantity != 2 {
		t.Fatalf("%+v", held.Items)
	}
	noa := h.member("Noa")
	_, err := h.hold(noa, class, with(booking.Choice{Item: cart.ID, Quantity: 1}))
	wantReason(t, err, fault.ItemUnavailable)
	if got := meta(t, err, "item_id"); got != cart.ID.String() {
		t.Errorf("item_id %q", got)
	}
	// On confirmation the chosen are confirmed and the others cancelled.
	place, err := h.app.ConfirmBooking(ctx, own(mia), app.ConfirmRequest{ID: held.ID, Keep: []tenant.LineID{held.Items[1].ID}})
	if err != nil || place.Booking.Items[0].Status != booking.ItemCancelled || place.Booking.Items[1].Status != booking.ItemConfirmed {
		t.Fatalf("%+v, %v", place.Booking, err)
	}
	h.mustHold(noa, class, with(booking.Choice{Item: cart.ID, Quantity: 2}))
	up, err := h.cancel(mia, held.ID)
	if err != nil || up.Booking.Items[1].Status != booking.ItemCancelled {
		t.Fatalf("%+v, %v", up.Booking, err)
	}
	if n := h.count(`select count(*) from booking_items where status <> 'CANCELLED'`); n != 2 {
		t.Errorf("%d things are out, want 2", n)
	}
	b, err := h.app.GetBooking(ctx, own(mia), held.ID)
	if err != nil || len(b.Items) != 2 {
		t.Errorf("%+v, %v", b.Items, err)
	}
	other := h.mustHold(h.member("Zoe"), class)
	_, err = h.app.ConfirmBooking(ctx, h.Owner, app.ConfirmRequest{ID: other.ID, Keep: []tenant.LineID{held.Items[0].ID}})
	wantReason(t, err, fault.InvalidField)
}

// A cart that is out for a round of four hours is not there for whoever starts eight minutes later.
func TestStockIsNotExceededOverOverlappingSpans(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	cart := h.item("Cart", 3, new(4*time.Hour))
	start := noon.Add(48 * time.Hour)
	at := func(minutes int) tenant.SessionID {
		return h.session(slot{Starts: start.Add(time.Duration(minutes) * time.Minute), Minutes: 8})
	}
	one := with(booking.Choice{Item: cart.ID, Quantity: 1})
	for i := range 3 {
		h.mustHold(h.member(fmt.Sprint("Mia", i)), at(i*8), one)
	}
	_, err := h.hold(h.member("Noa"), at(3*60), one)
	wantReason(t, err, fault.ItemUnavailable)
	h.mustHold(h.member("Noa"), at(4*60), one) // the first is back
	elsewhere := h.item("Mat", 1, nil)
	h.exec(`update items set active = false where id = $1`, elsewhere.ID)
	_, err = h.hold(h.member("Zoe"), at(10), with(booking.Choice{Item: elsewhere.ID, Quantity: 1}))
	wantReason(t, err, fault.ItemUnavailable)
}

func TestTheLastCartGoesToOne(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	cart := h.item("Cart", 2, nil)
	class := h.session(slot{Capacity: 50})
	const people = 12
	got := make([]bool, people)
	members := make([]tenant.Caller, people)
	for i := range members {
		members[i] = h.member(fmt.Sprint("Member ", i))
	}
	together(people, func(i int) {
		_, err := h.hold(members[i], class, with(booking.Choice{Item: cart.ID, Quantity: 1}))
		got[i] = err == nil
		if err != nil {
			wantReason(t, err, fault.ItemUnavailable)
		}
	})
	n := 0
	for _, g := range got {
		if g {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d got one of two carts", n)
	}
	h.wantSound()
}

func (h *house) move(by tenant.Caller, id tenant.BookingID, to tenant.SessionID) (app.Rescheduled, error) {
	return h.app.RescheduleBooking(context.Background(), by, app.RescheduleRequest{ID: id, To: to, MoveItems: true, Notify: true})
}

func TestReschedule(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia, noa := h.member("Mia"), h.member("Noa")
	pack := h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Credits, Credits: 5, DailyLimit: new(1)}))
	from := h.session(slot{Capacity: 1, Waitlist: 1})
	to := h.session(slot{Starts: noon.Add(49 * time.Hour), Capacity: 1}) // the same day: the limit is not in the way
	id := h.mustBook(mia, from)
	h.mustWait(noa, from)

	moved, err := h.move(own(mia), id, to)
	if err != nil || moved.Booking.ID != id || moved.Booking.Session != to || moved.Promoted != 1 || !moved.Booking.StartsAt.Equal(noon.Add(49*time.Hour)) {
		t.Fatalf("%+v, %v", moved, err)
	}
	if h.balance(pack) != 4 {
		t.Errorf("balance %d: the credit goes along", h.balance(pack))
	}
	if again, err := h.move(own(mia), id, to); err != nil || !again.Repeated {
		t.Errorf("%+v, %v", again, err)
	}
	// A day on which she has reached her limit.
	day := h.session(slot{Starts: noon.Add(96 * time.Hour)})
	h.mustBook(mia, day)
	_, err = h.move(own(mia), id, h.session(slot{Starts: noon.Add(98 * time.Hour)}))
	wantReason(t, err, fault.DailyLimit)
	h.wantSound()
}

func TestRescheduleRefusals(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	elsewhere := newID[tenant.LocationID]()
	h.exec(`insert into locations (tenant_id, id, name, time_zone, created_at, updated_at) values ($1, $2, 'Pier 2', 'Europe/Berlin', $3, $3)`, h.Tenant, elsewhere, noon)
	mia := h.member("Mia")
	id := h.mustBook(mia, h.session(slot{Starts: noon.Add(30 * time.Hour)}))
	full := h.session(slot{Capacity: 1})
	h.mustBook(h.member("Noa"), full)
	taken := h.session(slot{Starts: noon.Add(99 * time.Hour)})
	h.mustBook(mia, taken)
	for name, tt := range map[string]struct {
		to     tenant.SessionID
		reason fault.Reason
	}{
		"another location":  {h.session(slot{Location: elsewhere}), fault.RescheduleTarget},
		"no seat there":     {full, fault.RescheduleTarget},
		"a draft":           {h.session(slot{State: catalog.Draft}), fault.RescheduleTarget},
		"no such session":   {newID[tenant.SessionID](), fault.SessionNotFound},
		"another tenant's":  {h.another().session(slot{}), fault.SessionNotFound},
		"booked there too":  {taken, fault.AlreadyBooked},
		"beyond the window": {h.session(slot{Starts: noon.Add(40 * 24 * time.Hour)}), fault.AdvanceWindow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := h.move(own(mia), id, tt.to)
			wantReason(t, err, tt.reason)
		})
	}
	_, err := h.move(own(h.member("Zoe")), id, h.session(slot{}))
	wantReason(t, err, fault.BookingNotFound)
	t.Cleanup(h.wantSound)
}

func TestReschedulingPastTheCancellationWindow(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.exec(`insert into policies (tenant_id, level, scope_id, tiers, updated_at) values ($1, 'TENANT', $1, '{"gold": {"allow_reschedule": true}}', $2)`, h.Tenant, noon)
	soon := h.session(slot{Starts: noon.Add(3 * time.Hour)})
	to := h.session(slot{})
	mia, gil := h.member("Mia"), h.member("Gil")
	h.exec(`update members set tier = 'gold' where id = $1`, gil.Member)
	mias, gils := h.mustBook(mia, soon), h.mustBook(gil, soon)
	_, err := h.move(own(mia), mias, to)
	wantReason(t, err, fault.CancellationWindow)
	if _, err := h.move(own(gil), gils, to); err != nil {
		t.Error(err)
	}
	if _, err := h.move(h.Owner, mias, to); err != nil {
		t.Errorf("by an admin: %v", err)
	}
	h.wantSound()
}

// Two people swap seats in full sessions at the same moment: nobody waits forever, nobody loses a place.
func TestSwappingSeatsNeitherDeadlocksNorLosesAPlace(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a, b := h.session(slot{Capacity: 5}), h.session(slot{Capacity: 5, Starts: noon.Add(60 * time.Hour)})
	ids := make([]tenant.BookingID, 8)
	targets := make([]tenant.SessionID, len(ids))
	for i := range ids {
		home, away := a, b
		if i%2 == 1 {
			home, away = b, a
		}
		ids[i], targets[i] = h.mustBook(h.member(fmt.Sprint("Member ", i)), home), away
	}
	together(len(ids), func(i int) {
		if _, err := h.move(h.Owner, ids[i], targets[i]); err != nil && fault.ReasonOf(err) != fault.RescheduleTarget {
			t.Errorf("%d: %v", i, err)
		}
	})
	for _, id := range ids {
		if h.status(id) != "CONFIRMED" {
			t.Errorf("%s is %s", id, h.status(id))
		}
	}
	h.wantSound()
}

// At the instant at which a hold runs out, confirming and expiring have one winner.
func TestConfirmAgainstExpiry(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for range 5 {
		h.clock.Set(noon)
		mia := h.member("Mia")
		held := h.mustHold(mia, h.session(slot{Capacity: 1}))
		var confirmed error
		together(2, func(i int) {
			if i == 0 {
				_, confirmed = h.confirm(mia, held.ID)
				return
			}
			h.clock.Set(*held.HoldUntil)
			if _, err := h.app.ExpireHolds(context.Background(), h.Tenant); err != nil {
				t.Error(err)
			}
		})
		switch status := h.status(held.ID); {
		case confirmed == nil && status != "CONFIRMED", confirmed != nil && status != "EXPIRED":
			t.Errorf("confirm said %v, the booking is %s", confirmed, status)
		case confirmed != nil:
			wantReason(t, confirmed, fault.HoldExpired)
		}
	}
	h.wantSound()
}

func TestRescheduleAgainstCancel(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for range 5 {
		mia := h.member("Mia")
		s := h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Credits, Credits: 2}))
		id := h.mustBook(mia, h.session(slot{Capacity: 1}))
		to := h.session(slot{Capacity: 1, Starts: noon.Add(90 * time.Hour)})
		together(2, func(i int) {
			var err error
			if i == 0 {
				_, err = h.move(own(mia), id, to)
			} else {
				_, err = h.cancel(mia, id)
			}
			if err != nil && fault.ReasonOf(err) != fault.BookingState {
				t.Error(err)
			}
		})
		if h.status(id) != "CANCELLED" || h.balance(s) != 2 {
			t.Errorf("%s, balance %d", h.status(id), h.balance(s))
		}
	}
	h.wantSound()
}

// An alarm ends a hold on the moment, without a sweep.
func TestAlarmsEndHolds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.clock.Set(time.Now())
	one := h.session(slot{Starts: time.Now().Add(48 * time.Hour), Capacity: 1})
	h.exec(`insert into policies (tenant_id, level, scope_id, hold_ttl_seconds, updated_at) values ($1, 'TENANT', $1, 1, $2)`, h.Tenant, noon)
	ticking := app.New(app.Config{DB: h.db.DB, Now: time.Now})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	stopped := make(chan struct{})
	go func() { defer close(stopped); ticking.RunAlarms(ctx, discard) }()
	place, err := ticking.Book(ctx, h.member("Mia"), app.BookRequest{Session: one, Party: 1, Channel: catalog.Online, Hold: true})
	if err != nil {
		t.Fatal(err)
	}
	for h.status(place.Booking.ID) == "PENDING" {
		if err := ctx.Err(); err != nil {
			t.Fatal(errors.New("the hold is still there"))
		}
	}
	if late := time.Since(*place.Booking.HoldUntil); late > time.Second {
		t.Errorf("it ended %s late", late)
	}
	cancel()
	<-stopped
	h.wantSound()
}

var discard = slog.New(slog.DiscardHandler)
