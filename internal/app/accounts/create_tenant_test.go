package accounts_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/policy"
)

// Operators type names in a terminal, which may write a letter and its accent apart.
func TestCreateTenant_ComposesNames(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	made := expect.Value(studio.App.Accounts.CreateTenant(t.Context(), accounts.NewTenant{
		ID: testkit.NewID[tenant.TenantID](), Name: "Cafe\u0301", TimeZone: "Europe/Lisbon", Locale: "pt-PT", Currency: "EUR",
		Owner: &accounts.FirstOwner{Subject: "user-2", Name: "Zoe\u0308"},
	}))(t)
	test.EqOp(t, "Café", made.Name)
	test.EqOp(t, 1, studio.Count(`select count(*) from tenants where tenant_id = $1 and name = $2`, made.ID, "Café"))
	test.EqOp(t, 1, studio.Count(`select count(*) from members where tenant_id = $1 and name = $2`, made.ID, "Zoë"))
}

func TestCreateTenant_CreatesOwnerAndRoles(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.Tenant = testkit.NewID[tenant.TenantID]()
	n := accounts.NewTenant{
		ID: studio.Tenant, Name: "Links", TimeZone: "Europe/Lisbon", Locale: "pt-PT", Currency: "EUR", TakesPayments: true,
		Owner: &accounts.FirstOwner{Subject: "user-1", Name: "Olga Owner", Email: "Olga@Example.com"},
	}
	want := catalog.Tenant{
		ID: studio.Tenant, Name: "Links", TimeZone: "Europe/Lisbon", Locale: "pt-PT", Currency: "EUR", TakesPayments: true,
		Version: 1, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon,
	}
	made, err := studio.App.Accounts.CreateTenant(t.Context(), n)
	diff := cmp.Diff(accounts.CreatedTenant{Tenant: want}, made, cmpopts.EquateEmpty())
	must.EqOp(t, "", diff)
	must.NoError(t, err)
	studio.Owner = tenant.System(studio.Tenant)
	test.EqOp(t, "", cmp.Diff(
		want, expect.Value(studio.App.Accounts.GetTenant(t.Context(), studio.Owner))(t), cmpopts.EquateEmpty(),
	))
	test.EqOp(t, 1, studio.Count(`select count(*) from directory where tenant_id = $1`, studio.Tenant),
		test.Sprint("it is not in the directory"))
	rows := expect.Value(studio.DB.Owner.Query(
		t.Context(), `select name from roles where tenant_id = $1 and built_in and permissions = '{}'`, studio.Tenant,
	))(t)
	defer rows.Close()
	var roles, builtIn []string
	for rows.Next() {
		var name string
		must.NoError(t, rows.Scan(&name))
		roles = append(roles, name)
	}
	for _, role := range policy.Roles() {
		builtIn = append(builtIn, role.Name)
	}
	slices.Sort(roles)
	slices.Sort(builtIn)
	test.Eq(t, builtIn, roles)
	test.EqOp(t, 1, studio.Count(`select count(*) from members m
join member_roles r on r.tenant_id = m.tenant_id and r.member_id = m.id
where m.tenant_id = $1 and m.subject = 'user-1' and m.name = 'Olga Owner' and m.status = 'ACTIVE'
and r.role = 'owner'`, studio.Tenant),
		test.Sprint("no owner"))

	// Again, with other content: what is there stays.
	n.Name, n.Owner.Subject = "Another name", "user-2"
	test.EqOp(
		t, "", cmp.Diff(accounts.CreatedTenant{Tenant: want},
			expect.Value(studio.App.Accounts.CreateTenant(t.Context(), n))(t), cmpopts.EquateEmpty()),
	)
	test.EqOp(t, 1, studio.Count(`select count(*) from members where tenant_id = $1`, studio.Tenant),
		test.Sprint("doing it twice made a second owner"))
	test.Eq(t, []string{"tenant.created", "member.created"}, studio.Audited())
}

// The platform's own rows are no tenant's.
func TestCreateTenant_NotWithThePlatformsID(t *testing.T) {
	t.Parallel()
	expect.Reason(t, fault.InvalidField)(testkit.New(t).App.Accounts.CreateTenant(t.Context(), accounts.NewTenant{
		ID: tenant.Platform, Name: "Links", TimeZone: "UTC", Locale: "en", Currency: "EUR",
	}))
}

func TestCreateTenant_OnceForOneIDAtTheSameTime(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	id := testkit.NewID[tenant.TenantID]()
	errs := testkit.ParallelErrors(8, func(int) error {
		made, err := studio.App.Accounts.CreateTenant(t.Context(), accounts.NewTenant{
			ID: id, Name: "Links", TimeZone: "UTC", Locale: "en", Currency: "EUR", Owner: &accounts.FirstOwner{Name: "Olga"},
		})
		test.False(t, err == nil && made.ID != id, test.Sprintf("made %s", made.ID))
		return err
	})
	test.Eq(t, map[fault.Reason]int{"": 8}, testkit.CountReasons(errs))
	test.EqOp(t, 1, studio.Count(`select count(*) from members where tenant_id = $1`, id), test.Sprint("owners"))
}

func TestCreateTenant_RejectsInvalidFields(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	good := accounts.NewTenant{Name: "Links", TimeZone: "UTC", Locale: "en", Currency: "EUR"}
	nameless, unreachable, uninvited := good, good, good
	nameless.Name, unreachable.Owner = "", &accounts.FirstOwner{Name: "Olga", Email: "olga"}
	uninvited.Owner = &accounts.FirstOwner{Name: "Olga", Invite: true}
	for _, bad := range []accounts.NewTenant{nameless, unreachable, uninvited} {
		expect.Reason(t, fault.InvalidField)(studio.App.Accounts.CreateTenant(t.Context(), bad))
	}
	one := expect.Value(studio.App.Accounts.CreateTenant(t.Context(), good))(t)
	must.False(t, one.ID.IsZero(), must.Sprint(one))
	two := expect.Value(studio.App.Accounts.CreateTenant(t.Context(), good))(t)
	test.True(t, two.ID != one.ID, test.Sprint("without an id each is another:", two))
}
