package catalog

import (
	"context"
	"time"

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
	item, err := update[booking.Item, tenant.ItemID]{
		name: "item.update", id: id, expect: expect,
		find: catalogdb.FindItem, missing: fault.Missing(fault.ItemNotFound, "Item"),
		version: func(i *booking.Item) (*int, *time.Time) { return &i.Version, &i.UpdatedAt },
		edit:    edit,
		changes: func(_, after booking.Item) map[string]any {
			return map[string]any{"name": after.Name, "stock": after.Stock, "active": after.Active}
		},
		save: func(_ context.Context, tx *engine.Tx, _, after booking.Item, changes map[string]any) error {
			catalogdb.UpdateItem(tx.Tx, tx.Tenant, after)
			record.CatalogChange(tx, "item.updated", "item", id.UUID, changes)
			return nil
		},
	}.run(ctx, s, caller)
	return item, itemNameTaken(err)
}

// ListItems reads items by name, then id.
func (s *Service) ListItems(ctx context.Context, caller tenant.Caller, q ItemQuery) ([]booking.Item, error) {
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]booking.Item) {
		catalogdb.ListItems(b, caller.Tenant, q, into)
	})
}

func itemNameTaken(err error) error {
	return nameTaken(err, "items_name", "item.name", "An item at the location has that name.")
}
