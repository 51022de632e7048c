package waitlistdb

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// RulesVersion is one edit of the rules.
type RulesVersion struct {
	waitlist.Layer
	Reset     bool
	Actor     string
	ActorName string
	Reason    string
	At        time.Time
}

// layerRow is the settings of a level. Whether the waitlist is enabled has a column of its own, because every booking
// of a full session reads it.
type layerRow struct {
	waitlist.Layer
	enabled *bool
}

func (l *layerRow) value() (waitlist.Layer, error) {
	l.Settings.Enabled = l.enabled
	return l.Layer, nil
}

// versionRow is a row of waitlist_rules_versions.
type versionRow struct {
	RulesVersion
	enabled *bool
}

var (
	layers = pg.ReadAs(func(l *layerRow) []pg.Column {
		return []pg.Column{
			pg.Read("p.level", &l.Level),
			pg.Read("p.scope_id", &l.Scope),
			pg.Read("p.waitlist_enabled", &l.enabled),
			pg.Read("p.waitlist_rules", &l.Settings),
			pg.Read("p.rules_version", &l.Version),
		}
	}, (*layerRow).value)
	versionRows = pg.NewTable("r", func(v *versionRow) []pg.Column {
		return []pg.Column{
			pg.Key("version", &v.Version),
			pg.Fixed("level", &v.Level),
			pg.Fixed("scope_id", &v.Scope),
			pg.Fixed("enabled", &v.enabled),
			pg.Fixed("rules", pg.JSON(&v.Settings)),
			pg.Fixed("reset", &v.Reset),
			pg.Fixed("actor", &v.Actor),
			pg.Fixed("actor_name", &v.ActorName),
			pg.Fixed("reason", &v.Reason),
			pg.Fixed("created_at", &v.At),
		}
	})
	versions = pg.ReadAs(versionRows.Of, func(v *versionRow) (RulesVersion, error) {
		v.Settings.Enabled = v.enabled
		return v.RulesVersion, nil
	})
)

var (
	listRules = pg.SQL(`select ` + layers.Columns() + ` from policies p
where p.tenant_id = $1 and p.rules_version > 0
  and (p.level, p.scope_id) in (('TENANT', $1), ('LOCATION', $2), ('SERVICE', $3))
order by array_position('{TENANT,LOCATION,SERVICE}', p.level)`)
	listAllRules = pg.SQL(`select ` + layers.Columns() + ` from policies p
where p.tenant_id = $1 and p.rules_version > 0
order by array_position('{TENANT,LOCATION,SERVICE}', p.level), p.scope_id`)
	listRulesVersions = pg.SQL(`select ` + versions.Columns() + ` from waitlist_rules_versions r
where r.tenant_id = $1 and ($2 = '' or (r.level = $2 and r.scope_id = $3))
  and ($4::bigint = 0 or r.version < $4::bigint)
order by r.version desc limit nullif($5, 0)`)
	insertRulesVersion = pg.SQL(`insert into waitlist_rules_versions ` + versionRows.Values())
)

// ListRules reads the waitlist settings of the tenant, a location and a service, in the order in which they override
// each other. It leaves out zero ids and levels without settings.
func ListRules(
	b *pg.Batch, in tenant.TenantID, location tenant.LocationID, service tenant.ServiceID, into *[]waitlist.Layer,
) {
	layers.List(b.Queue(listRules, in, location, service), into)
}

// ListAllRules reads the waitlist settings of all levels of the tenant.
func ListAllRules(b *pg.Batch, in tenant.TenantID, into *[]waitlist.Layer) {
	layers.List(b.Queue(listAllRules, in), into)
}

// FindLastRulesVersion reads the version of the tenant's last edit; 0 if there was none.
func FindLastRulesVersion(b *pg.Batch, in tenant.TenantID, into *int) {
	b.Queue(`select coalesce(max(version), 0) from waitlist_rules_versions where tenant_id = $1`, in).Scan(into)
}

// RulesVersionQuery selects edits of the rules.
type RulesVersionQuery struct {
	Level  catalog.Level // empty: all
	Scope  tenant.UUID
	Before int // a version; 0: all
	Limit  int // 0: all
}

// ListRulesVersions reads edits, the newest first.
func ListRulesVersions(b *pg.Batch, in tenant.TenantID, q RulesVersionQuery, into *[]RulesVersion) {
	versions.List(b.Queue(listRulesVersions, in, q.Level, tenant.LocationID{UUID: q.Scope}, q.Before, q.Limit), into)
}

// PutRules writes the waitlist settings of a level, and the edit that set them, with the transaction.
func PutRules(tx *pg.Tx, in tenant.TenantID, v RulesVersion) {
	row := versionRow{v, v.Settings.Enabled}
	row.Settings.Enabled = nil // it has a column of its own
	tx.Write(`
insert into policies (
  tenant_id, level, scope_id, waitlist_enabled, waitlist_rules, rules_version, rules_due, updated_at)
values ($1, $2, $3, $4, $5, $6, true, $7)
on conflict (tenant_id, level, scope_id) do update set waitlist_enabled = excluded.waitlist_enabled,
  waitlist_rules = excluded.waitlist_rules, rules_version = excluded.rules_version, rules_due = true`,
		in, v.Level, v.Scope, row.enabled, pg.Encode(row.Settings), v.Version, v.At)
	tx.Write(insertRulesVersion, versionRows.Insert(in, &row)...)
	coredb.RenewSnapshot(tx, in)
}

// EditedLevel is a level whose rules or policy were edited since the open seats of its sessions were last filled.
type EditedLevel struct {
	Level         catalog.Level
	Scope         tenant.UUID
	Rules, Policy int // their versions
}

// ListEditedLevels reads all edited levels of a tenant.
func ListEditedLevels(b *pg.Batch, in tenant.TenantID, into *[]EditedLevel) {
	pg.Collect(b.Queue(`
select level, scope_id, rules_version, version from policies where tenant_id = $1 and rules_due
order by array_position('{TENANT,LOCATION,SERVICE}', level), scope_id`, in), into, pgx.RowToStructByPos[EditedLevel])
}

// SettleLevel marks a level as filled, unless it was edited again since.
func SettleLevel(tx *pg.Tx, in tenant.TenantID, l EditedLevel) {
	tx.Write(`
update policies set rules_due = false
where tenant_id = $1 and level = $2 and scope_id = $3 and rules_version = $4 and version = $5`,
		in, l.Level, l.Scope, l.Rules, l.Policy)
}

// OpenSession is a session with open seats whose queue is not empty.
type OpenSession struct {
	ID       tenant.SessionID
	StartsAt time.Time
}

// ListOpenAwaited reads such sessions under a level that have not ended, in the order of their starts, after the given
// one.
func ListOpenAwaited(
	b *pg.Batch, in tenant.TenantID, under EditedLevel, now time.Time, after OpenSession, limit int, into *[]OpenSession,
) {
	var location tenant.LocationID
	var service tenant.ServiceID
	switch under.Level {
	case catalog.LocationLevel:
		location.UUID = under.Scope
	case catalog.ServiceLevel:
		service.UUID = under.Scope
	case catalog.TenantLevel, catalog.Default: // all of it
	}
	pg.Collect(b.Queue(`
select s.id, s.starts_at from waitlist_queues q
join sessions s on s.tenant_id = $1
  and s.location_id = q.location_id and s.service_id = q.service_id and s.local_date = q.local_date
where q.tenant_id = $1 and q.waiting > 0
  and ($2::uuid is null or q.location_id = $2) and ($3::uuid is null or q.service_id = $3)
  and s.ends_at > $4 and s.state = 'PUBLISHED' and not s.blocked and s.deleted_at is null
  and (s.capacity is null or s.seats_taken < s.capacity)
  and (s.starts_at, s.id) > ($5, coalesce($6, '00000000-0000-0000-0000-000000000000'::uuid))
order by s.starts_at, s.id limit $7`, in, location, service, now, after.StartsAt, after.ID, limit), into,
		pgx.RowToStructByPos[OpenSession])
}
