package catalogdb

import (
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

var services = pg.NewTable("v", func(s *catalog.Service) []pg.Column {
	return []pg.Column{
		pg.Key("id", &s.ID),
		pg.Col("name", &s.Name),
		pg.Col("description", &s.Description),
		pg.Col("category", &s.Category),
		pg.Col("duration_seconds", &s.Duration),
		pg.Col("default_capacity", &s.DefaultCapacity),
		pg.Col("default_waitlist_capacity", &s.DefaultWaitlistCapacity),
		pg.Col("min_party", &s.MinParty),
		pg.Col("max_party", &s.MaxParty),
		pg.Col("delivery", &s.Delivery),
		pg.Col("color", &s.Color),
		pg.Col("active", &s.Active),
		pg.Col("version", &s.Version),
		pg.Fixed("created_at", &s.CreatedAt),
		pg.Col("updated_at", &s.UpdatedAt),
	}
})

var (
	findService  = pg.SQL(`select ` + services.Columns() + ` from services v where v.tenant_id = $1 and v.id = $2`)
	listServices = pg.SQL(`select ` + services.Columns() + ` from services v
where v.tenant_id = $1 and ($2 = '' or v.category = $2) and v.active = any($3)
  and ($5::uuid is null or (lower(v.name), v.id) > (lower($4), $5))
order by lower(v.name) limit $6`)
	insertService = pg.SQL(`insert into services ` + services.Values())
	updateService = pg.SQL(`update services set ` + services.Set() + ` where tenant_id = $1 and id = $2`)
)

// FindService reads a service; nil if there is none.
func FindService(b *pg.Batch, in tenant.TenantID, id tenant.ServiceID, into **catalog.Service) {
	services.Find(b.Queue(findService, in, id), into)
}

// ServiceQuery selects services.
type ServiceQuery struct {
	Category  string // exactly; empty: any
	Active    []bool // which of the active and the inactive ones
	AfterName string // keyset: the last name and id of the page before
	AfterID   tenant.ServiceID
	Limit     int
}

// ListServices reads services by name, which is unique.
func ListServices(b *pg.Batch, in tenant.TenantID, q ServiceQuery, into *[]catalog.Service) {
	services.List(b.Queue(listServices, in, q.Category, q.Active, q.AfterName, q.AfterID, q.Limit), into)
}

// InsertService inserts a service.
func InsertService(tx *pg.Tx, in tenant.TenantID, s catalog.Service) {
	tx.Write(insertService, services.Insert(in, &s)...)
	coredb.RenewSnapshot(tx, in)
}

// UpdateService updates a service.
func UpdateService(tx *pg.Tx, in tenant.TenantID, s catalog.Service) {
	tx.Write(updateService, services.Update(in, &s)...)
	coredb.RenewSnapshot(tx, in)
}
