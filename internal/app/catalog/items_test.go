package catalog_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

func TestItemsLiveAsTheirBookingDoes(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	ctx := context.Background()
	mia := h.Member("Mia")
	cart, locker := h.Item("Cart", 2, nil), h.Item("Locker", 9, nil)
	class := h.Session(testkit.Slot{})
	held := h.MustHold(mia, class, testkit.With(booking.ItemChoice{Item: cart.ID, Quantity: 2}, booking.ItemChoice{Item: locker.ID, Quantity: 1}))
	if len(held.Items) != 2 || held.Items[0].Status != booking.ItemPending || held.Items[0].Price.Units != 20 || held.Items[0].Quantity != 2 {
		t.Fatalf("%+v", held.Items)
	}
	noa := h.Member("Noa")
	_, err := h.Hold(noa, class, testkit.With(booking.ItemChoice{Item: cart.ID, Quantity: 1}))
	testkit.WantReason(t, err, fault.ItemUnavailable)
	if got := testkit.Meta(t, err, "item_id"); got != cart.ID.String() {
		t.Errorf("item_id %q", got)
	}
	// On confirmation the chosen are confirmed and the others cancelled.
	place, err := h.App.Bookings.ConfirmBooking(ctx, testkit.Own(mia), bookings.ConfirmRequest{ID: held.ID, Keep: []tenant.LineID{held.Items[1].ID}})
	if err != nil || place.Booking.Items[0].Status != booking.ItemCancelled || place.Booking.Items[1].Status != booking.ItemConfirmed {
		t.Fatalf("%+v, %v", place.Booking, err)
	}
	h.MustHold(noa, class, testkit.With(booking.ItemChoice{Item: cart.ID, Quantity: 2}))
	up, err := h.Cancel(mia, held.ID)
	if err != nil || up.Booking.Items[1].Status != booking.ItemCancelled {
		t.Fatalf("%+v, %v", up.Booking, err)
	}
	if n := h.Count(`select count(*) from booking_items where status <> 'CANCELLED'`); n != 2 {
		t.Errorf("%d things are out, want 2", n)
	}
	b, err := h.App.Bookings.GetBooking(ctx, testkit.Own(mia), held.ID)
	if err != nil || len(b.Items) != 2 {
		t.Errorf("%+v, %v", b.Items, err)
	}
	other := h.MustHold(h.Member("Zoe"), class)
	_, err = h.App.Bookings.ConfirmBooking(ctx, h.Owner, bookings.ConfirmRequest{ID: other.ID, Keep: []tenant.LineID{held.Items[0].ID}})
	testkit.WantReason(t, err, fault.InvalidField)
}

// A cart that is out for a round of four hours is not there for whoever starts eight minutes later.
func TestStockIsNotExceededOverOverlappingSpans(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	cart := h.Item("Cart", 3, new(4*time.Hour))
	start := testkit.Noon.Add(48 * time.Hour)
	at := func(minutes int) tenant.SessionID {
		return h.Session(testkit.Slot{Starts: start.Add(time.Duration(minutes) * time.Minute), Minutes: 8})
	}
	one := testkit.With(booking.ItemChoice{Item: cart.ID, Quantity: 1})
	for i := range 3 {
		h.MustHold(h.Member(fmt.Sprint("Mia", i)), at(i*8), one)
	}
	_, err := h.Hold(h.Member("Noa"), at(3*60), one)
	testkit.WantReason(t, err, fault.ItemUnavailable)
	h.MustHold(h.Member("Noa"), at(4*60), one) // the first is back
	elsewhere := h.Item("Mat", 1, nil)
	h.Exec(`update items set active = false where id = $1`, elsewhere.ID)
	_, err = h.Hold(h.Member("Zoe"), at(10), testkit.With(booking.ItemChoice{Item: elsewhere.ID, Quantity: 1}))
	testkit.WantReason(t, err, fault.ItemUnavailable)
}

func TestTheLastCartGoesToOne(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	cart := h.Item("Cart", 2, nil)
	class := h.Session(testkit.Slot{Capacity: 50})
	const people = 12
	got := make([]bool, people)
	members := make([]tenant.Caller, people)
	for i := range members {
		members[i] = h.Member(fmt.Sprint("Member ", i))
	}
	testkit.Together(people, func(i int) {
		_, err := h.Hold(members[i], class, testkit.With(booking.ItemChoice{Item: cart.ID, Quantity: 1}))
		got[i] = err == nil
		if err != nil {
			testkit.WantReason(t, err, fault.ItemUnavailable)
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
	h.WantSound()
}

func TestBenefitProviders(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	card := booking.BenefitProvider{Code: "LINKS", Name: "Links Card", Pattern: `M-\d{3}`, Percent: 20, Active: true}
	put := func(p booking.BenefitProvider, expect *int) (booking.BenefitProvider, error) {
		return h.App.Catalog.PutBenefitProvider(context.Background(), h.Owner, p, expect)
	}
	errs := testkit.AtOnce(6, func(int) error { _, err := put(card, new(0)); return err })
	if diff := cmp.Diff(map[fault.Reason]int{"": 1, fault.AlreadyExistsReason: 5}, testkit.Reasons(errs)); diff != "" {
		t.Error("made at once:", diff)
	}
	h.Clock.Set(testkit.Noon.Add(time.Hour))
	told := h.CatalogEvents()
	same, err := put(card, new(1))
	card.Version, card.CreatedAt, card.UpdatedAt = 1, testkit.Noon, testkit.Noon
	if diff := cmp.Diff(card, same); err != nil || diff != "" || h.CatalogEvents() != told {
		t.Errorf("put as it is: %v (-want +got)\n%s", err, diff)
	}
	errs = testkit.AtOnce(6, func(i int) error {
		edited := card
		edited.Percent = 30 + i
		_, err := put(edited, new(1))
		return err
	})
	if diff := cmp.Diff(map[fault.Reason]int{"": 1, fault.ETagMismatch: 5}, testkit.Reasons(errs)); diff != "" || h.CatalogEvents() != told+1 {
		t.Error("edited at once:", diff)
	}
	card.Active = false
	off, err := put(card, nil)
	card.Version, card.UpdatedAt = 3, testkit.Noon.Add(time.Hour)
	if diff := cmp.Diff(card, off); err != nil || diff != "" {
		t.Errorf("whichever it is: %v (-want +got)\n%s", err, diff)
	}
	other := card
	other.Code = "OTHER"
	_, err = put(other, new(1)) // who edits it believes that it is there
	testkit.WantReason(t, err, fault.ETagMismatch)

	// Another tenant has its own under the same code.
	there := h.Another()
	made, err := there.App.Catalog.PutBenefitProvider(context.Background(), there.Owner, card, new(0))
	if err != nil || made.Version != 1 {
		t.Errorf("%+v, %v", made, err)
	}
	all, err := h.App.Catalog.ListBenefitProviders(context.Background(), h.Owner)
	if diff := cmp.Diff([]booking.BenefitProvider{card}, all); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}
