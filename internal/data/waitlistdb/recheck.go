package waitlistdb

import (
	"bytes"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// Recheck is a member whose passed-over entries are to be checked again.
type Recheck struct {
	Member tenant.MemberID
	At     time.Time // since when
}

var marked = pg.RowWriter[Recheck]{
	Rank: coredb.RankMembers,
	Key:  func(r Recheck) any { return r.Member },
	Write: func(tx *pg.Tx, in tenant.TenantID, rows []Recheck) {
		slices.SortFunc(rows, func(a, b Recheck) int { return bytes.Compare(a.Member.UUID[:], b.Member.UUID[:]) })
		// The limit does not leave out any row: it makes the planner look each up.
		tx.Write(`
update members m set recheck_at = x.at
from (select * from unnest($2::uuid[], $3::timestamptz[]) as x (id, at) limit cardinality($2)) as x
where m.tenant_id = $1 and m.id = x.id and m.waiting > 0`, append([]any{in}, membersAndTimes(rows)...)...)
	},
}

// MarkRecheck marks the entries of a member to be checked again, with the transaction. For those who do not wait it
// writes nothing.
func MarkRecheck(tx *pg.Tx, in tenant.TenantID, member tenant.MemberID, now time.Time) {
	marked.Add(tx, in, Recheck{member, now})
}

func membersAndTimes(all []Recheck) []any {
	return []any{
		pg.Array(all, func(r Recheck) tenant.MemberID { return r.Member }),
		pg.Array(all, func(r Recheck) time.Time { return r.At }),
	}
}

// ListRechecks reads the marked members in ascending order, after the given one.
func ListRechecks(b *pg.Batch, in tenant.TenantID, after Recheck, limit int, into *[]Recheck) {
	pg.Collect(b.Queue(`
select id, recheck_at from members
where tenant_id = $1 and recheck_at is not null and id > coalesce($2, '00000000-0000-0000-0000-000000000000'::uuid)
order by id limit $3`, in, after.Member, limit), into, pgx.RowToStructByPos[Recheck])
}

// ListRecheckable reads the sessions with open seats whose last decision passed over an entry of these members for one
// of some reasons, in the order of their starts.
func ListRecheckable(
	b *pg.Batch, in tenant.TenantID, of []Recheck, reasons []waitlist.VerdictReason, now time.Time,
	into *[]tenant.SessionID,
) {
	members := pg.Array(of, func(r Recheck) tenant.MemberID { return r.Member })
	pg.Collect(b.Queue(`
select s.id from (
  select distinct s.id, s.starts_at from waitlist_places p
  join sessions s on s.tenant_id = $1
    and s.location_id = p.location_id and s.service_id = p.service_id and s.local_date = p.local_date
  cross join lateral (
    select d.verdicts from waitlist_decisions d
    where d.tenant_id = $1 and d.session_id = s.id order by d.id desc limit 1) d
  where p.tenant_id = $1 and p.member_id = any($2) and (p.session_id is null or p.session_id = s.id)
    and s.ends_at > $4 and s.state = 'PUBLISHED' and not s.blocked and s.deleted_at is null
    and (s.capacity is null or s.seats_taken < s.capacity)
    and exists (
      select from jsonb_array_elements(d.verdicts) v
      where v ->> 'entry_id' = p.entry_id::text and v ->> 'reason' = any($3))) s
order by s.starts_at, s.id`, in, members, reasons, now), into, pgx.RowTo[tenant.SessionID])
}

// SettleRechecks marks members as checked, with the transaction, except those who were marked again since.
func SettleRechecks(tx *pg.Tx, in tenant.TenantID, done []Recheck) {
	tx.Write(`
update members m set recheck_at = null from unnest($2::uuid[], $3::timestamptz[]) as x (id, at)
where m.tenant_id = $1 and m.id = x.id and m.recheck_at = x.at`,
		append([]any{in}, membersAndTimes(done)...)...)
}
