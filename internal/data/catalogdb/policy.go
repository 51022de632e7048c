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

// ListPolicies reads the policies that the tenant, a location and a service set, in this order, so that the last one
// wins. It leaves out zero ids, and levels that have never set anything.
func ListPolicies(
	b *pg.Batch, in tenant.TenantID, location tenant.LocationID, service tenant.ServiceID, into *[]catalog.PolicyLayer,
) {
	coredb.Policies.List(b.Queue(listPolicies, in, location, service), into)
}

// PutPolicy inserts or updates the policy of a level. It sets rules_due, like an edit of the waitlist rules, because
// the new policy may let waiting entries book open seats.
func PutPolicy(tx *pg.Tx, in tenant.TenantID, p catalog.PolicyLayer) {
	tx.Write(putPolicy, coredb.Policies.Insert(in, &p)...)
	coredb.RenewSnapshot(tx, in)
}
