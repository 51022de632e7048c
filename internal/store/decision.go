package store

import (
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// Decided is the record of a move.
type Decided struct {
	ID tenant.DecisionID
	waitlist.Record

	// Read along.
	SessionTitle string
	TimeZone     string
}

// InsertDecision keeps a move of the waitlist with the judgement on every entry considered.
func InsertDecision(tx *pg.Tx, in tenant.TenantID, d Decided) {
	tx.Write(`
insert into waitlist_decisions (tenant_id, id, session_id, location_id, service_id, local_date, round_id, trigger, mode, move, left_move, seats, given, tried,
  rules_version, note, verdicts, facts, decided_at, grants)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)`,
		in, d.ID, d.Case.Slot.Session, d.Queue.Location, d.Queue.Service, date(d.Queue.Date), d.Round, d.Case.Trigger, d.Decision.Mode, d.Decision.Move,
		d.Decision.LeftMove, d.Decision.Seats, d.Decision.Given, d.Decision.Tried, d.Rules, d.Note, encode(d.Decision.Verdicts), encode(d.Case), d.Case.Now, encode(d.Decision.Grants))
}

func encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic("store: " + err.Error()) // plain values
	}
	return text
}

const decisionColumns = `
  d.id, d.location_id, d.service_id, d.local_date, d.round_id, d.rules_version, d.note, d.facts, d.mode, d.move, d.left_move, d.seats, d.given, d.tried,
  d.verdicts, d.grants, s.title, l.time_zone`

const decisionJoins = `
  join sessions s on s.tenant_id = d.tenant_id and s.id = d.session_id
  join locations l on l.tenant_id = d.tenant_id and l.id = d.location_id`

func scanDecision(row pgx.CollectableRow) (Decided, error) {
	var d Decided
	var on time.Time
	var facts, verdicts, grants []byte
	err := row.Scan(&d.ID, &d.Queue.Location, &d.Queue.Service, &on, &d.Round, &d.Rules, &d.Note, &facts, &d.Decision.Mode, &d.Decision.Move,
		&d.Decision.LeftMove, &d.Decision.Seats, &d.Decision.Given, &d.Decision.Tried, &verdicts, &grants, &d.SessionTitle, &d.TimeZone)
	if err != nil {
		return d, err
	}
	d.Queue.Date = day(on)
	if err := json.Unmarshal(facts, &d.Case); err != nil {
		return d, err
	}
	if err := json.Unmarshal(verdicts, &d.Decision.Verdicts); err != nil {
		return d, err
	}
	return d, json.Unmarshal(grants, &d.Decision.Grants)
}

// DecisionQuery picks moves. Zero values pick all.
type DecisionQuery struct {
	Session  tenant.SessionID
	Location tenant.LocationID
	Service  tenant.ServiceID
	Queues   []waitlist.Queue // any of these; nil: all
	Entry    tenant.EntryID   // that it looked at
	From     time.Time
	Until    time.Time
	WithNote bool
	Oldest   bool // first; else the newest
	AfterID  tenant.DecisionID
	Limit    int
}

// ListDecisions reads the moves that it picks.
func ListDecisions(b *pg.Batch, in tenant.TenantID, q DecisionQuery, into *[]Decided) {
	locations, services, dates := queueColumns(q.Queues)
	order, after := `d.id desc`, `d.id < $8`
	if q.Oldest {
		order, after = `d.id`, `d.id > $8`
	}
	pg.Collect(b.Queue(`select`+decisionColumns+` from waitlist_decisions d`+decisionJoins+`
where d.tenant_id = $1 and ($2::uuid is null or d.session_id = $2) and ($3::uuid is null or d.location_id = $3) and ($4::uuid is null or d.service_id = $4)
  and ($5::timestamptz is null or d.decided_at >= $5) and ($6::timestamptz is null or d.decided_at < $6) and (not $7 or d.note <> '')
  and ($8::uuid is null or `+after+`)
  and (coalesce(cardinality($10::uuid[]), 0) = 0 or (d.location_id, d.service_id, d.local_date) in (
    select k.location_id, k.service_id, k.local_date from unnest($10::uuid[], $11::uuid[], $12::date[]) as k (location_id, service_id, local_date)))
  and ($13::uuid is null or d.verdicts @> jsonb_build_array(jsonb_build_object('entry_id', $13::uuid)))
order by `+order+` limit $9`, in, q.Session, q.Location, q.Service, optional(q.From), optional(q.Until), q.WithNote, q.AfterID, q.Limit,
		locations, services, dates, q.Entry), into, scanDecision)
}
