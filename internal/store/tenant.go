package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// FindTenant reads the tenant; nil where there is none.
func FindTenant(b *pg.Batch, in tenant.TenantID, into **catalog.Tenant) {
	b.Queue(`
select tenant_id, name, time_zone, locale, currency, takes_payments, logo_url, accent_color, version, created_at, updated_at
from tenants where tenant_id = $1`, in).QueryRow(func(row pgx.Row) error {
		var t catalog.Tenant
		err := row.Scan(&t.ID, &t.Name, &t.TimeZone, &t.Locale, &t.Currency, &t.TakesPayments, &t.Brand.LogoURL, &t.Brand.Accent,
			&t.Version, &t.CreatedAt, &t.UpdatedAt)
		return found(into, t, err)
	})
}

// InsertTenant writes a new tenant with the transaction, whose tenant it is: its place in
// the directory, its settings, and the roles that it starts with.
func InsertTenant(tx *pg.Tx, t catalog.Tenant, roles []string) {
	tx.Write(`insert into directory (tenant_id, created_at) values ($1, $2)`, t.ID, t.CreatedAt)
	tx.Write(`
insert into tenants (tenant_id, name, time_zone, locale, currency, takes_payments, logo_url, accent_color, version, created_at, updated_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		t.ID, t.Name, t.TimeZone, t.Locale, t.Currency, t.TakesPayments, t.Brand.LogoURL, t.Brand.Accent, t.Version, t.CreatedAt, t.UpdatedAt)
	tx.Write(`
insert into roles (tenant_id, name, built_in, created_at, updated_at)
select $1, role, true, $3, $3 from unnest($2::text[]) as role`, t.ID, roles, t.CreatedAt)
}

// UpdateTenant writes an edit of the tenant's settings with the transaction.
func UpdateTenant(tx *pg.Tx, t catalog.Tenant) {
	tx.Write(`
update tenants set name = $2, time_zone = $3, locale = $4, currency = $5, takes_payments = $6, logo_url = $7, accent_color = $8,
  version = $9, updated_at = $10, house_version = house_version + 1
where tenant_id = $1`, t.ID, t.Name, t.TimeZone, t.Locale, t.Currency, t.TakesPayments, t.Brand.LogoURL, t.Brand.Accent, t.Version, t.UpdatedAt)
}

// ReadHouse reads what messages say of the tenant.
func ReadHouse(b *pg.Batch, in tenant.TenantID, name, locale *string, zone **time.Location, look *brand.Brand) {
	b.Queue(`select name, locale, time_zone, logo_url, accent_color from tenants where tenant_id = $1`, in).QueryRow(func(row pgx.Row) error {
		var where string
		err := row.Scan(name, locale, &where, &look.LogoURL, &look.Accent)
		if err == nil {
			*zone, err = time.LoadLocation(where)
		}
		return err
	})
}
