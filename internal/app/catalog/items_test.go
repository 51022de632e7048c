package catalog_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestItems_FollowTheStatusOfTheirBooking(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia")
	cart, locker := studio.AddItem("Cart", 2, nil), studio.AddItem("Locker", 9, nil)
	class := studio.AddSession(testkit.Session{})
	held := studio.MustHold(
		mia, class,
		testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 2}, booking.ItemChoice{Item: locker.ID, Quantity: 1}),
	)
	must.SliceLen(t, 2, held.Items)
	must.EqOp(t, booking.ItemPending, held.Items[0].Status)
	must.EqOp(t, 20, held.Items[0].Price.Units)
	must.EqOp(t, 2, held.Items[0].Quantity)
	noa := studio.AddMember("Noa")
	taken := expect.Reason(t, fault.ItemUnavailable)(
		studio.Hold(noa, class, testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 1})),
	)
	test.EqOp(t, cart.ID.String(), taken.Metadata["item_id"])
	// On confirmation the chosen are confirmed and the others cancelled.
	result := expect.Value(studio.App.Bookings.ConfirmBooking(
		t.Context(), testkit.SelfOnly(mia), bookings.ConfirmRequest{ID: held.ID, Keep: []tenant.ItemLineID{held.Items[1].ID}},
	))(t)
	must.EqOp(t, booking.ItemCancelled, result.Booking.Items[0].Status)
	must.EqOp(t, booking.ItemConfirmed, result.Booking.Items[1].Status)
	studio.MustHold(noa, class, testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 2}))
	up := expect.Value(studio.Cancel(mia, held.ID))(t)
	must.EqOp(t, booking.ItemCancelled, up.Booking.Items[1].Status, must.Sprintf("%+v", up.Booking))
	test.EqOp(t, 2, studio.Count(`select count(*) from booking_items where status <> 'CANCELLED'`),
		test.Sprint("things are out, want 2"))
	b := expect.Value(studio.App.Bookings.GetBooking(t.Context(), testkit.SelfOnly(mia), held.ID))(t)
	test.EqOp(t, 2, len(b.Items), test.Sprintf("%+v", b.Items))
	other := studio.MustHold(studio.AddMember("Zoe"), class)
	expect.Reason(t, fault.InvalidField)(studio.App.Bookings.ConfirmBooking(
		t.Context(), studio.Owner, bookings.ConfirmRequest{ID: other.ID, Keep: []tenant.ItemLineID{held.Items[0].ID}},
	))
}

// A cart that is out for a round of four hours is not available for a round that starts eight minutes later.
func TestItems_StockIsNotExceededInOverlappingSpans(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	cart := studio.AddItem("Cart", 3, new(4*time.Hour))
	start := testkit.Noon.Add(48 * time.Hour)
	at := func(minutes int) tenant.SessionID {
		return studio.AddSession(testkit.Session{Starts: start.Add(time.Duration(minutes) * time.Minute), Minutes: 8})
	}
	one := testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 1})
	for i := range 3 {
		studio.MustHold(studio.AddMember(fmt.Sprint("Mia", i)), at(i*8), one)
	}
	expect.Reason(t, fault.ItemUnavailable)(studio.Hold(studio.AddMember("Noa"), at(3*60), one))
	studio.MustHold(studio.AddMember("Noa"), at(4*60), one) // the first is back
	mat := studio.AddItem("Mat", 1, nil)
	expect.OK(t)(studio.App.Catalog.UpdateItem(t.Context(), studio.Owner, mat.ID, nil, func(i *booking.Item) error {
		i.Active = false
		return nil
	}))
	expect.Reason(t, fault.ItemUnavailable)(studio.Hold(
		studio.AddMember("Zoe"), at(10), testkit.WithItems(booking.ItemChoice{Item: mat.ID, Quantity: 1}),
	))
}

// Of a stock that was lowered while two are out, none is given until both are back.
func TestItems_AtMostTheStockIsOutAtOnce(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	cart := studio.AddItem("Cart", 2, nil)
	class := studio.AddSession(testkit.Session{})
	one := testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 1})
	first := studio.MustHold(studio.AddMember("Mia"), class, one)
	second := studio.MustHold(studio.AddMember("Noa"), class, one)
	expect.OK(t)(studio.App.Catalog.UpdateItem(t.Context(), studio.Owner, cart.ID, nil, func(i *booking.Item) error {
		i.Stock = 1
		return nil
	}))
	zoe := studio.AddMember("Zoe")
	for _, back := range []tenant.BookingID{first.ID, second.ID} {
		refused := expect.Reason(t, fault.ItemUnavailable)(studio.Hold(zoe, class, one))
		test.Eq(t, map[string]string{"item_id": cart.ID.String(), "name": "Cart", "available": "0"}, refused.Metadata)
		expect.OK(t)(studio.App.Bookings.ReleaseHold(t.Context(), studio.Owner, back))
	}
	studio.MustHold(zoe, class, one)
}

func TestItems_LastOneIsReservedOnce(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	cart := studio.AddItem("Cart", 2, nil)
	class := studio.AddSession(testkit.Session{Capacity: 50})
	const people = 12
	members := make([]tenant.Caller, people)
	for i := range members {
		members[i] = studio.AddMember(fmt.Sprint("Member ", i))
	}
	errs := testkit.ParallelErrors(people, func(i int) error {
		return expect.Error(studio.Hold(members[i], class, testkit.WithItems(booking.ItemChoice{Item: cart.ID, Quantity: 1})))
	})
	test.Eq(t, map[fault.Reason]int{"": 2, fault.ItemUnavailable: people - 2}, testkit.CountReasons(errs))
}

func TestBenefitProviders_AreStoredAndListed(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	card := booking.BenefitProvider{
		Code: "LINKS", Name: "Links Card", Pattern: `M-\d{3}`, Percent: 20, Active: true, Verification: booking.Unverified,
	}
	set := func(p booking.BenefitProvider, expect *int) (booking.BenefitProvider, error) {
		return studio.App.Catalog.UpdateBenefitProvider(context.Background(), studio.Owner, p.Code, expect,
			func(edited *booking.BenefitProvider) error {
				edited.Percent, edited.Active = p.Percent, p.Active
				return nil
			})
	}
	errs := testkit.ParallelErrors(6, func(int) error {
		return expect.Error(studio.App.Catalog.CreateBenefitProvider(context.Background(), studio.Owner, card))
	})
	test.Eq(t, map[fault.Reason]int{"": 1, fault.AlreadyExistsReason: 5}, testkit.CountReasons(errs),
		test.Sprint("made at once:"))
	studio.Clock.Set(testkit.Noon.Add(time.Hour))
	told := studio.CatalogEvents()
	same, err := set(card, new(1))
	card.Version, card.CreatedAt, card.UpdatedAt = 1, testkit.Noon, testkit.Noon
	diff := cmp.Diff(card, same)
	must.NoError(t, err, must.Sprintf("edited to what it is: %v (-want +got)\n%s", err, diff))
	test.EqOp(t, "", diff, test.Sprintf("edited to what it is: %v (-want +got)\n%s", err, diff))
	test.EqOp(t, told, studio.CatalogEvents(), test.Sprintf("edited to what it is: %v (-want +got)\n%s", err, diff))
	errs = testkit.ParallelErrors(6, func(i int) error {
		edited := card
		edited.Percent = 30 + i
		return expect.Error(set(edited, new(1)))
	})
	diff = cmp.Diff(map[fault.Reason]int{"": 1, fault.ETagMismatch: 5}, testkit.CountReasons(errs))
	test.EqOp(t, "", diff, test.Sprint("edited at once:", diff))
	test.EqOp(t, told+1, studio.CatalogEvents(), test.Sprint("edited at once:", diff))
	card.Active = false
	off, err := set(card, nil)
	card.Version, card.UpdatedAt = 3, testkit.Noon.Add(time.Hour)
	diff = cmp.Diff(card, off)
	test.NoError(t, err, test.Sprintf("whichever it is: %v (-want +got)\n%s", err, diff))
	test.EqOp(t, "", diff, test.Sprintf("whichever it is: %v (-want +got)\n%s", err, diff))
	other := card
	other.Code = "OTHER"
	expect.Reason(t, fault.ProviderNotFound)(set(other, new(1)))

	// Another tenant has its own under the same code.
	there := studio.OtherTenant()
	made := expect.Value(there.App.Catalog.CreateBenefitProvider(context.Background(), there.Owner, card))(t)
	test.EqOp(t, 1, made.Version, test.Sprintf("%+v", made))
	all, err := studio.App.Catalog.ListBenefitProviders(context.Background(), studio.Owner)
	diff = cmp.Diff([]booking.BenefitProvider{card}, all)
	test.NoError(t, err, test.Sprintf("%v (-want +got)\n%s", err, diff))
	test.EqOp(t, "", diff, test.Sprintf("%v (-want +got)\n%s", err, diff))
}
