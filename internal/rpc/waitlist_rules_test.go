package rpc

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/genproto/googleapis/type/timeofday"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func minutes(n int) *durationpb.Duration { return durationpb.New(time.Duration(n) * time.Minute) }

// builtInRules are the rules of a tenant that set none.
func builtInRules() *v1.WaitlistRules {
	return &v1.WaitlistRules{
		Enabled: new(true), Mode: v1.WaitlistMode_WAITLIST_MODE_OFFER.Enum(), MaxQueueSize: new(int32(50)),
		OfferWindow:    minutes(30),
		MinOfferWindow: minutes(5), TimeFlexibility: minutes(60), MaxOffersPerEntry: &v1.WaitlistLimit{Max: new(int32(3))},
		MaxTriesPerSlot: &v1.WaitlistLimit{Max: new(int32(10))},
		AfterExpiry:     v1.WaitlistAfter_WAITLIST_AFTER_RETURN.Enum(),
		AfterDecline:    v1.WaitlistAfter_WAITLIST_AFTER_RETURN.Enum(), AutoCascade: new(true),
		ExpireStale: new(false), StaleAfter: hours(24), AllowDownFitting: new(true),
		Order:     v1.WaitlistOrder_WAITLIST_ORDER_JOIN_ORDER.Enum(),
		BaseScore: new(int32(100)), TierBonuses: &v1.WaitlistTierBonuses{}, EarlyBirdPointsPerDay: new(int32(0)),
		EarlyBirdMaxPoints:    new(int32(50)),
		EligibilityExpression: new(""), PriorityExpression: new(""),
		QuietHours: &v1.QuietHours{
			Start: &timeofday.TimeOfDay{Hours: 21}, End: &timeofday.TimeOfDay{Hours: 8},
		},
		OffersInQuietHours: new(false), AutoPromoteCutoff: minutes(0), PromotionGrace: hours(1), FillAfterStart: minutes(0),
		SmsMinScore: new(int32(0)), PromoteAfterCancellationWindow: new(false), FillAfterStartSingle: minutes(15),
	}
}

// otherRules differ from builtInRules in every field.
func otherRules() *v1.WaitlistRules {
	return &v1.WaitlistRules{
		Enabled: new(false), Mode: v1.WaitlistMode_WAITLIST_MODE_FIRST_TO_CLAIM.Enum(), MaxQueueSize: new(int32(7)),
		OfferWindow:    hours(2),
		MinOfferWindow: minutes(1), TimeFlexibility: minutes(0), MaxOffersPerEntry: &v1.WaitlistLimit{},
		MaxTriesPerSlot: &v1.WaitlistLimit{Max: new(int32(4))},
		AfterExpiry:     v1.WaitlistAfter_WAITLIST_AFTER_CLOSE.Enum(),
		AfterDecline:    v1.WaitlistAfter_WAITLIST_AFTER_CLOSE.Enum(),
		AutoCascade:     new(false),
		ExpireStale:     new(true), StaleAfter: hours(1), AllowDownFitting: new(false),
		Order:     v1.WaitlistOrder_WAITLIST_ORDER_PRIORITY.Enum(),
		BaseScore: new(int32(0)), TierBonuses: &v1.WaitlistTierBonuses{
			Bonuses: []*v1.WaitlistTierBonus{{Tier: "gold", Points: 50}, {Tier: "silver"}},
		},
		EarlyBirdPointsPerDay: new(int32(2)), EarlyBirdMaxPoints: new(int32(0)),
		EligibilityExpression: new("entry.party_size < 3"),
		PriorityExpression:    new("100 - entry.party_size"),
		QuietHours: &v1.QuietHours{
			Start: &timeofday.TimeOfDay{Hours: 22, Minutes: 30}, End: &timeofday.TimeOfDay{Hours: 6},
		},
		OffersInQuietHours: new(true), AutoPromoteCutoff: hours(3), PromotionGrace: minutes(0), FillAfterStart: minutes(10),
		SmsMinScore: new(int32(120)), PromoteAfterCancellationWindow: new(true), FillAfterStartSingle: minutes(20),
	}
}

// rulesTest is a tenantTest with a client of its WaitlistService.
type rulesTest struct {
	*tenantTest
	berthv1connect.WaitlistServiceClient
	location, service string
}

func newRulesTest(t *testing.T) *rulesTest {
	t.Helper()
	o := newTenantTest(t)
	return &rulesTest{
		o, berthv1connect.NewWaitlistServiceClient(o.Client, o.URL),
		o.location(t, &v1.LocationInput{Name: "Pier 1"}).GetId(), o.service(
			t, &v1.ServiceInput{Name: "Vinyasa", Duration: hours(1)},
		).GetId(),
	}
}

func (r *rulesTest) update(t *testing.T, change *v1.UpdateWaitlistRulesRequest) {
	t.Helper()
	expect.OK(t)(r.UpdateWaitlistRules(t.Context(), as(r.owner, change)))
}

// effective returns the effective rules for the service at the location.
func (r *rulesTest) effective(t *testing.T) *v1.EffectiveWaitlistRules {
	t.Helper()
	return expect.Value(r.GetWaitlistRules(
		t.Context(), as(r.Token(t, "admin"), &v1.GetWaitlistRulesRequest{LocationId: r.location, ServiceId: r.service}),
	))(t).Msg.GetEffective()
}

// A tenant without rules has the defaults, each with its origin. Each field is set and reset separately, and the last
// level that sets it is its origin.
func TestWaitlistRules_RoundTripEveryField(t *testing.T) {
	t.Parallel()
	s := newRulesTest(t)
	fields := (&v1.WaitlistRules{}).ProtoReflect().Descriptor().Fields()
	want := &v1.EffectiveWaitlistRules{Rules: builtInRules()}
	var names []string
	for i := range fields.Len() {
		names = append(names, string(fields.Get(i).Name()))
		want.Origins = append(want.Origins, &v1.SettingOrigin{Field: names[i], Level: v1.SettingLevel_SETTING_LEVEL_DEFAULT})
	}
	want.Layers = []*v1.WaitlistRulesLayer{
		{Level: v1.SettingLevel_SETTING_LEVEL_DEFAULT, Rules: builtInRules()},
		{Level: tenantLevel, Rules: &v1.WaitlistRules{}, Etag: "v0"},
		{Level: locationLevel, TargetId: s.location, Rules: &v1.WaitlistRules{}, Etag: "v0"},
		{Level: serviceLevel, TargetId: s.service, Rules: &v1.WaitlistRules{}, Etag: "v0"},
	}
	must.Eq(t, want, s.effective(t), must.Cmp(protocmp.Transform()))

	levels := []struct {
		layer int
		at    v1.SettingLevel
		edit  *v1.UpdateWaitlistRulesRequest
	}{
		{1, tenantLevel, &v1.UpdateWaitlistRulesRequest{}},
		{2, locationLevel, &v1.UpdateWaitlistRulesRequest{LocationId: s.location}},
		{3, serviceLevel, &v1.UpdateWaitlistRulesRequest{ServiceId: s.service}},
	}
	var version int32
	wantEffective := func(level int, rules *v1.WaitlistRules, origin v1.SettingLevel, fields ...int) {
		t.Helper()
		version++
		want.Version = new(version)
		layer := want.Layers[levels[level].layer]
		layer.Version, layer.Etag = want.Version, fmt.Sprintf("v%d", version)
		for _, i := range fields {
			field := (&v1.WaitlistRules{}).ProtoReflect().Descriptor().Fields().Get(i)
			if origin == levels[level].at {
				layer.Rules.ProtoReflect().Set(field, rules.ProtoReflect().Get(field))
			} else {
				layer.Rules.ProtoReflect().Clear(field)
			}
			want.Rules.ProtoReflect().Set(field, rules.ProtoReflect().Get(field))
			want.Origins[i].Level = origin
			if want.Origins[i].TargetId = ""; origin != tenantLevel && origin != v1.SettingLevel_SETTING_LEVEL_DEFAULT {
				want.Origins[i].TargetId = layer.GetTargetId()
			}
		}
		must.EqOp(
			t, "", cmp.Diff(want, s.effective(t), protocmp.Transform()),
			must.Sprintf("%s sets %v (-want +got):\n", levels[level].at, fields),
		)
	}
	// One level after the other sets one field. The other fields are sent, but not in the mask.
	for i := range fields.Len() {
		level := i % len(levels)
		edit := proto.CloneOf(levels[level].edit)
		edit.Rules, edit.UpdateMask = otherRules(), mask(names[i])
		s.update(t, edit)
		wantEffective(level, otherRules(), levels[level].at, i)
		edit.Rules = nil
		s.update(t, edit)
		wantEffective(level, builtInRules(), v1.SettingLevel_SETTING_LEVEL_DEFAULT, i)
	}
	// The tenant sets all fields, and the service one. A reset removes all settings of a level at once.
	var all []int
	for i := range fields.Len() {
		all = append(all, i)
	}
	s.update(t, &v1.UpdateWaitlistRulesRequest{Rules: otherRules(), UpdateMask: mask(names...)})
	wantEffective(0, otherRules(), tenantLevel, all...)
	s.update(
		t,
		&v1.UpdateWaitlistRulesRequest{ServiceId: s.service, Rules: builtInRules(), UpdateMask: mask("max_queue_size")},
	)
	wantEffective(2, builtInRules(), serviceLevel, 2)
	expect.OK(t)(s.ResetWaitlistRules(t.Context(), as(s.owner, &v1.ResetWaitlistRulesRequest{ServiceId: s.service})))
	wantEffective(2, otherRules(), tenantLevel, 2)
	expect.OK(t)(s.ResetWaitlistRules(t.Context(), as(s.owner, &v1.ResetWaitlistRulesRequest{})))
	wantEffective(0, builtInRules(), v1.SettingLevel_SETTING_LEVEL_DEFAULT, all...)
}

// An update or a reset with the etag of an older version is rejected.
func TestUpdateRules_RejectsStaleEtag(t *testing.T) {
	t.Parallel()
	s := newRulesTest(t)
	edit := func(etag string, size int32) proto.Message {
		return &v1.UpdateWaitlistRulesRequest{
			ServiceId: s.service, Rules: &v1.WaitlistRules{MaxQueueSize: &size}, UpdateMask: mask("max_queue_size"), Etag: etag,
			Reason: fmt.Sprint("size ", size),
		}
	}
	reset := func(etag string) proto.Message {
		return &v1.ResetWaitlistRulesRequest{ServiceId: s.service, Etag: etag, Reason: "as it was"}
	}
	admin := s.Token(t, "admin")
	for _, step := range []struct {
		what    string
		token   string
		request proto.Message
		refused bool
	}{
		{"the first", s.owner, edit("v0", 5), false},
		{"with the etag of before", s.owner, edit("v0", 6), true},
		{"with the etag of now", s.owner, edit("v1", 6), false},
		{"reset with the etag of before", admin, reset("v1"), true},
		{"without an etag", s.owner, edit("", 7), false},
		{"reset with the etag of now", admin, reset("v3"), false},
		{"with the etag of before the reset", s.owner, edit("v3", 8), true},
	} {
		_, err := s.call(t, step.token, step.request)
		if step.refused {
			refused(t, "aborted ETAG_MISMATCH", test.Sprint(step.what))(err)
		} else {
			test.NoError(t, err, test.Sprint(step.what))
		}
	}
	var got []*v1.WaitlistRulesVersion
	list := &v1.ListWaitlistRulesVersionsRequest{
		Filter: &v1.WaitlistRulesVersionFilter{ServiceId: s.service}, PageSize: 3,
	}
	for _, page := range pages[*v1.ListWaitlistRulesVersionsResponse](t, s, s.owner, list) {
		got = append(got, page.GetVersions()...)
	}
	version := func(n, size int32) *v1.WaitlistRulesVersion {
		return &v1.WaitlistRulesVersion{
			Version: n, Level: serviceLevel, TargetId: s.service, Rules: &v1.WaitlistRules{MaxQueueSize: &size},
			Actor: convert.Actor(convert.IDText(s.Members["owner"]), "Owner"), Reason: fmt.Sprint("size ", size),
		}
	}
	want := []*v1.WaitlistRulesVersion{
		{
			Version: 4, Level: serviceLevel, TargetId: s.service, Rules: &v1.WaitlistRules{}, WasReset: true,
			Actor: convert.Actor(convert.IDText(s.Members["admin"]), "Admin"), Reason: "as it was",
		},
		version(3, 7), version(2, 6), version(1, 5),
	}
	test.Eq(t, want, got, test.Cmp(protocmp.Transform(), protocmp.IgnoreFields(&v1.WaitlistRulesVersion{}, "create_time")))
	for _, v := range got {
		test.True(
			t, time.Since(v.GetCreateTime().AsTime()).Abs() <= time.Hour,
			test.Sprintf("version %d was created at %s", v.GetVersion(), v.GetCreateTime().AsTime()),
		)
	}
}

// Invalid rules are rejected by updates and by previews. A caller without permission gets that error first.
func TestUpdateRules_RejectsInvalidRules(t *testing.T) {
	t.Parallel()
	s := newRulesTest(t)
	for name, tt := range map[string]struct {
		rules *v1.WaitlistRules
		path  string
		want  string
	}{
		"a bonus above 50": {
			&v1.WaitlistRules{TierBonuses: &v1.WaitlistTierBonuses{
				Bonuses: []*v1.WaitlistTierBonus{{Tier: "gold", Points: 51}},
			}},
			"tier_bonuses",
			"invalid_argument INVALID_FIELD rules.tier_bonuses.bonuses[0].points",
		},
		"a bonus twice": {
			&v1.WaitlistRules{TierBonuses: &v1.WaitlistTierBonuses{
				Bonuses: []*v1.WaitlistTierBonus{{Tier: "gold"}, {Tier: "gold"}},
			}},
			"tier_bonuses",
			"invalid_argument INVALID_FIELD rules.tier_bonuses.bonuses",
		},
		"a window of seconds": {
			&v1.WaitlistRules{OfferWindow: durationpb.New(59 * time.Second)}, "offer_window",
			"invalid_argument INVALID_FIELD rules.offer_window",
		},
		"too long a queue": {
			&v1.WaitlistRules{MaxQueueSize: new(int32(10_001))}, "max_queue_size",
			"invalid_argument INVALID_FIELD rules.max_queue_size",
		},
		"a formula that is not there": {
			&v1.WaitlistRules{Order: v1.WaitlistOrder_WAITLIST_ORDER_CUSTOM.Enum()}, "order",
			"invalid_argument INVALID_FIELD rules.priority_expression",
		},
	} {
		update := &v1.UpdateWaitlistRulesRequest{Rules: tt.rules, UpdateMask: mask(tt.path)}
		refused(t, tt.want, test.Sprint(name))(s.UpdateWaitlistRules(t.Context(), as(s.owner, update)))
		refused(t, tt.want, test.Sprint(name, ", previewed"))(s.PreviewWaitlistRules(
			t.Context(), as(s.owner, &v1.PreviewWaitlistRulesRequest{Rules: tt.rules, UpdateMask: mask(tt.path)}),
		))
		refused(t, "PERMISSION_DENIED permission=waitlist.rules")(
			s.UpdateWaitlistRules(t.Context(), as(s.Token(t, "coach"), update)),
		)
	}
	got := s.effective(t)
	test.EqOp(t, 0, got.GetVersion(), test.Sprintf("something was kept: %v", got))
}
