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

func TestItems_FollowTheStatusOfTheirBooking(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	mia := h.AddMember("Mia")
	cart, locker := h.AddItem("Cart", 2, nil), h.AddItem("Locker", 9, nil)
	class := h.AddSession(testkit.Session{})
	held := h.MustHold(
		mia, class,
		testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 2}, booking.ItemChoice{Item: locker.ID, Quantity: 1}),
	)
	if len(held.Items) != 2 || held.Items[0].Status != booking.ItemPending || held.Items[0].Price.Units != 20 ||
		held.Items[0].Quantity != 2 {
		t.Fatalf("%+v", held.Items)
	}
	noa := h.AddMember("Noa")
	_, err := h.Hold(noa, class, testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 1}))
	testkit.WantReason(t, err, fault.ItemUnavailable)
	if got := testkit.Meta(t, err, "item_id"); got != cart.ID.String() {
		t.Errorf("item_id %q", got)
	}
	// On confirmation the chosen are confirmed and the others cancelled.
	place, err := h.App.Bookings.ConfirmBooking(
		ctx, testkit.SelfOnly(mia), bookings.ConfirmRequest{ID: held.ID, Keep: []tenant.LineID{held.Items[1].ID}},
	)
	if err != nil || place.Booking.Items[0].Status != booking.ItemCancelled ||
		place.Booking.Items[1].Status != booking.ItemConfirmed {
		t.Fatalf("%+v, %v", place.Booking, err)
	}
	h.MustHold(noa, class, testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 2}))
	up, err := h.Cancel(mia, held.ID)
	if err != nil || up.Booking.Items[1].Status != booking.ItemCancelled {
		t.Fatalf("%+v, %v", up.Booking, err)
	}
	if n := h.Count(`select count(*) from booking_items where status <> 'CANCELLED'`); n != 2 {
		t.Errorf("%d things are out, want 2", n)
	}
	b, err := h.App.Bookings.GetBooking(ctx, testkit.SelfOnly(mia), held.ID)
	if err != nil || len(b.Items) != 2 {
		t.Errorf("%+v, %v", b.Items, err)
	}
	other := h.MustHold(h.AddMember("Zoe"), class)
	_, err = h.App.Bookings.ConfirmBooking(
		ctx, h.Owner, bookings.ConfirmRequest{ID: other.ID, Keep: []tenant.LineID{held.Items[0].ID}},
	)
	testkit.WantReason(t, err, fault.InvalidField)
}

// A cart that is out for a round of four hours is not there for whoever starts eight minutes later.
func TestItems_StockIsNotExceededInOverlappingSpans(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	cart := h.AddItem("Cart", 3, new(4*time.Hour))
	start := testkit.Noon.Add(48 * time.Hour)
	at := func(minutes int) tenant.SessionID {
		return h.AddSession(testkit.Session{Starts: start.Add(time.Duration(minutes) * time.Minute), Minutes: 8})
	}
	one := testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 1})
	for i := range 3 {
		h.MustHold(h.AddMember(fmt.Sprint("Mia", i)), at(i*8), one)
	}
	_, err := h.Hold(h.AddMember("Noa"), at(3*60), one)
	testkit.WantReason(t, err, fault.ItemUnavailable)
	h.MustHold(h.AddMember("Noa"), at(4*60), one) // the first is back
	elsewhere := h.AddItem("Mat", 1, nil)
	if _, err := h.App.Catalog.UpdateItem(t.Context(), h.Owner, elsewhere.ID, nil, func(i *booking.Item) error {
		i.Active = false
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	_, err = h.Hold(h.AddMember("Zoe"), at(10), testkit.WithItems(booking.ItemChoice{Item: elsewhere.ID, Quantity: 1}))
	testkit.WantReason(t, err, fault.ItemUnavailable)
}

func TestItems_LastOneIsReservedOnce(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	cart := h.AddItem("Cart", 2, nil)
	class := h.AddSession(testkit.Session{Capacity: 50})
	const people = 12
	got := make([]bool, people)
	members := make([]tenant.Caller, people)
	for i := range members {
		members[i] = h.AddMember(fmt.Sprint("Member ", i))
	}
	testkit.Parallel(people, func(i int) {
		_, err := h.Hold(members[i], class, testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 1}))
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

func TestBenefitProviders_AreStoredAndListed(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	card := booking.BenefitProvider{Code: "LINKS", Name: "Links Card", Pattern: `M-\d{3}`, Percent: 20, Active: true}
	put := func(p booking.BenefitProvider, expect *int) (booking.BenefitProvider, error) {
		return h.App.Catalog.PutBenefitProvider(context.Background(), h.Owner, p, expect)
	}
	errs := testkit.ParallelErrors(6, func(int) error { _, err := put(card, new(0)); return err })
	if diff := cmp.Diff(
		map[fault.Reason]int{"": 1, fault.AlreadyExistsReason: 5}, testkit.CountReasons(errs),
	); diff != "" {
		t.Error("made at once:", diff)
	}
	h.Clock.Set(testkit.Noon.Add(time.Hour))
	told := h.CatalogEvents()
	same, err := put(card, new(1))
	card.Version, card.CreatedAt, card.UpdatedAt = 1, testkit.Noon, testkit.Noon
	if diff := cmp.Diff(card, same); err != nil || diff != "" || h.CatalogEvents() != told {
		t.Errorf("put as it is: %v (-want +got)\n%s", err, diff)
	}
	errs = testkit.ParallelErrors(6, func(i int) error {
		edited := card
		edited.Percent = 30 + i
		_, err := put(edited, new(1))
		return err
	})
	if diff := cmp.Diff(map[fault.Reason]int{"": 1, fault.ETagMismatch: 5}, testkit.CountReasons(errs)); diff != "" ||
		h.CatalogEvents() != told+1 {
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
	there := h.OtherTenant()
	made, err := there.App.Catalog.PutBenefitProvider(context.Background(), there.Owner, card, new(0))
	if err != nil || made.Version != 1 {
		t.Errorf("%+v, %v", made, err)
	}
	all, err := h.App.Catalog.ListBenefitProviders(context.Background(), h.Owner)
	if diff := cmp.Diff([]booking.BenefitProvider{card}, all); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}
