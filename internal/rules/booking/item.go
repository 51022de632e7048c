package booking

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// Item is something that goes with bookings and is there in limited number.
type Item struct {
	ID        tenant.ItemID
	Location  tenant.LocationID
	Name      string
	Kind      string
	Stock     int
	Price     credit.Money
	Out       *time.Duration // from the session's start; nil: as long as the session
	Active    bool
	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Span is how long the item is out with a session.
func (i Item) Span(s civil.Span) civil.Span {
	if i.Out != nil {
		s.End = s.Start.Add(*i.Out)
	}
	return s
}

// Validate refuses items that can mean nothing.
func (i Item) Validate() error {
	switch {
	case i.Name == "" || len([]rune(i.Name)) > 200:
		return fault.Invalid("item.name", "An item's name has 1 to 200 characters.")
	case i.Stock < 0 || i.Stock > 10_000:
		return fault.Invalid("item.stock", "The stock is 0 to 10,000.")
	case i.Out != nil && (*i.Out < time.Minute || *i.Out > 7*24*time.Hour):
		return fault.Invalid("item.time_out", "An item is out for a minute to 7 days.")
	case i.Price.Currency == "" && (i.Price.Units != 0 || i.Price.Nanos != 0):
		return fault.Invalid("item.price.currency_code", "A price has a currency.")
	case i.Price.Units < 0 || i.Price.Nanos < 0 || i.Price.Nanos > 999_999_999:
		return fault.Invalid("item.price", "A price is not below zero, and its nanos are below a unit.")
	}
	return nil
}

// ItemStatus is where an item of a booking stands.
type ItemStatus string

// The statuses of an item.
const (
	ItemPending   ItemStatus = "PENDING"
	ItemConfirmed ItemStatus = "CONFIRMED"
	ItemCancelled ItemStatus = "CANCELLED"
)

// Line is so many of an item that go with a booking.
type Line struct {
	ID       tenant.LineID
	Item     tenant.ItemID
	Name     string // read along
	Quantity int
	Price    credit.Money // of one
	Status   ItemStatus
}

// Choice asks for so many of an item.
type Choice struct {
	Item     tenant.ItemID `json:"item_id"`
	Quantity int           `json:"quantity"`
}

// Outing is one thing out of an item's stock, by its number, and when.
type Outing struct {
	Item   tenant.ItemID
	Number int
	Span   civil.Span
}

// Reserve picks numbers out of the stocks that nobody else has at the time. Out are those that others have in
// spans that overlap. An item of another location, or one that is no longer to be had, is unavailable like one
// that is out.
func Reserve(s Slot, choices []Choice, items []Item, out []Outing) ([]Outing, error) {
	var picked []Outing
	for n, c := range choices {
		i := slices.IndexFunc(items, func(i Item) bool { return i.ID == c.Item })
		twice := slices.ContainsFunc(choices[:n], func(before Choice) bool { return before.Item == c.Item })
		if i < 0 || twice || items[i].Location != s.Location || !items[i].Active {
			return nil, unavailable(c)
		}
		span := items[i].Span(civil.Span{Start: s.StartsAt, End: s.EndsAt})
		free := c.Quantity
		for number := 1; number <= items[i].Stock && free > 0; number++ {
			taken := slices.ContainsFunc(out, func(o Outing) bool {
				return o.Item == c.Item && o.Number == number && o.Span.Overlaps(span)
			})
			if !taken {
				picked = append(picked, Outing{Item: c.Item, Number: number, Span: span})
				free--
			}
		}
		if free > 0 {
			return nil, unavailable(c)
		}
	}
	return picked, nil
}

func unavailable(c Choice) *fault.Error { return ItemUnavailable().With("item_id", c.Item.String()) }

// ItemUnavailable refuses an item whose stock is out at the time.
func ItemUnavailable() *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.ItemUnavailable, "The item is not to be had at that time.").In("items")
}

// LineStatus is where an item stands that is asked for with a booking in some status.
func LineStatus(s Status) ItemStatus {
	if s == Pending {
		return ItemPending
	}
	return ItemConfirmed
}

// Keep confirms the lines that were chosen and cancels the others; nil keeps all. A line that is none of the
// booking's is refused.
func Keep(lines []Line, chosen []tenant.LineID) ([]Line, error) {
	for _, id := range chosen {
		if !slices.ContainsFunc(lines, func(l Line) bool { return l.ID == id && l.Status != ItemCancelled }) {
			return nil, fault.Invalid("items.booking_item_ids", "The booking has no item %s.", id)
		}
	}
	kept := slices.Clone(lines)
	for i := range kept {
		switch {
		case kept[i].Status == ItemCancelled:
		case chosen == nil || slices.Contains(chosen, kept[i].ID):
			kept[i].Status = ItemConfirmed
		default:
			kept[i].Status = ItemCancelled
		}
	}
	return kept, nil
}
