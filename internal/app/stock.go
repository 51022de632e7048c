package app

import (
	"context"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// stock is what was picked for a booking.
type stock struct {
	choices []booking.Choice
	items   map[tenant.ItemID]booking.Item
	picked  []booking.Outing
}

// takeStock picks things out of the stocks for a session, or refuses.
func (t *tx) takeStock(ctx context.Context, slot booking.Slot, choices []booking.Choice, into *stock) error {
	if len(choices) == 0 {
		return nil
	}
	ids := make([]tenant.ItemID, len(choices))
	for i, c := range choices {
		ids[i] = c.Item
	}
	var items []booking.Item
	var batch pg.Batch
	catalogdb.FindItems(&batch, t.in, ids, &items)
	if err := t.Load(ctx, &batch); err != nil {
		return err
	}
	// Some are out for longer than the session: look as far as the one that is out longest.
	span := civil.Span{Start: slot.StartsAt, End: slot.EndsAt}
	for _, i := range items {
		if out := i.Span(civil.Span{Start: slot.StartsAt, End: slot.EndsAt}); out.End.After(span.End) {
			span.End = out.End
		}
	}
	var out []booking.Outing
	var others pg.Batch
	bookingdb.ListOutings(&others, t.in, ids, span, &out)
	if err := t.Load(ctx, &others); err != nil {
		return err
	}
	picked, err := booking.Reserve(slot, choices, items, out)
	if err != nil {
		return err
	}
	*into = stock{choices: choices, items: make(map[tenant.ItemID]booking.Item, len(items)), picked: picked}
	for _, i := range items {
		into.items[i.ID] = i
	}
	return nil
}

// putOut writes what was picked, as lines of a booking that live as it does.
func (t *tx) putOut(b booking.Booking, s stock) []booking.Line {
	lines := make([]booking.Line, 0, len(s.choices))
	for _, c := range s.choices {
		item := s.items[c.Item]
		line := booking.Line{
			ID: tenant.Next[tenant.LineID](t.mint), Item: item.ID, Name: item.Name, Quantity: c.Quantity, Price: item.Price,
			Status: booking.LineStatus(b.Status),
		}
		lines = append(lines, line)
		for _, o := range s.picked {
			if o.Item == c.Item {
				bookingdb.InsertOuting(t.Tx, t.in, tenant.Next[tenant.LineID](t.mint).UUID, b.ID, line, o)
			}
		}
	}
	return lines
}

// settleLines writes where the lines of a booking stand after its confirmation.
func (t *tx) settleLines(b booking.Booking) {
	by := make(map[booking.ItemStatus][]tenant.LineID)
	for _, l := range b.Items {
		by[l.Status] = append(by[l.Status], l.ID)
	}
	for _, status := range []booking.ItemStatus{booking.ItemConfirmed, booking.ItemCancelled} {
		if len(by[status]) > 0 {
			bookingdb.SetLines(t.Tx, t.in, b.ID, by[status], status)
		}
	}
}

// moveLines takes a booking's items along to another session, or gives them back.
func (t *tx) moveLines(ctx context.Context, b *booking.Booking, to booking.Slot, along bool) error {
	var choices []booking.Choice
	for _, l := range b.Items {
		if l.Status != booking.ItemCancelled {
			choices = append(choices, booking.Choice{Item: l.Item, Quantity: l.Quantity})
		}
	}
	if len(choices) == 0 {
		return nil
	}
	bookingdb.SetLines(t.Tx, t.in, b.ID, nil, booking.ItemCancelled)
	for i := range b.Items {
		b.Items[i].Status = booking.ItemCancelled
	}
	if !along {
		return nil
	}
	var s stock
	if err := t.takeStock(ctx, to, choices, &s); err != nil {
		return err
	}
	b.Items = append(b.Items, t.putOut(*b, s)...)
	return nil
}
