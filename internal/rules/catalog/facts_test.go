package catalog_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/rules/catalog"
)

func TestAuditChanges_ListsOnlyFieldsThatDiffer(t *testing.T) {
	t.Parallel()
	before := catalog.Location{Name: "Pier 1", TimeZone: "Europe/Lisbon", Channels: catalog.Channels(), Active: true}
	after := before
	after.Point = &catalog.Point{Latitude: 38.7, Longitude: -9.1}
	after.Channels = []catalog.Channel{catalog.Online}

	for name, c := range map[string]struct {
		changes map[string]any
		want    string
	}{
		"created": {
			catalog.AuditChanges(nil, catalog.Resource{Name: "Court"}.AuditFields()),
			`{"after":{"active":false,"kind":"","location_id":"00000000-0000-0000-0000-000000000000","name":"Court"}}`,
		},
		"edited": {
			catalog.AuditChanges(before.AuditFields(), after.AuditFields()),
			`{"after":{"channels":["ONLINE"],"geo":{"latitude":38.7,"longitude":-9.1}},` +
				`"before":{"channels":["ONLINE","PHONE","WALK_IN"],"geo":null}}`,
		},
		"same": {catalog.AuditChanges(after.AuditFields(), after.AuditFields()), `null`},
		"same channels in another order": {
			catalog.AuditChanges(before.AuditFields(), catalog.Location{
				Name: "Pier 1", TimeZone: "Europe/Lisbon", Active: true,
				Channels: []catalog.Channel{catalog.WalkIn, catalog.Online, catalog.Phone},
			}.AuditFields()),
			`null`,
		},
		"policy": {
			catalog.AuditChanges(
				catalog.Policy{Cancellation: new(24 * time.Hour), Tiers: &map[string]catalog.TierPolicy{}}.AuditFields(),
				catalog.Policy{
					AllowReschedule: new(false),
					Tiers:           &map[string]catalog.TierPolicy{"member": {Cancellation: new(90 * time.Minute)}},
				}.AuditFields(),
			),
			`{"after":{"allow_reschedule":false,"cancellation_window":null,` +
				`"tier_cancellations":{"member":{"allow_reschedule":null,"cancellation_window":"5400s"}}},` +
				`"before":{"allow_reschedule":null,"cancellation_window":"86400s","tier_cancellations":{}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(c.changes)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
