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
