package scheduledb

import (
	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// What an imported file calls by name: each function reads what there is under the names given, without regard to
// case, and says under which of them.

// NamedService is a service as a file names it.
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

// ListNamedServices reads services.
func ListNamedServices(b *pg.Batch, in tenant.TenantID, names []string, into *[]NamedService) {
	namedServices.List(b.Queue(listNamedServices, in, names), into)
}

// NamedLocation is a location as a file names it.
type NamedLocation struct {
	Name     string
	ID       tenant.LocationID
	Active   bool
	TimeZone string
}

// ListNamedLocations reads locations.
func ListNamedLocations(b *pg.Batch, in tenant.TenantID, names []string, into *[]NamedLocation) {
	pg.Collect(b.Queue(`
select n.name, l.id, l.active, l.time_zone
from unnest($2::text[]) as n (name) join locations l on l.tenant_id = $1 and lower(l.name) = lower(n.name)`,
		in, names), into, pgx.RowToStructByPos[NamedLocation])
}

// NamedResource is a resource as a file names it. Names of resources are unique at a location alone.
type NamedResource struct {
	Location string
	Name     string
	ID       tenant.ResourceID
	Active   bool
}

// ListNamedResources reads resources; locations and names belong together one by one.
func ListNamedResources(b *pg.Batch, in tenant.TenantID, locations, names []string, into *[]NamedResource) {
	pg.Collect(b.Queue(`
select n.location, n.name, r.id, r.active
from unnest($2::text[], $3::text[]) as n (location, name)
join locations l on l.tenant_id = $1 and lower(l.name) = lower(n.location)
join resources r on r.tenant_id = $1 and r.location_id = l.id and lower(r.name) = lower(n.name)`,
		in, locations, names), into, pgx.RowToStructByPos[NamedResource])
}

// NamedCoach is a member as a file names them.
type NamedCoach struct {
	Email string
	ID    tenant.MemberID
	Leads bool // may lead sessions, as FindLeader says
}

// ListNamedCoaches reads members by their email.
func ListNamedCoaches(b *pg.Batch, in tenant.TenantID, emails []string, into *[]NamedCoach) {
	pg.Collect(b.Queue(`
select n.email, m.id, m.status = 'ACTIVE' and exists (
  select from member_roles r where r.tenant_id = $1 and r.member_id = m.id and r.role in ('owner', 'admin', 'coach'))
from unnest($2::text[]) as n (email)
join members m on m.tenant_id = $1 and lower(m.email) = lower(n.email) and m.email <> ''`, in, emails), into,
		pgx.RowToStructByPos[NamedCoach])
}
