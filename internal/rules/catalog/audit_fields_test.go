package catalog_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

func TestAuditChanges_ListsOnlyFieldsThatDiffer(t *testing.T) {
	t.Parallel()
	before := catalog.Location{Name: "Pier 1", TimeZone: "Europe/Lisbon", Channels: catalog.Channels(), Active: true}
	after := vary.From(before, set{
		"Point": &catalog.Point{Latitude: 38.7, Longitude: -9.1}, "Channels": []catalog.Channel{catalog.Online},
	})
	for name, c := range map[string]struct {
		changes map[string]any
		want    string
	}{
		"a tenant": {
			catalog.AuditChanges(nil, catalog.Tenant{
				Name: "Harbour", TimeZone: "UTC", Locale: "pt-PT", Currency: "EUR", TakesPayments: true,
				Brand: brand.Brand{LogoURL: "https://a", Accent: "#0b6e4f"},
			}.AuditFields()),
			`{"after":{"audit_member_reads":false,"brand.accent_color":"#0b6e4f","brand.logo_url":"https://a",` +
				`"currency":"EUR","locale":"pt-PT","name":"Harbour","step_up.acr_values":[],"step_up.max_age":"0s",` +
				`"takes_payments":true,"time_zone":"UTC"}}`,
		},
		"a location": {
			catalog.AuditChanges(nil, catalog.Location{Name: "Pier", TimeZone: "UTC", Address: "Cais 1"}.AuditFields()),
			`{"after":{"active":false,"address":"Cais 1","channels":[],"geo":null,"name":"Pier","time_zone":"UTC"}}`,
		},
		"a service": {
			catalog.AuditChanges(nil, catalog.Service{
				Name: "Yoga", Description: "Calm", Category: "Mind", Duration: 1500 * time.Millisecond, DefaultCapacity: new(8),
				DefaultWaitlistCapacity: 5, MinParty: 1, MaxParty: 4, Delivery: catalog.Feed, Color: "#00aaff", Active: true,
			}.AuditFields()),
			`{"after":{"active":true,"category":"Mind","color":"#00aaff","default_capacity":8,` +
				`"default_waitlist_capacity":5,"delivery":"FEED","description":"Calm","duration":"1.5s","max_party":4,` +
				`"min_party":1,"name":"Yoga"}}`,
		},
		"a service without limit": {
			catalog.AuditChanges(catalog.Service{DefaultCapacity: new(8)}.AuditFields(), catalog.Service{}.AuditFields()),
			`{"after":{"default_capacity":null},"before":{"default_capacity":8}}`,
		},
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
				catalog.PolicyLayer{
					CancellationWindow: new(24 * time.Hour), TierCancellations: &map[string]catalog.TierPolicy{},
				}.AuditFields(),
				catalog.PolicyLayer{
					AllowReschedule:   new(false),
					TierCancellations: &map[string]catalog.TierPolicy{"member": {CancellationWindow: new(90 * time.Minute)}},
				}.AuditFields(),
			),
			`{"after":{"allow_reschedule":false,"cancellation_window":null,` +
				`"tier_cancellations":{"member":{"allow_reschedule":null,"cancellation_window":"5400s"}}},` +
				`"before":{"allow_reschedule":null,"cancellation_window":"86400s","tier_cancellations":{}}}`,
		},
	} {
		test.EqOp(t, c.want, string(expect.Value(json.Marshal(c.changes))(t)), test.Sprint(name))
	}
}
