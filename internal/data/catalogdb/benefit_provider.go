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
		pg.Col("verification", (*string)(&p.Verification)),
		pg.Col("families", &p.Families),
		pg.Col("numbers", &p.Numbers),
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

var (
	findBenefitNumber = pg.SQL(`
select exists (select from benefit_numbers n where n.tenant_id = $1 and n.provider_code = $2 and n.number = $3),
  exists (select from benefit_memberships m
    where m.tenant_id = $1 and m.provider_code = $2 and m.number = $3 and m.member_id is distinct from $4)`)
	countBenefitNumbers = pg.SQL(`
select
  (select count(*) from benefit_numbers n where n.tenant_id = $1 and n.provider_code = $2 and n.number = any($3)),
  (select count(*) from benefit_numbers n where n.tenant_id = $1 and n.provider_code = $2 and n.number = any($4))`)
	addBenefitNumbers = pg.SQL(`
insert into benefit_numbers (tenant_id, provider_code, number) select $1, $2, unnest($3::text[])
on conflict do nothing`)
	keepBenefitNumbers = pg.SQL(`
delete from benefit_numbers n where n.tenant_id = $1 and n.provider_code = $2
  and not exists (select from unnest($3::text[]) as kept (number) where kept.number = n.number)`)
	findMembership = pg.SQL(`select ` + memberships.Columns() + ` from benefit_memberships m
where m.tenant_id = $1 and m.provider_code = $2 and m.member_id = $3`)
	listMemberships = pg.SQL(`
select ` + listedMemberships.Columns() + ` from benefit_memberships m
join members p on p.tenant_id = m.tenant_id and p.id = m.member_id
left join benefit_numbers n on n.tenant_id = m.tenant_id and n.provider_code = m.provider_code and n.number = m.number
where m.tenant_id = $1 and m.provider_code = $2 and ($3 = '' or m.number = $3)
  and ($4::uuid is null or m.member_id = $4) and ($5::bool is null or (n.number is not null) = $5)
  and ($7::uuid is null or (m.number, m.member_id) > ($6, $7))
order by m.number, m.member_id limit $8`)
	putMembership = pg.SQL(`insert into benefit_memberships ` + memberships.Values() + `
on conflict (tenant_id, provider_code, member_id) do update set ` + memberships.SetExcluded() + `
where (benefit_memberships.number, benefit_memberships.shared) is distinct from (excluded.number, excluded.shared)`)
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

// FindBenefitNumber reads whether a number is on a provider's list, and whether another member uses it.
func FindBenefitNumber(
	b *pg.Batch, in tenant.TenantID, code, key string, of tenant.MemberID, into *booking.BenefitNumber,
) {
	b.Queue(findBenefitNumber, in, code, key, of).Scan(&into.Listed, &into.Taken)
}

// CountBenefitNumbers counts which of two sets of numbers are on a provider's list.
func CountBenefitNumbers(b *pg.Batch, in tenant.TenantID, code string, first, second []string, into *[2]int) {
	b.Queue(countBenefitNumbers, in, code, first, second).Scan(&into[0], &into[1])
}

// AddBenefitNumbers adds numbers to a provider's list.
func AddBenefitNumbers(tx *pg.Tx, in tenant.TenantID, code string, keys []string) {
	tx.Write(addBenefitNumbers, in, code, keys)
}

// RemoveBenefitNumbers removes numbers from a provider's list.
func RemoveBenefitNumbers(tx *pg.Tx, in tenant.TenantID, code string, keys []string) {
	tx.Write(`
delete from benefit_numbers where tenant_id = $1 and provider_code = $2 and number = any($3)`, in, code, keys)
}

// KeepBenefitNumbers removes all other numbers from a provider's list.
func KeepBenefitNumbers(tx *pg.Tx, in tenant.TenantID, code string, keys []string) {
	tx.Write(keepBenefitNumbers, in, code, keys)
}

var memberships = pg.NewTable("m", func(m *booking.BenefitMembership) []pg.Column {
	return []pg.Column{
		pg.Key("provider_code", &m.Provider),
		pg.Key("member_id", &m.Member),
		pg.Col("number", &m.Key),
		pg.Col("entered", &m.Number),
		pg.Col("shared", &m.Shared),
		pg.Col("created_at", &m.CreatedAt),
	}
})

var listedMemberships = pg.NewReader(func(m *ListedMembership) []pg.Column {
	return append(memberships.Of(&m.BenefitMembership),
		pg.Read("p.name", &m.MemberName), pg.Read("n.number is not null", &m.Verified))
})

// ListedMembership is a membership with what is read from other tables.
type ListedMembership struct {
	booking.BenefitMembership
	MemberName string
	Verified   bool // the number is on the provider's list
}

// MembershipQuery asks for a page of a provider's memberships, by number.
type MembershipQuery struct {
	Provider    string
	Key         string // only of this number; empty: all
	Member      tenant.MemberID
	Verified    *bool  // whether the number is on the provider's list; nil: either
	AfterKey    string // with AfterMember: the last one of the page before
	AfterMember tenant.MemberID
	Limit       int
}

// ListBenefitMemberships reads a page of memberships.
func ListBenefitMemberships(b *pg.Batch, in tenant.TenantID, q MembershipQuery, into *[]ListedMembership) {
	listedMemberships.List(b.Queue(listMemberships,
		in, q.Provider, q.Key, q.Member, q.Verified, q.AfterKey, q.AfterMember, q.Limit), into)
}

// FindBenefitMembership reads the number that a member uses with a provider; nil if there is none.
func FindBenefitMembership(
	b *pg.Batch, in tenant.TenantID, code string, of tenant.MemberID, into **booking.BenefitMembership,
) {
	memberships.Find(b.Queue(findMembership, in, code, of), into)
}

// PutBenefitMembership makes a number the one that a member uses with a provider.
func PutBenefitMembership(tx *pg.Tx, in tenant.TenantID, m booking.BenefitMembership) {
	tx.Write(putMembership, memberships.Insert(in, &m)...)
}

// DeleteBenefitMembership ends a member's use of a number.
func DeleteBenefitMembership(tx *pg.Tx, in tenant.TenantID, code string, of tenant.MemberID) {
	tx.Write(
		`delete from benefit_memberships where tenant_id = $1 and provider_code = $2 and member_id = $3`, in, code, of)
}
