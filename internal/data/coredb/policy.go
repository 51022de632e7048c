package coredb

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/settings"
)

// policyColumns returns the columns that store settings of a policy.
func policyColumns(
	rows settings.Table[catalog.PolicyLayer, catalog.BookingPolicy], p *catalog.PolicyLayer,
) []pg.Column {
	return pg.Array(rows, func(row settings.Row[catalog.PolicyLayer, catalog.BookingPolicy]) pg.Column {
		pointer := row.Pointer(p)
		if of, ok := pointer.(**map[string]catalog.TierPolicy); ok {
			pointer = tiers{of}
		}
		return pg.Col(row.Column(), pointer)
	})
}

// Policies is the table of what each level sets. It has no waitlist_enabled, which belongs to the waitlist rules.
var Policies = pg.NewTable("p", func(p *catalog.PolicyLayer) []pg.Column {
	return slices.Concat(
		[]pg.Column{pg.Key("level", &p.Level), pg.Key("scope_id", &p.Scope)},
		policyColumns(catalog.PolicyFields, p),
		[]pg.Column{pg.Col("version", &p.Version), pg.Col("updated_at", &p.UpdatedAt)},
	)
})

// PolicyRow is scanned from the policy in force for a session: the last level that sets a value wins.
type PolicyRow struct {
	layer catalog.PolicyLayer
}

// PolicyJoins joins the policies of the three levels to a session `s`, by primary key.
const PolicyJoins = `
  left join policies pt on pt.tenant_id = s.tenant_id and pt.level = 'TENANT' and pt.scope_id = s.tenant_id
  left join policies pl on pl.tenant_id = s.tenant_id and pl.level = 'LOCATION' and pl.scope_id = s.location_id
  left join policies pv on pv.tenant_id = s.tenant_id and pv.level = 'SERVICE' and pv.scope_id = s.service_id`

var policyInForce = pg.Expressions(
	policyColumns(catalog.AllPolicyFields, new(catalog.PolicyLayer)),
	func(name string) string { return fmt.Sprintf("coalesce(pv.%[1]s, pl.%[1]s, pt.%[1]s)", name) },
)

// Columns returns the columns from PolicyJoins.
func (r *PolicyRow) Columns() []pg.Column {
	return pg.As(policyColumns(catalog.AllPolicyFields, &r.layer), policyInForce)
}

// Policy returns the policy in force.
func (r *PolicyRow) Policy() catalog.BookingPolicy {
	policy := catalog.Defaults()
	catalog.AllPolicyFields.Apply(&r.layer, &policy)
	return policy
}

// tiers is the column policies.tier_cancellations: the settings by the tier's name. NULL inherits; an empty object does
// not.
type tiers struct {
	of **map[string]catalog.TierPolicy
}

type tierRow struct {
	CancellationWindowSeconds *int64 `json:"cancellation_window_seconds,omitempty"`
	AllowReschedule           *bool  `json:"allow_reschedule,omitempty"`
}

// Target implements pg.Field.
func (t tiers) Target() any { return t }

// ScanBytes implements pgtype.BytesScanner.
func (t tiers) ScanBytes(text []byte) error {
	*t.of = nil
	if text == nil {
		return nil
	}
	var rows map[string]tierRow
	if err := json.Unmarshal(text, &rows); err != nil {
		return fmt.Errorf("policy tiers: %w", err)
	}
	all := make(map[string]catalog.TierPolicy, len(rows))
	for name, row := range rows {
		tier := catalog.TierPolicy{AllowReschedule: row.AllowReschedule}
		if row.CancellationWindowSeconds != nil {
			tier.CancellationWindow = new(time.Duration(*row.CancellationWindowSeconds) * time.Second)
		}
		all[name] = tier
	}
	*t.of = &all
	return nil
}

// Value implements pg.Field.
func (t tiers) Value() any {
	if *t.of == nil {
		return nil
	}
	rows := make(map[string]tierRow, len(**t.of))
	for name, tier := range **t.of {
		row := tierRow{AllowReschedule: tier.AllowReschedule}
		if tier.CancellationWindow != nil {
			row.CancellationWindowSeconds = new(int64(*tier.CancellationWindow / time.Second))
		}
		rows[name] = row
	}
	return pg.Encode(rows)
}
