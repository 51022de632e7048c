package store

import (
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// ListRules reads what the tenant, a location and a service say about waitlists, in the order in which they win. Zero ids, and
// levels at which nothing was ever said, are left out.
func ListRules(b *pg.Batch, in tenant.TenantID, location tenant.LocationID, service tenant.ServiceID, into *[]waitlist.Layer) {
	pg.Collect(b.Queue(`
select level, scope_id, waitlist_enabled, waitlist_rules, rules_version from policies
where tenant_id = $1 and rules_version > 0 and (level, scope_id) in (('TENANT', $1), ('LOCATION', $2), ('SERVICE', $3))
order by array_position('{TENANT,LOCATION,SERVICE}', level)`, in, location, service), into, collectLayer)
}

// ListAllRules reads what every level of the tenant says.
func ListAllRules(b *pg.Batch, in tenant.TenantID, into *[]waitlist.Layer) {
	pg.Collect(b.Queue(`
select level, scope_id, waitlist_enabled, waitlist_rules, rules_version from policies where tenant_id = $1 and rules_version > 0
order by array_position('{TENANT,LOCATION,SERVICE}', level), scope_id`, in), into, collectLayer)
}

func collectLayer(row pgx.CollectableRow) (waitlist.Layer, error) {
	var l waitlist.Layer
	err := scanLayer(row, &l)
	return l, err
}

func scanLayer(row pgx.Row, l *waitlist.Layer, more ...any) error {
	var enabled *bool
	var rules []byte
	if err := row.Scan(append([]any{&l.Level, &l.Scope, &enabled, &rules, &l.Version}, more...)...); err != nil {
		return err
	}
	err := json.Unmarshal(rules, &l.Settings)
	l.Settings.Enabled = enabled
	return err
}

// RulesVersion is one edit of the rules.
type RulesVersion struct {
	waitlist.Layer
	Reset      bool
	Author     string
	AuthorName string
	Reason     string
	At         time.Time
}

// FindLastRulesVersion reads the number of the tenant's last edit; 0 where there was none.
func FindLastRulesVersion(b *pg.Batch, in tenant.TenantID, into *int) {
	b.Queue(`select coalesce(max(version), 0) from waitlist_rules_versions where tenant_id = $1`, in).Scan(into)
}

// RulesVersionQuery picks edits.
type RulesVersionQuery struct {
	Level  catalog.Level // empty: all
	Scope  tenant.UUID
	Before int // version; 0: all
	Limit  int // 0: all
}

// ListRulesVersions reads the edits that it picks, the newest first.
func ListRulesVersions(b *pg.Batch, in tenant.TenantID, q RulesVersionQuery, into *[]RulesVersion) {
	pg.Collect(b.Queue(`
select level, scope_id, enabled, rules, version, reset, author, author_name, reason, created_at from waitlist_rules_versions
where tenant_id = $1 and ($2 = '' or (level = $2 and scope_id = $3)) and ($4::bigint = 0 or version < $4::bigint)
order by version desc limit nullif($5, 0)`, in, q.Level, tenant.LocationID{UUID: q.Scope}, q.Before, q.Limit), into,
		func(row pgx.CollectableRow) (RulesVersion, error) {
			var v RulesVersion
			err := scanLayer(row, &v.Layer, &v.Reset, &v.Author, &v.AuthorName, &v.Reason, &v.At)
			return v, err
		})
}

// PutRules writes what a level says about waitlists with the transaction, and the edit that it came by.
func PutRules(tx *pg.Tx, in tenant.TenantID, v RulesVersion) {
	others := v.Settings
	others.Enabled = nil // it has a column of its own
	rules := encode(others)
	tx.Write(`
insert into policies (tenant_id, level, scope_id, waitlist_enabled, waitlist_rules, rules_version, rules_due, updated_at)
values ($1, $2, $3, $4, $5, $6, true, $7)
on conflict (tenant_id, level, scope_id) do update set waitlist_enabled = excluded.waitlist_enabled, waitlist_rules = excluded.waitlist_rules,
  rules_version = excluded.rules_version, rules_due = true`, in, v.Level, v.Scope, v.Settings.Enabled, rules, v.Version, v.At)
	tx.Write(`
insert into waitlist_rules_versions (tenant_id, version, level, scope_id, enabled, rules, reset, author, author_name, reason, created_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		in, v.Version, v.Level, v.Scope, v.Settings.Enabled, rules, v.Reset, v.Author, v.AuthorName, v.Reason, v.At)
	renewHouse(tx, in)
}

// EditedLevel is a level whose rules or policy were edited since anybody looked at the seats that are open under it.
type EditedLevel struct {
	Level         catalog.Level
	Scope         tenant.UUID
	Rules, Policy int // their versions
}

// ListEditedLevels reads them all.
func ListEditedLevels(b *pg.Batch, in tenant.TenantID, into *[]EditedLevel) {
	pg.Collect(b.Queue(`
select level, scope_id, rules_version, version from policies where tenant_id = $1 and rules_due
order by array_position('{TENANT,LOCATION,SERVICE}', level), scope_id`, in), into, pgx.RowToStructByPos[EditedLevel])
}

// SettleLevel notes that somebody has looked, unless the level was edited again meanwhile.
func SettleLevel(tx *pg.Tx, in tenant.TenantID, l EditedLevel) {
	tx.Write(`
update policies set rules_due = false where tenant_id = $1 and level = $2 and scope_id = $3 and rules_version = $4 and version = $5`,
		in, l.Level, l.Scope, l.Rules, l.Policy)
}

// OpenSession is a session with open seats on a day for which somebody waits.
type OpenSession struct {
	ID       tenant.SessionID
	StartsAt time.Time
}

// ListOpenAwaited reads those that are not over and come under a level, behind the one given, as they start.
func ListOpenAwaited(b *pg.Batch, in tenant.TenantID, under EditedLevel, now time.Time, after OpenSession, limit int, into *[]OpenSession) {
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
join sessions s on s.tenant_id = $1 and s.location_id = q.location_id and s.service_id = q.service_id and s.local_date = q.local_date
where q.tenant_id = $1 and q.waiting > 0 and ($2::uuid is null or q.location_id = $2) and ($3::uuid is null or q.service_id = $3)
  and s.ends_at > $4 and s.state = 'PUBLISHED' and not s.blocked and s.deleted_at is null and (s.capacity is null or s.seats_taken < s.capacity)
  and (s.starts_at, s.id) > ($5, coalesce($6, '00000000-0000-0000-0000-000000000000'::uuid))
order by s.starts_at, s.id limit $7`, in, location, service, now, after.StartsAt, after.ID, limit), into, pgx.RowToStructByPos[OpenSession])
}
