package accounts_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestCheckAccess_NamesTheRolesThatGrantIt(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	guard := access.New(accounts.AccessSource(studio.DB.DB))
	role(studio, "desk", "credit.grant", "session.read")
	ana := studio.AddPerson("Ana", "desk")
	assign(studio, ana, tenant.RoleCoach)
	unbound := newMember(studio, member.Member{Name: "Ben"})
	assign(studio, tenant.Caller{Member: unbound.ID}, "desk")
	gone := studio.AddPerson("Gus", tenant.RoleOwner)
	studio.Deactivate(gone)
	goneUnbound := newMember(studio, member.Member{Name: "Gil"})
	studio.Deactivate(tenant.Caller{Member: goneUnbound.ID})
	robot, _ := studio.AddAccount("Robot", tenant.RolePartner, "desk")
	dead, _ := studio.AddAccount("Dead", tenant.RolePartner)
	expect.OK(t)(studio.App.Accounts.RevokeServiceAccount(t.Context(), studio.Owner, dead.ID))

	reads := []string{"owner", "admin", "coach", "member", "partner", "desk"}
	grants := []string{"owner", "admin", "desk"}
	for name, c := range map[string]struct {
		who        accounts.AccessSubject
		permission string
		want       accounts.Access
	}{
		"through two": {
			accounts.AccessSubject{Member: ana.Member}, "session.read",
			accounts.Access{Allowed: true, Through: []string{"coach", "member", "desk"}, Giving: reads, Active: true},
		},
		"by subject": {
			accounts.AccessSubject{Subject: ana.Subject}, "credit.grant",
			accounts.Access{Allowed: true, Through: []string{"desk"}, Giving: grants, Active: true},
		},
		"not": {
			accounts.AccessSubject{Member: ana.Member}, "credit.refund",
			accounts.Access{Giving: []string{"owner", "admin"}, Active: true},
		},
		"unbound": {
			accounts.AccessSubject{Member: unbound.ID}, "session.read",
			accounts.Access{Allowed: true, Through: []string{"member", "desk"}, Giving: reads, Active: true},
		},
		"unbound, through one": {
			accounts.AccessSubject{Member: unbound.ID}, "credit.grant",
			accounts.Access{Allowed: true, Through: []string{"desk"}, Giving: grants, Active: true},
		},
		"unbound, not": {
			accounts.AccessSubject{Member: unbound.ID}, "audit.read",
			accounts.Access{Giving: []string{"owner", "admin"}, Active: true},
		},
		"inactive":         {accounts.AccessSubject{Member: gone.Member}, "session.read", accounts.Access{Giving: reads}},
		"inactive unbound": {accounts.AccessSubject{Member: goneUnbound.ID}, "session.read", accounts.Access{Giving: reads}},
		"account": {
			accounts.AccessSubject{Account: robot.ID}, "credit.grant",
			accounts.Access{Allowed: true, Through: []string{"desk"}, Giving: grants, Active: true},
		},
		"revoked": {accounts.AccessSubject{Account: dead.ID}, "session.read", accounts.Access{Giving: reads}},
	} {
		got, err := studio.App.Accounts.CheckAccess(t.Context(), studio.Owner, guard, c.who, c.permission)
		diff := cmp.Diff(c.want, got)
		test.EqOp(t, "", diff, test.Sprintf("%s: %v (-want +got):\n%s", name, err, diff))
		test.NoError(t, err, test.Sprintf("%s: %v (-want +got):\n%s", name, err, diff))
	}
	theirs := studio.OtherTenant()
	for name, c := range map[string]struct {
		who        accounts.AccessSubject
		permission string
		want       fault.Reason
	}{
		"no member": {
			accounts.AccessSubject{Member: testkit.NewID[tenant.MemberID]()}, "session.read", fault.MemberNotFound,
		},
		"other's member":  {accounts.AccessSubject{Member: theirs.Owner.Member}, "session.read", fault.MemberNotFound},
		"no subject":      {accounts.AccessSubject{Subject: "nobody"}, "session.read", fault.MemberNotFound},
		"other's subject": {accounts.AccessSubject{Subject: theirs.Owner.Subject}, "session.read", fault.MemberNotFound},
		"null":            {accounts.AccessSubject{Subject: "\x00"}, "session.read", fault.MemberNotFound},
		"account's": {
			accounts.AccessSubject{Subject: "sa:" + robot.ID.String()}, "session.read", fault.MemberNotFound,
		},
		"no account": {
			accounts.AccessSubject{Account: testkit.NewID[tenant.ServiceAccountID]()}, "session.read",
			fault.ServiceAccountNotFound,
		},
		"permission":       {accounts.AccessSubject{Member: ana.Member}, "world.rule", fault.PermissionNotFound},
		"permission too":   {accounts.AccessSubject{Member: unbound.ID}, "world.rule", fault.PermissionNotFound},
		"permission still": {accounts.AccessSubject{Account: robot.ID}, "world.rule", fault.PermissionNotFound},
	} {
		expect.Reason(t, c.want, name)(
			studio.App.Accounts.CheckAccess(t.Context(), studio.Owner, guard, c.who, c.permission),
		)
	}
}

func TestAccessSource_FindsSubjects(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	role(studio, "desk", "session.read")
	ana := studio.AddPerson("Ana", "desk")
	robot, _ := studio.AddAccount("Robot", tenant.RolePartner)
	source := accounts.AccessSource(studio.DB.DB)
	roles, err := source.Roles(t.Context(), studio.Tenant)
	diff := cmp.Diff([]access.Role{{Name: "desk", Permissions: []string{"session.read"}}}, roles)
	test.EqOp(t, "", diff, test.Sprintf("%v (-want +got):\n%s", err, diff))
	test.NoError(t, err, test.Sprintf("%v (-want +got):\n%s", err, diff))
	for subject, want := range map[string]access.Holder{
		ana.Subject:               {Member: ana.Member, Roles: []string{"member", "desk"}, Active: true},
		"sa:" + robot.ID.String(): {Roles: []string{tenant.RolePartner}, Active: true},
		"sa:" + testkit.NewID[tenant.ServiceAccountID]().String(): {},
		"sa:":                              {},
		"sa:not-an-id":                     {},
		"":                                 {},
		"\x00":                             {},
		"system":                           {},
		studio.OtherTenant().Owner.Subject: {},
		"sa:" + ana.Member.String():        {},
	} {
		got, err := source.Holder(t.Context(), studio.Tenant, subject)
		diff := cmp.Diff(want, got)
		test.EqOp(t, "", diff, test.Sprintf("%q: %v (-want +got):\n%s", subject, err, diff))
		test.NoError(t, err, test.Sprintf("%q: %v (-want +got):\n%s", subject, err, diff))
	}
	// Their tokens are of one issuer. Another takes its place only if that was said.
	for _, bind := range []struct {
		to     string
		others []string
		want   string
	}{
		{"https://one.example", []string{""}, "https://one.example"},
		{"https://two.example", []string{"", "https://three.example"}, "https://one.example"},
		{"https://two.example", []string{"https://three.example", "https://one.example"}, "https://two.example"},
	} {
		studio.Tick()
		expect.OK(t)(studio.App.Accounts.BindIssuer(t.Context(), ana, bind.to, bind.others))
		test.EqOp(t, bind.want, expect.Value(source.Holder(t.Context(), studio.Tenant, ana.Subject))(t).Issuer)
	}
	test.EqOp(t, "https://two.example", studio.LastAudit("member.issuer_bound")["issuer"].(string))
}

// node is one server of several on a database.
type node struct {
	app   *app.Services
	guard *access.Guard
	heard chan struct{} // of each notice, once the guard has forgotten
}

func openNode(studio *testkit.Studio) *node {
	studio.T.Helper()
	db := expect.Value(pg.Open(studio.T.Context(), pg.Config{
		URL: studio.DB.URL, CommandConns: 4, ReadConns: 4, StatementTimeout: testkit.Timeout, LockTimeout: testkit.Timeout,
		IdleTimeout: testkit.Timeout,
	}))(studio.T)
	studio.T.Cleanup(db.Close)
	n := &node{guard: access.New(accounts.AccessSource(db)), heard: make(chan struct{}, 100)}
	n.app = app.New(app.Config{DB: db, Now: studio.Clock.Now, RolesChanged: n.guard.Invalidate})
	ctx, stop := context.WithCancel(studio.T.Context())
	listening, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_ = db.Listen(ctx, accounts.AccessChannel, func(payload string) {
			n.guard.Invalidate(tenant.MustParse[tenant.TenantID](payload))
			n.heard <- struct{}{}
		}, func() {
			n.guard.InvalidateAll()
			close(listening)
		})
	}()
	studio.T.Cleanup(func() { stop(); <-ended })
	<-listening
	return n
}

// A change of who may do what holds on the node where it was made when the call returns,
// and on every other when it hears of that, which it does within a second where the machine has time.
func TestAccess_ChangesApplyOnEveryNode(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	role(studio, "desk", "session.read")
	ana := studio.AddPerson("Ana", tenant.RoleMember)
	robot, _ := studio.AddAccount("Robot", "desk")
	newcomer := tenant.Caller{Tenant: studio.Tenant, Subject: "newcomer"}
	founder := tenant.Caller{Tenant: testkit.NewID[tenant.TenantID](), Subject: "founder"}
	imported := tenant.Caller{Tenant: studio.Tenant, Subject: "imported"}
	unbound := newMember(studio, member.Member{Name: "Una"})
	here, there := openNode(studio), openNode(studio) // which hear nothing of what was before
	robotic := tenant.Caller{Tenant: studio.Tenant, Subject: "sa:" + robot.ID.String()}

	for _, c := range []struct {
		name       string
		who        tenant.Caller
		permission string
		before     bool
		change     func() error
	}{
		{"a role is given", ana, "audit.read", false, func() error {
			return expect.Error(here.app.Accounts.AssignRole(t.Context(), studio.Owner, ana.Member, tenant.RoleAdmin))
		}},
		{"a role is taken", ana, "audit.read", true, func() error {
			return expect.Error(here.app.Accounts.RevokeRole(t.Context(), studio.Owner, ana.Member, tenant.RoleAdmin))
		}},
		{"a member is suspended", ana, "session.read", true, func() error {
			return expect.Error(here.app.Accounts.DeactivateMember(t.Context(), studio.Owner, ana.Member))
		}},
		{"a member comes back", ana, "session.read", false, func() error {
			return expect.Error(here.app.Accounts.ReactivateMember(t.Context(), studio.Owner, ana.Member))
		}},
		{"a role is widened", robotic, "audit.read", false, func() error {
			return expect.Error(here.app.Accounts.UpdateRole(
				t.Context(), studio.Owner, "desk", nil, permits("session.read", "audit.read"),
			))
		}},
		{"a role is narrowed", robotic, "session.read", true, func() error {
			return expect.Error(here.app.Accounts.UpdateRole(t.Context(), studio.Owner, "desk", nil, permits()))
		}},
		{"a role is widened again", robotic, "audit.read", false, func() error {
			return expect.Error(here.app.Accounts.UpdateRole(t.Context(), studio.Owner, "desk", nil, permits("audit.read")))
		}},
		{"an account is revoked", robotic, "audit.read", true, func() error {
			return expect.Error(here.app.Accounts.RevokeServiceAccount(t.Context(), studio.Owner, robot.ID))
		}},
		{"a member is created", newcomer, "session.read", false, func() error {
			return expect.Error(here.app.Accounts.CreateMember(
				t.Context(), studio.Owner, member.Member{Name: "Nina", Subject: newcomer.Subject},
			))
		}},
		{"a member is imported", imported, "session.read", false, func() error {
			parsed := expect.Value(member.ParseImport([]byte("name,subject\nIda,imported\n")))(t)
			return expect.Error(here.app.Accounts.ImportMembers(t.Context(), studio.Owner, parsed, false, nil))
		}},
		{"a subject becomes known", tenant.Caller{Tenant: studio.Tenant, Subject: "una"}, "session.read", false,
			func() error {
				return expect.Error(here.app.Accounts.UpdateMember(
					t.Context(), studio.Owner, unbound.ID, nil, func(m *member.Member) error { m.Subject = "una"; return nil },
				))
			}},
		{"a tenant is created", founder, "session.read", false, func() error {
			return expect.Error(here.app.Accounts.CreateTenant(t.Context(), accounts.NewTenant{
				ID: founder.Tenant, Name: "Links", TimeZone: "UTC", Locale: "en", Currency: "EUR",
				Owner: &accounts.FirstOwner{Subject: founder.Subject, Name: "Olga"},
			}))
		}},
	} {
		allowed := func(n *node) bool {
			t.Helper()
			return expect.Value(n.guard.Decide(t.Context(), c.who.Tenant, c.who.Subject, c.permission))(t).Allowed
		}
		must.EqOp(t, c.before, allowed(here),
			must.Sprintf("%s: allowed before: %v here, %v there", c.name, allowed(here), allowed(there)))
		must.EqOp(t, c.before, allowed(there),
			must.Sprintf("%s: allowed before: %v here, %v there", c.name, allowed(here), allowed(there)))
		start := time.Now()
		must.NoError(t, c.change(), must.Sprint(c.name))
		test.NotEqOp(t, c.before, allowed(here), test.Sprintf("%s: not here", c.name))
		select {
		case <-there.heard:
		case <-time.After(testkit.Timeout):
			t.Fatalf("%s: the other node heard nothing", c.name)
		}
		took := time.Since(start)
		test.NotEqOp(t, c.before, allowed(there), test.Sprintf("%s: not there", c.name))
		t.Logf("%s: there after %v", c.name, took)
		<-here.heard
	}
}

// The guard is not told of what changes nothing for it.
func TestAccess_ProfileEditsKeepTheCache(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	var told []string
	a := app.New(app.Config{
		DB: studio.DB.DB, Now: studio.Clock.Now, RolesChanged: func(tenant.TenantID) { told = append(told, "told") },
	})
	ana := studio.AddMember("Ana")
	expect.OK(t)(a.Accounts.UpdateMember(t.Context(), studio.Owner, ana.Member, nil, named("Ann")))
	expect.Reason(t, fault.RoleNotFound)(a.Accounts.AssignRole(t.Context(), studio.Owner, ana.Member, "ghost"))
	expect.Reason(t, fault.PermissionDeniedReason)(
		a.Accounts.CreateRole(t.Context(), ana, grant.Role{Name: "x", Permissions: []string{"audit.read"}}),
	)
	test.True(t, slices.Equal(told, nil), test.Sprintf("told %d times", len(told)))
}
