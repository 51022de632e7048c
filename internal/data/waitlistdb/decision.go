package waitlistdb

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// DecisionRecord is a stored decision.
type DecisionRecord struct {
	ID tenant.DecisionID
	waitlist.Record

	Session catalog.SessionSummary // only read: as the session is now
}

var decisionRows = pg.NewTable("d", func(d *DecisionRecord) []pg.Column {
	return []pg.Column{
		pg.Fixed("id", &d.ID),
		pg.Fixed("location_id", &d.Queue.Location),
		pg.Fixed("service_id", &d.Queue.Service),
		pg.Fixed("local_date", &d.Queue.Date),
		pg.Fixed("round_id", &d.Round),
		pg.Fixed("mode", &d.Decision.Mode),
		pg.Fixed("move", &d.Decision.Move),
		pg.Fixed("left_move", &d.Decision.LeftMove),
		pg.Fixed("seats", &d.Decision.Seats),
		pg.Fixed("given", &d.Decision.Given),
		pg.Fixed("tried", &d.Decision.Tried),
		pg.Fixed("rules_version", &d.Rules),
		pg.Fixed("note", &d.Note),
		pg.Fixed("verdicts", pg.JSON(&d.Decision.Verdicts)),
		pg.Fixed("grants", pg.JSON(&d.Decision.Grants)),
		// The facts come last: they replace the whole case, and with it what these columns repeat.
		pg.Fixed("session_id", &d.Case.Slot.Session),
		pg.Fixed("trigger", &d.Case.Trigger),
		pg.Fixed("decided_at", &d.Case.Now),
		pg.Fixed("facts", pg.JSON(&d.Case)),
	}
})

var decisions = pg.NewReader(func(d *DecisionRecord) []pg.Column {
	return append(decisionRows.Of(d),
		pg.Read("s.id", &d.Session.ID),
		pg.Read("s.title", &d.Session.Title),
		pg.Read("s.starts_at", &d.Session.StartsAt),
		pg.Read("s.ends_at", &d.Session.EndsAt),
		pg.Read("l.time_zone", &d.Session.TimeZone),
		pg.Read("l.id", &d.Session.Location),
		pg.Read("l.name", &d.Session.LocationName),
		pg.Read(coredb.CoachName, &d.Session.CoachName),
		pg.Read("s.service_id", &d.Session.Service),
	)
})

var (
	insertDecision      = pg.SQL(`insert into waitlist_decisions ` + decisionRows.Values())
	listDecisions       = decisionsBy(`$14::timestamptz is null`, `d.id < $8`, `d.id desc`)
	listDecisionsOldest = decisionsBy(`$14::timestamptz is null`, `d.id > $8`, `d.id`)
	// An index has the decisions with a note: they are few.
	listOpenNotes = decisionsBy(`d.note <> '' and s.ends_at > $14::timestamptz and s.state <> 'CANCELLED'
  and s.deleted_at is null and not exists (
    select from waitlist_decisions later
    where later.tenant_id = d.tenant_id and later.session_id = d.session_id and later.id > d.id)`,
		`d.id < $8`, `d.id desc`)
)

func decisionsBy(when, after, order string) string {
	return pg.SQL(`select ` + decisions.Columns() + ` from waitlist_decisions d
  join sessions s on s.tenant_id = d.tenant_id and s.id = d.session_id
  join locations l on l.tenant_id = d.tenant_id and l.id = s.location_id
where d.tenant_id = $1 and ` + when + `
  and ($2::uuid is null or d.session_id = $2) and ($3::uuid is null or d.location_id = $3)
  and ($4::uuid is null or d.service_id = $4)
  and ($5::timestamptz is null or d.decided_at >= $5) and ($6::timestamptz is null or d.decided_at < $6)
  and ($15::timestamptz is null or s.starts_at >= $15) and ($16::timestamptz is null or s.starts_at < $16)
  and ($7::boolean is null or (d.note <> '') = $7)
  and ($8::uuid is null or ` + after + `)
  and (coalesce(cardinality($10::uuid[]), 0) = 0 or (d.location_id, d.service_id, d.local_date) in (
    select k.location_id, k.service_id, k.local_date
    from unnest($10::uuid[], $11::uuid[], $12::date[]) as k (location_id, service_id, local_date)))
  and ($13::uuid is null or d.verdicts @> jsonb_build_array(jsonb_build_object('entry_id', $13::uuid)))
order by ` + order + ` limit $9`)
}

// InsertDecision writes a decision with the transaction.
func InsertDecision(tx *pg.Tx, in tenant.TenantID, d DecisionRecord) {
	tx.Write(insertDecision, decisionRows.Insert(in, &d)...)
}

// DecisionQuery selects decisions. Zero values select all.
type DecisionQuery struct {
	Session  tenant.SessionID
	Location tenant.LocationID
	Service  tenant.ServiceID
	Queues   []waitlist.Queue // nil: all
	Entry    tenant.EntryID   // with a verdict on this entry
	From     time.Time
	Until    time.Time
	Starts   civil.Span // when the session starts
	HasNote  *bool      // nil: either
	// Only the last decision about each session that has not ended at Now and is not cancelled, if it has a note.
	OpenNotes bool
	Now       time.Time
	Oldest    bool // oldest first; otherwise newest first
	AfterID   tenant.DecisionID
	Limit     int
}

// ListDecisions reads decisions.
func ListDecisions(b *pg.Batch, in tenant.TenantID, q DecisionQuery, into *[]DecisionRecord) {
	sql, openAt := listDecisions, any(nil)
	switch {
	case q.OpenNotes:
		sql, openAt = listOpenNotes, q.Now
	case q.Oldest:
		sql = listDecisionsOldest
	}
	arguments := append([]any{
		in, q.Session, q.Location, q.Service, pg.OrNull(q.From), pg.OrNull(q.Until), q.HasNote, q.AfterID, q.Limit,
	}, queueArrays(q.Queues)...)
	arguments = append(arguments, q.Entry, openAt, pg.OrNull(q.Starts.Start), pg.OrNull(q.Starts.End))
	decisions.List(b.Queue(sql, arguments...), into)
}
