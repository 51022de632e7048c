package outbox

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Record is an event as it stands in the log. Records are shared by all who read them, and never changed.
type Record struct {
	Event
	Cursor Cursor
	// Entry and Offer are what the event is about beside the ids that every event has.
	Entry tenant.EntryID
	Offer tenant.UUID
	// Left is the session that a rescheduled booking was moved away from.
	Left tenant.SessionID
	// Location is where the session takes place; zero without a session.
	Location tenant.LocationID
	// Draft: the session is a draft, as far as was known when the event was read.
	Draft bool

	once sync.Once
	memo any
}

// Memo gives what was made of the record when it was first asked for, so that what is the same for all its readers is made once.
func (r *Record) Memo(of func(*Record) any) any {
	r.once.Do(func() { r.memo = of(r) })
	return r.memo
}

// Page is a stretch of a tenant's log.
type Page struct {
	Records []*Record
	// End is how far was read. Nothing will ever be added before it.
	End Cursor
	// More: there may be more behind End (before it, backwards) already.
	More bool
	// Held: something behind the horizon is durable, and kept back by an older transaction that still runs.
	Held bool
	// Horizon is the end of what can be read by now, whatever page was asked for.
	Horizon Cursor
}

// Stretch says what to read: Limit records behind a position, or before it. No limit reads the horizon alone.
type Stretch struct {
	From      Cursor
	Backwards bool
	Limit     int
}

// Newest is behind everything: where reading backwards begins.
var Newest = Cursor{XID: math.MaxInt64}

const readHorizon = `
select pg_snapshot_xmin(s.now), exists (select from events where tenant_id = $1 and xid >= pg_snapshot_xmin(s.now))
from (select pg_current_snapshot() as now) s`

// recordRow is an event with what filters and readers need to know of its session `s`, as it is now.
type recordRow struct {
	Event
	xid      uint64
	location tenant.LocationID
	draft    bool
}

var records = pg.ReadAs(func(r *recordRow) []pg.Column {
	return append(eventRows.Of(&r.Event),
		pg.Read("e.xid", &r.xid),
		pg.Read("s.location_id", &r.location),
		pg.Read("coalesce(s.state = 'DRAFT', false)", &r.draft),
	)
}, func(r *recordRow) (*Record, error) {
	made := &Record{Event: r.Event, Cursor: Cursor{XID: r.xid, ID: r.ID}, Location: r.location, Draft: r.draft}
	made.Entry.UUID, made.Offer = lift(r.Data, "entry_id"), lift(r.Data, "offer_id")
	made.Left.UUID = idIn(r.Data, "from_session_id")
	return made, nil
})

var (
	readForwards  = readRecords(">", "e.xid, e.id")
	readBackwards = readRecords("<", "e.xid desc, e.id desc")
)

// readRecords joins the sessions when the events are found.
func readRecords(from, order string) string {
	return pg.SQL(`
select ` + records.Columns() + ` from (
  select ` + eventRows.Columns() + `, e.xid from events e
  where e.tenant_id = $1 and (e.xid, e.id) ` + from + ` ($2, coalesce($3, '00000000-0000-0000-0000-000000000000'::uuid))
    and e.xid < pg_snapshot_xmin(pg_current_snapshot())
  order by ` + order + ` limit $4
) e
left join sessions s on s.tenant_id = $1 and s.id = e.session_id
order by ` + order)
}

// Read reads a stretch of a tenant's log from one snapshot.
func Read(ctx context.Context, db *pg.DB, in tenant.TenantID, s Stretch) (Page, error) {
	var page Page
	var batch pg.Batch
	batch.Queue(readHorizon, in).Scan(&page.Horizon.XID, &page.Held)
	if s.Limit > 0 {
		sql := readForwards
		if s.Backwards {
			sql = readBackwards
		}
		records.List(batch.Queue(sql, in, s.From.XID, s.From.ID, s.Limit), &page.Records)
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

// lift takes an id out of the data.
func lift(data map[string]any, key string) tenant.UUID {
	id := idIn(data, key)
	delete(data, key)
	return id
}

func idIn(data map[string]any, key string) tenant.UUID {
	text, _ := data[key].(string)
	id, err := tenant.Parse[tenant.EventID](text)
	if err != nil {
		return tenant.UUID{}
	}
	return id.UUID
}
