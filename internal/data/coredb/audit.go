package coredb

import (
	"strings"
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// AuditEntry records that a member, a service account or the service itself changed something.
type AuditEntry struct {
	ID         tenant.AuditID
	Actor      string // see tenant.Caller.Actor
	Subject    string // of the token; empty if there was none
	Action     string // the name of the permission or of the use case, such as "session.bulk_delete"
	TargetKind string // "session", "booking", "member", …
	TargetID   string
	Batch      tenant.BatchID
	Reason     string
	Changes    map[string]any
	Request    string // the request's id in the log; empty if there was none
	Address    string // the client's IP address; empty if there was no request
	Client     string // the program, as it names itself
	At         time.Time

	// This is read, but not written.
	ActorName string // at that time
}

// ActorKind is the kind of an actor.
type ActorKind string

// The kinds of actor.
const (
	ByMember         ActorKind = "MEMBER"
	ByServiceAccount ActorKind = "SERVICE_ACCOUNT"
	BySystem         ActorKind = "SYSTEM"
)

// actorKind is the SQL expression for the kind of an actor.
const actorKind = `
  case when actor like '` + tenant.AccountPrefix + `%' then 'SERVICE_ACCOUNT'
    when actor ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then 'MEMBER' else 'SYSTEM' end`

var audit = pg.NewTable("a", func(e *AuditEntry) []pg.Column {
	return []pg.Column{
		pg.Fixed("id", &e.ID),
		pg.Fixed("actor", &e.Actor),
		pg.Fixed("actor_subject", &e.Subject),
		pg.Fixed("action", &e.Action),
		pg.Fixed("target_kind", &e.TargetKind),
		pg.Fixed("target_id", &e.TargetID),
		pg.Fixed("batch_id", &e.Batch),
		pg.Fixed("reason", &e.Reason),
		pg.Fixed("changes", pg.JSON(&e.Changes)),
		pg.Fixed("request_id", &e.Request),
		pg.Fixed("address", &e.Address),
		pg.Fixed("client", &e.Client),
		pg.Fixed("occurred_at", &e.At),
		pg.Read("a.actor_name", &e.ActorName),
	}
})

var (
	insertAudit = pg.SQL(`
insert into audit_entries (` + audit.Names() + `, actor_name) values (` + audit.Parameters() + `, coalesce(
  (select name from members where tenant_id = $1 and id = ` + audit.Extra(1) + `),
  (select name from service_accounts where tenant_id = $1 and id = ` + audit.Extra(2) + `), ''))`)
	listAudit = pg.SQL(`select ` + audit.Columns() + ` from audit_entries a
where a.tenant_id = $1
  and ($2::text[] is null or actor = any($2))
  and ($3 = '' or $3 =` + actorKind + `)
  and ($4 = '' or action = $4)
  and ($5 = '' or target_kind = $5)
  and ($6 = '' or target_id = $6)
  and ($7::uuid is null or batch_id = $7)
  and ($8::timestamptz is null or occurred_at >= $8) and ($9::timestamptz is null or occurred_at < $9)
  and ($10::timestamptz is null or (occurred_at, id) < ($10, $11::uuid))
order by occurred_at desc, id desc limit $12`)
)

// AppendAudit inserts an entry, with the current name of its actor.
func AppendAudit(tx *pg.Tx, in tenant.TenantID, e AuditEntry) {
	// The actor is a member, a service account or the service. At most one of the two ids exists.
	member, _ := tenant.Parse[tenant.MemberID](e.Actor) // zero if it is none
	account, err := tenant.Parse[tenant.ServiceAccountID](strings.TrimPrefix(e.Actor, tenant.AccountPrefix))
	if err != nil {
		e.Subject, e.Address, e.Client = "", "", "" // the service itself has no token, and acts from nowhere
	}
	tx.Write(insertAudit, append(audit.Insert(in, &e), member, account)...)
}

// IsAudited reads whether an actor has done something to a target since a time.
func IsAudited(b *pg.Batch, in tenant.TenantID, actor, action, kind, target string, since time.Time, into *bool) {
	b.Queue(`
select exists (select from audit_entries
  where tenant_id = $1 and target_kind = $4 and target_id = $5 and occurred_at >= $6 and actor = $2 and action = $3)`,
		in, actor, action, kind, target, since).Scan(into)
}

// AuditQuery selects entries. A zero field selects all.
type AuditQuery struct {
	Actor       tenant.UUID // the id of a member or a service account
	ActorKind   ActorKind
	Action      string
	TargetKind  string
	TargetID    string
	Batch       tenant.BatchID
	From, Until time.Time // half-open
	AfterAt     time.Time // keyset: the last time and id of the page before
	AfterID     tenant.AuditID
	Limit       int
}

// ListAudit reads entries by time, then id, the newest first.
func ListAudit(b *pg.Batch, in tenant.TenantID, q AuditQuery, into *[]AuditEntry) {
	var actors []string
	if !q.Actor.IsZero() {
		actors = []string{q.Actor.String(), tenant.AccountPrefix + q.Actor.String()}
	}
	audit.List(b.Queue(listAudit, in, actors, q.ActorKind, q.Action, q.TargetKind, q.TargetID, q.Batch,
		pg.OrNull(q.From), pg.OrNull(q.Until), pg.OrNull(q.AfterAt), q.AfterID, q.Limit), into)
}
