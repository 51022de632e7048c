package store

import (
	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

const resourceColumns = `
  r.id, r.location_id, r.name, r.kind, r.active, r.version, r.created_at, r.updated_at`

func scanResource(row pgx.Row) (catalog.Resource, error) {
	var r catalog.Resource
	err := row.Scan(&r.ID, &r.Location, &r.Name, &r.Kind, &r.Active, &r.Version, &r.CreatedAt, &r.UpdatedAt)
	return r, err
}

// FindResource reads a resource; nil where there is none.
func FindResource(b *pg.Batch, in tenant.TenantID, id tenant.ResourceID, into **catalog.Resource) {
	b.Queue(`select`+resourceColumns+` from resources r where r.tenant_id = $1 and r.id = $2`, in, id).QueryRow(func(row pgx.Row) error {
		r, err := scanResource(row)
		return found(into, r, err)
	})
}

// ResourceQuery chooses resources.
type ResourceQuery struct {
	Location  tenant.LocationID // zero: any
	Inactive  bool              // those too
	AfterName string            // keyset: the last name and id of the page before
	AfterID   tenant.ResourceID
	Limit     int
}

// ListResources reads them by name, then id.
func ListResources(b *pg.Batch, in tenant.TenantID, q ResourceQuery, into *[]catalog.Resource) {
	pg.Collect(b.Queue(`select`+resourceColumns+` from resources r
where r.tenant_id = $1 and ($2::uuid is null or r.location_id = $2) and (r.active or $3)
  and ($5::uuid is null or (lower(r.name), r.id) > (lower($4), $5))
order by lower(r.name), r.id limit $6`, in, q.Location, q.Inactive, q.AfterName, q.AfterID, q.Limit), into,
		func(row pgx.CollectableRow) (catalog.Resource, error) { return scanResource(row) })
}

// InsertResource writes a new resource with the transaction.
func InsertResource(tx *pg.Tx, in tenant.TenantID, r catalog.Resource) {
	tx.Write(`
insert into resources (tenant_id, id, location_id, name, kind, active, version, created_at, updated_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		in, r.ID, r.Location, r.Name, r.Kind, r.Active, r.Version, r.CreatedAt, r.UpdatedAt)
}

// UpdateResource writes a resource's edit with the transaction. It stays at its location.
func UpdateResource(tx *pg.Tx, in tenant.TenantID, r catalog.Resource) {
	tx.Write(`
update resources set name = $3, kind = $4, active = $5, version = $6, updated_at = $7
where tenant_id = $1 and id = $2`, in, r.ID, r.Name, r.Kind, r.Active, r.Version, r.UpdatedAt)
}
