package store

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/settings"
	"github.com/berthhq/berth/internal/tenant"
)

// policyList returns an SQL list with one item for each row. In the item, ? is the row's column and # is the number of
// its parameter in putPolicy.
func policyList(rows settings.Table[catalog.Policy, catalog.Rules], item string) string {
	items := make([]string, len(rows))
	for i, row := range rows {
		items[i] = strings.NewReplacer("?", row.Column(), "#", strconv.Itoa(i+6)).Replace(item)
	}
	return strings.Join(items, ", ")
}

var (
	policyColumns = `
  level, scope_id, version, updated_at, ` + policyList(catalog.RuleFields, "?")

	// ruleColumns and ruleJoins read the policy in force for a session `s`: the last level that sets a value wins.
	ruleColumns = policyList(catalog.RuleFields, `
  coalesce(pv.?, pl.?, pt.?)`)

	putPolicy = `
insert into policies (tenant_id, level, scope_id, version, updated_at, rules_due,
  ` + policyList(catalog.PolicyFields, "?") + `)
values ($1, $2, $3, $4, $5, true, ` + policyList(catalog.PolicyFields, "$#") + `)
on conflict (tenant_id, level, scope_id) do update set
  version = excluded.version, updated_at = excluded.updated_at, rules_due = true, ` +
		policyList(catalog.PolicyFields, "? = excluded.?")
)

const ruleJoins = `
  left join policies pt on pt.tenant_id = s.tenant_id and pt.level = 'TENANT' and pt.scope_id = s.tenant_id
  left join policies pl on pl.tenant_id = s.tenant_id and pl.level = 'LOCATION' and pl.scope_id = s.location_id
  left join policies pv on pv.tenant_id = s.tenant_id and pv.level = 'SERVICE' and pv.scope_id = s.service_id`

// ruleTargets receives the columns of catalog.RuleFields. NULL inherits.
type ruleTargets struct {
	policy catalog.Policy
	tiers  []byte
}

func (t *ruleTargets) list() []any {
	targets := make([]any, len(catalog.RuleFields))
	for i, row := range catalog.RuleFields {
		switch into := row.Pointer(&t.policy).(type) {
		case **time.Duration:
			targets[i] = secondsTarget{into}
		case **map[string]catalog.TierPolicy:
			targets[i] = &t.tiers
		default:
			targets[i] = into
		}
	}
	return targets
}

func (t *ruleTargets) rules() (catalog.Rules, error) {
	var err error
	t.policy.Tiers, err = decodeTiers(t.tiers)
	rules := catalog.Defaults()
	catalog.RuleFields.Apply(&t.policy, &rules)
	return rules, err
}

// secondsTarget receives a duration, which columns store in seconds.
type secondsTarget struct{ into **time.Duration }

// ScanInt64 implements pgtype.Int64Scanner.
func (t secondsTarget) ScanInt64(n pgtype.Int8) error {
	if *t.into = nil; n.Valid {
		*t.into = duration(&n.Int64)
	}
	return nil
}

// ListPolicies reads what the tenant, a location and a service set, in the order of precedence. Zero ids are left out,
// and so are levels that never set anything.
func ListPolicies(
	b *pg.Batch, in tenant.TenantID, location tenant.LocationID, service tenant.ServiceID, into *[]catalog.Policy,
) {
	pg.Collect(b.Queue(`select`+policyColumns+` from policies
where tenant_id = $1 and version > 0
  and (level, scope_id) in (('TENANT', $1), ('LOCATION', $2), ('SERVICE', $3))
order by array_position('{TENANT,LOCATION,SERVICE}', level)`, in, location, service), into,
		func(row pgx.CollectableRow) (catalog.Policy, error) {
			p, err := scanPolicy(row)
			p.WaitlistEnabled = nil // it belongs to the waitlist rules
			return p, err
		})
}

func scanPolicy(row pgx.Row) (catalog.Policy, error) {
	var t ruleTargets
	p := &t.policy
	if err := row.Scan(append([]any{&p.Level, &p.Scope, &p.Version, &p.UpdatedAt}, t.list()...)...); err != nil {
		return *p, err
	}
	var err error
	p.Tiers, err = decodeTiers(t.tiers)
	return *p, err
}

// PutPolicy queues the write of what a level sets, whether or not it has set anything before. Open seats may then go to
// members who wait, so the level is due for another look, as after an edit of its waitlist rules.
func PutPolicy(tx *pg.Tx, in tenant.TenantID, p catalog.Policy) {
	args := []any{in, p.Level, p.Scope, p.Version, p.UpdatedAt}
	for _, row := range catalog.PolicyFields {
		switch value := row.Value(&p).(type) {
		case time.Duration:
			args = append(args, int64(value/time.Second))
		case map[string]catalog.TierPolicy:
			args = append(args, encodeTiers(value))
		default:
			args = append(args, value)
		}
	}
	tx.Write(putPolicy, args...)
	renewHouse(tx, in)
}

// tierRow is a tier's policy in the column policies.tiers.
type tierRow struct {
	CancellationSeconds *int64 `json:"cancellation_seconds,omitempty"`
	AllowReschedule     *bool  `json:"allow_reschedule,omitempty"`
}

func decodeTiers(text []byte) (*map[string]catalog.TierPolicy, error) {
	if text == nil {
		return nil, nil
	}
	var rows map[string]tierRow
	if err := json.Unmarshal(text, &rows); err != nil {
		return nil, fmt.Errorf("policy tiers: %w", err)
	}
	tiers := make(map[string]catalog.TierPolicy, len(rows))
	for name, row := range rows {
		tiers[name] = catalog.TierPolicy{
			Cancellation: duration(row.CancellationSeconds), AllowReschedule: row.AllowReschedule,
		}
	}
	return &tiers, nil
}

func encodeTiers(tiers map[string]catalog.TierPolicy) []byte {
	rows := make(map[string]tierRow, len(tiers))
	for name, says := range tiers {
		rows[name] = tierRow{CancellationSeconds: seconds(says.Cancellation), AllowReschedule: says.AllowReschedule}
	}
	text, err := json.Marshal(rows)
	if err != nil {
		panic("store: policy tiers: " + err.Error()) // plain values
	}
	return text
}
