package accounts_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/token"
)

// bank signs the tokens that keys are exchanged for, and believes them.
type bank struct {
	issuer   *token.Issuer
	verifier *token.Verifier
}

func newBank(t *testing.T, now func() time.Time) bank {
	t.Helper()
	issuer, err := token.OpenIssuer(filepath.Join(t.TempDir(), "key.pem"), "https://berth.test", "berth", now)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := token.NewVerifier(now, issuer.AsTrusted())
	if err != nil {
		t.Fatal(err)
	}
	return bank{issuer, verifier}
}

func TestServiceAccounts_CreateRotateAndRevoke(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	made, _, err := h.App.Accounts.CreateServiceAccount(t.Context(), h.Owner, grant.ServiceAccount{
		Name: " Robot ", Description: "Books.", Roles: []string{tenant.RolePartner, tenant.RoleCoach},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := grant.ServiceAccount{
		ID: made.ID, Name: "Robot", Description: "Books.", Roles: []string{tenant.RoleCoach, tenant.RolePartner},
		Keys: []grant.Key{{ID: made.Keys[0].ID, CreatedAt: testkit.Noon}}, CreatedAt: testkit.Noon,
	}
	list := func(revoked bool) []grant.ServiceAccount {
		t.Helper()
		accounts, err := h.App.Accounts.ListServiceAccounts(
			t.Context(), h.Owner, grant.ServiceAccountSearch{Revoked: revoked, Limit: 10},
		)
		if err != nil {
			t.Fatal(err)
		}
		return accounts
	}
	if diff := cmp.Diff([]grant.ServiceAccount{want}, list(false)); diff != "" || !cmp.Equal(made, want) {
		t.Errorf("made %+v, listed (-want +got):\n%s", made, diff)
	}
	_, _, err = h.App.Accounts.CreateServiceAccount(
		t.Context(), h.Owner, grant.ServiceAccount{Name: "ROBOT", Roles: []string{tenant.RolePartner}},
	)
	testkit.WantReason(t, err, fault.AlreadyExistsReason)
	_, _, err = h.App.Accounts.CreateServiceAccount(
		t.Context(), h.Owner, grant.ServiceAccount{Name: "B", Roles: []string{"ghost"}},
	)
	testkit.WantReason(t, err, fault.RoleNotFound)
	_, _, err = h.App.Accounts.CreateServiceAccount(
		t.Context(), h.Owner, grant.ServiceAccount{Name: "a\x00", Roles: []string{tenant.RolePartner}},
	)
	testkit.WantReason(t, err, fault.InvalidField)

	h.Clock.Set(testkit.Noon.Add(time.Hour))
	for range 2 {
		gone, err := h.App.Accounts.RevokeServiceAccount(t.Context(), h.Owner, made.ID)
		if err != nil || !gone.RevokedAt.Equal(testkit.Noon.Add(time.Hour)) || len(gone.Roles) != 0 ||
			!gone.Keys[0].ExpiresAt.Equal(testkit.Noon.Add(time.Hour)) {
			t.Fatalf("%+v, %v", gone, err)
		}
		h.Clock.Set(testkit.Noon.Add(2 * time.Hour)) // revoking again changes nothing
		if diff := cmp.Diff([]grant.ServiceAccount{gone}, list(true)); diff != "" {
			t.Errorf("(-answered +listed):\n%s", diff)
		}
	}
	if len(list(false)) != 0 {
		t.Error("a revoked account is listed")
	}
	_, _, err = h.App.Accounts.RotateServiceAccountKey(t.Context(), h.Owner, made.ID, 0)
	testkit.WantReason(t, err, fault.ServiceAccountNotFound)
	if again, _ := h.AddAccount("robot", tenant.RolePartner); again.ID == made.ID {
		t.Error("the account came back to life")
	}
}

func TestListServiceAccounts_Orders(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	for _, name := range []string{"c", "B", "a", "d"} {
		h.AddAccount(name, tenant.RolePartner)
	}
	h.OtherTenant().AddAccount("theirs", tenant.RolePartner)
	var names []string
	search := grant.ServiceAccountSearch{Limit: 3}
	for {
		page, err := h.App.Accounts.ListServiceAccounts(t.Context(), h.Owner, search)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range page {
			names = append(names, a.Name)
			search.After = &grant.ServiceAccountCursor{Name: a.Name, ID: a.ID}
		}
		if len(page) < search.Limit {
			break
		}
	}
	if !slices.Equal(names, []string{"a", "B", "c", "d"}) {
		t.Errorf("%v", names)
	}
}

func TestExchangeKey_AcceptsValidKeysOnly(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	bank := newBank(t, h.Clock.Now)
	account, first := h.AddAccount("Robot", tenant.RolePartner)
	exchange := func(key string) error {
		_, err := h.App.Accounts.ExchangeKey(t.Context(), bank.issuer, tenant.TenantID{}, key)
		return err
	}
	if !strings.HasPrefix(first, account.Keys[0].Prefix()) || len(first) > 200 {
		t.Errorf("key %q, prefix %q", first, account.Keys[0].Prefix())
	}
	if n := h.Count(`select count(*) from service_account_keys where hash = $1`, []byte(first)); n != 0 {
		t.Error("the key itself is kept")
	}

	got, err := h.App.Accounts.ExchangeKey(t.Context(), bank.issuer, h.Tenant, first)
	if err != nil || got.Tenant != h.Tenant || got.ExpiresIn != 15*time.Minute {
		t.Fatalf("%+v, %v", got, err)
	}
	principal, err := bank.verifier.Verify(t.Context(), got.Token)
	if err != nil || principal.Subject != "sa:"+account.ID.String() || !principal.ValidFor(h.Tenant) ||
		len(principal.Tenants) != 1 || principal.Name != "Robot" {
		t.Errorf("%+v, %v", principal, err)
	}

	h.Clock.Set(testkit.Noon.Add(time.Second))
	second := rotate(t, h, account.ID, time.Hour)
	h.Clock.Set(testkit.Noon.Add(2 * time.Second))
	third := rotate(t, h, account.ID, 7*24*time.Hour)
	for name, key := range map[string]string{"first": first, "second": second, "third": third} {
		if err := exchange(key); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A longer overlap does not bring a key back that was to end sooner.
	h.Clock.Set(testkit.Noon.Add(time.Hour + time.Second))
	testkit.WantReason(t, exchange(first), fault.KeyInvalid)
	if exchange(second) != nil || exchange(third) != nil {
		t.Error("a key ended early")
	}
	h.Clock.Set(testkit.Noon.Add(7*24*time.Hour + 2*time.Second))
	testkit.WantReason(t, exchange(second), fault.KeyInvalid)
	last := rotate(t, h, account.ID, 0)
	testkit.WantReason(t, exchange(third), fault.KeyInvalid)
	if err := exchange(last); err != nil {
		t.Error(err)
	}

	strange := h.OtherTenant()
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
		_, err := h.App.Accounts.ExchangeKey(t.Context(), bank.issuer, c.named, c.key)
		if fault.ReasonOf(err) != fault.KeyInvalid || err.Error() != grant.ErrKeyInvalid.Error() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := h.App.Accounts.RevokeServiceAccount(t.Context(), h.Owner, account.ID); err != nil {
		t.Fatal(err)
	}
	testkit.WantReason(t, exchange(last), fault.KeyInvalid)
}

func rotate(t *testing.T, h *testkit.Studio, id tenant.ServiceAccountID, overlap time.Duration) string {
	t.Helper()
	account, key, err := h.App.Accounts.RotateServiceAccountKey(t.Context(), h.Owner, id, overlap)
	if err != nil {
		t.Fatal(err)
	}
	read, err := h.App.Accounts.ListServiceAccounts(t.Context(), h.Owner, grant.ServiceAccountSearch{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range read[0].Keys {
		read[0].Keys[i].UsedAt, account.Keys[i].UsedAt = time.Time{}, time.Time{}
	}
	if diff := cmp.Diff(read[0], account); diff != "" {
		t.Errorf("(-listed +answered):\n%s", diff)
	}
	return key
}

func forge(t *testing.T, key string, edit func(*tenant.TenantID, *tenant.KeyID)) string {
	t.Helper()
	in, id, secret, err := grant.ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	edit(&in, &id)
	return grant.KeyText(in, id, secret)
}

func TestExchangeKey_RecordsUseToTheHour(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	bank := newBank(t, h.Clock.Now)
	_, key := h.AddAccount("Robot", tenant.RolePartner)
	used := func() time.Time {
		t.Helper()
		accounts, err := h.App.Accounts.ListServiceAccounts(t.Context(), h.Owner, grant.ServiceAccountSearch{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		return accounts[0].Keys[0].UsedAt
	}
	if !used().IsZero() {
		t.Error("used before it was")
	}
	for _, minutes := range []int{10, 50, 70} {
		h.Clock.Set(testkit.Noon.Add(time.Duration(minutes) * time.Minute))
		errs := testkit.ParallelErrors(4, func(int) error {
			_, err := h.App.Accounts.ExchangeKey(t.Context(), bank.issuer, tenant.TenantID{}, key)
			return err
		})
		if want := testkit.Noon.Add(time.Duration(minutes/60) * time.Hour); !used().Equal(want) ||
			testkit.CountReasons(errs)[""] != 4 {
			t.Errorf("after %d minutes: %v, want %v (%v)", minutes, used(), want, errs)
		}
	}
}

func TestRotateServiceAccountKey_ConcurrentCallsLeaveTheirOwnKeys(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	bank := newBank(t, h.Clock.Now)
	account, _ := h.AddAccount("Robot", tenant.RolePartner)
	keys := make([]string, 4)
	errs := testkit.ParallelErrors(len(keys), func(i int) error {
		var err error
		_, keys[i], err = h.App.Accounts.RotateServiceAccountKey(t.Context(), h.Owner, account.ID, 0)
		return err
	})
	good := 0
	for _, key := range keys {
		if _, err := h.App.Accounts.ExchangeKey(t.Context(), bank.issuer, tenant.TenantID{}, key); err == nil {
			good++
		}
	}
	if good != 1 || testkit.CountReasons(errs)[""] != len(keys) {
		t.Errorf("%d keys are good after %d rotations (%v)", good, len(keys), errs)
	}
}

func TestCreateServiceAccount_ConcurrentCallsTakeANameOnce(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	errs := testkit.ParallelErrors(4, func(int) error {
		_, _, err := h.App.Accounts.CreateServiceAccount(
			t.Context(), h.Owner, grant.ServiceAccount{Name: "Robot", Roles: []string{tenant.RolePartner}},
		)
		return err
	})
	if diff := cmp.Diff(
		map[fault.Reason]int{"": 1, fault.AlreadyExistsReason: 3}, testkit.CountReasons(errs),
	); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
