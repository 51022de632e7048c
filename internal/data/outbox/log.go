package outbox

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
)

// Record is an event in the log. All readers share records, so they must not change them.
type Record struct {
	Event
	Cursor Cursor
	// View is how much of the data the record has.
	View event.View
	// FromSession is the session that a rescheduled booking moved away from.
	FromSession tenant.SessionID
	Context

	once sync.Once
	memo any
	// What callers without rights to others' things share.
	publicOnce, seatsOnce sync.Once
	public                *Record
	seats                 []*Record
}

// Context is what decides who may see a record, and how. It is as of the time when the record was read.
type Context struct {
	CreatedBy string         // who made the booking or the waitlist entry, as an actor
	ActorName string         // the name of Actor
	To, From  SessionContext // of Session and of FromSession; zero without one
}

// SessionContext is what Context knows about a session.
type SessionContext struct {
	Location  tenant.LocationID
	Draft     bool
	SeatsOpen *int // nil: unlimited, or there is no session
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

// Range says what to read: Limit records after a position, or before it. With no limit only the horizon is read.
type Range struct {
	From      Cursor
	Backwards bool
	Limit     int
	// NoContext leaves out the context of the records, for consumers. It is for reading forwards.
	NoContext bool
}

// EndOfLog is after all events: the start of reading backwards.
var EndOfLog = Cursor{XID: math.MaxInt64}

var readHorizon = pg.SQL(`
select pg_snapshot_xmin(s.now), exists (select from events where tenant_id = $1 and xid >= pg_snapshot_xmin(s.now))
from (select pg_current_snapshot() as now) s`)

// FindEnd reads the position in the log from which to watch what the snapshot of the batch does not show.
func FindEnd(b *pg.Batch, in tenant.TenantID, into *Cursor) {
	var held bool
	b.Queue(readHorizon, in).Scan(&into.XID, &held)
}

type recordRow struct {
	row
	Context
	xid uint64
}

// plainRecords reads records without their context.
var plainRecords = pg.ReadAs(func(r *recordRow) []pg.Column {
	return append(eventRows.Of(&r.row), pg.Read("e.xid", &r.xid))
}, toPlainRecord)

var records = pg.ReadAs(func(r *recordRow) []pg.Column {
	return append(eventRows.Of(&r.row),
		pg.Read("e.xid", &r.xid),
		pg.Read("coalesce(b.created_by, w.created_by, '')", &r.CreatedBy),
		pg.Read("coalesce(m.name, a.name, '')", &r.ActorName),
		pg.Read("s.location_id", &r.To.Location),
		pg.Read("coalesce(s.state = 'DRAFT', false)", &r.To.Draft),
		pg.Read("s.capacity - s.seats_taken", &r.To.SeatsOpen),
		pg.Read("f.location_id", &r.From.Location),
		pg.Read("coalesce(f.state = 'DRAFT', false)", &r.From.Draft),
		pg.Read("f.capacity - f.seats_taken", &r.From.SeatsOpen),
	)
}, toRecord)

// toRecord and toPlainRecord treat types that this version does not know differently: who watches gets them without
// data, but a consumer must not act as if it had done what only a newer version does.
func toRecord(r *recordRow) (*Record, error) { return r.record(event.DecodeKnown) }

func toPlainRecord(r *recordRow) (*Record, error) { return r.record(event.Decode) }

func (r *recordRow) record(decode func(event.Type, []byte) (event.Data, error)) (*Record, error) {
	e, err := r.event(decode)
	if err != nil {
		return nil, err
	}
	record := &Record{Event: e, Cursor: Cursor{XID: r.xid, ID: r.ID}, Context: r.Context}
	if moved, ok := e.Data.(event.BookingRescheduled); ok {
		record.FromSession = moved.FromSession
	}
	return record, nil
}

// contextJoins follow the limit, so that they read no more rows than there are records.
const contextJoins = `
left join sessions s on s.tenant_id = $1 and s.id = e.session_id
left join sessions f on f.tenant_id = $1 and f.id = (e.data ->> 'from_session_id')::uuid
left join bookings b on b.tenant_id = $1 and b.id = e.booking_id
left join waitlist_entries w on w.tenant_id = $1 and w.id = (e.data ->> 'entry_id')::uuid
left join members m on m.tenant_id = $1 and m.id = case when e.actor ~ '^[0-9a-f-]{36}$' then e.actor::uuid end
left join service_accounts a on a.tenant_id = $1
  and a.id = case when e.actor ~ '^` + tenant.AccountPrefix + `[0-9a-f-]{36}$' then substr(e.actor, 4)::uuid end`

const forwards = "e.xid, e.id"

var (
	readForwards  = readRecords(records.Columns(), contextJoins, ">", forwards)
	readBackwards = readRecords(records.Columns(), contextJoins, "<", "e.xid desc, e.id desc")
	readPlain     = readRecords(plainRecords.Columns(), "", ">", forwards)
)

func readRecords(columns, joins, from, order string) string {
	return pg.SQL(`
select ` + columns + ` from (
  select ` + eventRows.Columns() + `, e.xid from events e
  where e.tenant_id = $1 and (e.xid, e.id) ` + from + ` ($2, coalesce($3, '00000000-0000-0000-0000-000000000000'::uuid))
    and e.xid < pg_snapshot_xmin(pg_current_snapshot())
  order by ` + order + ` limit $4
) e` + joins + `
order by ` + order)
}

// Read reads part of a tenant's log from one snapshot.
func Read(ctx context.Context, db *pg.DB, in tenant.TenantID, s Range) (Page, error) {
	var page Page
	var batch pg.Batch
	batch.Queue(readHorizon, in).Scan(&page.Horizon.XID, &page.Held)
	if s.Limit > 0 {
		read, sql := records, readForwards
		switch {
		case s.NoContext:
			read, sql = plainRecords, readPlain
		case s.Backwards:
			sql = readBackwards
		}
		read.List(batch.Queue(sql, in, s.From.XID, s.From.ID, s.Limit), &page.Records)
	}
	if err := db.ReadBatch(ctx, pg.Scope{Tenant: in}, &batch); err != nil {
		return Page{}, fmt.Errorf("read the event log: %w", err)
	}
	if s.From.Compare(page.Horizon) > 0 && s.From != EndOfLog {
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
