package accountdb

import (
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

var tenants = pg.NewTable("t", func(t *catalog.Tenant) []pg.Column {
	return []pg.Column{
		pg.Read("t.tenant_id", &t.ID),
		pg.Col("name", &t.Name),
		pg.Col("time_zone", &t.TimeZone),
		pg.Col("locale", &t.Locale),
		pg.Col("currency", &t.Currency),
		pg.Col("takes_payments", &t.TakesPayments),
		pg.Col("audit_member_reads", &t.AuditMemberReads),
		pg.Col("step_up_max_age_seconds", &t.StepUp.MaxAge),
		pg.Col("step_up_acr_values", pg.List(&t.StepUp.ACRValues)),
		pg.Col("logo_url", &t.Brand.LogoURL),
		pg.Col("accent_color", &t.Brand.Accent),
		pg.Col("version", &t.Version),
		pg.Fixed("created_at", &t.CreatedAt),
		pg.Col("updated_at", &t.UpdatedAt),
	}
})

var (
	findTenant   = pg.SQL(`select ` + tenants.Columns() + ` from tenants t where t.tenant_id = $1`)
	insertTenant = pg.SQL(`insert into tenants ` + tenants.Values())
	updateTenant = pg.SQL(`
update tenants set snapshot_version = snapshot_version + 1, ` + tenants.Set() + ` where tenant_id = $1`)
)

// FindTenant reads the tenant; nil if there is none.
func FindTenant(b *pg.Batch, in tenant.TenantID, into **catalog.Tenant) {
	tenants.Find(b.Queue(findTenant, in), into)
}

// InsertTenant inserts a tenant with its entry in the directory and its built-in roles. The transaction has to be the
// tenant's.
func InsertTenant(tx *pg.Tx, t catalog.Tenant, roles []string) {
	tx.Write(`insert into directory (tenant_id, created_at) values ($1, $2)`, t.ID, t.CreatedAt)
	tx.Write(insertTenant, tenants.Insert(t.ID, &t)...)
	tx.Write(`
insert into roles (tenant_id, name, built_in, created_at, updated_at)
select $1, role, true, $3, $3 from unnest($2::text[]) as role`, t.ID, roles, t.CreatedAt)
}

// UpdateTenant updates the tenant, and renews its snapshot.
func UpdateTenant(tx *pg.Tx, t catalog.Tenant) {
	tx.Write(updateTenant, tenants.Update(t.ID, &t)...)
}

// FindTenantProfile reads what messages contain of the tenant.
func FindTenantProfile(b *pg.Batch, in tenant.TenantID, name, locale *string, into *brand.Brand) {
	b.Queue(`select name, locale, logo_url, accent_color from tenants where tenant_id = $1`, in).
		Scan(name, locale, &into.LogoURL, &into.Accent)
}
