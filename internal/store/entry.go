package store

import (
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/waitlist"
)

// positionColumn counts the entries of the session that wait and joined no later.
const positionColumn = `
  case when e.status in ('WAITING', 'OFFERED') then (
    select count(*) from waitlist_entries q where q.tenant_id = e.tenant_id and q.session_id = e.session_id
      and q.status in ('WAITING', 'OFFERED') and q.seq <= e.seq) else 0 end`

// entryColumns and entryJoins read a waitlist entry `e` with what is shown beside it. The place in
// the queue comes last, so that a query that knows it otherwise can say so.
const entryColumns = `
  e.id, e.session_id, e.member_id, e.party_size, e.status, e.seq, e.subscription_id, e.channel, e.by_staff, e.external_ref,
  e.request_hash, e.note, e.booking_id, e.passed_over_reason, e.created_by, e.created_at,
  m.name, m.tier, m.status = 'ACTIVE', s.title, s.starts_at, l.time_zone,`

const entryJoins = `
  join sessions s on s.tenant_id = e.tenant_id and s.id = e.session_id
  join members m on m.tenant_id = e.tenant_id and m.id = e.member_id
  join locations l on l.tenant_id = s.tenant_id and l.id = s.location_id`

func scanEntry(row pgx.Row) (waitlist.Entry, error) {
	var e waitlist.Entry
	err := row.Scan(&e.ID, &e.Session, &e.Member, &e.Party, &e.Status, &e.Seq, &e.Subscription, &e.Channel, &e.ByStaff, &e.ExternalRef,
		&e.RequestHash, &e.Note, &e.Booking, &e.PassedOver, &e.CreatedBy, &e.CreatedAt,
		&e.MemberName, &e.MemberTier, &e.MemberActive, &e.SessionTitle, &e.SessionStarts, &e.TimeZone, &e.Position)
	return e, err
}

func collectEntry(row pgx.CollectableRow) (waitlist.Entry, error) { return scanEntry(row) }

var (
	entriesByID = pg.Lookup[tenant.EntryID, waitlist.Entry]{
		SQL: `select` + entryColumns + positionColumn + `, q.n from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (select * from waitlist_entries e where e.tenant_id = $1 and e.id = q.id offset 0) e` + entryJoins,
		Columns: func(ids []tenant.EntryID) []any { return []any{ids} },
		Scan:    scanEntry,
	}
	entriesByRef = pg.Lookup[string, waitlist.Entry]{
		SQL: `select` + entryColumns + positionColumn + `, q.n from unnest($2::text[]) with ordinality as q (ref, n)
cross join lateral (
  select * from waitlist_entries e where e.tenant_id = $1 and e.external_ref = q.ref and e.external_ref <> '' offset 0) e` + entryJoins,
		Columns: func(refs []string) []any { return []any{refs} },
		Scan:    scanEntry,
	}
)

// FindEntry reads an entry; nil where there is none.
func FindEntry(b *pg.Batch, in tenant.TenantID, id tenant.EntryID, into **waitlist.Entry) {
	one(b, in, &entriesByID, id, into)
}

// FindEntryByRef reads the entry with an external reference; nil where there is none.
func FindEntryByRef(b *pg.Batch, in tenant.TenantID, ref string, into **waitlist.Entry) {
	one(b, in, &entriesByRef, ref, into)
}

// ListWaiting reads the entries that wait for any of the sessions, in the order in which they joined.
func ListWaiting(b *pg.Batch, in tenant.TenantID, sessions []tenant.SessionID, into *[]waitlist.Entry) {
	pg.Collect(b.Queue(`select`+entryColumns+` row_number() over (partition by e.session_id order by e.seq) from waitlist_entries e`+entryJoins+`
where e.tenant_id = $1 and e.session_id = any($2) and e.status in ('WAITING', 'OFFERED')
order by e.session_id, e.seq`, in, sessions), into, collectEntry)
}

// ListQueue reads, in order, up to limit entries of a session that wait and joined after the one with the given
// number. Positions are not counted.
func ListQueue(b *pg.Batch, in tenant.TenantID, session tenant.SessionID, after int64, limit int, into *[]waitlist.Entry) {
	pg.Collect(b.Queue(`select`+entryColumns+` 0 from waitlist_entries e`+entryJoins+`
where e.tenant_id = $1 and e.session_id = $2 and e.status = 'WAITING' and e.seq > $3
order by e.seq limit $4`, in, session, after, limit), into, collectEntry)
}

// ListMemberEntries reads the entries of a member that wait for sessions that start in a span; zero times are unbounded.
func ListMemberEntries(b *pg.Batch, in tenant.TenantID, member tenant.MemberID, from, until, endsAfter time.Time, into *[]waitlist.Entry) {
	pg.Collect(b.Queue(`select`+entryColumns+positionColumn+` from waitlist_entries e`+entryJoins+`
where e.tenant_id = $1 and e.member_id = $2 and e.status in ('WAITING', 'OFFERED')
  and ($3::timestamptz is null or s.starts_at >= $3) and ($4::timestamptz is null or s.starts_at < $4)
  and ($5::timestamptz is null or s.ends_at > $5)
order by s.starts_at, e.id`, in, member, optional(from), optional(until), optional(endsAfter)), into, collectEntry)
}

type joined = waitlist.Entry

var entriesMade = pg.Rows[joined]{
	Rank: rankEntries,
	Write: func(tx *pg.Tx, in tenant.TenantID, rows []joined) {
		tx.Write(`
insert into waitlist_entries (tenant_id, id, session_id, member_id, party_size, status, seq, subscription_id, channel, by_staff,
  external_ref, request_hash, note, created_by, created_at, updated_at)
select $1, x.id, x.session_id, x.member_id, x.party_size, x.status, x.seq, x.subscription_id, x.channel, x.by_staff,
  x.external_ref, x.request_hash, x.note, x.created_by, x.created_at, x.created_at
from unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::integer[], $6::text[], $7::bigint[], $8::uuid[], $9::text[], $10::boolean[],
  $11::text[], $12::bytea[], $13::text[], $14::text[], $15::timestamptz[])
  as x (id, session_id, member_id, party_size, status, seq, subscription_id, channel, by_staff,
  external_ref, request_hash, note, created_by, created_at)`, in,
			column(rows, func(e joined) tenant.EntryID { return e.ID }),
			column(rows, func(e joined) tenant.SessionID { return e.Session }),
			column(rows, func(e joined) tenant.MemberID { return e.Member }),
			column(rows, func(e joined) int32 { return int32(e.Party) }),
			column(rows, func(e joined) string { return string(e.Status) }),
			column(rows, func(e joined) int64 { return e.Seq }),
			column(rows, func(e joined) tenant.SubscriptionID { return e.Subscription }),
			column(rows, func(e joined) string { return string(e.Channel) }),
			column(rows, func(e joined) bool { return e.ByStaff }),
			column(rows, func(e joined) string { return e.ExternalRef }),
			column(rows, func(e joined) []byte { return e.RequestHash }),
			column(rows, func(e joined) string { return e.Note }),
			column(rows, func(e joined) string { return e.CreatedBy }),
			column(rows, func(e joined) time.Time { return e.CreatedAt }))
	},
}

// InsertEntry writes a new entry with the transaction.
func InsertEntry(tx *pg.Tx, in tenant.TenantID, e waitlist.Entry) { entriesMade.Add(tx, in, e) }

// UpdateEntry writes what changes in an entry's life with the transaction.
func UpdateEntry(tx *pg.Tx, in tenant.TenantID, e waitlist.Entry, now time.Time) {
	tx.Write(`
update waitlist_entries set status = $3, booking_id = $4, passed_over_reason = $5, updated_at = $6
where tenant_id = $1 and id = $2`, in, e.ID, e.Status, e.Booking, e.PassedOver, now)
}

// InsertDecision keeps a move of the waitlist with the judgement on every entry considered.
func InsertDecision(tx *pg.Tx, in tenant.TenantID, id tenant.DecisionID, session tenant.SessionID, trigger waitlist.Trigger, seats *int, d waitlist.Decision, now time.Time) {
	verdicts, err := json.Marshal(d.Verdicts)
	if err != nil {
		panic("store: verdicts: " + err.Error()) // plain values
	}
	tx.Write(`
insert into decisions (tenant_id, id, session_id, trigger, move, seats, verdicts, decided_at)
values ($1, $2, $3, $4, $5, $6, $7, $8)`, in, id, session, trigger, d.Move, seats, verdicts, now)
}

// FindActiveEntry reads the entry with which a member waits for a session; nil where there is none.
func FindActiveEntry(b *pg.Batch, in tenant.TenantID, session tenant.SessionID, member tenant.MemberID, into **waitlist.Entry) {
	b.Queue(`select`+entryColumns+positionColumn+` from waitlist_entries e`+entryJoins+`
where e.tenant_id = $1 and e.session_id = $2 and e.member_id = $3 and e.status in ('WAITING', 'OFFERED')`,
		in, session, member).QueryRow(func(row pgx.Row) error {
		e, err := scanEntry(row)
		return found(into, e, err)
	})
}
