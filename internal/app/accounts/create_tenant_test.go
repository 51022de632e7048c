package accounts_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/policy"
)

func TestCreateTenant_CreatesOwnerAndRoles(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.Tenant = testkit.NewID[tenant.TenantID]()
	n := accounts.NewTenant{
		ID: h.Tenant, Name: "Links", TimeZone: "Europe/Lisbon", Locale: "pt-PT", Currency: "EUR", TakesPayments: true,
		Owner: &accounts.FirstOwner{Subject: "user-1", Name: "Olga Owner", Email: "Olga@Example.com"},
	}
	want := catalog.Tenant{
		ID: h.Tenant, Name: "Links", TimeZone: "Europe/Lisbon", Locale: "pt-PT", Currency: "EUR", TakesPayments: true,
		Version: 1, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon,
	}
	made, err := h.App.Accounts.CreateTenant(t.Context(), n)
	if diff := cmp.Diff(want, made); diff != "" || err != nil {
		t.Fatal(err, diff)
	}
	h.Owner = tenant.System(h.Tenant)
	if read, err := h.App.Accounts.GetTenant(t.Context(), h.Owner); err != nil || cmp.Diff(want, read) != "" {
		t.Error(err, cmp.Diff(want, read))
	}
	if h.Count(`select count(*) from directory where tenant_id = $1`, h.Tenant) != 1 {
		t.Error("it is not in the directory")
	}
	rows, err := h.DB.Owner.Query(
		t.Context(), `select name from roles where tenant_id = $1 and built_in and permissions = '{}'`, h.Tenant,
	)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var roles, builtIn []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		roles = append(roles, name)
	}
	for _, role := range policy.Roles() {
		builtIn = append(builtIn, role.Name)
	}
	slices.Sort(roles)
	slices.Sort(builtIn)
	if diff := cmp.Diff(builtIn, roles); diff != "" {
		t.Error(diff)
	}
	if h.Count(`select count(*) from members m join member_roles r on r.tenant_id = m.tenant_id and r.member_id = m.id
where m.tenant_id = $1 and m.subject = 'user-1' and m.name = 'Olga Owner' and m.status = 'ACTIVE'
and r.role = 'owner'`, h.Tenant) != 1 {
		t.Error("no owner")
	}

	// Again, with other content: what is there stays.
	n.Name, n.Owner.Subject = "Another name", "user-2"
	again, err := h.App.Accounts.CreateTenant(t.Context(), n)
	if diff := cmp.Diff(want, again); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if h.Count(`select count(*) from members where tenant_id = $1`, h.Tenant) != 1 {
		t.Error("doing it twice made a second owner")
	}
	if diff := cmp.Diff([]string{"tenant.created", "member.created"}, h.Audited()); diff != "" {
		t.Error(diff)
	}
}

func TestCreateTenant_OnceForOneIDAtTheSameTime(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	id := testkit.NewID[tenant.TenantID]()
	errs := testkit.ParallelErrors(8, func(int) error {
		made, err := h.App.Accounts.CreateTenant(t.Context(), accounts.NewTenant{
			ID: id, Name: "Links", TimeZone: "UTC", Locale: "en", Currency: "EUR", Owner: &accounts.FirstOwner{Name: "Olga"},
		})
		if err == nil && made.ID != id {
			t.Errorf("made %s", made.ID)
		}
		return err
	})
	if diff := cmp.Diff(map[fault.Reason]int{"": 8}, testkit.CountReasons(errs)); diff != "" {
		t.Error(diff)
	}
	if n := h.Count(`select count(*) from members where tenant_id = $1`, id); n != 1 {
		t.Errorf("%d owners", n)
	}
}

func TestCreateTenant_RejectsInvalidFields(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	good := accounts.NewTenant{Name: "Links", TimeZone: "UTC", Locale: "en", Currency: "EUR"}
	for name, edit := range map[string]func(*accounts.NewTenant){
		"no name":           func(n *accounts.NewTenant) { n.Name = "" },
		"no zone":           func(n *accounts.NewTenant) { n.TimeZone = "" },
		"no locale":         func(n *accounts.NewTenant) { n.Locale = "" },
		"no currency":       func(n *accounts.NewTenant) { n.Currency = "" },
		"nameless owner":    func(n *accounts.NewTenant) { n.Owner = &accounts.FirstOwner{} },
		"unreachable owner": func(n *accounts.NewTenant) { n.Owner = &accounts.FirstOwner{Name: "Olga", Email: "olga"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := good
			edit(&n)
			_, err := h.App.Accounts.CreateTenant(t.Context(), n)
			testkit.WantReason(t, err, fault.InvalidField)
		})
	}
	one, err := h.App.Accounts.CreateTenant(t.Context(), good)
	if err != nil || one.ID.IsZero() {
		t.Fatal(one, err)
	}
	if two, err := h.App.Accounts.CreateTenant(t.Context(), good); err != nil || two.ID == one.ID {
		t.Error("without an id each is another:", two, err)
	}
}
