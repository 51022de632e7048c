package accounts_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// audited returns how many entries an action has.
func audited(studio *testkit.Studio, action string) (n int) {
	for _, a := range studio.Audited() {
		if a == action {
			n++
		}
	}
	return n
}

// One entry for each reader, member and hour, none for reading oneself, and none where the tenant does not ask.
func TestGetMember_IsAuditedWhereTheTenantAsks(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	ana, ben := studio.AddMember("Ana"), studio.AddMember("Ben")
	read := func(by, of tenant.Caller) {
		t.Helper()
		expect.OK(t)(studio.App.Accounts.GetMember(t.Context(), by, of.Member))
	}
	read(studio.Owner, ana)
	test.EqOp(t, 0, audited(studio, "member.read"), test.Sprint("the setting is off"))
	studio.EditTenant(func(t *catalog.Tenant) { t.AuditMemberReads = true })
	read(studio.Owner, studio.Owner)
	test.EqOp(t, 0, audited(studio, "member.read"), test.Sprint("of oneself"))
	errs := testkit.ParallelErrors(4, func(int) error {
		return expect.Error(studio.App.Accounts.GetMember(t.Context(), studio.Owner, ana.Member))
	})
	test.EqOp(t, 4, testkit.CountReasons(errs)[""])
	test.EqOp(t, 1, audited(studio, "member.read"), test.Sprint("four readings at once"))
	read(studio.Owner, ben)
	read(studio.Coach, ana)
	test.EqOp(t, 3, audited(studio, "member.read"), test.Sprint("of another member, and by another reader"))
	studio.Clock.Advance(time.Hour)
	read(studio.Owner, ana)
	test.EqOp(t, 4, audited(studio, "member.read"), test.Sprint("in the next hour"))
	expect.Reason(t, fault.MemberNotFound)(
		studio.App.Accounts.GetMember(t.Context(), studio.Owner, testkit.NewID[tenant.MemberID]()),
	)
	test.EqOp(t, 4, audited(studio, "member.read"), test.Sprint("of a member that does not exist"))
}

// A revoked key with the right secret proves its tenant, which learns that a program still uses it. Anything else is
// no row: anyone could add as many as they like.
func TestExchangeKey_AuditsOnlyKeysThatProveTheirTenant(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	account, key := studio.AddAccount("Kiosk", tenant.RolePartner)
	bank := newBank(t, studio.Clock.Now)
	exchange := func(key string) {
		t.Helper()
		expect.Reason(t, fault.KeyInvalid)(
			studio.App.Accounts.ExchangeKey(t.Context(), bank.issuer, tenant.TenantID{}, key),
		)
	}
	wrong := []byte(key)
	wrong[len(wrong)-1] ^= 1
	exchange(string(wrong))
	expect.OK(t)(studio.App.Accounts.RevokeServiceAccount(t.Context(), studio.Owner, account.ID))
	exchange(string(wrong))
	test.EqOp(t, 0, audited(studio, "service_account.key_refused"))
	exchange(key)
	exchange(key)
	test.EqOp(t, 1, audited(studio, "service_account.key_refused"), test.Sprint("once an hour"))
	last := expect.Value(studio.App.Accounts.ListAuditEntries(t.Context(), studio.Owner, accounts.AuditQuery{
		Action: "service_account.key_refused", Limit: 1,
	}))(t)
	test.EqOp(t, tenant.AccountPrefix+account.ID.String(), last[0].Actor)
	test.EqOp(t, account.ID.String(), last[0].TargetID)
}

// Tokens of devices are stored sealed. Those that were stored before are sealed by a sweep, and found again when their
// device registers, also after the secret has changed.
func TestDevices_SealTokens(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	ana := studio.AddMember("Ana")
	for i := range 3 { // as they were stored before
		studio.Exec(`insert into devices (tenant_id, id, member_id, kind, token, token_hash, created_at, seen_at)
			values ($1, $2, $3, 'IOS', $4::text, sha256(convert_to($4, 'UTF8')), $5, $5)`,
			studio.Tenant, testkit.NewID[tenant.DeviceID](), ana.Member, fmt.Sprint("token ", i), studio.Clock.Now())
	}
	register := func(a *app.Services, token string) member.Device {
		t.Helper()
		return expect.Value(a.Accounts.RegisterDevice(t.Context(), ana, member.IOS, token))(t)
	}
	known := expect.Value(studio.App.Accounts.GetMe(t.Context(), ana))(t).Devices
	first := register(studio.App, "token 0")
	test.True(t, slices.ContainsFunc(known, func(d member.Device) bool { return d.ID == first.ID }),
		test.Sprint("a device with a token that was not sealed is registered twice"))
	test.EqOp(t, 2, len(studio.Violations()), test.Sprint("verify reports tokens that are not sealed"))
	studio.Sweep()
	studio.WantSound()
	test.EqOp(t, 3, studio.Count(`select count(*) from devices
		where token is null and position('token'::bytea in sealed) = 0`))

	config := studio.Config()
	config.Seals = expect.Value(seal.NewKeys(
		[]byte("another key that is 32 bytes long"), []byte("a key for tests that is 32 bytes"),
	))(t)
	test.EqOp(t, first.ID, register(app.New(config), "token 0").ID, test.Sprint("a new secret makes another device"))
	test.EqOp(t, 3, studio.Count(`select count(*) from devices`))
}
