package catalogdb

import (
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

var resources = pg.NewTable("r", func(r *catalog.Resource) []pg.Column {
	return []pg.Column{
		pg.Key("id", &r.ID),
		pg.Fixed("location_id", &r.Location),
		pg.Col("name", &r.Name),
		pg.Col("kind", &r.Kind),
		pg.Col("active", &r.Active),
		pg.Col("version", &r.Version),
		pg.Fixed("created_at", &r.CreatedAt),
		pg.Col("updated_at", &r.UpdatedAt),
	}
})

var (
	findResource  = pg.SQL(`select ` + resources.Columns() + ` from resources r where r.tenant_id = $1 and r.id = $2`)
	listResources = pg.SQL(`select ` + resources.Columns() + ` from resources r
where r.tenant_id = $1 and ($2::uuid is null or r.location_id = $2) and r.active = any($3)
  and ($5::uuid is null or (lower(r.name), r.id) > (lower($4), $5))
order by lower(r.name), r.id limit $6`)
	insertResource = pg.SQL(`insert into resources ` + resources.Values())
	updateResource = pg.SQL(`update resources set ` + resources.Set() + ` where tenant_id = $1 and id = $2`)
)

// FindResource reads a resource; nil if there is none.
func FindResource(b *pg.Batch, in tenant.TenantID, id tenant.ResourceID, into **catalog.Resource) {
	resources.Find(b.Queue(findResource, in, id), into)
}

// ResourceQuery selects resources.
type ResourceQuery struct {
	Location  tenant.LocationID // zero: any
	Active    []bool            // which of the active and the inactive ones
	AfterName string            // keyset: the last name and id of the page before
	AfterID   tenant.ResourceID
	Limit     int
}

// ListResources reads resources by name, then id.
func ListResources(b *pg.Batch, in tenant.TenantID, q ResourceQuery, into *[]catalog.Resource) {
	resources.List(b.Queue(listResources, in, q.Location, q.Active, q.AfterName, q.AfterID, q.Limit), into)
}

// InsertResource inserts a resource.
func InsertResource(tx *pg.Tx, in tenant.TenantID, r catalog.Resource) {
	tx.Write(insertResource, resources.Insert(in, &r)...)
}

// UpdateResource updates a resource. Its location stays the same.
func UpdateResource(tx *pg.Tx, in tenant.TenantID, r catalog.Resource) {
	tx.Write(updateResource, resources.Update(in, &r)...)
}
