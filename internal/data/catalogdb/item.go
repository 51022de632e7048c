package catalogdb

import (
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

var items = pg.NewTable("i", func(i *booking.Item) []pg.Column {
	return []pg.Column{
		pg.Key("id", &i.ID),
		pg.Fixed("location_id", &i.Location),
		pg.Col("name", &i.Name),
		pg.Col("kind", &i.Kind),
		pg.Col("stock", &i.Stock),
		pg.Col("price_currency", &i.Price.Currency),
		pg.Col("price_units", &i.Price.Units),
		pg.Col("price_nanos", &i.Price.Nanos),
		pg.Col("use_seconds", &i.UseDuration),
		pg.Col("active", &i.Active),
		pg.Col("version", &i.Version),
		pg.Fixed("created_at", &i.CreatedAt),
		pg.Col("updated_at", &i.UpdatedAt),
	}
})

var (
	findItem  = pg.SQL(`select ` + items.Columns() + ` from items i where i.tenant_id = $1 and i.id = $2`)
	findItems = pg.SQL(`select ` + items.Columns() + ` from items i where i.tenant_id = $1 and i.id = any($2)`)
	listItems = pg.SQL(`select ` + items.Columns() + ` from items i
where i.tenant_id = $1 and ($2::uuid is null or i.location_id = $2) and i.active = any($3)
  and ($5::uuid is null or (lower(i.name), i.id) > (lower($4), $5))
order by lower(i.name), i.id limit $6`)
	insertItem = pg.SQL(`insert into items ` + items.Values())
	updateItem = pg.SQL(`update items set ` + items.Set() + ` where tenant_id = $1 and id = $2`)
)

// FindItem reads an item; nil if there is none.
func FindItem(b *pg.Batch, in tenant.TenantID, id tenant.ItemID, into **booking.Item) {
	items.Find(b.Queue(findItem, in, id), into)
}

// FindItems reads items by their ids, in no particular order.
func FindItems(b *pg.Batch, in tenant.TenantID, ids []tenant.ItemID, into *[]booking.Item) {
	items.List(b.Queue(findItems, in, ids), into)
}

// ItemQuery selects items. A zero location means all.
type ItemQuery struct {
	Location  tenant.LocationID
	Active    []bool // which of the active and the inactive ones
	AfterName string
	AfterID   tenant.ItemID
	Limit     int
}

// ListItems reads items by name, then id.
func ListItems(b *pg.Batch, in tenant.TenantID, q ItemQuery, into *[]booking.Item) {
	items.List(b.Queue(listItems, in, q.Location, q.Active, q.AfterName, q.AfterID, q.Limit), into)
}

// InsertItem inserts an item.
func InsertItem(tx *pg.Tx, in tenant.TenantID, i booking.Item) {
	tx.Write(insertItem, items.Insert(in, &i)...)
}

// UpdateItem updates an item. Its location stays the same.
func UpdateItem(tx *pg.Tx, in tenant.TenantID, i booking.Item) {
	tx.Write(updateItem, items.Update(in, &i)...)
}
