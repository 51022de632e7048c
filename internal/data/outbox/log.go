package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Record is an event in the log. All readers share records, so they must not change them.
type Record struct {
	Event
	Cursor Cursor
	// Entry and Offer are IDs that only some events have.
	Entry tenant.EntryID
	Offer tenant.UUID
	// FromSession is the session that a rescheduled booking moved away from.
	FromSession tenant.SessionID
	// Location is that of the session; zero without a session.
	Location tenant.LocationID
	// Draft says whether the session was a draft when the event was read.
	Draft bool

	once sync.Once
	memo any
}

// Memo returns what of made of the record on the first call, so all readers of the record share one result.
func (r *Record) Memo(of func(*Record) any) any {
	r.once.Do(func() { r.memo = of(r) })
	return r.memo
}

// Page is a part of a tenant's log.
type Page struct {
	Records []*Record
	// End is the position after the last record read. Nothing will ever be added before it.
	End Cursor
	// More: there may be more events after End, or before it when reading backwards.
	More bool
	// Held: there are durable events past the horizon, held back by an older transaction that is still running.
	Held bool
	// Horizon is the end of what can be read now, whichever page was requested.
	Horizon Cursor
}

// Stretch says what to read: Limit records after a position, or before it. With no limit only the horizon is read.
type Stretch struct {
	From      Cursor
	Backwards bool
	Limit     int
}

// Newest is after all events: the start of reading backwards.
var Newest = Cursor{XID: math.MaxInt64}

const readHorizon = `
select pg_snapshot_xmin(s.now), exists (select from events where tenant_id = $1 and xid >= pg_snapshot_xmin(s.now))
from (select pg_current_snapshot() as now) s`

// The join adds what filters and readers need to know about the session, as it is now.
const readRecords = `
select e.id, e.xid, e.type, e.session_id, e.booking_id, e.member_id, e.actor, e.data, e.occurred_at,
  s.location_id, coalesce(s.state = 'DRAFT', false)
from (
  select id, xid, type, session_id, booking_id, member_id, actor, data, occurred_at from events
  where tenant_id = $1 and (xid, id) > ($2, coalesce($3, '00000000-0000-0000-0000-000000000000'::uuid))
    and xid < pg_snapshot_xmin(pg_current_snapshot())
  order by xid, id limit $4
) e
left join sessions s on s.tenant_id = $1 and s.id = e.session_id
order by e.xid, e.id`

const readBackwards = `
select e.id, e.xid, e.type, e.session_id, e.booking_id, e.member_id, e.actor, e.data, e.occurred_at,
  s.location_id, coalesce(s.state = 'DRAFT', false)
from (
  select id, xid, type, session_id, booking_id, member_id, actor, data, occurred_at from events
  where tenant_id = $1 and (xid, id) < ($2, coalesce($3, '00000000-0000-0000-0000-000000000000'::uuid))
    and xid < pg_snapshot_xmin(pg_current_snapshot())
  order by xid desc, id desc limit $4
) e
left join sessions s on s.tenant_id = $1 and s.id = e.session_id
order by e.xid desc, e.id desc`

// Read reads part of a tenant's log from one snapshot.
func Read(ctx context.Context, db *pg.DB, in tenant.TenantID, s Stretch) (Page, error) {
	var page Page
	var batch pg.Batch
	batch.Queue(readHorizon, in).Scan(&page.Horizon.XID, &page.Held)
	if s.Limit > 0 {
		sql := readRecords
		if s.Backwards {
			sql = readBackwards
		}
		pg.Collect(batch.Queue(sql, in, s.From.XID, s.From.ID, s.Limit), &page.Records, scanRecord)
	}
	if err := db.ReadBatch(ctx, pg.Scope{Tenant: in}, &batch); err != nil {
		return Page{}, fmt.Errorf("read the event log: %w", err)
	}
	if s.From.Compare(page.Horizon) > 0 && s.From != Newest {
		return Page{}, errAhead
	}
	page.End = page.Horizon
	switch {
	case s.Limit > 0 && len(page.Records) == s.Limit:
		page.More, page.End = true, page.Records[s.Limit-1].Cursor
	case s.Backwards:
		page.End = Cursor{}
	}
	return page, nil
}

func scanRecord(row pgx.CollectableRow) (*Record, error) {
	var r Record
	var data []byte
	err := row.Scan(&r.ID, &r.Cursor.XID, &r.Type, &r.Session, &r.Booking, &r.Member, &r.Actor, &data, &r.At,
		&r.Location, &r.Draft)
	if err != nil {
		return nil, err
	}
	r.Cursor.ID = r.ID
	if err := json.Unmarshal(data, &r.Data); err != nil {
		return nil, fmt.Errorf("data of event %s: %w", r.ID, err)
	}
	r.Entry.UUID, r.Offer = takeID(r.Data, "entry_id"), takeID(r.Data, "offer_id")
	r.FromSession.UUID = idFrom(r.Data, "from_session_id")
	return &r, nil
}

// takeID removes an ID from the data and returns it.
func takeID(data map[string]any, key string) tenant.UUID {
	id := idFrom(data, key)
	delete(data, key)
	return id
}

func idFrom(data map[string]any, key string) tenant.UUID {
	text, _ := data[key].(string)
	id, err := tenant.Parse[tenant.EventID](text)
	if err != nil {
		return tenant.UUID{}
	}
	return id.UUID
}
