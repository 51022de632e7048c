package catalogdb

import (
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

var (
	findPlan  = pg.SQL(`select ` + coredb.Plans.Columns() + ` from plans p where p.tenant_id = $1 and p.id = $2`)
	listPlans = pg.SQL(`select ` + coredb.Plans.Columns() + ` from plans p
where p.tenant_id = $1 and p.active = any($2) and ($4::uuid is null or (lower(p.name), p.id) > (lower($3), $4))
order by lower(p.name) limit $5`)
	listNamedPlans = pg.SQL(`select ` + coredb.Plans.Columns() + ` from plans p
where p.tenant_id = $1 and p.active and lower(p.name) = any(select lower(n.name) from unnest($2::text[]) as n (name))`)
	insertPlan = pg.SQL(`insert into plans ` + coredb.Plans.Values())
	updatePlan = pg.SQL(`update plans set ` + coredb.Plans.Set() + ` where tenant_id = $1 and id = $2`)
)

// FindPlan reads a plan; nil if there is none.
func FindPlan(b *pg.Batch, in tenant.TenantID, id tenant.PlanID, into **credit.Plan) {
	coredb.Plans.Find(b.Queue(findPlan, in, id), into)
}

// PlanQuery selects plans.
type PlanQuery struct {
	Active    []bool // which of the active and the inactive ones
	AfterName string // keyset: the last name and id of the page before
	AfterID   tenant.PlanID
	Limit     int
}

// ListPlans reads plans by name, which is unique.
func ListPlans(b *pg.Batch, in tenant.TenantID, q PlanQuery, into *[]credit.Plan) {
	coredb.Plans.List(b.Queue(listPlans, in, q.Active, q.AfterName, q.AfterID, q.Limit), into)
}

// ListNamedPlans reads the active plans that have one of the names, ignoring case.
func ListNamedPlans(b *pg.Batch, in tenant.TenantID, names []string, into *[]credit.Plan) {
	coredb.Plans.List(b.Queue(listNamedPlans, in, names), into)
}

// InsertPlan inserts a plan.
func InsertPlan(tx *pg.Tx, in tenant.TenantID, p credit.Plan) {
	tx.Write(insertPlan, coredb.Plans.Insert(in, &p)...)
	coredb.RenewSnapshot(tx, in)
}

// UpdatePlan updates a plan. Its kind stays the same.
func UpdatePlan(tx *pg.Tx, in tenant.TenantID, p credit.Plan) {
	tx.Write(updatePlan, coredb.Plans.Update(in, &p)...)
	coredb.RenewSnapshot(tx, in)
}
