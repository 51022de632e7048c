package booking_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// ReserveItems picks exactly the units that no overlapping booking has, the lowest numbers first.
func TestReserveItems_PicksFreeUnits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := openSlot()
		cart := booking.Item{ID: id[tenant.ItemID](), Stock: rapid.IntRange(0, 5).Draw(t, "stock"), Active: true}
		span := civil.Span{Start: s.StartsAt, End: s.EndsAt}
		if rapid.Bool().Draw(t, "own time") {
			cart.UseDuration = new(time.Duration(rapid.IntRange(1, 180).Draw(t, "minutes")) * time.Minute)
			span.End = s.StartsAt.Add(*cart.UseDuration)
		}
		var reserved []booking.ItemReservation
		free := make(map[int]bool)
		for number := 1; number <= cart.Stock; number++ {
			free[number] = true
			start := s.StartsAt.Add(time.Duration(rapid.IntRange(-4, 4).Draw(t, "start")) * 30 * time.Minute)
			of := booking.ItemReservation{
				Item: cart.ID, Number: number, Span: civil.Span{Start: start, End: start.Add(time.Hour)},
			}
			if rapid.Bool().Draw(t, "another item") {
				of.Item = id[tenant.ItemID]()
			} else {
				free[number] = !start.Before(span.End) || !of.Span.End.After(span.Start)
			}
			reserved = append(reserved, of)
		}
		wanted := rapid.IntRange(1, 6).Draw(t, "wanted")
		choices := []booking.ItemChoice{{Item: cart.ID, Quantity: wanted}}
		var want []booking.ItemReservation
		for number := 1; number <= cart.Stock && len(want) < wanted; number++ {
			if free[number] {
				want = append(want, booking.ItemReservation{Item: cart.ID, Number: number, Span: span})
			}
		}

		got, err := booking.ReserveItems(s, choices, []booking.Item{cart}, reserved)

		if len(want) < wanted {
			must.EqOp(t, fault.ItemUnavailable, fault.ReasonOf(err), must.Sprintf("%+v, %v", got, err))
		} else if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("%v (-want +got):\n%s", err, diff)
		}
	})
}

// Units that were out when the stock was lowered count until they are back.
func TestReserveItems_CountsWhatIsOutBeyondALoweredStock(t *testing.T) {
	t.Parallel()
	s := openSlot()
	cart := booking.Item{ID: id[tenant.ItemID](), Name: "Cart", Stock: 1, Active: true}
	out := func(number int, from, until time.Duration) booking.ItemReservation {
		return booking.ItemReservation{
			Item: cart.ID, Number: number, Span: civil.Span{Start: s.StartsAt.Add(from), End: s.StartsAt.Add(until)},
		}
	}
	const none = "ITEM_UNAVAILABLE @items available=0 item_id="
	for name, tt := range map[string]struct {
		stock    int
		reserved []booking.ItemReservation
		want     string
	}{
		"both out":           {1, []booking.ItemReservation{out(1, 0, time.Hour), out(2, 0, time.Hour)}, none},
		"the second is out":  {1, []booking.ItemReservation{out(2, -time.Hour, time.Minute)}, none},
		"both back":          {1, []booking.ItemReservation{out(1, -time.Hour, 0), out(2, -time.Hour, 0)}, ""},
		"one after another":  {2, []booking.ItemReservation{out(3, 0, time.Minute), out(4, time.Minute, time.Hour)}, ""},
		"two at once, later": {2, []booking.ItemReservation{out(3, 0, time.Hour), out(4, time.Minute, time.Hour)}, none},
	} {
		cart.Stock = tt.stock
		one := []booking.ItemChoice{{Item: cart.ID, Quantity: 1}}
		_, err := booking.ReserveItems(s, one, []booking.Item{cart}, tt.reserved)
		want := tt.want
		if want != "" {
			want += cart.ID.String() + " name=Cart"
		}
		test.EqOp(t, want, faulttest.Text(err), test.Sprint(name))
	}
}

func TestReserveItems_RejectsItemsThatAreNotOffered(t *testing.T) {
	t.Parallel()
	s := vary.From(openSlot(), set{"Location": id[tenant.LocationID]()})
	good := booking.Item{ID: id[tenant.ItemID](), Location: s.Location, Stock: 3, Active: true}
	away := vary.From(good, set{"ID": id[tenant.ItemID](), "Location": id[tenant.LocationID]()})
	idle := vary.From(good, set{"ID": id[tenant.ItemID](), "Active": false})
	for name, tt := range map[string]struct {
		items []tenant.ItemID
		bad   tenant.ItemID
	}{
		"one":                 {[]tenant.ItemID{good.ID}, tenant.ItemID{}},
		"none":                {nil, tenant.ItemID{}},
		"of another location": {[]tenant.ItemID{good.ID, away.ID}, away.ID},
		"inactive":            {[]tenant.ItemID{idle.ID}, idle.ID},
		"unknown":             {[]tenant.ItemID{tenant.ItemID(s.ID)}, tenant.ItemID(s.ID)},
		"named twice":         {[]tenant.ItemID{good.ID, good.ID}, good.ID},
	} {
		var choices []booking.ItemChoice
		for _, item := range tt.items {
			choices = append(choices, booking.ItemChoice{Item: item, Quantity: 1})
		}
		got, err := booking.ReserveItems(s, choices, []booking.Item{away, idle, good}, nil)
		want, reserved := "", len(tt.items)
		if !tt.bad.IsZero() {
			want, reserved = "ITEM_UNAVAILABLE @items item_id="+tt.bad.String(), 0
		}
		test.EqOp(t, want, faulttest.Text(err), test.Sprint(name))
		test.Len(t, reserved, got, test.Sprint(name))
	}
}

func TestConfirmItems_ConfirmsTheChosenAndCancelsTheOthers(t *testing.T) {
	t.Parallel()
	lines := []booking.ItemLine{
		{ID: id[tenant.ItemLineID](), Status: booking.ItemPending},
		{ID: id[tenant.ItemLineID](), Status: booking.ItemPending},
		{ID: id[tenant.ItemLineID](), Status: booking.ItemCancelled},
	}
	const yes, no = booking.ItemConfirmed, booking.ItemCancelled
	for name, tt := range map[string]struct {
		chosen []tenant.ItemLineID
		want   []booking.ItemStatus
	}{
		"all":              {nil, []booking.ItemStatus{yes, yes, no}},
		"none":             {[]tenant.ItemLineID{}, []booking.ItemStatus{no, no, no}},
		"the second":       {[]tenant.ItemLineID{lines[1].ID}, []booking.ItemStatus{no, yes, no}},
		"a cancelled one":  {[]tenant.ItemLineID{lines[2].ID}, nil},
		"one of another":   {[]tenant.ItemLineID{lines[0].ID, id[tenant.ItemLineID]()}, nil},
		"the first, twice": {[]tenant.ItemLineID{lines[0].ID, lines[0].ID}, []booking.ItemStatus{yes, no, no}},
	} {
		kept, err := booking.ConfirmItems(lines, tt.chosen)
		var got []booking.ItemStatus
		for _, l := range kept {
			got = append(got, l.Status)
		}
		want := ""
		if tt.want == nil {
			want = "INVALID_FIELD @items.booking_item_ids"
		}
		test.EqOp(t, want, faulttest.Text(err), test.Sprint(name))
		test.Eq(t, tt.want, got, test.Sprint(name))
	}
	test.EqOp(t, booking.ItemPending, lines[0].Status) // the caller's lines stay as they are
	test.EqOp(t, booking.ItemPending, booking.ItemStatusFor(booking.Pending))
	test.EqOp(t, yes, booking.ItemStatusFor(booking.Confirmed))
}

func TestItem_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	const week = 7 * 24 * time.Hour
	price := func(units int64, nanos int32) set {
		return set{"Price": credit.Money{Currency: "EUR", Units: units, Nanos: nanos}}
	}
	expect.InvalidField(t, booking.Item{Name: "a"}, map[string][]set{
		"": {
			{"Name": "é", "UseDuration": time.Minute},
			{"Name": strings.Repeat("é", 200), "Stock": 10_000, "UseDuration": week},
			price(1, 999_999_999), {"Stock": 0},
		},
		"item.name":                {{"Name": ""}, {"Name": strings.Repeat("é", 201)}, {"Name": "A\nB"}},
		"item.stock":               {{"Stock": -1}, {"Stock": 10_001}},
		"item.use_duration":        {{"UseDuration": time.Minute - 1}, {"UseDuration": week + 1}},
		"item.price.currency_code": {{"Price.Units": 1}, {"Price.Nanos": 1}},
		"item.price":               {price(-1, 0), price(0, -1), price(0, 1_000_000_000)},
	})
}
