package coredb

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/tenant"
)

// firstUsed is how many names of what is in use are read.
const firstUsed = 5

// stands are bookings that were made, also if they were cancelled or have expired since: the import was used for them.
// Those that the undoing of an import has cancelled are as if they had never been.
const stands = `(b.status <> 'CANCELLED' or b.cancel_reason <> '` + fileimport.UndoReason + `' or b.credits > 0)`

// used are the statements that read what is in use of what an import of a kind created: its name, and how many there
// are in all. A subquery with an offset keeps the planner from reading whole tables, whatever its statistics are.
var used = map[fileimport.Kind]string{
	fileimport.Members: pg.SQL(`
select m.name, count(*) over () from imports i
cross join lateral (select * from unnest(i.created_ids) as c (id) offset 0) c
join members m on m.tenant_id = $1 and m.id = c.id
where i.tenant_id = $1 and i.id = $2 and (
  m.sign_in_email <> '' or m.issuer <> ''
  or exists (select from bookings b where b.tenant_id = $1 and b.member_id = m.id and ` + stands + ` offset 0)
  or exists (select from subscriptions u
    where u.tenant_id = $1 and u.member_id = m.id and u.status in ('ACTIVE', 'PAUSED', 'DEBT') offset 0)
  or exists (select from waitlist_places p where p.tenant_id = $1 and p.member_id = m.id offset 0)
  or exists (select from member_roles r where r.tenant_id = $1 and r.member_id = m.id and r.role <> 'member' offset 0)
  or exists (select from sign_ins s where s.tenant_id = $1 and s.member_id = m.id offset 0)
  or exists (select from devices d where d.tenant_id = $1 and d.member_id = m.id offset 0))
order by m.id limit $3`),
	fileimport.Sessions: pg.SQL(`
select v.name || ' ' || to_char(s.starts_at at time zone l.time_zone, 'YYYY-MM-DD HH24:MI'), count(*) over ()
from imports i
cross join lateral (select * from unnest(i.created_ids) as c (id) offset 0) c
join sessions s on s.tenant_id = $1 and s.id = c.id
join services v on v.tenant_id = $1 and v.id = s.service_id
join locations l on l.tenant_id = $1 and l.id = s.location_id
where i.tenant_id = $1 and i.id = $2 and s.deleted_at is null and (
  exists (select from bookings b where b.tenant_id = $1 and b.session_id = s.id and ` + stands + ` offset 0)
  or exists (select from waitlist_places p where p.tenant_id = $1 and p.session_id = s.id offset 0))
order by s.id limit $3`),
	fileimport.Subscriptions: pg.SQL(`
select m.name, count(*) over () from imports i
cross join lateral (select * from unnest(i.created_ids) as c (id) offset 0) c
join subscriptions u on u.tenant_id = $1 and u.id = c.id
join members m on m.tenant_id = $1 and m.id = u.member_id
where i.tenant_id = $1 and i.id = $2 and (
  exists (select from bookings b
    where b.tenant_id = $1 and b.member_id = m.id and b.subscription_id = u.id and ` + stands + ` offset 0)
  or exists (select from waitlist_entries e where e.tenant_id = $1 and e.member_id = m.id
    and e.subscription_id = u.id and e.status in ('WAITING', 'OFFERED') offset 0)
  -- Staff have given or taken credits.
  or exists (select from credit_entries n where n.tenant_id = $1 and n.subscription_id = u.id
    and n.kind in ('GRANT', 'CORRECTION') and n.reason not in ('Imported', 'Import undone') offset 0))
order by u.id limit $3`),
}

var usedBookings = pg.SQL(`
select coalesce(m.name, b.contact_name), count(*) over () from imports i
cross join lateral (select * from unnest(i.created_ids) as c (id) offset 0) c
join bookings b on b.tenant_id = $1 and b.id = c.id
left join members m on m.tenant_id = $1 and m.id = b.member_id
where i.tenant_id = $1 and i.id = $2 and (b.status <> 'CONFIRMED' or b.version <> 1 or b.starts_at <= $4)
order by b.id limit $3`)

// FindUse reads what is in use of what an import created, or was changed. Bookings of sessions that have started are.
func FindUse(b *pg.Batch, in tenant.TenantID, i fileimport.Import, now time.Time, into *fileimport.Use) {
	var q *pg.Statement
	if i.Kind == fileimport.Bookings {
		q = b.Queue(usedBookings, in, i.ID, firstUsed, now)
	} else {
		q = b.Queue(used[i.Kind], in, i.ID, firstUsed)
	}
	q.Query(func(rows pgx.Rows) (err error) {
		into.First, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (name string, err error) {
			err = row.Scan(&name, &into.Count)
			return name, err
		})
		return err
	})
}
