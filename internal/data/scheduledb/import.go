package scheduledb

import (
	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// An imported file refers to things by name. Each function reads what has one of the names, ignoring case, and returns
// it with the name as the file has it.

// NamedService is a service with its name in the file.
type NamedService struct {
	Name string
	ID   tenant.ServiceID
	session.ServiceReference
}

var namedServices = pg.NewReader(func(n *NamedService) []pg.Column {
	return []pg.Column{
		pg.Read("n.name", &n.Name),
		pg.Read("v.id", &n.ID),
		pg.Read("v.active", &n.Active),
		pg.Read("v.name", &n.ServiceReference.Name),
		pg.Read("v.duration_seconds", &n.Duration),
		pg.Read("v.default_capacity", &n.Capacity),
		pg.Read("v.default_waitlist_capacity", &n.WaitlistCapacity),
		pg.Read("v.delivery", &n.Delivery),
	}
})

var listNamedServices = pg.SQL(`
select ` + namedServices.Columns() + `
from unnest($2::text[]) as n (name) join services v on v.tenant_id = $1 and lower(v.name) = lower(n.name)`)

// ListNamedServices reads services by name.
func ListNamedServices(b *pg.Batch, in tenant.TenantID, names []string, into *[]NamedService) {
	namedServices.List(b.Queue(listNamedServices, in, names), into)
}

// NamedLocation is a location with its name in the file.
type NamedLocation struct {
	Name     string
	ID       tenant.LocationID
	Active   bool
	TimeZone string
}

// ListNamedLocations reads locations by name.
func ListNamedLocations(b *pg.Batch, in tenant.TenantID, names []string, into *[]NamedLocation) {
	pg.Collect(b.Queue(`
select n.name, l.id, l.active, l.time_zone
from unnest($2::text[]) as n (name) join locations l on l.tenant_id = $1 and lower(l.name) = lower(n.name)`,
		in, names), into, pgx.RowToStructByPos[NamedLocation])
}

// NamedResource is a resource with its name in the file. The name is unique only at its location.
type NamedResource struct {
	Location string
	Name     string
	ID       tenant.ResourceID
	Active   bool
}

// ListNamedResources reads resources by name. locations has the name of each resource's location, in the same order.
func ListNamedResources(b *pg.Batch, in tenant.TenantID, locations, names []string, into *[]NamedResource) {
	pg.Collect(b.Queue(`
select n.location, n.name, r.id, r.active
from unnest($2::text[], $3::text[]) as n (location, name)
join locations l on l.tenant_id = $1 and lower(l.name) = lower(n.location)
join resources r on r.tenant_id = $1 and r.location_id = l.id and lower(r.name) = lower(n.name)`,
		in, locations, names), into, pgx.RowToStructByPos[NamedResource])
}

// NamedCoach is a member with their email in the file.
type NamedCoach struct {
	Email string
	ID    tenant.MemberID
	Leads bool // may lead sessions: the same condition as FindLeader
}

// ListNamedCoaches reads members by email.
func ListNamedCoaches(b *pg.Batch, in tenant.TenantID, emails []string, into *[]NamedCoach) {
	pg.Collect(b.Queue(`
select n.email, m.id, m.status = 'ACTIVE' and exists (
  select from member_roles r where r.tenant_id = $1 and r.member_id = m.id and r.role in ('owner', 'admin', 'coach'))
from unnest($2::text[]) as n (email)
join members m on m.tenant_id = $1 and lower(m.email) = lower(n.email) and m.email <> ''`, in, emails), into,
		pgx.RowToStructByPos[NamedCoach])
}
