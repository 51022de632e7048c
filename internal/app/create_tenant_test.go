package app_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/policy"
)

func TestCreateTenant(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Tenant = newID[tenant.TenantID]()
	n := app.NewTenant{
		ID: h.Tenant, Name: "Links", TimeZone: "Europe/Lisbon", Locale: "pt-PT", Currency: "EUR", TakesPayments: true,
		Owner: &app.FirstOwner{Subject: "user-1", Name: "Olga Owner", Email: "Olga@Example.com"},
	}
	want := catalog.Tenant{
		ID: h.Tenant, Name: "Links", TimeZone: "Europe/Lisbon", Locale: "pt-PT", Currency: "EUR", TakesPayments: true,
		Version: 1, CreatedAt: noon, UpdatedAt: noon,
	}
	made, err := h.app.CreateTenant(t.Context(), n)
	if diff := cmp.Diff(want, made); diff != "" || err != nil {
		t.Fatal(err, diff)
	}
	h.Owner = tenant.System(h.Tenant)
	if read, err := h.app.GetTenant(t.Context(), h.Owner); err != nil || cmp.Diff(want, read) != "" {
		t.Error(err, cmp.Diff(want, read))
	}
	if h.count(`select count(*) from directory where tenant_id = $1`, h.Tenant) != 1 {
		t.Error("it is not in the directory")
	}
	rows, err := h.db.Owner.Query(t.Context(), `select name from roles where tenant_id = $1 and built_in and permissions = '{}'`, h.Tenant)
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
	if h.count(`select count(*) from members m join member_roles r on r.tenant_id = m.tenant_id and r.member_id = m.id
where m.tenant_id = $1 and m.subject = 'user-1' and m.name = 'Olga Owner' and m.status = 'ACTIVE' and r.role = 'owner'`, h.Tenant) != 1 {
		t.Error("no owner")
	}

	// Again, with other content: what is there stays.
	n.Name, n.Owner.Subject = "Another name", "user-2"
	again, err := h.app.CreateTenant(t.Context(), n)
	if diff := cmp.Diff(want, again); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if h.count(`select count(*) from members where tenant_id = $1`, h.Tenant) != 1 {
		t.Error("doing it twice made a second owner")
	}
	if diff := cmp.Diff([]string{"tenant.created", "member.created"}, h.audited()); diff != "" {
		t.Error(diff)
	}
}

func TestCreateTenantAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := newID[tenant.TenantID]()
	errs := atOnce(8, func(int) error {
		made, err := h.app.CreateTenant(t.Context(), app.NewTenant{
			ID: id, Name: "Links", TimeZone: "UTC", Locale: "en", Currency: "EUR", Owner: &app.FirstOwner{Name: "Olga"},
		})
		if err == nil && made.ID != id {
			t.Errorf("made %s", made.ID)
		}
		return err
	})
	if diff := cmp.Diff(map[fault.Reason]int{"": 8}, reasons(errs)); diff != "" {
		t.Error(diff)
	}
	if n := h.count(`select count(*) from members where tenant_id = $1`, id); n != 1 {
		t.Errorf("%d owners", n)
	}
}

func TestCreateTenantRefuses(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	good := app.NewTenant{Name: "Links", TimeZone: "UTC", Locale: "en", Currency: "EUR"}
	for name, edit := range map[string]func(*app.NewTenant){
		"no name":           func(n *app.NewTenant) { n.Name = "" },
		"no zone":           func(n *app.NewTenant) { n.TimeZone = "" },
		"no locale":         func(n *app.NewTenant) { n.Locale = "" },
		"no currency":       func(n *app.NewTenant) { n.Currency = "" },
		"nameless owner":    func(n *app.NewTenant) { n.Owner = &app.FirstOwner{} },
		"unreachable owner": func(n *app.NewTenant) { n.Owner = &app.FirstOwner{Name: "Olga", Email: "olga"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := good
			edit(&n)
			_, err := h.app.CreateTenant(t.Context(), n)
			wantReason(t, err, fault.InvalidField)
		})
	}
	one, err := h.app.CreateTenant(t.Context(), good)
	if err != nil || one.ID.IsZero() {
		t.Fatal(one, err)
	}
	if two, err := h.app.CreateTenant(t.Context(), good); err != nil || two.ID == one.ID {
		t.Error("without an id each is another:", two, err)
	}
}
