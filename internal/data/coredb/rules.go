package coredb

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
)

// policyColumns are what a level may say, apart from tiers.
func policyColumns(p *catalog.Policy) []pg.Column {
	return []pg.Column{
		pg.Col("advance_seconds", &p.Advance),
		pg.Col("booking_closes_seconds", &p.BookingCloses),
		pg.Col("cancellation_seconds", &p.Cancellation),
		pg.Col("allow_late_cancellation", &p.AllowLateCancellation),
		pg.Col("allow_reschedule", &p.AllowReschedule),
		pg.Col("hold_ttl_seconds", &p.HoldTTL),
		pg.Col("check_in_opens_seconds", &p.CheckInOpens),
		pg.Col("check_in_closes_seconds", &p.CheckInCloses),
		pg.Col("gps_max_meters", &p.GPSMaxMeters),
		pg.Col("auto_no_show", &p.AutoNoShow),
		pg.Col("auto_no_show_seconds", &p.AutoNoShowAfter),
	}
}

// Policies is what each level says for itself. waitlist_enabled belongs to the rules of waitlists: policies do not
// write it.
var Policies = pg.NewTable("p", func(p *catalog.Policy) []pg.Column {
	return slices.Concat(
		[]pg.Column{pg.Key("level", &p.Level), pg.Key("scope_id", &p.Scope)},
		policyColumns(p),
		[]pg.Column{pg.Col("tiers", tiers{&p.Tiers}), pg.Col("version", &p.Version), pg.Col("updated_at", &p.UpdatedAt)},
	)
})

// RuleRow receives the policy in force for a session. The most specific level that says something wins; lists of tiers
// are merged in Go.
type RuleRow struct {
	merged catalog.Policy
	tiers  [3]map[string]catalog.TierPolicy
}

// RuleJoins finds the policies of the three levels for a session `s`, by primary key.
const RuleJoins = `
  left join policies pt on pt.tenant_id = s.tenant_id and pt.level = 'TENANT' and pt.scope_id = s.tenant_id
  left join policies pl on pl.tenant_id = s.tenant_id and pl.level = 'LOCATION' and pl.scope_id = s.location_id
  left join policies pv on pv.tenant_id = s.tenant_id and pv.level = 'SERVICE' and pv.scope_id = s.service_id`

var rulesInForce = pg.Expressions(policyColumns(new(catalog.Policy)), func(name string) string {
	return fmt.Sprintf("coalesce(pv.%[1]s, pl.%[1]s, pt.%[1]s)", name)
})

// Columns go with RuleJoins.
func (r *RuleRow) Columns() []pg.Column {
	return append(pg.As(policyColumns(&r.merged), rulesInForce),
		pg.Read("coalesce(pv.waitlist_enabled, pl.waitlist_enabled, pt.waitlist_enabled)", &r.merged.WaitlistEnabled),
		pg.Read("pt.tiers", tiers{&r.tiers[0]}),
		pg.Read("pl.tiers", tiers{&r.tiers[1]}),
		pg.Read("pv.tiers", tiers{&r.tiers[2]}),
	)
}

// Rules gives the policy in force.
func (r *RuleRow) Rules() catalog.Rules {
	levels := []catalog.Policy{r.merged}
	for _, t := range r.tiers {
		if t != nil {
			levels = append(levels, catalog.Policy{Tiers: t})
		}
	}
	return catalog.Resolve(levels...)
}

// tiers is the column policies.tiers, by the tiers' names. No list is NULL; an empty one is not.
type tiers struct {
	of *map[string]catalog.TierPolicy
}

type tierRow struct {
	CancellationSeconds *int64 `json:"cancellation_seconds,omitempty"`
	AllowReschedule     *bool  `json:"allow_reschedule,omitempty"`
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
	*t.of = make(map[string]catalog.TierPolicy, len(rows))
	for name, row := range rows {
		says := catalog.TierPolicy{AllowReschedule: row.AllowReschedule}
		if row.CancellationSeconds != nil {
			says.Cancellation = new(time.Duration(*row.CancellationSeconds) * time.Second)
		}
		(*t.of)[name] = says
	}
	return nil
}

// Value implements pg.Field.
func (t tiers) Value() any {
	if *t.of == nil {
		return nil
	}
	rows := make(map[string]tierRow, len(*t.of))
	for name, says := range *t.of {
		row := tierRow{AllowReschedule: says.AllowReschedule}
		if says.Cancellation != nil {
			row.CancellationSeconds = new(int64(*says.Cancellation / time.Second))
		}
		rows[name] = row
	}
	return pg.Encode(rows)
}

// Latitude is the column of a point's latitude; no point is NULL. Longitude is read after it.
func Latitude(of **catalog.Point) pg.Field { return latitude{of} }

// Longitude is the column of a point's longitude.
func Longitude(of **catalog.Point) pg.Field { return longitude{of} }

type (
	latitude  struct{ of **catalog.Point }
	longitude struct{ of **catalog.Point }
)

// Target implements pg.Field.
func (l latitude) Target() any { return l }

// Target implements pg.Field.
func (l longitude) Target() any { return l }

// ScanFloat64 implements pgtype.Float64Scanner.
func (l latitude) ScanFloat64(v pgtype.Float8) error {
	*l.of = nil
	if v.Valid {
		*l.of = &catalog.Point{Latitude: v.Float64}
	}
	return nil
}

// ScanFloat64 implements pgtype.Float64Scanner. The database has both or none.
func (l longitude) ScanFloat64(v pgtype.Float8) error {
	if v.Valid {
		(*l.of).Longitude = v.Float64
	}
	return nil
}

// Value implements pg.Field.
func (l latitude) Value() any {
	if *l.of == nil {
		return nil
	}
	return (*l.of).Latitude
}

// Value implements pg.Field.
func (l longitude) Value() any {
	if *l.of == nil {
		return nil
	}
	return (*l.of).Longitude
}
