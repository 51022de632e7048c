package testkit

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
)

// Item makes an item.
func (h *House) Item(name string, stock int, out *time.Duration) booking.Item {
	h.T.Helper()
	i, err := h.App.Catalog.CreateItem(context.Background(), h.Owner, booking.Item{
		Location: h.Location, Name: name, Kind: "cart", Stock: stock, Out: out, Active: true, Price: credit.Money{Currency: "EUR", Units: 20},
	})
	if err != nil {
		h.T.Fatal(err)
	}
	return i
}

// With asks for an item with a booking.
func With(choices ...booking.ItemChoice) func(*bookings.BookRequest) {
	return func(r *bookings.BookRequest) { r.Items = choices }
}
