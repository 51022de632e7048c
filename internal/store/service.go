package store

import (
	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

const serviceColumns = `
  v.id, v.name, v.description, v.category, v.duration_seconds, v.default_capacity, v.default_waitlist_capacity,
  v.min_party, v.max_party, v.delivery, v.color, v.active, v.version, v.created_at, v.updated_at`

func scanService(row pgx.Row) (catalog.Service, error) {
	var s catalog.Service
	var length int64
	err := row.Scan(&s.ID, &s.Name, &s.Description, &s.Category, &length, &s.DefaultCapacity, &s.DefaultWaitlistCapacity,
		&s.MinParty, &s.MaxParty, &s.Delivery, &s.Color, &s.Active, &s.Version, &s.CreatedAt, &s.UpdatedAt)
	s.Duration = *duration(&length)
	return s, err
}

// FindService reads a service; nil where there is none.
func FindService(b *pg.Batch, in tenant.TenantID, id tenant.ServiceID, into **catalog.Service) {
	b.Queue(`select`+serviceColumns+` from services v where v.tenant_id = $1 and v.id = $2`, in, id).QueryRow(func(row pgx.Row) error {
		s, err := scanService(row)
		return found(into, s, err)
	})
}

// ServiceQuery chooses services.
type ServiceQuery struct {
	Category  string // exactly; empty: any
	Inactive  bool   // those too
	AfterName string // keyset: the last name and id of the page before
	AfterID   tenant.ServiceID
	Limit     int
}

// ListServices reads them by name, then id.
func ListServices(b *pg.Batch, in tenant.TenantID, q ServiceQuery, into *[]catalog.Service) {
	pg.Collect(b.Queue(`select`+serviceColumns+` from services v
where v.tenant_id = $1 and ($2 = '' or v.category = $2) and (v.active or $3)
  and ($5::uuid is null or (lower(v.name), v.id) > (lower($4), $5))
order by lower(v.name), v.id limit $6`, in, q.Category, q.Inactive, q.AfterName, q.AfterID, q.Limit), into,
		func(row pgx.CollectableRow) (catalog.Service, error) { return scanService(row) })
}

// InsertService writes a new service with the transaction.
func InsertService(tx *pg.Tx, in tenant.TenantID, s catalog.Service) {
	tx.Write(`
insert into services (tenant_id, id, name, description, category, duration_seconds, default_capacity, default_waitlist_capacity,
  min_party, max_party, delivery, color, active, version, created_at, updated_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
		in, s.ID, s.Name, s.Description, s.Category, seconds(&s.Duration), s.DefaultCapacity, s.DefaultWaitlistCapacity,
		s.MinParty, s.MaxParty, s.Delivery, s.Color, s.Active, s.Version, s.CreatedAt, s.UpdatedAt)
	renewHouse(tx, in)
}

// UpdateService writes a service's edit with the transaction.
func UpdateService(tx *pg.Tx, in tenant.TenantID, s catalog.Service) {
	tx.Write(`
update services set name = $3, description = $4, category = $5, duration_seconds = $6, default_capacity = $7, default_waitlist_capacity = $8,
  min_party = $9, max_party = $10, delivery = $11, color = $12, active = $13, version = $14, updated_at = $15
where tenant_id = $1 and id = $2`,
		in, s.ID, s.Name, s.Description, s.Category, seconds(&s.Duration), s.DefaultCapacity, s.DefaultWaitlistCapacity,
		s.MinParty, s.MaxParty, s.Delivery, s.Color, s.Active, s.Version, s.UpdatedAt)
	renewHouse(tx, in)
}
