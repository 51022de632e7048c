package seats

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

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
