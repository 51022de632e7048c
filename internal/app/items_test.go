package app_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

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

func TestBenefitProviders(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	card := booking.Provider{Code: "LINKS", Name: "Links Card", Pattern: `M-\d{3}`, Percent: 20, Active: true}
	put := func(p booking.Provider, expect *int) (booking.Provider, error) {
		return h.app.PutBenefitProvider(context.Background(), h.Owner, p, expect)
	}
	errs := atOnce(6, func(int) error { _, err := put(card, new(0)); return err })
	if diff := cmp.Diff(map[fault.Reason]int{"": 1, fault.AlreadyExistsReason: 5}, reasons(errs)); diff != "" {
		t.Error("made at once:", diff)
	}
	h.clock.Set(noon.Add(time.Hour))
	told := h.catalogEvents()
	same, err := put(card, new(1))
	card.Version, card.CreatedAt, card.UpdatedAt = 1, noon, noon
	if diff := cmp.Diff(card, same); err != nil || diff != "" || h.catalogEvents() != told {
		t.Errorf("put as it is: %v (-want +got)\n%s", err, diff)
	}
	errs = atOnce(6, func(i int) error {
		edited := card
		edited.Percent = 30 + i
		_, err := put(edited, new(1))
		return err
	})
	if diff := cmp.Diff(map[fault.Reason]int{"": 1, fault.ETagMismatch: 5}, reasons(errs)); diff != "" || h.catalogEvents() != told+1 {
		t.Error("edited at once:", diff)
	}
	card.Active = false
	off, err := put(card, nil)
	card.Version, card.UpdatedAt = 3, noon.Add(time.Hour)
	if diff := cmp.Diff(card, off); err != nil || diff != "" {
		t.Errorf("whichever it is: %v (-want +got)\n%s", err, diff)
	}
	other := card
	other.Code = "OTHER"
	_, err = put(other, new(1)) // who edits it believes that it is there
	wantReason(t, err, fault.ETagMismatch)

	// Another tenant has its own under the same code.
	there := h.another()
	made, err := there.app.PutBenefitProvider(context.Background(), there.Owner, card, new(0))
	if err != nil || made.Version != 1 {
		t.Errorf("%+v, %v", made, err)
	}
	all, err := h.app.ListBenefitProviders(context.Background(), h.Owner)
	if diff := cmp.Diff([]booking.Provider{card}, all); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}
