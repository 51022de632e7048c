package waitlists

import (
	"encoding/hex"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// The hash is stored with the entry: an external reference that is sent again, to the next release too, has to match.
func TestJoinRequest_HashNeverChanges(t *testing.T) {
	t.Parallel()
	id := tenant.UUID{0: 1, 15: 2}
	r := JoinRequest{
		Member: tenant.MemberID{UUID: id}, Sessions: []tenant.SessionID{{UUID: id}},
		Window: &waitlist.Window{
			Service: tenant.ServiceID{UUID: id}, Location: tenant.LocationID{UUID: id}, Resource: tenant.ResourceID{UUID: id},
			From: civiltest.Date("2026-03-16"), Until: civiltest.Date("2026-03-17"),
			Earliest: civiltest.TimeOfDay("08:00"), Latest: civiltest.TimeOfDay("12:00"),
		},
		Party: 3, Coach: tenant.MemberID{UUID: id}, Subscription: tenant.SubscriptionID{UUID: id}, Channel: catalog.Online,
		ExternalRef: "ref", Note: "note",
	}
	for name, tt := range map[string]struct {
		request JoinRequest
		want    string
	}{
		"all fields": {r, "8659abe14804922a133874c750a3ad2198af3c743e1c8c5c47b77d42850a9fab"},
		"no fields":  {JoinRequest{}, "3af3ab9974210bc9c943e4a68246caa8e93dcefc2f1e7d242df5aa70bd579115"},
	} {
		test.EqOp(t, tt.want, hex.EncodeToString(tt.request.hash()), test.Sprint(name))
	}
}
