package catalog

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// ItemQuery selects items.
type ItemQuery = catalogdb.ItemQuery

// CreateItem creates an item, which can be added to bookings at its location.
func (s *Service) CreateItem(ctx context.Context, caller tenant.Caller, i booking.Item) (booking.Item, error) {
	if err := i.Validate(); err != nil {
		return i, err
	}
	created, err := engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: "item.create", Replay: true},
		func(_ context.Context, tx *engine.Tx) (booking.Item, error) {
			i.ID, i.Version, i.CreatedAt, i.UpdatedAt = tenant.NextID[tenant.ItemID](tx.IDs), 1, tx.Now, tx.Now
			catalogdb.InsertItem(tx.Tx, tx.Tenant, i)
			record.CatalogChange(tx, "item.created", "item", i.ID.UUID, map[string]any{"name": i.Name, "stock": i.Stock})
			return i, nil
		})
	if pg.IsForeignKey(err) {
		err = fault.Missing(fault.LocationNotFound, "Location").WithCause(err)
	}
	return created, itemNameTaken(err)
}

// UpdateItem edits an item. If expect is not nil it must be the item's version.
func (s *Service) UpdateItem(
	ctx context.Context, caller tenant.Caller, id tenant.ItemID, expect *int, edit func(*booking.Item) error,
) (booking.Item, error) {
	updated, err := engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: "item.update", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (booking.Item, error) {
			before, err := engine.Find(ctx, tx, errNoItem, func(b *pg.Batch, into **booking.Item) {
				catalogdb.FindItem(b, tx.Tenant, id, into)
			})
			if err != nil {
				return before, err
			}
			if err := fault.CheckVersion(expect, before.Version); err != nil {
				return before, err
			}
			after := before
			if err := edit(&after); err != nil {
				return before, err
			}
			if err := after.ValidateEdit(before); err != nil {
				return before, err
			}
			after.Version, after.UpdatedAt = before.Version+1, tx.Now
			catalogdb.UpdateItem(tx.Tx, tx.Tenant, after)
			record.CatalogChange(tx, "item.updated", "item", id.UUID, map[string]any{
				"name": after.Name, "stock": after.Stock, "active": after.Active,
			})
			return after, nil
		})
	return updated, itemNameTaken(err)
}

// GetItem reads an item.
func (s *Service) GetItem(
	ctx context.Context, caller tenant.Caller, id tenant.ItemID,
) (booking.Item, error) {
	return engine.Get(ctx, s.engine, caller, errNoItem, func(b *pg.Batch, into **booking.Item) {
		catalogdb.FindItem(b, caller.Tenant, id, into)
	})
}

// ListItems reads items by name, then id.
func (s *Service) ListItems(ctx context.Context, caller tenant.Caller, q ItemQuery) ([]booking.Item, error) {
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]booking.Item) {
		catalogdb.ListItems(b, caller.Tenant, q, into)
	})
}

var errNoItem = fault.Missing(fault.ItemNotFound, "Item")

func itemNameTaken(err error) error {
	return nameTaken(err, "items_name", "item.name", "An item at the location has that name.")
}
