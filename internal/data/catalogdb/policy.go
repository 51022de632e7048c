package catalogdb

import (
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

var (
	listPolicies = pg.SQL(`select ` + coredb.Policies.Columns() + ` from policies p
where p.tenant_id = $1 and p.version > 0
  and (p.level, p.scope_id) in (('TENANT', $1), ('LOCATION', $2), ('SERVICE', $3))
order by array_position('{TENANT,LOCATION,SERVICE}', p.level)`)
	putPolicy = pg.SQL(`
insert into policies (` + coredb.Policies.Names() + `, rules_due) values (` + coredb.Policies.Parameters() + `, true)
on conflict (tenant_id, level, scope_id) do update set rules_due = true, ` + coredb.Policies.SetExcluded())
)

// ListPolicies reads what the tenant, a location and a service say for themselves, in the order in which they win. Zero
// ids, and levels that never said anything, are left out.
func ListPolicies(
	b *pg.Batch, in tenant.TenantID, location tenant.LocationID, service tenant.ServiceID, into *[]catalog.Policy,
) {
	coredb.Policies.List(b.Queue(listPolicies, in, location, service), into)
}

// PutPolicy writes what a level says for itself with the transaction, whether or not it has said anything before. As
// after an edit of its rules, entries may fit into open seats now.
func PutPolicy(tx *pg.Tx, in tenant.TenantID, p catalog.Policy) {
	tx.Write(putPolicy, coredb.Policies.Insert(in, &p)...)
	coredb.RenewSnapshot(tx, in)
}
