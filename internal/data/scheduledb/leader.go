package scheduledb

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// FindLeader reads an active member's name, and whether they may lead sessions: active owners, admins and coaches may.
func FindLeader(b *pg.Batch, in tenant.TenantID, id tenant.MemberID, into *session.CoachReference) {
	b.Queue(`
select exists (
  select from members m join member_roles r on r.tenant_id = m.tenant_id and r.member_id = m.id
  where m.tenant_id = $1 and m.id = $2 and m.status = 'ACTIVE' and r.role in ('owner', 'admin', 'coach')),
  coalesce((select m.name from members m where m.tenant_id = $1 and m.id = $2 and m.status = 'ACTIVE'), '')`, in, id).
		Scan(&into.CanLead, &into.Name)
}

type ledRow struct {
	catalog.SessionSummary

	count int
}

var led = pg.NewReader(func(r *ledRow) []pg.Column {
	return append(summaries(&r.SessionSummary), pg.Read("count(*) over ()", &r.count))
})

// The span is that of the constraint on coaches, whose index finds the sessions.
var findLed = pg.SQL(`
select ` + led.Columns() + `
from sessions s join locations l on l.tenant_id = s.tenant_id and l.id = s.location_id
where s.tenant_id = $1 and s.coach_id = $2 and s.state <> 'CANCELLED' and s.deleted_at is null
  and tstzrange(s.starts_at, s.ends_at) && tstzrange($3, $4) and s.starts_at >= $3 and ($5 or s.state <> 'DRAFT')
order by s.starts_at, s.id limit $6`)

// FindLed reads the sessions of a coach that start in a span and are not cancelled: how many they are, and the first by
// start. The end of the span may be zero.
func FindLed(
	b *pg.Batch, in tenant.TenantID, coach tenant.MemberID, span civil.Span, may tenant.Permissions,
	into *session.LedSessions,
) {
	*into = session.LedSessions{}
	led.Each(b.Queue(findLed, in, coach, span.Start, pg.OrNull(span.End), may[session.ReadDrafts], session.MaxSubstituted),
		func(r ledRow) {
			into.Count = r.count
			into.Sessions = append(into.Sessions, r.SessionSummary)
		})
}

// ListLeaders reads, by name, the active members who may lead sessions, but for one.
func ListLeaders(b *pg.Batch, in tenant.TenantID, but tenant.MemberID, limit int, into *[]session.Leader) {
	pg.Collect(b.Queue(`
select m.id, m.name from members m
where m.tenant_id = $1 and m.id is distinct from $2 and m.status = 'ACTIVE' and m.id in (
  select r.member_id from member_roles r where r.tenant_id = $1 and r.role in ('owner', 'admin', 'coach'))
order by lower(m.name), m.id limit $3`, in, but, limit), into, pgx.RowToStructByPos[session.Leader])
}

// ListBusyLeaders reads which leaders have another session while one takes place.
func ListBusyLeaders(
	b *pg.Batch, in tenant.TenantID, leaders []session.Leader, sessions []catalog.SessionSummary,
	into *[]session.BusyLeader,
) {
	pg.Collect(b.Queue(`
select distinct s.coach_id, x.id from unnest($2::uuid[], $3::timestamptz[], $4::timestamptz[]) as x (id, starts, ends)
join sessions s on s.tenant_id = $1 and s.starts_at > x.starts - $5::interval and s.starts_at < x.ends
  and s.ends_at > x.starts and s.deleted_at is null and s.state <> 'CANCELLED' and s.coach_id = any($6)`, in,
		pg.Array(sessions, func(s catalog.SessionSummary) tenant.SessionID { return s.ID }),
		pg.Array(sessions, func(s catalog.SessionSummary) time.Time { return s.StartsAt }),
		pg.Array(sessions, func(s catalog.SessionSummary) time.Time { return s.EndsAt }),
		session.MaxLength, pg.Array(leaders, func(l session.Leader) tenant.MemberID { return l.Member })),
		into, pgx.RowToStructByPos[session.BusyLeader])
}
