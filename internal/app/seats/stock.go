package seats

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// Stock is what was reserved for a booking.
type Stock struct {
	choices []booking.ItemChoice
	items   map[tenant.ItemID]booking.Item
	picked  []booking.ItemReservation
}

// ReserveStock picks items for a session from the stock. It returns an error if there are too few.
func ReserveStock(ctx context.Context, tx *engine.Tx, slot booking.Slot, choices []booking.ItemChoice) (Stock, error) {
	if len(choices) == 0 {
		return Stock{}, nil
	}
	ids := make([]tenant.ItemID, len(choices))
	for i, c := range choices {
		ids[i] = c.Item
	}
	var items []booking.Item
	var batch pg.Batch
	catalogdb.FindItems(&batch, tx.Tenant, ids, &items)
	if err := tx.Load(ctx, &batch); err != nil {
		return Stock{}, err
	}
	// Some items are out for longer than the session, so read until the end of the longest.
	session := civil.Span{Start: slot.StartsAt, End: slot.EndsAt}
	span := session
	for _, i := range items {
		if out := i.Span(session); out.End.After(span.End) {
			span.End = out.End
		}
	}
	var reserved []booking.ItemReservation
	var others pg.Batch
	bookingdb.ListItemReservations(&others, tx.Tenant, ids, span, &reserved)
	if err := tx.Load(ctx, &others); err != nil {
		return Stock{}, err
	}
	picked, err := booking.ReserveItems(slot, choices, items, reserved)
	if err != nil {
		return Stock{}, err
	}
	s := Stock{choices: choices, items: make(map[tenant.ItemID]booking.Item, len(items)), picked: picked}
	for _, i := range items {
		s.items[i.ID] = i
	}
	return s, nil
}

// InsertItemLines writes the reserved items as lines of a booking.
func InsertItemLines(tx *engine.Tx, b booking.Booking, s Stock) []booking.ItemLine {
	lines := make([]booking.ItemLine, 0, len(s.choices))
	for _, c := range s.choices {
		item := s.items[c.Item]
		line := booking.ItemLine{
			ID: tenant.NextID[tenant.ItemLineID](tx.IDs), Item: item.ID, Name: item.Name, Quantity: c.Quantity,
			Price: item.Price, Status: booking.ItemStatusFor(b.Status),
		}
		lines = append(lines, line)
		for _, r := range s.picked {
			if r.Item == c.Item {
				bookingdb.InsertItemReservation(tx.Tx, tx.Tenant, tenant.NextID[tenant.ItemLineID](tx.IDs).UUID, b.ID, line, r)
			}
		}
	}
	return lines
}

// UpdateItemLines writes the status of a booking's lines after its confirmation.
func UpdateItemLines(tx *engine.Tx, b booking.Booking) {
	by := make(map[booking.ItemStatus][]tenant.ItemLineID)
	for _, l := range b.Items {
		by[l.Status] = append(by[l.Status], l.ID)
	}
	for _, status := range []booking.ItemStatus{booking.ItemConfirmed, booking.ItemCancelled} {
		if len(by[status]) > 0 {
			bookingdb.SetLines(tx.Tx, tx.Tenant, b.ID, by[status], status)
		}
	}
}

// MoveItemLines reserves a booking's items for another session, or returns them to the stock if along is false.
func MoveItemLines(ctx context.Context, tx *engine.Tx, b *booking.Booking, to booking.Slot, along bool) error {
	var choices []booking.ItemChoice
	for _, l := range b.Items {
		if l.Status != booking.ItemCancelled {
			choices = append(choices, booking.ItemChoice{Item: l.Item, Quantity: l.Quantity})
		}
	}
	if len(choices) == 0 {
		return nil
	}
	bookingdb.SetLines(tx.Tx, tx.Tenant, b.ID, nil, booking.ItemCancelled)
	for i := range b.Items {
		b.Items[i].Status = booking.ItemCancelled
	}
	if !along {
		return nil
	}
	stock, err := ReserveStock(ctx, tx, to, choices)
	if err != nil {
		return err
	}
	b.Items = append(b.Items, InsertItemLines(tx, *b, stock)...)
	return nil
}
