package booking

import (
	"slices"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/field"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// Item is equipment that can be booked with a session, in limited number.
type Item struct {
	ID          tenant.ItemID
	Location    tenant.LocationID
	Name        string
	Kind        string
	Stock       int
	Price       credit.Money
	UseDuration *time.Duration // how long it is in use, from the session's start; nil: as long as the session
	Active      bool
	Version     int
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Span returns when the item is in use for a session with the span s.
func (i Item) Span(s civil.Span) civil.Span {
	if i.UseDuration != nil {
		s.End = s.Start.Add(*i.UseDuration)
	}
	return s
}

// maxName is the longest name, in characters.
const maxName = 200

// Validate rejects an item with invalid fields: INVALID_FIELD.
func (i Item) Validate() error {
	problem := field.CheckName(i.Name, maxName)
	switch {
	case problem != "":
		return fault.Invalid("item.name", "%s", problem)
	case i.Stock < 0 || i.Stock > 10_000:
		return fault.Invalid("item.stock", "The stock is 0 to 10,000.")
	case i.UseDuration != nil && (*i.UseDuration < time.Minute || *i.UseDuration > 7*24*time.Hour):
		return fault.Invalid("item.use_duration", "It is in use for 1 minute to 7 days.")
	case i.Price.Currency == "" && (i.Price.Units != 0 || i.Price.Nanos != 0):
		return fault.Invalid("item.price.currency_code", "A price needs a currency.")
	case i.Price.Units < 0 || i.Price.Nanos < 0 || i.Price.Nanos > 999_999_999:
		return fault.Invalid("item.price", "A price must not be negative, and its nanos must be below 1,000,000,000.")
	}
	return nil
}

// ValidateEdit is Validate for an edit. A name that stays is not judged again.
func (i Item) ValidateEdit(before Item) error {
	i.Name = field.Kept(before.Name, i.Name)
	return i.Validate()
}

// ItemStatus is the status of an item of a booking.
type ItemStatus string

// The item statuses.
const (
	ItemPending   ItemStatus = "PENDING"
	ItemConfirmed ItemStatus = "CONFIRMED"
	ItemCancelled ItemStatus = "CANCELLED"
)

// ItemLine is a quantity of one item in a booking.
type ItemLine struct {
	ID       tenant.ItemLineID
	Item     tenant.ItemID
	Name     string // joined from the item
	Quantity int
	Price    credit.Money // per unit
	Status   ItemStatus
}

// ItemChoice is a request for a quantity of an item.
type ItemChoice struct {
	Item     tenant.ItemID `json:"item_id"`
	Quantity int           `json:"quantity"`
}

// ItemReservation is the reservation of one unit of an item's stock.
type ItemReservation struct {
	Item   tenant.ItemID
	Number int // of the unit, from 1 to the stock
	Span   civil.Span
}

// ReserveItems picks units of the stock that are free at the time. Reserved has the reservations of other bookings
// whose spans overlap. Never more than the stock are out at once, whatever was out before it was lowered. An item of
// another location and an inactive item are unavailable too: ITEM_UNAVAILABLE, with the name and what is left of those
// offered.
func ReserveItems(s Slot, choices []ItemChoice, items []Item, reserved []ItemReservation) ([]ItemReservation, error) {
	var picked []ItemReservation
	for n, c := range choices {
		i := slices.IndexFunc(items, func(i Item) bool { return i.ID == c.Item })
		repeated := slices.ContainsFunc(choices[:n], func(earlier ItemChoice) bool { return earlier.Item == c.Item })
		if i < 0 || repeated || items[i].Location != s.Location || !items[i].Active {
			return nil, unavailable(c)
		}
		free := items[i].free(items[i].Span(civil.Span{Start: s.StartsAt, End: s.EndsAt}), reserved)
		if len(free) < c.Quantity {
			return nil, unavailable(c).WithMetadata("name", items[i].Name).
				WithMetadata("available", strconv.Itoa(len(free)))
		}
		picked = append(picked, free[:c.Quantity]...)
	}
	return picked, nil
}

// free returns the units of the stock that can be out during a span, in addition to those that are. Units beyond a
// stock that was lowered are out too: until they are back, others stay in.
func (i Item) free(span civil.Span, reserved []ItemReservation) []ItemReservation {
	var out []civil.Span
	taken := make(map[int]bool)
	for _, r := range reserved {
		if r.Item == i.ID && r.Span.Overlaps(span) {
			out, taken[r.Number] = append(out, r.Span), true
		}
	}
	var units []ItemReservation
	for number := 1; number <= i.Stock; number++ {
		if !taken[number] {
			units = append(units, ItemReservation{Item: i.ID, Number: number, Span: span})
		}
	}
	return units[:min(len(units), max(i.Stock-mostAtOnce(out, span), 0))]
}

// mostAtOnce returns how many of the spans there are at once, at most, during another span.
func mostAtOnce(all []civil.Span, during civil.Span) int {
	most := 0
	for _, at := range append([]civil.Span{during}, all...) { // each peak begins with one of them
		if at.Start.Before(during.Start) {
			at.Start = during.Start
		}
		count := 0
		for _, s := range all {
			if !s.Start.After(at.Start) && s.End.After(at.Start) {
				count++
			}
		}
		most = max(most, count)
	}
	return most
}

func unavailable(c ItemChoice) *fault.Error {
	return ItemUnavailable().WithMetadata("item_id", c.Item.String())
}

// ItemUnavailable means that too few units of an item are free at the time.
func ItemUnavailable() *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.ItemUnavailable, "The item is not available at that time.").
		WithField("items")
}

// ItemStatusFor returns the status of a new item of a booking with status s.
func ItemStatusFor(s Status) ItemStatus {
	if s == Pending {
		return ItemPending
	}
	return ItemConfirmed
}

// ConfirmItems confirms the chosen lines and cancels the others. Nil confirms all. A line that the booking does not
// have is an error: INVALID_FIELD.
func ConfirmItems(lines []ItemLine, chosen []tenant.ItemLineID) ([]ItemLine, error) {
	for _, id := range chosen {
		if !slices.ContainsFunc(lines, func(l ItemLine) bool { return l.ID == id && l.Status != ItemCancelled }) {
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
