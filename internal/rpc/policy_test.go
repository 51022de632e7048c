package rpc

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/testkit/expect"
)

const (
	tenantLevel   = v1.SettingLevel_SETTING_LEVEL_TENANT
	locationLevel = v1.SettingLevel_SETTING_LEVEL_LOCATION
	serviceLevel  = v1.SettingLevel_SETTING_LEVEL_SERVICE
)

func hours(n int) *durationpb.Duration { return durationpb.New(time.Duration(n) * time.Hour) }

func builtInPolicy() *v1.Policy {
	return &v1.Policy{
		AdvanceWindow: hours(30 * 24), BookingClosesBefore: hours(0), CancellationWindow: hours(24),
		AllowLateCancellation: new(false), AllowReschedule: new(false), TierCancellations: &v1.TierCancellations{},
		HoldTtl: durationpb.New(10 * time.Minute), CheckInOpensBefore: hours(1),
		CheckInClosesAfterEnd: durationpb.New(30 * time.Minute),
		GpsMaxMeters:          new(int32(200)), AutoNoShow: new(false),
		AutoNoShowAfter: durationpb.New(30 * time.Minute), CheckInRequiresQr: new(false), AutoNoShowAfterStart: hours(0),
	}
}

// policyEdit asks for the values of a layer.
func policyEdit(layer *v1.PolicyLayer, paths ...string) *v1.UpdatePolicyRequest {
	values := layer.GetPolicy()
	if values == nil {
		values = new(v1.Policy)
	}
	return &v1.UpdatePolicyRequest{
		Level: layer.GetLevel(), TargetId: layer.GetTargetId(), Policy: values, UpdateMask: mask(paths...),
		Etag: layer.GetEtag(),
	}
}

func (tt *tenantTest) setPolicy(t *testing.T, layer *v1.PolicyLayer, paths ...string) *v1.UpdatePolicyResponse {
	t.Helper()
	return expect.Value(tt.UpdatePolicy(
		t.Context(), as(tt.owner, policyEdit(layer, paths...)),
	))(t).Msg
}

func TestPolicy_RoundTripsEveryField(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	at, of := s.location(t, &v1.LocationInput{Name: "Pier 1"}).GetId(), s.service(
		t, &v1.ServiceInput{Name: "Vinyasa", Duration: hours(1)},
	).GetId()
	effective := func() *v1.EffectivePolicy {
		t.Helper()
		return expect.Value(s.GetPolicy(
			t.Context(), as(s.Token(t, "coach"), &v1.GetPolicyRequest{LocationId: at, ServiceId: of}),
		))(t).Msg.GetEffective()
	}

	// Every field is set and has an origin, in the order of the contract.
	fields := (&v1.Policy{}).ProtoReflect().Descriptor().Fields()
	want := &v1.EffectivePolicy{Policy: builtInPolicy()}
	for i := range fields.Len() {
		want.Origins = append(
			want.Origins, &v1.SettingOrigin{Field: string(fields.Get(i).Name()), Level: v1.SettingLevel_SETTING_LEVEL_DEFAULT},
		)
	}
	want.Layers = []*v1.PolicyLayer{
		{Level: v1.SettingLevel_SETTING_LEVEL_DEFAULT, Policy: builtInPolicy()},
		{Level: tenantLevel, Policy: &v1.Policy{}, Etag: "v0"},
		{Level: locationLevel, TargetId: at, Policy: &v1.Policy{}, Etag: "v0"},
		{Level: serviceLevel, TargetId: of, Policy: &v1.Policy{}, Etag: "v0"},
	}
	must.Eq(t, want, effective(), must.Cmp(protocmp.Transform()))

	tiers := &v1.TierCancellations{Overrides: []*v1.TierCancellation{
		{Tier: "member", CancellationWindow: hours(4), AllowReschedule: new(true)},
		{Tier: "visitor", CancellationWindow: hours(48)},
	}}
	s.setPolicy(t, &v1.PolicyLayer{
		Level: tenantLevel, Policy: &v1.Policy{CancellationWindow: hours(12), HoldTtl: hours(1), TierCancellations: tiers},
		Etag: "v0",
	},
		"cancellation_window", "tier_cancellations") // hold_ttl is sent, but not in the mask
	s.setPolicy(
		t, &v1.PolicyLayer{Level: serviceLevel, TargetId: of, Policy: &v1.Policy{GpsMaxMeters: new(int32(50))}},
		"gps_max_meters",
	)
	set := s.setPolicy(t, &v1.PolicyLayer{Level: locationLevel, TargetId: at, Policy: &v1.Policy{
		CancellationWindow: hours(0), GpsMaxMeters: new(int32(100)), TierCancellations: &v1.TierCancellations{},
	}}, "cancellation_window", "gps_max_meters", "tier_cancellations", "allow_reschedule")

	atLocation := &v1.PolicyLayer{
		Level: locationLevel, TargetId: at, Etag: "v1",
		Policy: &v1.Policy{
			CancellationWindow: hours(0), GpsMaxMeters: new(int32(100)), TierCancellations: &v1.TierCancellations{},
		},
	}
	untimed := protocmp.IgnoreFields(&v1.PolicyLayer{}, "update_time")
	test.Eq(t, atLocation, set.GetLayer(), test.Cmp(protocmp.Transform(), untimed))
	must.SliceLen(t, 3, set.GetEffective().GetLayers())
	test.NotNil(t, set.GetLayer().GetUpdateTime())
	want.Policy.CancellationWindow, want.Policy.GpsMaxMeters = hours(0), new(int32(50))
	want.Origins[2].Level, want.Origins[2].TargetId = locationLevel, at
	want.Origins[5].Level, want.Origins[5].TargetId = locationLevel, at
	want.Origins[9].Level, want.Origins[9].TargetId = serviceLevel, of
	want.Layers[1].Policy, want.Layers[1].Etag = &v1.Policy{CancellationWindow: hours(12), TierCancellations: tiers}, "v1"
	want.Layers[2] = atLocation
	want.Layers[3].Policy, want.Layers[3].Etag = &v1.Policy{GpsMaxMeters: new(int32(50))}, "v1"
	test.Eq(t, want, effective(), test.Cmp(protocmp.Transform(), untimed))

	// Fields in the mask that are not sent are inherited, including the tenant's tiers.
	s.setPolicy(
		t, &v1.PolicyLayer{Level: locationLevel, TargetId: at, Etag: "v1"}, "cancellation_window", "tier_cancellations",
	)
	got := effective()
	test.Eq(t, tiers, got.GetPolicy().GetTierCancellations(), test.Cmp(protocmp.Transform()))
	test.EqOp(t, tenantLevel, got.GetOrigins()[2].GetLevel())
	test.EqOp(t, "", got.GetOrigins()[2].GetTargetId())
	test.EqOp(t, 12*time.Hour, got.GetPolicy().GetCancellationWindow().AsDuration())

	// Every field round-trips.
	all := make([]string, fields.Len())
	for i := range all {
		all[i] = string(fields.Get(i).Name())
	}
	full := &v1.Policy{
		AdvanceWindow: hours(1), BookingClosesBefore: hours(2), CancellationWindow: hours(3),
		AllowLateCancellation: new(true),
		AllowReschedule:       new(true), TierCancellations: tiers, HoldTtl: hours(4), CheckInOpensBefore: hours(5),
		CheckInClosesAfterEnd: hours(6),
		GpsMaxMeters:          new(int32(700)), AutoNoShow: new(true), AutoNoShowAfter: hours(8),
		CheckInRequiresQr: new(true), AutoNoShowAfterStart: hours(9),
	}
	s.setPolicy(t, &v1.PolicyLayer{Level: serviceLevel, TargetId: of, Policy: full}, all...)
	test.Eq(t, full, effective().GetPolicy(), test.Cmp(protocmp.Transform()))
}

func TestUpdatePolicy_RejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	for name, c := range map[string]struct {
		layer *v1.PolicyLayer
		path  string
		want  string
	}{
		"no level": {
			&v1.PolicyLayer{}, "hold_ttl", "invalid_argument INVALID_FIELD",
		},
		"built in": {
			&v1.PolicyLayer{Level: v1.SettingLevel_SETTING_LEVEL_DEFAULT}, "hold_ttl",
			"invalid_argument INVALID_FIELD",
		},
		"no target": {
			&v1.PolicyLayer{Level: serviceLevel}, "hold_ttl",
			"invalid_argument INVALID_FIELD",
		},
		"target of a tenant": {
			&v1.PolicyLayer{Level: tenantLevel, TargetId: someSession}, "hold_ttl",
			"invalid_argument INVALID_FIELD",
		},
		"unknown path": {
			&v1.PolicyLayer{Level: tenantLevel}, "holding", "invalid_argument INVALID_FIELD",
		},
		"absent location": {
			&v1.PolicyLayer{Level: locationLevel, TargetId: someSession}, "hold_ttl",
			"not_found LOCATION_NOT_FOUND",
		},
		"absent service": {
			&v1.PolicyLayer{Level: serviceLevel, TargetId: someSession}, "hold_ttl",
			"not_found SERVICE_NOT_FOUND",
		},
		"stale": {
			&v1.PolicyLayer{Level: tenantLevel, Etag: "v1"}, "hold_ttl",
			"aborted ETAG_MISMATCH",
		},
		"fraction": {
			&v1.PolicyLayer{Level: tenantLevel, Policy: &v1.Policy{HoldTtl: durationpb.New(time.Hour + time.Millisecond)}},
			"hold_ttl",
			"invalid_argument INVALID_FIELD policy.hold_ttl",
		},
		"same tier twice": {
			&v1.PolicyLayer{Level: tenantLevel, Policy: &v1.Policy{TierCancellations: &v1.TierCancellations{
				Overrides: []*v1.TierCancellation{
					{Tier: "member", CancellationWindow: hours(1)}, {Tier: "member", CancellationWindow: hours(2)},
				},
			}}}, "tier_cancellations", "invalid_argument INVALID_FIELD",
		},
	} {
		refused(t, c.want, test.Sprint(name))(s.UpdatePolicy(
			t.Context(), as(s.owner, policyEdit(c.layer, c.path)),
		))
	}
	refused(t, "LOCATION_NOT_FOUND")(s.GetPolicy(t.Context(), as(s.owner, &v1.GetPolicyRequest{LocationId: someSession})))
	refused(t, "SERVICE_NOT_FOUND")(s.GetPolicy(t.Context(), as(s.owner, &v1.GetPolicyRequest{ServiceId: someSession})))
}
