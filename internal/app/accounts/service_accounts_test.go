package accounts_test

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
)

// bank signs the tokens that keys are exchanged for, and believes them.
type bank struct {
	issuer   *token.Issuer
	verifier *token.Verifier
}

func newBank(t *testing.T, now func() time.Time) bank {
	t.Helper()
	issuer := expect.Value(token.OpenIssuer(filepath.Join(t.TempDir(), "key.pem"), "https://berth.test", "berth", now))(t)
	return bank{issuer, expect.Value(token.NewVerifier(now, issuer.AsTrusted()))(t)}
}

func TestServiceAccounts_CreateRotateAndRevoke(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	made, _, err := studio.App.Accounts.CreateServiceAccount(t.Context(), studio.Owner, grant.ServiceAccount{
		Name: " Robot ", Description: "Books.", Roles: []string{tenant.RolePartner, tenant.RoleCoach},
	})
	must.NoError(t, err)
	want := grant.ServiceAccount{
		ID: made.ID, Name: "Robot", Description: "Books.", Roles: []string{tenant.RoleCoach, tenant.RolePartner},
		Keys: []grant.Key{{ID: made.Keys[0].ID, CreatedAt: testkit.Noon}}, CreatedAt: testkit.Noon,
	}
	list := func(statuses ...grant.AccountStatus) []grant.ServiceAccount {
		t.Helper()
		return expect.Value(studio.App.Accounts.ListServiceAccounts(
			t.Context(), studio.Owner, grant.ServiceAccountSearch{Statuses: statuses, Limit: 10},
		))(t)
	}
	diff := cmp.Diff([]grant.ServiceAccount{want}, list())
	test.EqOp(t, "", diff, test.Sprintf("made %+v, listed (-want +got):\n%s", made, diff))
	test.True(t, cmp.Equal(made, want), test.Sprintf("made %+v, listed (-want +got):\n%s", made, diff))
	expect.Reason(t, fault.AlreadyExistsReason)(studio.App.Accounts.CreateServiceAccount(
		t.Context(), studio.Owner, grant.ServiceAccount{Name: "ROBOT", Roles: []string{tenant.RolePartner}},
	))
	test.SliceEmpty(t, expect.Value(studio.App.Accounts.ListServiceAccounts( // no stored name has a zero byte
		t.Context(), studio.Owner,
		grant.ServiceAccountSearch{After: &grant.ServiceAccountCursor{Name: "\x00"}, Limit: 10},
	))(t))
	expect.Reason(t, fault.RoleNotFound)(studio.App.Accounts.CreateServiceAccount(
		t.Context(), studio.Owner, grant.ServiceAccount{Name: "B", Roles: []string{"ghost"}},
	))
	expect.Reason(t, fault.InvalidField)(studio.App.Accounts.CreateServiceAccount(
		t.Context(), studio.Owner, grant.ServiceAccount{Name: "a\x00", Roles: []string{tenant.RolePartner}},
	))

	studio.Clock.Set(testkit.Noon.Add(time.Hour))
	for range 2 {
		gone := expect.Value(studio.App.Accounts.RevokeServiceAccount(t.Context(), studio.Owner, made.ID))(t)
		must.True(t, gone.RevokedAt.Equal(testkit.Noon.Add(time.Hour)), must.Sprintf("%+v", gone))
		must.SliceEmpty(t, gone.Roles)
		must.True(t, gone.Keys[0].ExpiresAt.Equal(testkit.Noon.Add(time.Hour)), must.Sprintf("%+v", gone))
		studio.Clock.Set(testkit.Noon.Add(2 * time.Hour)) // revoking again changes nothing
		test.Eq(t, []grant.ServiceAccount{gone}, list(grant.AccountRevoked), test.Sprint("(-answered +listed)"))
	}
	test.EqOp(t, 0, len(list()), test.Sprint("a revoked account is listed"))
	expect.Reason(t, fault.ServiceAccountNotFound)(
		studio.App.Accounts.RotateServiceAccountKey(t.Context(), studio.Owner, made.ID, 0),
	)
	again, _ := studio.AddAccount("robot", tenant.RolePartner)
	test.NotEqOp(t, made.ID, again.ID, test.Sprint("the account came back to life"))
}

func TestExchangeKey_AcceptsValidKeysOnly(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	bank := newBank(t, studio.Clock.Now)
	account, first := studio.AddAccount("Robot", tenant.RolePartner)
	exchange := func(key string) error {
		return expect.Error(studio.App.Accounts.ExchangeKey(t.Context(), bank.issuer, tenant.TenantID{}, key))
	}
	test.StrHasPrefix(t, account.Keys[0].Prefix(), first,
		test.Sprintf("key %q, prefix %q", first, account.Keys[0].Prefix()))
	test.LessEq(t, 200, len(first), test.Sprintf("key %q, prefix %q", first, account.Keys[0].Prefix()))
	test.EqOp(t, 0, studio.Count(`select count(*) from service_account_keys where hash = $1`, []byte(first)),
		test.Sprint("the key itself is kept"))

	got := expect.Value(studio.App.Accounts.ExchangeKey(t.Context(), bank.issuer, studio.Tenant, first))(t)
	must.EqOp(t, studio.Tenant, got.Tenant)
	must.EqOp(t, 15*time.Minute, got.ExpiresIn)
	principal := expect.Value(bank.verifier.Verify(t.Context(), got.Token))(t)
	test.EqOp(t, "sa:"+account.ID.String(), principal.Subject)
	test.True(t, principal.ValidFor(studio.Tenant), test.Sprintf("%+v", principal))
	must.SliceLen(t, 1, principal.Tenants)
	test.EqOp(t, "Robot", principal.Name)

	studio.Clock.Set(testkit.Noon.Add(time.Second))
	second := rotate(t, studio, account.ID, time.Hour)
	studio.Clock.Set(testkit.Noon.Add(2 * time.Second))
	third := rotate(t, studio, account.ID, 7*24*time.Hour)
	for name, key := range map[string]string{"first": first, "second": second, "third": third} {
		test.NoError(t, exchange(key), test.Sprint(name))
	}
	// A longer overlap does not bring a key back that was to end sooner.
	studio.Clock.Set(testkit.Noon.Add(time.Hour + time.Second))
	expect.Reason(t, fault.KeyInvalid)(exchange(first))
	test.NoError(t, exchange(second), test.Sprint("a key ended early"))
	test.NoError(t, exchange(third), test.Sprint("a key ended early"))
	studio.Clock.Set(testkit.Noon.Add(7*24*time.Hour + 2*time.Second))
	expect.Reason(t, fault.KeyInvalid)(exchange(second))
	last := rotate(t, studio, account.ID, 0)
	expect.Reason(t, fault.KeyInvalid)(exchange(third))
	test.NoError(t, exchange(last))

	strange := studio.OtherTenant()
	for name, c := range map[string]struct {
		named tenant.TenantID
		key   string
	}{
		"other tenant named": {strange.Tenant, last},
		"garbage":            {tenant.TenantID{}, "berth_garbage"},
		"forged secret":      {tenant.TenantID{}, last[:len(last)-3] + "000"},
		"other tenant's id": {
			tenant.TenantID{}, forge(t, last, func(in *tenant.TenantID, _ *tenant.KeyID) { *in = strange.Tenant }),
		},
		"no tenant": {
			tenant.TenantID{}, forge(t, last, func(in *tenant.TenantID, _ *tenant.KeyID) { *in = tenant.TenantID{} }),
		},
		"unknown tenant": {
			tenant.TenantID{},
			forge(t, last, func(in *tenant.TenantID, _ *tenant.KeyID) { *in = testkit.NewID[tenant.TenantID]() }),
		},
		"unknown key": {
			tenant.TenantID{},
			forge(t, last, func(_ *tenant.TenantID, id *tenant.KeyID) { *id = testkit.NewID[tenant.KeyID]() }),
		},
	} {
		_, err := studio.App.Accounts.ExchangeKey(t.Context(), bank.issuer, c.named, c.key)
		test.EqOp(t, fault.KeyInvalid, fault.ReasonOf(err), test.Sprintf("%s: %v", name, err))
		test.EqOp(t, grant.ErrKeyInvalid.Error(), err.Error(), test.Sprintf("%s: %v", name, err))
	}
	expect.OK(t)(studio.App.Accounts.RevokeServiceAccount(t.Context(), studio.Owner, account.ID))
	expect.Reason(t, fault.KeyInvalid)(exchange(last))
}

func rotate(t *testing.T, studio *testkit.Studio, id tenant.ServiceAccountID, overlap time.Duration) string {
	t.Helper()
	account, key, err := studio.App.Accounts.RotateServiceAccountKey(t.Context(), studio.Owner, id, overlap)
	must.NoError(t, err)
	read := expect.Value(
		studio.App.Accounts.ListServiceAccounts(t.Context(), studio.Owner, grant.ServiceAccountSearch{Limit: 1}),
	)(t)
	for i := range read[0].Keys {
		read[0].Keys[i].UsedAt, account.Keys[i].UsedAt = time.Time{}, time.Time{}
	}
	test.Eq(t, read[0], account, test.Sprint("(-listed +answered)"))
	return key
}

func forge(t *testing.T, key string, edit func(*tenant.TenantID, *tenant.KeyID)) string {
	t.Helper()
	in, id, secret, err := grant.ParseKey(key)
	must.NoError(t, err)
	edit(&in, &id)
	return grant.KeyText(in, id, secret)
}

func TestExchangeKey_RecordsUseToTheHour(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	bank := newBank(t, studio.Clock.Now)
	_, key := studio.AddAccount("Robot", tenant.RolePartner)
	used := func() time.Time {
		t.Helper()
		accounts := expect.Value(studio.App.Accounts.ListServiceAccounts(
			t.Context(), studio.Owner, grant.ServiceAccountSearch{Limit: 1},
		))(t)
		return accounts[0].Keys[0].UsedAt
	}
	test.True(t, used().IsZero(), test.Sprint("used before it was"))
	for _, minutes := range []int{10, 50, 70} {
		studio.Clock.Set(testkit.Noon.Add(time.Duration(minutes) * time.Minute))
		errs := testkit.ParallelErrors(4, func(int) error {
			return expect.Error(studio.App.Accounts.ExchangeKey(t.Context(), bank.issuer, tenant.TenantID{}, key))
		})
		want := testkit.Noon.Add(time.Duration(minutes/60) * time.Hour)
		test.True(t, used().Equal(want),
			test.Sprintf("after %d minutes: %v, want %v (%v)", minutes, used(), want, errs))
		test.EqOp(t, 4, testkit.CountReasons(errs)[""],
			test.Sprintf("after %d minutes: %v, want %v (%v)", minutes, used(), want, errs))
	}
}

func TestRotateServiceAccountKey_ConcurrentCallsLeaveTheirOwnKeys(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	bank := newBank(t, studio.Clock.Now)
	account, _ := studio.AddAccount("Robot", tenant.RolePartner)
	keys := make([]string, 4)
	errs := testkit.ParallelErrors(len(keys), func(i int) error {
		var err error
		_, keys[i], err = studio.App.Accounts.RotateServiceAccountKey(t.Context(), studio.Owner, account.ID, 0)
		return err
	})
	good := 0
	for _, key := range keys {
		if _, err := studio.App.Accounts.ExchangeKey(t.Context(), bank.issuer, tenant.TenantID{}, key); err == nil {
			good++
		}
	}
	test.EqOp(t, 1, good, test.Sprintf("%d keys are good after %d rotations (%v)", good, len(keys), errs))
	test.EqOp(t, len(keys), testkit.CountReasons(errs)[""],
		test.Sprintf("%d keys are good after %d rotations (%v)", good, len(keys), errs))
}

// Accounts and roles that are created at once with one name: one gets it. So it is if only an index guards the name.
func TestAccess_ConcurrentCallsTakeANameOnce(t *testing.T) {
	t.Parallel()
	testkit.EachRace(t, map[string]func(studio *testkit.Studio, name string) error{
		"service_account.name": func(studio *testkit.Studio, name string) error {
			return expect.Error(studio.App.Accounts.CreateServiceAccount(context.Background(), studio.Owner,
				grant.ServiceAccount{Name: name, Roles: []string{tenant.RolePartner}}))
		},
		"name": func(studio *testkit.Studio, name string) error {
			return expect.Error(studio.App.Accounts.CreateRole(context.Background(), studio.Owner,
				grant.Role{Name: name, Permissions: []string{"session.read"}}))
		},
	}, func(b *testkit.Barrier, studio *testkit.Studio, create func(studio *testkit.Studio, name string) error) {
		field := path.Base(studio.T.Name())
		for name, careless := range map[string]bool{"desk": false, "counter": true} {
			b.ReadCommitted = careless
			var errs [2]error
			b.Run(func() { errs[0] = create(studio, name) }, func() { errs[1] = create(studio, name) })
			must.True(studio.T, errs[0] == nil || errs[1] == nil)
			expect.Fault(studio.T, "ALREADY_EXISTS @"+field)(errors.Join(errs[:]...))
		}
	})
}
