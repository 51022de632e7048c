package catalogdb

import (
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

var providers = pg.NewTable("p", func(p *booking.BenefitProvider) []pg.Column {
	return []pg.Column{
		pg.Key("code", &p.Code),
		pg.Col("name", &p.Name),
		pg.Col("number_pattern", &p.Pattern),
		pg.Col("discount_percent", &p.Percent),
		pg.Col("active", &p.Active),
		pg.Col("version", &p.Version),
		pg.Fixed("created_at", &p.CreatedAt),
		pg.Col("updated_at", &p.UpdatedAt),
	}
})

var providersByCode = pg.Lookup[string, booking.BenefitProvider]{
	SQL: pg.SQL(`select ` + providers.Columns() + `, q.n from unnest($2::text[]) with ordinality as q (code, n)
cross join lateral (select * from benefit_providers p where p.tenant_id = $1 and p.code = q.code offset 0) p`),
	Reader: providers.Reader,
}

var (
	listProviders = pg.SQL(`select ` + providers.Columns() + ` from benefit_providers p
where p.tenant_id = $1 order by p.code`)
	putProvider = pg.SQL(`insert into benefit_providers ` + providers.Values() + `
on conflict (tenant_id, code) do update set ` + providers.SetExcluded())
)

// FindBenefitProvider reads a provider; nil if there is none.
func FindBenefitProvider(b *pg.Batch, in tenant.TenantID, code string, into **booking.BenefitProvider) {
	providersByCode.One(b, in, code, into)
}

// ListBenefitProviders reads a tenant's providers by code.
func ListBenefitProviders(b *pg.Batch, in tenant.TenantID, into *[]booking.BenefitProvider) {
	providers.List(b.Queue(listProviders, in), into)
}

// PutBenefitProvider inserts a provider, or updates the one with its code.
func PutBenefitProvider(tx *pg.Tx, in tenant.TenantID, p booking.BenefitProvider) {
	tx.Write(putProvider, providers.Insert(in, &p)...)
}
